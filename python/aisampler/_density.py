"""A density written in Python, as the library calls it."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from ctypes import c_double
from typing import Any, Callable, ContextManager, Optional

import numpy as np

from ._errors import DensityError
from ._functions import Functions, Interrupted, failed
from ._library import BATCH, GRAD, LOGP, Target


def _view(address: int, count: int) -> np.ndarray:
    """Numbers of C, without a copy."""
    return np.frombuffer((c_double * count).from_address(address))


class Density:
    """The callbacks of one run. They come from several threads, and a lock lets one at a time into the user's code,
    unless that is a pool's affair. The first exception is kept and `stop` set; from then on every answer is NaN, which
    ends the run with the draws so far."""

    def __init__(self, functions: Functions, dim: int, stop: ctypes.c_int):
        self.error: Optional[DensityError] = None
        self._functions, self._dim, self._stop = functions, dim, stop
        self._over = False
        self._lock: ContextManager = contextlib.nullcontext() if functions.at_once else threading.Lock()
        # ctypes keeps no reference to what it was given: these must live as long as the run.
        self._one, self._many, self._slope = LOGP(self._call_one), BATCH(self._call_many), GRAD(self._call_slope)

    def fill(self, target: Target) -> None:
        target.logp = self._one
        if self._functions.batched:
            target.batch = self._many
        if self._functions.has_slope:
            target.grad = self._slope

    def give_up(self) -> None:
        """Answers NaN from now on."""
        self._over = True
        self._stop.value = 1

    def _guarded(self, answer: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
        """What the user's functions say; None after an exception."""
        with self._lock:
            if self._over:
                return None
            try:
                with np.errstate(over="ignore", divide="ignore"):  # far out, where the search begins, densities vanish
                    return answer(x)
            except Interrupted:
                pass
            except DensityError as error:
                self.error = self.error or error
            except BaseException as error:  # also SystemExit: nothing may pass through C
                point = self._functions.blame(x) if x.ndim == 2 and isinstance(error, Exception) else x
                self.error = self.error or failed(error, point)
            self.give_up()
            return None

    def _call_one(self, x: int, data: Any) -> float:
        point = _view(x, self._dim)[None].copy()
        value = self._guarded(self._functions.values, point)
        return float("nan") if value is None else float(value[0])

    def _call_many(self, n: int, x: int, logp: int, data: Any) -> None:
        points = _view(x, self._dim * n).reshape(self._dim, n).T.copy()
        value = self._guarded(self._functions.values, points)
        _view(logp, n)[:] = np.nan if value is None else value

    def _call_slope(self, x: int, gradient: int, data: Any) -> float:
        point = _view(x, self._dim).copy()
        both = self._guarded(self._functions.slope, point)
        if both is None:
            return float("nan")
        slope, value = both
        _view(gradient, self._dim)[:] = slope
        return float(value)
