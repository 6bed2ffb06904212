"""Which of NumPy, JAX and PyTorch a function is written in.

Nothing is imported to find out: a function of JAX or PyTorch comes from a program that has imported it already.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

import numpy as np

from ._errors import DensityError
from ._functions import Functions, NumPyFunctions, PooledFunctions, failed, numbers
from ._pool import Pool

BACKENDS = ("numpy", "jax", "torch")


def _loaded(name: str) -> bool:
    return sys.modules.get(name) is not None


def _is_jax(value: Any) -> bool:
    return _loaded("jax") and isinstance(value, sys.modules["jax"].Array)


def _is_torch(value: Any) -> bool:
    return _loaded("torch") and isinstance(value, sys.modules["torch"].Tensor)


def _answer(logp: Callable, x: np.ndarray) -> Any:
    """To a point, or else to a batch of one; None when it takes neither."""
    for probe in (x, x[None]):
        try:
            return logp(probe)
        except Exception:
            continue
    return None


def detect(logp: Callable, x: np.ndarray) -> str:
    """By what the function returns at x. If neither JAX nor PyTorch is loaded it is not called."""
    if not (_loaded("jax") or _loaded("torch")):
        return "numpy"
    if _loaded("torch") and isinstance(logp, sys.modules["torch"].nn.Module):
        return "torch"
    if type(logp).__module__.split(".")[0] in ("jax", "jaxlib"):  # jitted
        return "jax"
    answer = _answer(logp, x)
    if _is_jax(answer):
        return "jax"
    if _is_torch(answer):
        return "torch"
    if answer is None and _loaded("torch"):
        from ._torch import kind_of_numbers

        if kind_of_numbers(logp, x) is not None:
            return "torch"
    return "numpy"


def adapt(logp: Callable, grad: Union[Callable, bool, None], x: np.ndarray, vectorized: Optional[bool],
          backend: Optional[str], pool: Any) -> Functions:
    """The user's functions in the form of the callbacks; x is a point where the density may be evaluated."""
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if grad is True or not (grad is None or grad is False or callable(grad)):
        raise TypeError(f"grad must be a function, or False for none, not {grad!r}")
    name = backend or ("numpy" if pool is not None or callable(grad) else detect(logp, x))
    if name == "numpy":
        functions = NumPyFunctions(logp, grad if callable(grad) else None, vectorized is not False)
        return functions if pool is None else PooledFunctions(functions, Pool(pool))
    if callable(grad):
        raise TypeError(f"grad is not needed: {name} differentiates logp; for functions of NumPy pass backend=\"numpy\"")
    if pool is not None:
        raise TypeError(f"pool is for functions of NumPy: {name} has threads of its own")
    if name == "jax":
        from ._jax import JaxFunctions

        return JaxFunctions(logp, x, vectorized, grad is None)
    from ._torch import TorchFunctions

    return TorchFunctions(logp, x, vectorized, grad is None)


def rows(function: Callable, x: np.ndarray, vectorized: Optional[bool], what: str, most: int = 1000) -> np.ndarray:
    """A function with several values per point, (n, dim) -> (n, m) or (dim,) -> (m,), at all points: (len(x), m)."""
    backend = detect(function, x[0])

    def call(part: np.ndarray) -> np.ndarray:
        try:
            value = function(sys.modules["torch"].tensor(part) if backend == "torch" else part)
            return np.asarray(value.detach().cpu().numpy() if _is_torch(value) else value)
        except Exception as error:
            raise failed(error, part) from error

    if vectorized is None:
        vectorized = _gives_rows(call, x[:2])
    if not vectorized and backend == "jax":
        jax = sys.modules["jax"]
        function, vectorized = jax.jit(jax.vmap(function)), True
    if not vectorized:
        found = [call(point) for point in x]
        return np.stack([numbers(row, found[0].shape, what, point) for row, point in zip(found, x)])
    parts = [x[first:first + most] for first in range(0, len(x), most)]
    found = [call(part) for part in parts]
    width = found[0].shape[1:]
    return np.concatenate([numbers(each, (len(part), *width), what, part) for each, part in zip(found, parts)])


def _gives_rows(call: Callable, two: np.ndarray) -> bool:
    """Whether it takes a batch: a row of values for each of two points."""
    try:
        shape = call(two).shape
    except DensityError:
        return False
    return len(shape) == 2 and shape[0] == len(two)
