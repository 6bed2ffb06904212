"""Functions written in JAX: vmap, value_and_grad, jit. Imported only if JAX is already loaded, or requested."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Optional, Tuple

import numpy as np

from ._errors import DensityError
from ._functions import Functions, numbers

_SIZES = 8  # batches are padded to powers of this: each size is compiled once


def of_a_point(logp: Callable, x: np.ndarray) -> bool:
    """Whether it takes one point, (dim,) -> (): decided by shapes alone, nothing is computed."""
    import jax

    try:
        return jax.eval_shape(logp, x).shape == ()
    except Exception:
        return False


class JaxFunctions(Functions):
    def __init__(self, logp: Callable, x: np.ndarray, vectorized: Optional[bool], gradient: bool):
        import jax

        self._double = bool(jax.config.jax_enable_x64)
        if not self._double:
            warnings.warn(
                "JAX computes in single precision: jax.config.update('jax_enable_x64', True) before the first array "
                "makes it double, which draws far from the mode and log Z are better for",
                stacklevel=5,
            )
        points = of_a_point(logp, x) if vectorized is None else not vectorized
        one = logp if points else (lambda x: logp(x[None])[0])
        self._many = jax.jit(jax.vmap(logp) if points else logp)
        self._both = jax.jit(jax.value_and_grad(one))
        try:
            self.values(x[None])
        except DensityError:
            raise
        except Exception as error:
            raise DensityError(
                f"JAX cannot trace logp ({type(error).__name__}: {str(error).splitlines()[0]}): write it with jax.numpy and "
                "jax.lax, or pass backend=\"numpy\" and vectorized=False",
                x,
            ) from error
        self.has_slope = gradient and self._differentiable(x)
        self.batched = self._double or _agrees(self, x)

    def _differentiable(self, x: np.ndarray) -> bool:
        try:
            self.slope(x)
        except Exception as error:
            warnings.warn(
                f"JAX cannot differentiate logp ({type(error).__name__}: {str(error).splitlines()[0]}): drawing continues "
                "without a gradient; grad=False says that this is right",
                stacklevel=6,
            )
            return False
        return True

    def _size(self, n: int) -> int:
        size = 1 if self._double else _SIZES**2  # in single precision another size is another answer
        while size < n:
            size *= _SIZES
        return size

    def values(self, x: np.ndarray) -> np.ndarray:
        n = len(x)
        padded = np.concatenate([x, np.broadcast_to(x[-1], (self._size(n) - n, x.shape[1]))])
        return numbers(self._many(padded), (len(padded),), "logp", padded)[:n]

    def slope(self, x: np.ndarray) -> Tuple[np.ndarray, float]:
        value, gradient = self._both(x)
        return numbers(gradient, x.shape, "grad", x), float(value)


def _agrees(functions: Any, x: np.ndarray) -> bool:
    """Whether a point has the same value alone and among others, to the precision that the library requires of a batch."""
    many = x + 0.01 * np.arange(64)[:, None]
    alone = np.concatenate([functions.values(point[None]) for point in many])
    with np.errstate(invalid="ignore"):
        off = np.abs(functions.values(many) - alone)
    return bool(np.all((off <= 1e-10 * np.maximum(1, np.abs(alone))) | np.isnan(off)))
