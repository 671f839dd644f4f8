"""The gradient of a Python layer is checked from its node's menu, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from app.window.mainwindow import MainWindow
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import input_layer, python_layer

CODE = """
    import caffe
    class Twice(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top): top[0].data[...] = 2 * bottom[0].data
        def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = 2 * top[0].diff
    class Wrong(Twice):
        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = 2 * top[0].diff
            bottom[0].diff[0, 1] += 1
    class Raises(Twice):
        def forward(self, bottom, top): raise ValueError("x7")
"""
RELU = 'layer { name: "relu" type: "ReLU" bottom: "x" top: "r" }\n'


def opened(window: MainWindow, folder: Path, qtbot, cls: str, *, trusted: bool = True) -> QAction | None:
    """Open a net, wait for its shapes, and return the entry of the menu of its last node."""
    write(folder, mod=CODE)
    path = folder / "net.prototxt"
    path.write_text(input_layer("x", 2, 3) + RELU + python_layer("p", cls, "x", "y"))
    if trusted:
        window.settings.trust(folder)
    assert window.files.open(path)
    graph = window.document.graph
    node = graph.named("p")[0].id
    state = "known" if trusted else "unknown"
    qtbot.waitUntil(lambda: node in window.document.shapes, timeout=20000)
    qtbot.waitUntil(lambda: window.document.shapes[node].state == state, timeout=20000)
    return entry(window, "p")


def entry(window: MainWindow, name: str) -> QAction | None:
    window.document.selection.set([window.document.graph.named(name)[0].id])
    found = [each for each in window.canvas.node_menu().actions() if each.text() == "Check gradient"]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("cls", "kind", "said"),
    [
        ("Twice", "info", ["The gradient of 'p' is right."]),
        ("Wrong", "error", ["is not right: bottom 0.", "element (0, 1)"]),
        ("Raises", "error", ["could not be checked", "x7"]),
    ],
)
def test_the_outcome_is_said_in_a_bar(window, tmp_path, qtbot, cls, kind, said) -> None:
    told: list[tuple[str, str]] = []
    action = opened(window, tmp_path, qtbot, cls)
    assert action is not None and action.isEnabled()
    before = window.document.graph.text
    window.canvas.told.connect(lambda *each: told.append(each))
    action.trigger()
    assert told[0][1] == "info" and "Comparing" in told[0][0]
    qtbot.waitUntil(lambda: len(told) == 2, timeout=60000)
    assert told[1][1] == kind and all(each in told[1][0] for each in said)
    assert window.document.graph.text == before


def test_built_in_layers_do_not_have_it(window, tmp_path, qtbot) -> None:
    opened(window, tmp_path, qtbot, "Twice")
    assert entry(window, "relu") is None


def test_without_trust_it_says_why_not(window, tmp_path, qtbot) -> None:
    action = opened(window, tmp_path, qtbot, "Twice", trusted=False)
    assert action is not None and not action.isEnabled() and "trusted" in action.toolTip()


def test_closing_the_document_ends_a_check(window, tmp_path, qtbot) -> None:
    write(tmp_path, mod=CODE)
    action = opened(window, tmp_path, qtbot, "Twice")
    assert action is not None
    (tmp_path / "mod.py").write_text((tmp_path / "mod.py").read_text().replace("= 2 * bottom[0].data", "= [][0]\n"))
    action.trigger()
    assert window.document.live.gradients.busy
    window.document.close()
