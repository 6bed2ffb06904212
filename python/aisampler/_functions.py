"""The user's functions as NumPy functions of a batch, whatever they are written in.

`Functions` is what the callbacks of a run need: values of a batch, value and gradient of a point. NumPy functions are
called as they are, or by a pool; those of JAX and PyTorch are batched and differentiated by their own means.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ._errors import DensityError, described
from ._pool import Failure, Pool, Task, WorkerDied


class Interrupted(Exception):
    """A worker heard Ctrl-C before it had an answer."""


def _hint(found: tuple, wanted: tuple) -> str:
    """What may be meant by an answer of the wrong shape for a batch."""
    if found == (*wanted, 1):
        return "; a column [:, :1] stays one in sums, [:, 0] is an array of shape (n,)"
    if len(found) == 2:
        return "; sum over axis=1"
    return "; for a function of one point say vectorized=False"


def numbers(value: Any, shape: tuple, what: str, x: np.ndarray) -> np.ndarray:
    """The value as doubles of this shape, or one sentence that says what it is instead."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise DensityError(f"{what} must return an array of numbers: {error}", x) from error
    if array.dtype.kind not in "fiub":
        kind = "text" if array.dtype.kind in "SU" else type(value).__name__ if array.dtype == object else str(array.dtype)
        found = "None; is a return missing?" if value is None else f"{kind}, at x = {described(x)}"
        raise DensityError(f"{what} must return real numbers, not {found}", x)
    if array.shape != shape:
        hint = _hint(array.shape, shape) if what == "logp" and len(shape) == 1 else ""
        raise DensityError(
            f"{what} of an array of shape {x.shape} must return one of shape {shape}, not {array.shape}{hint}", x
        )
    return array.astype(float, copy=False)


class Functions:
    """`values` of a batch, (n, dim) -> (n,); `slope` at a point, (dim,) -> gradient and value, where there is one."""

    batched = True  #: n points in one call are cheaper than n calls
    has_slope = False
    at_once = False  #: may be called from several threads
    workers = 0  #: threads that can wait for answers at once; 0: as many as there are cores

    def values(self, x: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def slope(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        raise NotImplementedError

    def blame(self, x: np.ndarray) -> np.ndarray:
        """Which of the points it is that `values` raises at: they are evaluated one by one."""
        for point in x:
            try:
                self.values(point[None])
            except Exception:
                return point
        return x[0] if len(x) == 1 else x


class NumPyFunctions(Functions):
    def __init__(self, logp: Callable, grad: Optional[Callable], vectorized: bool):
        self._logp, self._grad = logp, grad
        self.batched, self.has_slope = vectorized, grad is not None

    def values(self, x: np.ndarray) -> np.ndarray:
        if self.batched:
            return numbers(self._logp(x), (len(x),), "logp", x)
        return np.array([numbers(self._logp(point), (), "logp", point) for point in x])

    def slope(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        assert self._grad is not None
        value = self.values(x[None])[0]
        if self.batched:
            return numbers(self._grad(x[None]), (1, len(x)), "grad", x[None])[0], value
        return numbers(self._grad(x), x.shape, "grad", x), value


class _Both:
    """Value and gradient of a point in one task."""

    def __init__(self, functions: NumPyFunctions):
        self._functions = functions

    def __call__(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        return self._functions.slope(x)


class PooledFunctions(Functions):
    """Without a gradient, batches are split over the workers. Points of which one takes long, or with a gradient, come
    one by one from as many threads as there are workers."""

    def __init__(self, functions: NumPyFunctions, pool: Pool):
        self._functions, self._pool = functions, pool
        self.has_slope = functions.has_slope
        self.batched = functions.batched and not functions.has_slope
        self.at_once, self.workers = True, pool.workers
        self._values, self._both = Task(functions.values), Task(_Both(functions))

    def _ask(self, task: Task, items: List[np.ndarray]) -> List[Any]:
        try:
            answers = self._pool.map(task, items)
        except WorkerDied as death:
            raise died(death, items) from death
        for item, answer in zip(items, answers):
            if isinstance(answer, Failure):
                if isinstance(answer.error, KeyboardInterrupt):
                    raise Interrupted
                if isinstance(answer.error, DensityError):
                    raise answer.error
                point = self._functions.blame(item) if item.ndim == 2 else item
                raise failed(answer.error, point)
        return answers

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate(self._ask(self._values, self._pool.parts(x)))

    def slope(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        return self._ask(self._both, [x])[0]


def died(death: WorkerDied, items: List[np.ndarray]) -> DensityError:
    """Which of the points it was cannot be known."""
    points = np.concatenate([np.atleast_2d(item) for item in items])
    where = f"one of {len(points)} points, the first of which is x" if len(points) > 1 else "x"
    return DensityError(f"a worker of the pool died ({death}) at {where} = {described(points[0])}", points if len(points) > 1 else points[0])


def failed(error: BaseException, point: np.ndarray) -> DensityError:
    """The user's exception as ours, with the point."""
    made = DensityError(f"{type(error).__name__}: {error}, at x = {described(point)}", point)
    made.__cause__ = error
    return made
