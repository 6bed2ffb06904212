"""How far a run is: one line that is renewed in place, in a terminal or in a notebook."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any, Optional

from ._library import ON_DRAW, ON_TRAIN


def _short(value: float) -> str:
    for unit in ("", " k", " M"):
        if value < 999.5:
            return f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.3g} G"


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Terminal:
    every = 0.2

    def show(self, line: str, last: bool) -> None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        except (OSError, ValueError):
            width = 79
        sys.stderr.write(f"\r\x1b[K{line[:width]}" + ("\n" if last else ""))
        sys.stderr.flush()


class _Lines:
    """Not a terminal, but requested."""

    every = 2.0

    def show(self, line: str, last: bool) -> None:
        print(line, file=sys.stderr, flush=True)


class _Notebook:
    every = 0.5

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, line: str, last: bool) -> None:
        from IPython.display import display

        bundle = {"text/plain": line}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _place(wish: Optional[bool]) -> Any:
    if wish is False:
        return None
    if _in_notebook():
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return _Lines() if wish else None


class ProgressLine:
    """The library reports from its own thread; the line is written by the one that waits, which may print."""

    def __init__(self, wish: Optional[bool]):
        self._place = _place(wish)
        self._state = "starting"
        self._before = 0  # evaluations of learning: those of drawing are counted from 0
        self._shown, self._began, self._written = "", time.monotonic(), 0.0
        self.on_train, self.on_draw = ON_TRAIN(self._train), ON_DRAW(self._draw)

    @property
    def wanted(self) -> bool:
        return self._place is not None

    def _train(self, report: Any, data: Any) -> None:
        now = report.contents
        self._before = max(self._before, now.evaluations)
        self._state = f"learning: {now.stage.decode()} {100 * now.share:.0f}%, {_short(now.evaluations)} evaluations"

    def _draw(self, report: Any, data: Any) -> None:
        now = report.contents
        warm = now.warmup_done >= now.warmup
        words = [f"drawing: {now.draws_done} of {now.draws} draws" if warm else f"warm-up: {now.warmup_done} of {now.warmup} steps"]
        words.append(f"{_short(self._before + now.evaluations)} evaluations")
        if not math.isnan(now.effective):
            words.append(f"worst ESS {now.effective:.0f}")
        if warm and not math.isnan(now.seconds_left):
            words.append(f"{_time(now.seconds_left)} left")
        self._state = ", ".join(words)

    def show(self) -> None:
        """Called by the waiting thread, several times per second."""
        elapsed = time.monotonic() - self._began
        if self._place is None or elapsed - self._written < self._place.every:
            return
        self._written, self._shown = elapsed, f"{self._state}, {_time(elapsed)} so far"
        self._place.show(self._shown, False)

    def end(self, words: str) -> None:
        if self._place is not None and (self._shown or isinstance(self._place, _Lines)):
            self._place.show(f"{words}, {_time(time.monotonic() - self._began)}", True)
