"""Slow functions by a pool: the same draws, and in about half the time with two workers."""

import concurrent.futures
import multiprocessing
import time

import numpy as np
import pytest

import aisampler
from densities import grad, grad_point, logp, logp_point

PAUSE = 0.005
JOB = dict(dim=2, draws=60, chains=8, evaluations=800, seed=4)  # with a kernel that is there already


def slow(x):
    time.sleep(PAUSE * len(x))
    return logp(x)


def slow_point(x):
    time.sleep(PAUSE)
    return logp_point(x)


def breaks(x):
    if (x[:, 0] > 2).any():
        raise ValueError("the model is not made for this")
    return logp(x)


def refuses(x):
    return logp(x)[:, None]


@pytest.fixture(scope="module")
def processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def threads():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield pool


class Futures:
    """As a client of dask: map gives futures, gather their results."""

    def __init__(self, pool):
        self._pool = pool

    def nthreads(self):
        return {"one": 1, "two": 1}

    def map(self, function, items):
        return [self._pool.submit(function, item) for item in items]

    def gather(self, futures):
        return [future.result() for future in futures]


def timed(**arguments):
    began = time.monotonic()
    return aisampler.sample(**arguments), time.monotonic() - began


@pytest.mark.parametrize("functions", [dict(logp=slow), dict(logp=slow_point, vectorized=False)], ids=["batch", "point"])
def test_two_workers_take_half_the_time_for_the_same_draws(functions, processes, threads):
    """A busy machine may spoil a try or two."""
    kernel = aisampler.sample(logp, 2, draws=10).kernel
    alone, one = timed(**functions, **JOB, kernel=kernel)
    for pool in (processes, threads):
        for _ in range(4):
            shared, two = timed(**functions, **JOB, kernel=kernel, pool=pool)
            np.testing.assert_array_equal(shared.draws, alone.draws)
            assert shared.evaluations == alone.evaluations
            if two < 0.75 * one:
                break
        assert two < 0.75 * one, (one, two)


def test_gradients(processes):
    functions = dict(logp=logp_point, grad=grad_point, dim=2, vectorized=False, draws=20)
    np.testing.assert_array_equal(aisampler.sample(**functions, pool=processes).draws, aisampler.sample(**functions).draws)


def test_a_process_pool_executor_and_futures(threads):
    alone = aisampler.sample(logp, 2, draws=20)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        np.testing.assert_array_equal(aisampler.sample(logp, 2, draws=20, pool=pool).draws, alone.draws)
    np.testing.assert_array_equal(aisampler.sample(logp, 2, draws=20, pool=Futures(threads)).draws, alone.draws)


def test_batches_with_a_gradient(threads):
    alone = aisampler.sample(logp, 2, grad=grad, draws=20)
    np.testing.assert_array_equal(aisampler.sample(logp, 2, grad=grad, draws=20, pool=threads).draws, alone.draws)


def test_an_exception_in_a_worker(processes):
    with pytest.raises(aisampler.DensityError, match="ValueError: the model is not made for this, at x = ") as caught:
        aisampler.sample(breaks, 2, pool=processes)
    assert caught.value.point.shape == (2,) and caught.value.point[0] > 2
    assert isinstance(caught.value.__cause__, ValueError) and "in breaks" in str(caught.value.__cause__.__cause__)
    with pytest.raises(aisampler.DensityError, match="must return one of shape"):
        aisampler.sample(refuses, 2, pool=processes)


def test_what_is_no_pool():
    with pytest.raises(TypeError, match="pool must have a method map"):
        aisampler.sample(logp, 2, pool=4)
