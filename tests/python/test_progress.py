"""The line that says how far a run is."""

import io
import sys
import types

import aisampler
from densities import logp


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slowly(x):
    import time

    time.sleep(0.002)
    return logp(x)


def said(monkeypatch, stream, **arguments):
    monkeypatch.setattr(sys, "stderr", stream)
    aisampler.sample(slowly, 2, draws=300, **arguments)
    return stream.getvalue()


def test_a_terminal_has_one_line_that_is_renewed(monkeypatch):
    text = said(monkeypatch, Terminal())
    assert text.count("\n") == 1 and text.count("\r\x1b[K") > 3
    assert "learning: " in text and "drawing: " in text and "evaluations" in text
    assert text.split("\r\x1b[K")[-1].startswith("done: 16 x 300 draws")


def test_elsewhere_it_is_silent_unless_asked(monkeypatch):
    assert said(monkeypatch, io.StringIO()) == ""
    assert said(monkeypatch, Terminal(), progress=False) == ""
    text = said(monkeypatch, io.StringIO(), progress=True)
    assert "\r" not in text and text.splitlines()[-1].startswith("done: ")


def test_a_notebook_has_a_display_that_is_renewed(monkeypatch):
    shown = []

    class Handle:
        def update(self, bundle, raw):
            shown.append(bundle["text/plain"])

    def display(bundle, raw, display_id):
        shown.append(bundle["text/plain"])
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    assert said(monkeypatch, io.StringIO()) == ""
    assert len(shown) >= 2 and shown[-1].startswith("done: 16 x 300 draws")


def test_draws_are_the_same_with_it():
    import numpy as np

    quiet, loud = (aisampler.sample(logp, 2, draws=50, progress=progress) for progress in (False, True))
    np.testing.assert_array_equal(quiet.draws, loud.draws)
