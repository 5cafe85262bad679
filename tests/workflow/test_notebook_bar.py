"""The progress bar of a notebook: late, drawn seldom, gone at the end."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from dccgcn.workflow import notebook_bar as module
from dccgcn.workflow.notebook_bar import notebook_bar


@pytest.fixture
def drawn(monkeypatch):
    """What a pretended notebook was asked to show, in order."""
    drawn, clock = [], iter(range(0, 100, 1))
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=True)
    display.HTML = str
    display.display = lambda text, display_id: drawn.append(text) or SimpleNamespace(update=drawn.append)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(module, "perf_counter", lambda: next(clock) / 2)
    return drawn


def test_a_bar_is_drawn_after_two_seconds_and_removed(drawn):
    with notebook_bar() as update:
        for step in range(8):
            update("<views>", step, 8)
    assert drawn[0].startswith("<progress value='3' max='8'>")
    assert "&lt;views&gt;, 3 of 8" in drawn[0]
    assert len(drawn) > 2
    assert drawn[-1] == ""


def test_a_short_computation_and_a_script_show_nothing(drawn, monkeypatch):
    with notebook_bar() as update:
        update("views", 1, 2)
    assert drawn == []
    monkeypatch.delitem(sys.modules, "IPython")
    with notebook_bar() as update:
        assert update is None
