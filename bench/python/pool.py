"""Seconds of a density of 5 ms a point: alone, by two processes, by two threads; the draws must be the same.

    PYTHONPATH=python python3 bench/python/pool.py
"""

import concurrent.futures
import multiprocessing
import time

import numpy as np

import aisampler


def fast(x):
    return -0.5 * x[:, 0] ** 2 - 2 * (x[:, 1] - 0.5 * x[:, 0]) ** 2


def batch(x):
    time.sleep(0.005 * len(x))
    return fast(x)


def point(x):
    time.sleep(0.005)
    return fast(x[None])[0]


if __name__ == "__main__":
    kernel = aisampler.sample(fast, 2, draws=10).kernel
    with multiprocessing.get_context("fork").Pool(2) as processes, concurrent.futures.ThreadPoolExecutor(2) as threads:
        for name, functions in (("batch", dict(logp=batch)), ("point", dict(logp=point, vectorized=False))):
            first = None
            for how, pool in (("alone", None), ("two processes", processes), ("two threads", threads)):
                began = time.monotonic()
                result = aisampler.sample(**functions, dim=2, kernel=kernel, chains=8, draws=60, pool=pool)
                seconds = time.monotonic() - began
                first = first or (result, seconds)
                np.testing.assert_array_equal(result.draws, first[0].draws)
                print(f"{name}, {how}: {seconds:.2f} s, {first[1] / seconds:.2f} times as fast; {result.evaluations.total} evaluations")
