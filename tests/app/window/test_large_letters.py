"""With the large letters that a system may ask for, nothing in the panels is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from app.properties.section import SectionHeader
from app.window.mainwindow import MainWindow

DOCKS = ("palette", "outline", "history", "properties", "solver", "training", "problems", "costs", "plugins")


@pytest.fixture(params=[14.0, 18.0], autouse=True)
def large_letters(request, dressed_app: QApplication) -> Iterator[float]:
    """Before the window is made, as at its start."""
    plain = QApplication.font()
    large = QApplication.font()
    large.setPointSizeF(request.param)
    QApplication.setFont(large)
    yield request.param
    QApplication.setFont(plain)


def cut_in(root: QWidget) -> Iterator[str]:
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or not widget.visibleRegion().boundingRect().isValid():
            continue
        name, wanted = widget.objectName() or type(widget).__name__, widget.sizeHint()
        line = QFontMetrics(widget.font()).height()
        if isinstance(widget, QPushButton | QCheckBox) and widget.text() and widget.width() < wanted.width() - 2:
            yield f"{name} '{widget.text()}' is {widget.width()} wide, and needs {wanted.width()}"
        if isinstance(widget, QLineEdit | QComboBox | SectionHeader | QPushButton | QToolButton | QLabel):
            text = getattr(widget, "text", getattr(widget, "currentText", str))()
            if text and widget.height() < line - 1 and widget.parentWidget().objectName()[-7:] != ".search":
                yield f"{name} '{text}' is {widget.height()} high, and a line {line}"
        if isinstance(widget, QAbstractItemView) and widget.model() is not None and widget.model().rowCount():
            height = widget.visualRect(widget.model().index(0, 0)).height()
            if 0 < height < line - 1:
                yield f"rows of {name} are {height} high, and a line {line}"


def test_nothing_is_cut(window: MainWindow, lenet, qtbot):
    assert window.files.open(lenet)
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.document.selection.flush()
    window.notify("Something was done.", "warning", [("Take it back", lambda: None)])
    window.canvas.show_heat("parameters")
    for dock in DOCKS:
        window.show_panel(dock)
        qtbot.wait(5)
        faults = sorted(set(cut_in(window._docks.docks[dock])))
        assert not faults, "\n".join([dock, *faults])
    faults = sorted(set(cut_in(window.tabs)))
    assert not faults, "\n".join(faults)
    legend = window.canvas.legend
    assert legend.width() >= QFontMetrics(legend.font()).horizontalAdvance("".join(legend.texts[:2])) + 24
