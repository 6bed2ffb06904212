"""report.html of a run, for files and notebooks."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, List, Mapping, Optional, Union

import numpy as np

from ._library import OK, Context, Error, RunPage, lib

_libc = ctypes.CDLL(None)
_libc.fopen.restype, _libc.fopen.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_char_p)
_libc.fclose.restype, _libc.fclose.argtypes = ctypes.c_int, (ctypes.c_void_p,)


class Report:
    """The page: verdict, numbers, table, figures. In a notebook it shows itself; ``html`` is its text."""

    def __init__(self, text: str, path: Optional[str]):
        self.html, self.path = text, path

    def _repr_html_(self) -> str:
        import html

        # In a frame of its own: its style is for a whole page.
        return f'<iframe style="width:100%;height:700px;border:0" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        where = f"in {self.path}" if self.path else "in memory: report(path) writes it"
        return f"<aisampler report of {len(self.html)} characters, {where}>"


def _page(made: Any, page: RunPage) -> str:
    import tempfile

    folder = tempfile.mkdtemp(prefix="aisampler-")
    path = os.path.join(folder, "report.html")
    try:
        context, file = Context(), _libc.fopen(os.fsencode(path), b"w")
        if not file:
            raise OSError(f"cannot write {path}")
        status = lib.ais_run_html(context, made, page, file)
        if _libc.fclose(file) != 0 and status == OK:
            raise OSError(f"cannot write {path}: is the disk full?")
        if status != OK:
            raise Error(context.message.decode())
        with open(path, encoding="utf-8") as whole:
            return whole.read()
    finally:
        if os.path.exists(path):
            os.remove(path)
        os.rmdir(folder)


def _unknown(name: str, names: List[str]) -> ValueError:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"
    return ValueError(f"there is no parameter {name!r}; {hint}")


def _places(name: str, names: List[str]) -> List[int]:
    """Of a parameter; those of x.1, x.2, ... for x."""
    if name in names:
        return [names.index(name)]
    found = [i for i, known in enumerate(names) if known.startswith(f"{name}.")]
    if not found:
        raise _unknown(name, names)
    return found


def shown(parameters: Union[str, Iterable[str], None], names: List[str]) -> List[int]:
    """Which parameters figures show."""
    if parameters is None:
        return []
    chosen = [parameters] if isinstance(parameters, str) else list(parameters)
    if not chosen:
        raise ValueError("parameters is empty: name those that the figures are to show, or leave it out")
    return [i for name in chosen for i in _places(name, names)]


def true_values(truth: Optional[Mapping[str, Any]], names: List[str]) -> Optional[np.ndarray]:
    """A value for every parameter, NaN where it is not known. Values of an array are those of x.1, x.2, ..., or x.1.1, x.1.2, ..."""
    if truth is None:
        return None
    values = np.full(len(names), np.nan)
    for name, given in truth.items():
        array = np.asarray(given, dtype=float)
        if not np.isfinite(array).all():
            raise ValueError(f"the true value of {name} must be finite, not {given}")
        for index in np.ndindex(array.shape):
            element = ".".join([name, *(str(i + 1) for i in index)])
            if element not in names:
                raise _unknown(element, names)
            values[names.index(element)] = array[index]
    return values


def make_report(made: Any, target: Any, title: str, seed: int, configuration: List[str], path: Union[str, os.PathLike, None],
                parameters: List[int], truth: Optional[np.ndarray]) -> Report:
    """`made` is the library's result, `target` what it was drawn from."""
    lines = (ctypes.c_char_p * (len(configuration) + 1))(*(line.encode() for line in configuration), None)
    page = RunPage(title=title.encode(), seed=seed, target=target, configuration=lines)
    if parameters:
        page.parameter, page.parameters = (ctypes.c_int * len(parameters))(*parameters), len(parameters)
    if truth is not None:
        page.truth = truth.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    text = _page(made, page)
    if path is not None:
        part = f"{os.fspath(path)}.part"
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    return Report(text, None if path is None else os.fspath(path))
