"""What a density in Python costs beside the function itself, per point, and what an import costs.

    PYTHONPATH=python python3 bench/python/overhead.py

The door alone: the callback that the library calls, by its C address, with batches of n points. A run: seconds inside
the callbacks less seconds inside the function, over the points it was asked for.
"""

import ctypes
import subprocess
import sys
import time

import numpy as np

import aisampler
from aisampler._density import Density
from aisampler._functions import NumPyFunctions

DIM = 10


def logp(x):
    return -0.5 * (x**2).sum(axis=1)


def best(function, repeats):
    times = []
    for _ in range(7):
        began = time.perf_counter()
        for _ in range(repeats):
            function()
        times.append((time.perf_counter() - began) / repeats)
    return min(times)


def door(n):
    """Microseconds per point: through the door, and of the function alone."""
    density = Density(NumPyFunctions(logp, None, True), DIM, ctypes.c_int(0))
    x, value = np.random.default_rng(1).standard_normal((DIM, n)), np.empty(n)
    arguments = (n, x.ctypes.data, value.ctypes.data, None)
    rows = x.T.copy()
    np.testing.assert_array_equal((density._many(*arguments), value)[1], logp(rows))
    repeats = max(10, 20000 // n)
    return 1e6 * best(lambda: density._many(*arguments), repeats) / n, 1e6 * best(lambda: logp(rows), repeats) / n


def run(chains):
    """Microseconds per point between the callbacks and the function in a whole run, and points per call."""
    inside, points, calls, whole = 0.0, 0, 0, 0.0

    def counted(x):
        nonlocal inside, points, calls
        began = time.perf_counter()
        value = logp(x)
        inside += time.perf_counter() - began
        points += len(x)
        calls += 1
        return value

    many = Density._call_many

    def watched(self, *arguments):
        nonlocal whole
        began = time.perf_counter()
        many(self, *arguments)
        whole += time.perf_counter() - began

    Density._call_many = watched
    try:
        aisampler.sample(counted, DIM, chains=chains, draws=max(20, 20000 // chains))
    finally:
        Density._call_many = many
    return 1e6 * (whole - inside) / points, points / calls


def seconds_of_import():
    program = "import time; t = time.perf_counter(); import aisampler; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout)
               for _ in range(20))


if __name__ == "__main__":
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}, {DIM} dimensions; microseconds per point")
    for n in (1000, 64, 16, 1):
        through, alone = door(n)
        print(f"door, batches of {n:4}: {through:8.3f} with the function, {alone:8.3f} the function, {through - alone:8.3f} over it")
    for chains in (16, 64, 1000):
        over, size = run(chains)
        print(f"run of {chains:4} chains: {over:8.3f} over the function, {size:.1f} points per call")
    print(f"import: {seconds_of_import():.3f} s")
