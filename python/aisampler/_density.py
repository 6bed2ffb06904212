"""A density written in Python, as the library calls it."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Optional

import numpy as np

from ._bounds import Bounds
from ._library import BATCH, GRAD, LOGP, Target


class DensityError(RuntimeError):
    """The density raised, or returned something that is not its logarithm; ``point`` is where."""

    def __init__(self, message: str, point: np.ndarray):
        super().__init__(message)
        self.point = point


def _numbers(value: Any, shape: tuple, what: str, x: np.ndarray) -> np.ndarray:
    """The value as doubles of this shape, or one sentence that says what it is instead."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise DensityError(f"{what} must return real numbers, not {array.dtype}, at x = {x!r}", x)
    if array.shape != shape:
        hint = "; for a function of one point say vectorized=False" if what == "logp" and len(shape) == 1 else ""
        raise DensityError(
            f"{what} of an array of shape {x.shape} must return one of shape {shape}, not {array.shape}{hint}", x
        )
    return array.astype(float, copy=False)


class Density:
    """The callbacks of one run. They come from several threads, and a lock lets one at a time into the user's code. The
    first exception is kept and `stop` set; from then on every answer is NaN, which ends the run."""

    def __init__(self, logp: Callable, grad: Optional[Callable], dim: int, vectorized: bool, bounds: Optional[Bounds],
                 stop: ctypes.c_int):
        self.error: Optional[DensityError] = None
        self._logp, self._grad, self._dim, self._vectorized = logp, grad, dim, vectorized
        self._bounds = bounds
        self._stop = stop
        self._lock = threading.Lock()
        # ctypes keeps no reference to what it was given: these must live as long as the run.
        self._one, self._many, self._slope = LOGP(self._call_one), BATCH(self._call_many), GRAD(self._call_slope)

    def fill(self, target: Target) -> None:
        target.logp = self._one
        if self._vectorized:
            target.batch = self._many
        if self._grad:
            target.grad = self._slope

    def give_up(self) -> None:
        """Answers NaN from now on."""
        self._stop.value = 1
        self._logp = self._grad = None

    def _guarded(self, answer: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
        """What the user's functions say of points without bounds; None after an exception."""
        if self._bounds:
            x = self._bounds.inside(x)
        with self._lock:
            if self.error is not None or self._logp is None:
                return None
            try:
                return answer(x)
            except DensityError as error:
                self.error = error
            except BaseException as error:  # also SystemExit: nothing may pass through C
                point = x[0] if x.ndim == 2 and len(x) == 1 else x
                self.error = DensityError(f"{type(error).__name__}: {error}, at x = {point!r}", point)
                self.error.__cause__ = error
            self._stop.value = 1
            return None

    def _values(self, x: np.ndarray) -> np.ndarray:
        if self._vectorized:
            return _numbers(self._logp(x), (len(x),), "logp", x)
        return np.array([_numbers(self._logp(point), (), "logp", point) for point in x])

    def _slope_and_value(self, x: np.ndarray) -> tuple:
        value = self._values(x)
        if self._vectorized:
            return _numbers(self._grad(x), x.shape, "grad", x), value
        return _numbers(self._grad(x[0]), (self._dim,), "grad", x[0]), value

    def _point(self, x: Any) -> np.ndarray:
        return np.ctypeslib.as_array(x, (1, self._dim)).copy()

    def _log_jacobian(self, x: np.ndarray) -> Any:
        return self._bounds.log_jacobian(x) if self._bounds else np.zeros(len(x))

    def _call_one(self, x: Any, data: Any) -> float:
        point = self._point(x)
        value = self._guarded(self._values, point)
        return float("nan") if value is None else float((value + self._log_jacobian(point))[0])

    def _call_many(self, n: int, x: Any, logp: Any, data: Any) -> None:
        points = np.ctypeslib.as_array(x, (self._dim, n)).T.copy()
        value = self._guarded(self._values, points)
        np.ctypeslib.as_array(logp, (n,))[:] = np.nan if value is None else value + self._log_jacobian(points)

    def _call_slope(self, x: Any, gradient: Any, data: Any) -> float:
        point = self._point(x)
        both = self._guarded(self._slope_and_value, point)
        if both is None:
            return float("nan")
        slope = both[0].reshape(1, self._dim)
        slope = self._bounds.gradient(point, slope) if self._bounds else slope
        np.ctypeslib.as_array(gradient, (self._dim,))[:] = slope[0]
        return float((both[1] + self._log_jacobian(point))[0])
