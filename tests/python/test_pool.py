"""Slow functions by a pool: the same draws, and two workers at once. bench/python/pool.py has the seconds."""

import concurrent.futures
import ctypes
import faulthandler
import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

import aisampler
from densities import grad, grad_point, logp, logp_point

PAUSE = 0.005
JOB = dict(dim=2, draws=60, chains=8, evaluations=800, seed=4)  # with a kernel that is there already


NOTES = "AIS_TEST_POOL_NOTES"  # the file where workers write who they are, and from when to when they were asked


def wait(seconds):
    began = time.monotonic()
    time.sleep(seconds)
    with open(os.environ[NOTES], "a") as notes:
        notes.write(f"{os.getpid()} {threading.get_ident()} {began} {time.monotonic()}\n")


def slow(x):
    wait(PAUSE * len(x))
    return logp(x)


def slow_point(x):
    wait(PAUSE)
    return logp_point(x)


def at_once(path):
    """How often a worker was asked before the one that was asked last had answered."""
    calls = sorted((line.split() for line in path.read_text().splitlines()), key=lambda call: float(call[2]))
    path.unlink()
    return sum(one[:2] != two[:2] and float(two[2]) < float(one[3]) for one, two in zip(calls, calls[1:]))


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


@pytest.mark.parametrize("functions", [dict(logp=slow), dict(logp=slow_point, vectorized=False)], ids=["batch", "point"])
def test_two_workers_at_once_and_the_same_draws(functions, tmp_path, monkeypatch):
    notes = tmp_path / "notes"
    monkeypatch.setenv(NOTES, str(notes))
    kernel = aisampler.sample(logp, 2, draws=10).kernel
    alone = aisampler.sample(**functions, **JOB, kernel=kernel)
    assert at_once(notes) == 0
    with multiprocessing.get_context("fork").Pool(2) as processes, concurrent.futures.ThreadPoolExecutor(2) as threads:
        for pool in (processes, threads):
            shared = aisampler.sample(**functions, **JOB, kernel=kernel, pool=pool)
            np.testing.assert_array_equal(shared.draws, alone.draws)
            assert shared.evaluations == alone.evaluations
            assert at_once(notes) >= 10


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


def leaves(x):
    """Ends its process at some point of the plane, in the middle of the run."""
    if (np.atleast_2d(x)[:, 0] > 4.25).any():
        os._exit(3)
    return logp_point(x) if x.ndim == 1 else logp(x)


def crashes(x):
    if (np.atleast_2d(x)[:, 0] > 4.25).any():
        faulthandler.disable()  # pytest's
        ctypes.string_at(0)
    return logp_point(x) if x.ndim == 1 else logp(x)


def pools():
    fork = multiprocessing.get_context("fork")
    yield fork.Pool(2)
    yield concurrent.futures.ProcessPoolExecutor(2, mp_context=fork)


@pytest.mark.parametrize("function, how", [(leaves, "exit code 3"), (crashes, "signal 11")])
@pytest.mark.parametrize("vectorized", [True, False])
def test_a_worker_that_dies(function, how, vectorized):
    kernel = aisampler.sample(logp, 2, draws=20).kernel
    for pool in pools():
        with pool, pytest.raises(aisampler.DensityError, match=rf"a worker of the pool died \(.*{how}\) at ") as caught:
            aisampler.sample(function, 2, draws=100_000, chains=4, kernel=kernel, vectorized=vectorized, pool=pool)
        assert np.atleast_2d(caught.value.point).shape[1] == 2
        assert caught.value.result is not None and caught.value.result.draws.shape[1] > 0


def test_workers_that_are_renewed():
    """Their ends are no deaths."""
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=40) as pool:
        result = aisampler.sample(logp, 2, draws=20, pool=pool)
    np.testing.assert_array_equal(result.draws, aisampler.sample(logp, 2, draws=20).draws)


def test_what_is_no_pool():
    with pytest.raises(TypeError, match="pool must have a method map"):
        aisampler.sample(logp, 2, pool=4)
