"""Priors, bounds and constraints of parameters, as include/aisampler/parameters.h has them.

The library puts them around the density: the user's function sees parameters within their bounds, and draws, tables and
reports are of these. Distributions of SciPy that the library knows are handed over by their numbers; of others, and of
transforms from the unit cube, the quantile function is called.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import DensityError
from ._functions import failed
from ._library import CUBE, KIND_CUBE, OK, Context, Error, Parameter, Target, lib

Bound = Tuple[Optional[float], Optional[float]]
Prior = Union[Mapping[str, Any], Callable]


def _scipy_words(prior: Any) -> Optional[str]:
    """A frozen distribution of scipy.stats as the library's own, where it is one of them."""
    shapes, loc, scale = prior.dist._parse_args(*prior.args, **prior.kwds)
    loc, scale, shapes = float(loc), float(scale), [float(shape) for shape in shapes]
    name = prior.dist.name
    number = lambda *values: ", ".join(repr(value) for value in values)
    if name == "uniform":
        return f"uniform({number(loc, loc + scale)})"
    if name in ("norm", "cauchy"):
        return f"{'normal' if name == 'norm' else 'cauchy'}({number(loc, scale)})"
    if name == "t":
        return f"student({number(shapes[0], loc, scale)})"
    if loc != 0:
        return None
    if name == "lognorm":
        return f"lognormal({number(math.log(scale), shapes[0])})"
    if name in ("halfnorm", "halfcauchy"):
        return f"half_{name[4:] if name == 'halfcauchy' else 'normal'}({number(scale)})"
    if name == "expon":
        return f"exponential({number(1 / scale)})"
    if name == "gamma":
        return f"gamma({number(shapes[0], 1 / scale)})"
    if name == "beta" and scale == 1:
        return f"beta({number(*shapes)})"
    return None


def _parse(name: str, text: str) -> Parameter:
    context, parameter = Context(), Parameter(name=name.encode())
    if lib.ais_parameter_parse(context, text.encode(), parameter) != OK:
        raise ValueError(context.message.decode())
    return parameter


class Parameters:
    """All of them, in the order in which the user's function gets them."""

    def __init__(self, parameters: List[Parameter], names: Optional[Sequence[str]] = None):
        self.error: Optional[DensityError] = None  # of a transform
        self._each, self._names, self._callbacks = parameters, names, []
        self.dim = sum(max(each.count, 1) for each in parameters)

    @classmethod
    def from_bounds(cls, bounds: Sequence[Bound], dim: int, names: Optional[Sequence[str]]) -> Parameters:
        if len(bounds) != dim or any(len(pair) != 2 for pair in bounds):
            raise ValueError(f"bounds must be {dim} pairs (low, high), one for each parameter, not {bounds!r}")
        each = []
        for i, (low, high) in enumerate(bounds):
            name = names[i] if names is not None else f"x.{i + 1}"
            below = low is not None and low != -math.inf
            above = high is not None and high != math.inf
            if (below and above and not low < high) or low != low or high != high:
                raise ValueError(f"bounds of {name}: ({low}, {high}) is not (low, high) with low below high")
            numbers = f"{float(low)!r}" if below else ""
            if above:
                numbers += f"{', ' if below else ''}{float(high)!r}"
            kind = "between" if below and above else "lower" if below else "upper" if above else "real"
            each.append(_parse(name, f"{kind}({numbers})" if numbers else kind))
        return cls(each)

    @classmethod
    def from_prior(cls, prior: Prior, dim: Optional[int], names: Optional[Sequence[str]]) -> Parameters:
        if callable(prior):
            if dim is None:
                raise TypeError("dim is missing: how many parameters the prior has, which is a function of the unit cube")
            made = cls([Parameter(name=b"x", count=dim)], names)
            made._transform(0, prior)
            return made
        if not isinstance(prior, Mapping) or not prior:
            raise TypeError("prior must be a dict of names and priors, {\"mass\": \"uniform(0, 10)\"}, or a function of the "
                            f"unit cube, not {prior!r}")
        if names is not None:
            raise TypeError("names are those of the prior: leave one of them out")
        made = cls([])
        for name, each in prior.items():
            made._add(str(name), each)
        made.dim = sum(max(each.count, 1) for each in made._each)
        if dim is not None and dim != made.dim:
            raise ValueError(f"dim is {dim}, but the prior has {made.dim} parameters: leave dim out")
        return made

    def _add(self, name: str, prior: Any) -> None:
        count = 0
        if isinstance(prior, tuple) and len(prior) == 2 and isinstance(prior[1], int):
            prior, count = prior
        text = prior if isinstance(prior, str) else None
        if text is None and hasattr(prior, "dist") and hasattr(prior, "ppf"):
            text = _scipy_words(prior)
            quantile: Any = prior.ppf
        elif text is None and hasattr(prior, "ppf"):
            quantile = prior.ppf
        elif text is None:
            raise TypeError(f"the prior of {name} must be a string such as \"normal(0, 1)\", a frozen distribution of "
                            f"scipy.stats, or a pair of one of them and a count, not {prior!r}")
        if text is not None:
            self._each.append(_parse(name, text))
        else:
            self._each.append(Parameter(name=name.encode()))
            self._transform(len(self._each) - 1, quantile)
        self._each[-1].count = count

    def _transform(self, k: int, function: Callable) -> None:
        """Parameter k is function(u), u in the unit cube."""
        def call(u: int, theta: int, data: Any) -> None:
            n = max(self._each[k].count, 1)
            cube, place = (np.frombuffer((ctypes.c_double * n).from_address(address)) for address in (u, theta))
            point = cube.copy()
            try:
                place[:] = function(point)
            except Exception as error:  # nothing may pass through C
                self.error = self.error or failed(error, point)
                place[:] = np.nan

        self._callbacks.append(CUBE(call))
        self._each[k].kind = KIND_CUBE
        self._each[k].cube = self._callbacks[-1]

    def around(self, density: Target) -> Target:
        """The density with these around it. It closes itself, and keeps alive what it needs."""
        context, made = Context(), ctypes.POINTER(Target)()
        each = (Parameter * len(self._each))(*self._each)
        if lib.ais_target_with(context, density, each, len(self._each), made) != OK:
            raise ValueError(context.message.decode())
        target = made.contents
        target.keeper = _Keeper(made, (self, density, each))
        if self._names is not None:
            names = (ctypes.c_char_p * self.dim)(*(name.encode() for name in self._names))
            target.names = names
            target.view.contents.names = names
        return target

    def middle(self) -> np.ndarray:
        """A point at which the density may be evaluated: medians of the priors, or between the bounds."""
        target = self.around(Target(name=b"probe", dim=self.dim))
        x, theta, slope = np.zeros(target.dim), np.zeros(self.dim), np.zeros(1)
        target.view.contents.show(1, x.ctypes.data, 0, theta.ctypes.data, slope.ctypes.data, target.data)
        if self.error is not None:
            raise self.error
        return theta


class _Keeper:
    def __init__(self, target: Any, needs: Any):
        self._target, self._needs = target, needs

    def __del__(self) -> None:
        lib.ais_target_close(self._target)


class Summed:
    """A likelihood with a value for each observation, as one that has their sum. Picklable where the function is."""

    def __init__(self, function: Callable):
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, x: Any) -> Any:
        return self._function(x).sum(-1)


def has_observations(likelihood: Callable, x: np.ndarray, vectorized: Optional[bool]) -> bool:
    """Whether it has a row of values per point. What it raises here it will raise again when it is really called."""
    two = np.stack([x, x])
    try:
        found = likelihood(two if vectorized is not False else x)
    except Exception:
        return False
    shape = tuple(getattr(found, "shape", ()))
    return len(shape) == 2 and shape[0] == 2 if vectorized is not False else len(shape) == 1
