"""Evaluation by a pool of workers: anything with `map`."""

from __future__ import annotations

import os
from typing import Any, Callable, List, Sequence

import numpy as np


class RemoteTraceback(Exception):
    """The traceback of a worker, as text: tracebacks themselves do not travel."""

    def __str__(self) -> str:
        return "\n" + "".join(self.args)


class Failure:
    """What a worker says in place of an answer."""

    def __init__(self, error: BaseException):
        import traceback

        self._error, self._text = error, traceback.format_exc()

    def __reduce__(self) -> Any:
        return _failure, (self.error.__class__.__name__, str(self._error), _kept(self._error), self._text)

    @property
    def error(self) -> BaseException:
        return self._error


def _kept(error: BaseException) -> Any:
    """The exception, if it survives the way to another process."""
    import pickle

    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:
        return None


def _failure(kind: str, message: str, error: Any, text: str) -> Failure:
    made = Failure.__new__(Failure)
    made._error, made._text = error if error is not None else RuntimeError(f"{kind}: {message}"), text
    made._error.__cause__ = RemoteTraceback(text)
    return made


class Task:
    """The user's function, as workers call it: an exception comes back as an answer, so that it is known whose it is."""

    def __init__(self, function: Callable):
        self._function = function

    def __call__(self, x: np.ndarray) -> Any:
        try:
            return self._function(x)
        except BaseException as error:  # Ctrl-C reaches workers, too, and one that dies of it leaves the others waiting
            return Failure(error)


def _workers(pool: Any) -> int:
    """How many there are, by what the usual pools tell."""
    for ask in (
        lambda: pool._processes,  # multiprocessing
        lambda: pool._max_workers,  # concurrent.futures
        lambda: pool.num_workers,  # mpi4py.futures
        lambda: sum(pool.nthreads().values()),  # dask
        lambda: pool.size,  # schwimmbad, MPI
        lambda: len(pool),  # ipyparallel
    ):
        try:
            count = int(ask())
        except Exception:
            continue
        if count > 0:
            return count
    return os.cpu_count() or 1


class Pool:
    """`map` of anything: multiprocessing, concurrent.futures, mpi4py.futures, dask, ..."""

    def __init__(self, pool: Any):
        if not callable(getattr(pool, "map", None)):
            raise TypeError(f"pool must have a method map, as those of multiprocessing and concurrent.futures have, not {pool!r}")
        self._pool = pool
        self.workers = _workers(pool)

    def map(self, task: Task, items: Sequence[np.ndarray]) -> List[Any]:
        answers = self._pool.map(task, items)
        if callable(getattr(self._pool, "gather", None)):  # dask's are futures
            answers = self._pool.gather(answers)
        return list(answers)

    def parts(self, x: np.ndarray) -> List[np.ndarray]:
        """A batch, one part for each worker."""
        return np.array_split(x, min(len(x), self.workers))
