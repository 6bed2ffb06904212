"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

if TYPE_CHECKING:
    from ._result import Result


class DensityError(RuntimeError):
    """The density raised, or returned something that is not its logarithm.

    ``point`` is where; the exception itself, with its traceback, is the cause. ``result`` has the draws that there were
    by then, or is None when there were none.
    """

    def __init__(self, message: str, point: np.ndarray):
        super().__init__(message)
        self.point = point
        self.result: Optional[Result] = None

    def __reduce__(self) -> Any:
        return DensityError, (self.args[0], self.point)


def described(point: np.ndarray) -> str:
    """A point in a message, on one line; of a batch of one its only point."""
    point = np.asarray(point)
    if point.ndim == 2 and len(point) == 1:
        point = point[0]
    return np.array2string(point, precision=6, separator=", ", threshold=12, max_line_width=10**6).replace("\n", "")
