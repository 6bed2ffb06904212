"""Functions written in PyTorch: vmap where it works, autograd. Imported only if PyTorch is already loaded, or requested."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Optional, Tuple

import numpy as np

from ._errors import DensityError
from ._functions import Functions, numbers


def kind_of_numbers(logp: Callable, x: np.ndarray) -> Any:
    """float64, or float32 where the function is made of such (a module's weights); None: it takes no tensor."""
    import torch

    for dtype in (torch.float64, torch.float32):
        for shape in (x, x[None]):
            try:
                with torch.no_grad():
                    if isinstance(logp(torch.tensor(shape, dtype=dtype)), torch.Tensor):
                        return dtype
            except Exception:
                continue
    return None


class TorchFunctions(Functions):
    def __init__(self, logp: Callable, x: np.ndarray, vectorized: Optional[bool], gradient: bool):
        import torch

        self._torch, self._logp = torch, logp
        self._dtype = kind_of_numbers(logp, x) or torch.float64
        if self._dtype == torch.float32:
            warnings.warn(
                "logp computes in single precision: module.double(), or torch.set_default_dtype(torch.float64), makes it "
                "double, which draws far from the mode and log Z are better for",
                stacklevel=5,
            )
        self._points = self._of_a_point(x) if vectorized is None else not vectorized
        self._many = self._in_one_go(x) if self._points else logp
        self.batched = self._many is not None and self._agrees(x)
        self.has_slope = gradient and self._differentiable(x)

    def _tensor(self, x: np.ndarray) -> Any:
        return self._torch.tensor(x, dtype=self._dtype)

    def _of_a_point(self, x: np.ndarray) -> bool:
        try:
            with self._torch.no_grad():
                return tuple(self._logp(self._tensor(x)).shape) == ()
        except Exception:
            return False

    def _in_one_go(self, x: np.ndarray) -> Optional[Callable]:
        """The function of a point, of many by vmap; None where it branches on values or writes in place."""
        try:
            many = self._torch.func.vmap(self._logp)
            with self._torch.no_grad():
                many(self._tensor(np.stack([x, x + 0.01])))
            return many
        except Exception:
            return None

    def _agrees(self, x: np.ndarray) -> bool:
        """Whether a point has the same value alone and among others, to the precision that the library requires of a batch."""
        many = x + 0.01 * np.arange(64)[:, None]
        try:
            together = self._batch(many)
        except Exception:  # the run reports it, with its point
            return True
        alone = np.concatenate([self._batch(point[None]) for point in many])
        with np.errstate(invalid="ignore"):
            off = np.abs(together - alone)
        return bool(np.all((off <= 1e-10 * np.maximum(1, np.abs(alone))) | np.isnan(off)))

    def _batch(self, x: np.ndarray) -> np.ndarray:
        with self._torch.no_grad():
            return numbers(self._plain(self._many(self._tensor(x))), (len(x),), "logp", x)

    def _plain(self, value: Any) -> Any:
        return value.detach().cpu().numpy() if isinstance(value, self._torch.Tensor) else value

    def _point(self, x: Any) -> Any:
        return self._logp(x) if self._points else self._logp(x[None])[0]

    def values(self, x: np.ndarray) -> np.ndarray:
        if self._many is not None:
            return self._batch(x)
        with self._torch.no_grad():
            return np.array([numbers(self._plain(self._point(self._tensor(point))), (), "logp", point) for point in x])

    def slope(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        at = self._tensor(x).requires_grad_()
        with self._torch.enable_grad():
            value = self._point(at)
            if not isinstance(value, self._torch.Tensor) or value.shape != ():
                raise DensityError(f"logp of a point must return a tensor of shape (), not {value!r}", x)
            (gradient,) = self._torch.autograd.grad(value, at)
        return numbers(self._plain(gradient), x.shape, "grad", x), float(value.detach())

    def _answers(self, x: np.ndarray) -> bool:
        try:
            self.values(x[None])
        except Exception:
            return False
        return True

    def _differentiable(self, x: np.ndarray) -> bool:
        try:
            self.slope(x)
        except Exception as error:
            if not self._answers(x):  # the run tells what is wrong
                return True
            warnings.warn(
                f"PyTorch cannot differentiate logp ({type(error).__name__}: {str(error).splitlines()[0]}): drawing continues "
                "without a gradient; grad=False says that this is right",
                stacklevel=6,
            )
            return False
        return True
