"""Nothing that is written is cut, in any panel, at three sizes of the window and in both themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.theme import Theme
from app.widgets.elidedlabel import ElidedLabel
from app.window.docks.docks import PANELS

SIZES = [(900, 600), (1280, 800), (1600, 1000)]
LAYERS = ["conv1", "mnist", "pool2", "loss"]


def written(panel: QWidget) -> Iterator[QLabel | QAbstractButton]:
    for kind in (QLabel, QPushButton, QCheckBox):
        for widget in panel.findChildren(kind):
            if widget.text() and widget.isVisible() and not widget.visibleRegion().isEmpty():
                yield widget


def cut(widget: QLabel | QAbstractButton, panel: QWidget) -> str:
    """Say how a text is cut; empty where it is whole, or shortened with a sign and told in a tooltip."""
    if isinstance(widget, ElidedLabel):
        return ""
    left = widget.mapTo(panel, QPoint(0, 0)).x()
    if left < 0 or left + widget.width() > panel.width():
        return f"stands at {left} to {left + widget.width()} of {panel.width()}"
    if isinstance(widget, QLabel) and widget.wordWrap():
        margins = widget.contentsMargins()
        needed = widget.heightForWidth(widget.width()) - margins.top() - margins.bottom()
        return f"is {widget.height()} high and needs {needed}" if widget.height() < needed else ""
    needed_size = widget.sizeHint()
    if widget.width() < needed_size.width():
        return f"is {widget.width()} wide and needs {needed_size.width()}"
    line = widget.fontMetrics().height()
    return f"is {widget.height()} high, a line {line}" if widget.height() < line else ""


def faults_in(panel: QWidget) -> list[str]:
    return [
        f"{type(widget).__name__} '{widget.text()[:40]}' {how}"
        for widget in written(panel)
        if (how := cut(widget, panel))
    ]


def lasting_faults(panel: QWidget, qtbot) -> list[str]:
    """Return what is cut when all has found its place."""
    for _look in range(30):
        faults = faults_in(panel)
        if not faults:
            break
        qtbot.wait(50)
    return faults


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_text_is_cut_in_any_panel(window, resized, lenet, qtbot, theme):
    Theme.load(theme).apply(QApplication.instance())
    window.files.open(lenet)
    faults = []
    for size in SIZES:
        resized(size)
        for spec in PANELS:
            window.show_panel(spec.name)
            panel = window.panels[spec.name]
            assert not panel.visibleRegion().isEmpty(), spec.name
            faults += [f"{size} {spec.name}: {fault}" for fault in lasting_faults(panel, qtbot)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", LAYERS)
def test_the_fields_of_a_layer_are_as_wide_as_the_panel(window, resized, lenet, qtbot, still, name):
    window.files.open(lenet)
    resized(SIZES[0])
    panel = window.panels["properties"]
    window.document.selection.set([window.document.graph.named(name)[0].id])
    window.document.selection.flush()
    qtbot.waitUntil(lambda: any(each.text() == name for each in panel.findChildren(QLineEdit)), timeout=5000)
    still(panel)
    for area in panel.findChildren(QScrollArea):
        if area.isVisible() and area.widget() is not None:
            assert area.widget().width() <= area.viewport().width()
    faults = lasting_faults(panel, qtbot)
    assert not faults, "\n".join(faults)


def test_a_cut_text_would_be_found(qtbot):
    panel = QWidget()
    qtbot.addWidget(panel)
    label = QLabel("A few words that need their room", panel)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.resize(40, 20)
    panel.resize(200, 40)
    panel.show()
    assert faults_in(panel)
    label.resize(label.sizeHint())
    panel.resize(label.width(), 40)
    assert not faults_in(panel)
