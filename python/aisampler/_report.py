"""report.html of a run, for files and notebooks."""

from __future__ import annotations

import ctypes
import os
from typing import Any, List, Optional, Union

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


def make_report(made: Any, target: Any, title: str, seed: int, configuration: List[str],
                path: Union[str, os.PathLike, None]) -> Report:
    """`made` is the library's result, `target` what it was drawn from."""
    lines = (ctypes.c_char_p * (len(configuration) + 1))(*(line.encode() for line in configuration), None)
    page = RunPage(title=title.encode(), seed=seed, target=target, configuration=lines)
    text = _page(made, page)
    if path is not None:
        part = f"{os.fspath(path)}.part"
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    return Report(text, None if path is None else os.fspath(path))
