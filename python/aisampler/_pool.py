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


class WorkerDied(Exception):
    """A worker ended before it had an answer: it called os._exit, crashed or was killed."""


def _processes(pool: Any) -> List[Any]:
    """The workers of multiprocessing and concurrent.futures, where they are processes; else none."""
    for ask in (lambda: pool._pool, lambda: pool._processes.values()):
        try:
            found = list(ask())
        except Exception:
            continue
        if found and all(hasattr(each, "exitcode") and hasattr(each, "pid") for each in found):
            return found
    return []


def _how(processes: Sequence[Any]) -> str:
    """Of those that ended: what one of them died of. The others may have been terminated because of it."""
    import signal

    codes = [each.exitcode for each in processes if each.exitcode is not None]
    codes.sort(key=lambda code: (code == -signal.SIGTERM, code == 0))
    if not codes:
        return "it is not known how"
    if codes[0] >= 0:
        return f"exit code {codes[0]}"
    try:
        return f"{signal.strsignal(-codes[0])}, signal {-codes[0]}"
    except ValueError:
        return f"signal {-codes[0]}"


def _is_broken(error: BaseException) -> bool:
    """What concurrent.futures and dask raise when a worker is gone."""
    return any(kind.__name__ in ("BrokenExecutor", "KilledWorker") for kind in type(error).__mro__)


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
        """WorkerDied when one of the workers did."""
        processes = _processes(self._pool)
        if processes and callable(getattr(self._pool, "map_async", None)):
            return self._wait(self._pool.map_async(task, items), processes)
        try:
            answers = self._pool.map(task, items)
            if callable(getattr(self._pool, "gather", None)):  # dask's are futures
                answers = self._pool.gather(answers)
            return list(answers)
        except Exception as error:
            if not _is_broken(error):
                raise
            for each in processes:
                each.join(1)
            raise WorkerDied(_how(processes)) from error

    def _wait(self, answers: Any, processes: List[Any]) -> List[Any]:
        """multiprocessing starts a new worker in place of one that died, and waits for its answer for ever."""
        grace = 1.0  # seconds: another worker's death, and the answer is on its way
        renewed = getattr(self._pool, "_maxtasksperchild", None) is not None  # workers end by themselves, with 0
        while not answers.ready():
            answers.wait(0.2)
            dead = [each for each in processes if each.exitcode is not None and not (renewed and each.exitcode == 0)]
            if dead:
                answers.wait(grace)
                if not answers.ready():
                    raise WorkerDied(_how(dead))
            processes = processes + [each for each in _processes(self._pool) if each not in processes]
        return list(answers.get())

    def parts(self, x: np.ndarray) -> List[np.ndarray]:
        """A batch, one part for each worker."""
        return np.array_split(x, min(len(x), self.workers))
