"""Compares the numbers that diagnostics_probe prints with ArviZ's. Usage: arviz_diagnostics.py PROBE"""

import json
import logging
import struct
import subprocess
import sys

import arviz as az
import numpy as np

TOLERANCE = 1e-6


def ar1(rng, chains, draws, rho):
    noise = rng.standard_normal((chains, draws))
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * noise[:, t]
    return x


def cases():
    """Yields (name, chains x draws, probability)."""
    rng = np.random.default_rng(20240611)
    for chains in (1, 2, 3, 4, 10):
        for draws in (4, 5, 6, 7, 8, 9, 10, 11, 13, 50, 101, 1000, 1023):
            yield f"iid {chains}x{draws}", rng.standard_normal((chains, draws)), rng.uniform(0.02, 0.98)
    for rho in (-0.99, -0.9, -0.5, -0.1, 0.1, 0.5, 0.9, 0.99, 0.999):
        for chains, draws in ((1, 1000), (2, 37), (4, 500), (4, 2001), (8, 128)):
            yield f"AR(1) {rho} {chains}x{draws}", ar1(rng, chains, draws, rho), 0.25
    for draws in (6, 10, 99, 1000):
        sign = np.where(np.arange(draws) % 2 == 0, 1.0, -1.0)
        yield f"alternating {draws}", sign * np.abs(rng.standard_normal((4, draws))), 0.5
    for draws in (12, 57, 400, 1001):
        yield f"coin {draws}", rng.integers(0, 2, (4, draws)).astype(float), 0.5
        yield f"rare coin {draws}", (rng.random((4, draws)) < 0.08).astype(float), 0.9
        yield f"counts {draws}", rng.poisson(3.3, (4, draws)).astype(float), 0.37
        yield f"tenths {draws}", np.round(rng.standard_normal((3, draws)), 1), 0.1
        yield f"sticky {draws}", np.repeat(rng.standard_normal((4, (draws + 6) // 7)), 7, axis=1)[:, :draws], 0.7
    for draws in (21, 401, 4001):  # (n - 1) p is whole: the quantile is a draw
        yield f"whole quantile {draws}", rng.standard_normal((1, draws)), 0.05
    yield "Cauchy", rng.standard_cauchy((4, 1000)), 0.05
    yield "Cauchy, correlated", np.tan(np.pi * (0.5 - 1e-9) * np.tanh(ar1(rng, 4, 999, 0.95))), 0.95
    yield "Student 1.1", rng.standard_t(1.1, (3, 777)), 0.5
    yield "lognormal", np.exp(4 * rng.standard_normal((4, 600))), 0.99
    yield "far from 0", 1e8 + ar1(rng, 4, 600, 0.7), 0.3
    yield "large", 1e60 * ar1(rng, 4, 600, 0.7), 0.3
    yield "small", 1e-6 * ar1(rng, 4, 600, 0.7), 0.3
    yield "shifted chains", rng.standard_normal((4, 500)) + np.array([[0.0], [0.0], [3.0], [-2.0]]), 0.5
    yield "wider chain", rng.standard_normal((4, 500)) * np.array([[1.0], [1.0], [1.0], [5.0]]), 0.5
    yield "trend", rng.standard_normal((4, 500)) + np.linspace(0, 5, 500), 0.5
    stuck = rng.standard_normal((4, 512))
    stuck[2] = 0.625
    yield "one chain stuck", stuck, 0.5
    yield "every chain stuck", np.repeat(np.array([[1.0], [2.0], [5.0]]), 128, axis=1), 0.5
    yield "signed zeros", np.where(rng.random((2, 100)) < 0.5, 0.0, -0.0) + (rng.random((2, 100)) < 0.3), 0.5
    yield "many chains", ar1(rng, 200, 30, 0.5), 0.5
    yield "long", ar1(rng, 2, 100003, 0.98), 0.01
    bad = rng.standard_normal((4, 100))
    bad[1, 7] = np.nan
    yield "a NaN", bad, 0.5
    yield "3 draws", rng.standard_normal((4, 3)), 0.5
    for i in range(60):
        chains, draws = rng.integers(1, 6), rng.integers(4, 300)
        yield f"random {i}", ar1(rng, chains, draws, rng.uniform(-0.99, 0.99)) ** rng.integers(1, 4), rng.uniform(0.01, 0.99)


def arviz_numbers(x, p):
    number = {f"ess_{m}": az.ess(x, method=m) for m in ("bulk", "tail", "mean", "sd")}
    number["ess_quantile"] = az.ess(x, method="quantile", prob=p)
    number |= {f"rhat_{m}": az.rhat(x, method=m) for m in ("rank", "split", "folded", "z_scale")}
    number |= {f"mcse_{m}": az.mcse(x, method=m) for m in ("mean", "sd")}
    number["mcse_quantile"] = az.mcse(x, method="quantile", prob=p)
    number = {k: float(v["x"]) if hasattr(v, "data_vars") else float(v) for k, v in number.items()}
    finite = not np.isnan(x).any()
    number["mean"] = x.mean() if finite else np.nan
    number["variance"] = x.var(ddof=1) if finite else np.nan
    number["quantile"] = np.quantile(x, p) if finite else np.nan
    number["bfmi"] = float(np.atleast_1d(az.bfmi(x[:1]))[0])
    return number


def agree(ours, theirs):
    if np.isnan(theirs) or np.isnan(ours):
        return np.isnan(theirs) and np.isnan(ours)
    if theirs > 1e6 and ours == np.inf:
        return True  # 1 / 0, where numpy's variance of equal numbers is rounding only
    return ours == theirs or abs(ours - theirs) <= TOLERANCE * abs(theirs) + 1e-300


def main():
    logging.disable(logging.WARNING)
    table = list(cases())
    constant = ("constant", np.full((4, 64), 0.3), 0.5)
    records = b"".join(struct.pack("=iid", *x.shape, p) + np.ascontiguousarray(x).tobytes() for _, x, p in table + [constant])
    lines = subprocess.run([sys.argv[1]], input=records, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    if len(lines) != len(table) + 1:
        sys.exit(f"the probe answered {len(lines)} of {len(table) + 1} records")
    compared = failed = 0
    with np.errstate(all="ignore"):
        for (name, x, p), line in zip(table, lines):
            ours = {k: float(v) for k, v in json.loads(line).items()}
            for key, theirs in arviz_numbers(x, p).items():
                compared += 1
                if not agree(ours[key], theirs):
                    failed += 1
                    print(f"{name}: {key} is {ours[key]!r}, ArviZ {az.__version__} says {theirs!r}")
    # A difference that is meant (docs/diagnostics.md): for ArviZ a constant has an ESS of n.
    for key, value in json.loads(lines[-1]).items():
        if key not in ("mean", "variance", "quantile") and value != "nan":
            failed += 1
            print(f"constant: {key} is {value}, should be nan")
    print(f"{compared} numbers of {len(table)} cases compared with ArviZ {az.__version__}: {failed} differ")
    sys.exit(failed != 0)


main()
