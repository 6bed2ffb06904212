"""Stan programs, their data, and their variables."""

from __future__ import annotations

import ctypes
import math
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._library import OK, Context, Error, Target, lib

Data = Union[Mapping[str, Any], str, os.PathLike, None]


def _plain(name: str, value: Any) -> Any:
    """A value as JSON for Stan has it: numbers and nested lists of them."""
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, pandas' columns
        value = value.tolist()
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"data[{name!r}] has a value that is not finite, {value!r}: leave such observations out")
        return value
    if isinstance(value, (list, tuple, range)):
        return [_plain(name, item) for item in value]
    raise TypeError(f"data[{name!r}] must be a number or an array of numbers, not {value!r}")


def data_text(data: Data) -> Optional[str]:
    """Data as the library takes them: the path of a JSON file, or JSON itself."""
    if data is None or isinstance(data, str):
        return data
    if isinstance(data, os.PathLike):
        return os.fspath(data)
    if not isinstance(data, Mapping):
        raise TypeError(f"data must be a dict of numbers and arrays, or a JSON file, not {data!r}")
    import json

    return json.dumps({str(name): _plain(str(name), value) for name, value in data.items()})


def find_stanli() -> Optional[str]:
    """The library of the stanli that this Python would import; None: the library looks for one itself."""
    if os.environ.get("AISAMPLER_STANLI"):
        return None
    import importlib.util

    spec = importlib.util.find_spec("stanli")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = os.path.join(folder, "_bin", "libstanli.so")
        if os.path.exists(path):
            return path
    return None


def open_stan(model: str, data: Optional[str], start_scale: float) -> Any:
    """A target. Whoever runs it closes it."""
    context, target, stanli = Context(), ctypes.POINTER(Target)(), find_stanli()
    if lib.ais_target_stan(context, model.encode(), None if data is None else data.encode(),
                           None if stanli is None else os.fsencode(stanli), target) != OK:
        raise Error(context.message.decode())
    if start_scale:
        target.contents.start_scale = start_scale
    return target


def variables(names: List[str], draws: np.ndarray) -> Dict[str, np.ndarray]:
    """Name -> chains x draws x dimensions: theta.1, theta.2, ... make up theta. An index stands in the last axes; what is no
    full box of indices stays as it is."""
    groups: Dict[str, List[Tuple[Tuple[int, ...], int]]] = {}
    for column, name in enumerate(names):
        found = re.fullmatch(r"(.*?)((?:\.[0-9]+)+)", name)
        index = tuple(int(part) - 1 for part in found.group(2)[1:].split(".")) if found else ()
        groups.setdefault(found.group(1) if found else name, []).append((index, column))
    made: Dict[str, np.ndarray] = {}
    for name, members in groups.items():
        rank = len(members[0][0])
        extent = tuple(1 + max(index[k] for index, _ in members if len(index) > k) for k in range(rank))
        if len({index for index, _ in members}) != math.prod(extent) or any(len(index) != rank for index, _ in members):
            made.update((names[column], draws[:, :, column]) for _, column in members)
            continue
        whole = np.empty(draws.shape[:2] + extent)
        for index, column in members:
            whole[(..., *index)] = draws[:, :, column]
        made[name] = whole
    return made
