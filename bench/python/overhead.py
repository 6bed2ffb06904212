"""What a density in Python costs beside the function itself, per point, and what an import costs.

    PYTHONPATH=python python3 bench/python/overhead.py

The door alone: the callback that the library calls, by its C address, with batches of n points. A run: seconds inside
the callbacks less seconds inside the function, over the points it was asked for. All seconds are of the processor.
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
        began = time.process_time()
        for _ in range(repeats):
            function()
        times.append((time.process_time() - began) / repeats)
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


def gradients():
    """Microseconds per gradient of a logistic regression on 100 rows: through the door, which is called with one point at
    a time; of its two functions alone with one point; and, for comparison, with 64 at once."""
    rng = np.random.default_rng(2)
    rows, sign = rng.standard_normal((100, DIM)), np.where(rng.random(100) < 0.5, 1.0, -1.0)

    def value(x):
        return -np.logaddexp(0, -sign * (x @ rows.T)).sum(axis=1) - 0.5 * (x**2).sum(axis=1)

    def grad(x):
        return (sign / (1 + np.exp(sign * (x @ rows.T)))) @ rows - x

    density = Density(NumPyFunctions(value, grad, True), DIM, ctypes.c_int(0))
    x, slope = rng.standard_normal((64, DIM)), np.empty(DIM)
    arguments = (x.ctypes.data, slope.ctypes.data, None)
    assert density._slope(*arguments) == value(x[:1])[0] and (slope == grad(x[:1])[0]).all()

    def both(points):
        value(points), grad(points)

    return (1e6 * best(lambda: density._slope(*arguments), 2000), 1e6 * best(lambda: both(x[:1]), 2000),
            1e6 * best(lambda: both(x), 200) / 64)


def run(chains):
    """Microseconds per point between the callbacks and the function in a whole run, and points per call."""
    inside, points, calls, whole = 0.0, 0, 0, 0.0

    def counted(x):
        nonlocal inside, points, calls
        began = time.thread_time()
        value = logp(x)
        inside += time.thread_time() - began
        points += len(x)
        calls += 1
        return value

    many = Density._call_many

    def watched(self, *arguments):
        nonlocal whole
        began = time.thread_time()
        many(self, *arguments)
        whole += time.thread_time() - began

    Density._call_many = watched
    try:
        aisampler.sample(counted, DIM, chains=chains, draws=max(20, 20000 // chains))
    finally:
        Density._call_many = many
    return 1e6 * (whole - inside) / points, points / calls


def seconds_of_import():
    """By the clock, and of the processor: the least of 20 starts."""
    program = ("import time; t, p = time.perf_counter(), time.process_time(); import aisampler; "
               "print(time.perf_counter() - t, time.process_time() - p)")
    starts = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True) for _ in range(20)]
    return [min(each) for each in zip(*(map(float, start.stdout.split()) for start in starts))]


if __name__ == "__main__":
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}, {DIM} dimensions; microseconds per point")
    for n in (1000, 64, 16, 1):
        through, alone = door(n)
        print(f"door, batches of {n:4}: {through:8.3f} with the function, {alone:8.3f} the function, {through - alone:8.3f} over it")
    through, one, many = gradients()
    print(f"value and gradient of a regression: {through:.1f} through the door, {one:.1f} its functions with one point, {many:.1f} with 64")
    for chains in (16, 64, 1000):
        over, size = run(chains)
        print(f"run of {chains:4} chains: {over:8.3f} over the function, {size:.1f} points per call")
    print("import: {:.3f} s by the clock, {:.3f} s of the processor".format(*seconds_of_import()))
