"""Where the keyboard is can be seen on every kind of widget, in both themes, with a contrast of 3:1."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.theme import Theme
from app.widgets.focusring import FocusRing, FocusRings
from app.window.mainwindow import MainWindow


def luminance(image: np.ndarray) -> np.ndarray:
    """Relative luminance of WCAG 2.1 of each pixel; image of shape (height, width, 3), 0 to 255."""
    parts = image / 255.0
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def picture(widget: QWidget) -> np.ndarray:
    """What is around a widget in its window; shape (height, width, 3), red first."""
    window = widget.window()
    around = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-4, -4, 4, 4)
    image = window.grab(around & window.rect()).toImage().convertToFormat(window.grab().toImage().Format.Format_RGB888)
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return data[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(float)


def changed_pixels(before: np.ndarray, after: np.ndarray) -> int:
    """How many pixels differ by a contrast of at least 3:1."""
    a, b = luminance(before), luminance(after)
    return int(((np.maximum(a, b) + 0.05) / (np.minimum(a, b) + 0.05) >= 3.0).sum())


@pytest.fixture(params=["light", "dark"])
def theme(request):
    Theme.load(request.param).apply(QApplication.instance())
    yield request.param
    Theme.load("light").apply(QApplication.instance())


def make(kind: str, parent: QWidget) -> QWidget:
    if kind == "primary":
        button = QPushButton("Train", parent)
        button.setProperty("primary", True)
        return button
    if kind in ("checked", "raised"):
        button = QToolButton(parent)
        button.setText("All")
        button.setCheckable(kind == "checked")
        button.setChecked(kind == "checked")
        button.setAutoRaise(kind == "raised")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button
    if kind == "tabs":
        bar = QTabBar(parent)
        bar.addTab("One")
        bar.addTab("Two")
        return bar
    if kind == "list":
        view = QListWidget(parent)
        view.addItems(["One", "Two"])
        view.setProperty("flat", True)
        return view
    if kind == "log":
        log = QPlainTextEdit("text", parent)
        log.setReadOnly(True)
        return log
    return {"button": QPushButton, "check": QCheckBox, "line": QLineEdit, "choice": QComboBox}[kind](parent)


@pytest.mark.parametrize(
    "kind", ["button", "primary", "checked", "raised", "tabs", "list", "log", "check", "line", "choice"]
)
def test_the_keyboard_is_seen_on_every_kind(qtbot, theme, kind):
    window = QWidget()
    qtbot.addWidget(window)
    box = QVBoxLayout(window)
    box.setContentsMargins(20, 20, 20, 20)
    other = QLineEdit()
    box.addWidget(other)
    widget = make(kind, window)
    box.addWidget(widget)
    rings = FocusRings(window)
    window.show()
    window.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    before = picture(widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    assert changed_pixels(before, picture(widget)) >= 40
    other.setFocus(Qt.FocusReason.BacktabFocusReason)
    assert changed_pixels(before, picture(widget)) == 0
    rings.deleteLater()


def test_a_click_needs_no_ring_and_takes_it_away(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    box = QVBoxLayout(window)
    first, second = QPushButton("First"), QPushButton("Second")
    box.addWidget(first)
    box.addWidget(second)
    FocusRings(window)
    window.show()
    window.activateWindow()
    first.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(first.hasFocus)
    ring = window.findChild(FocusRing)
    assert ring.isVisible()
    assert ring.geometry().contains(first.geometry())
    qtbot.mousePress(first, Qt.MouseButton.LeftButton)
    assert not ring.isVisible()
    qtbot.mouseRelease(first, Qt.MouseButton.LeftButton)


def test_the_ring_goes_along_and_is_cut_where_its_widget_is(qtbot):
    area = QScrollArea()
    qtbot.addWidget(area)
    inside = QWidget()
    inside.resize(200, 900)
    button = QPushButton("There", inside)
    button.move(20, 100)
    area.setWidget(inside)
    area.resize(220, 300)
    FocusRings(area)
    area.show()
    area.activateWindow()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(button.hasFocus)
    ring = area.findChild(FocusRing)
    top = ring.y()
    area.verticalScrollBar().setValue(50)
    assert ring.y() == top - 50
    area.verticalScrollBar().setValue(600)
    assert not ring.isVisible()
    area.verticalScrollBar().setValue(0)
    assert ring.isVisible()
    button.deleteLater()
    qtbot.wait(1)


def test_in_the_window_a_list_and_a_check_box_are_ringed(window: MainWindow, lenet, qtbot):
    assert window.files.open(lenet)
    window.activateWindow()
    window.show_panel("outline")
    view = window.findChild(QWidget, "outline.view")
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    ring = window.findChild(FocusRing)
    assert ring.isVisible()
    window.canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert not ring.isVisible(), "the canvas has a ring of its own"
