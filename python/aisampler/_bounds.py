"""Parameters between bounds, seen by the library as numbers without any.

Between two bounds theta = low + (high - low) / (1 + exp(-x)), beyond one low + exp(x) or high - exp(x). The log
Jacobian is added to the log density, so that the draws of theta follow the user's.
"""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np

_MOST = 300.0  # far beyond any mass; exp of it leaves room for a product


def _limit(value: Optional[float], without: float) -> float:
    return without if value is None else float(value)


class Bounds:
    """All methods take arrays whose last axis is the parameters."""

    def __init__(self, pairs: Sequence[Tuple[Optional[float], Optional[float]]], dim: int):
        if len(pairs) != dim or any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"bounds must be {dim} pairs (low, high), one for each parameter, not {pairs!r}")
        self._low = np.array([_limit(low, -np.inf) for low, _ in pairs])
        self._high = np.array([_limit(high, np.inf) for _, high in pairs])
        for i in np.flatnonzero(~(self._low < self._high)):
            raise ValueError(f"bounds of parameter {i + 1}: {pairs[i]!r} is not (low, high) with low below high")
        below, above = np.isfinite(self._low), np.isfinite(self._high)
        self._both, self._lower, self._upper = below & above, below & ~above, above & ~below
        self._width = np.where(self._both, self._high, 1) - np.where(self._both, self._low, 0)

    def inside(self, x: np.ndarray) -> np.ndarray:
        theta = x.copy()
        grown = np.exp(np.minimum(x, _MOST))
        share = 1 / (1 + np.exp(-np.clip(x, -_MOST, _MOST)))
        theta[..., self._both] = (self._low + self._width * share)[..., self._both]
        theta[..., self._lower] = (self._low + grown)[..., self._lower]
        theta[..., self._upper] = (self._high - grown)[..., self._upper]
        # Rounding may reach a bound, where a density need not be defined.
        return np.clip(theta, np.nextafter(self._low, np.inf), np.nextafter(self._high, -np.inf))

    def log_jacobian(self, x: np.ndarray) -> np.ndarray:
        """Summed over the parameters."""
        size = np.abs(x)
        both = np.log(self._width) - size - 2 * np.log1p(np.exp(-size))
        return np.where(self._both, both, np.where(self._lower | self._upper, x, 0.0)).sum(axis=-1)

    def gradient(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """By x, of the log density with the Jacobian; `gradient` is by theta and of the log density alone."""
        half = np.tanh(x / 2)
        both = gradient * self._width * (1 - half**2) / 4 - half
        grown = np.exp(np.minimum(x, _MOST))
        one = gradient * np.where(self._lower, grown, -grown) + 1
        return np.where(self._both, both, np.where(self._lower | self._upper, one, gradient))
