"""Two fingers on a touchpad: they pan, with Ctrl they zoom, and a pinch zooms."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication

from tests.app.canvas.hands import CTRL, NONE

AT = QPoint(420, 260)


def scroll(view, pixels: QPoint, modifiers=NONE) -> None:
    """Move two fingers by so many pixels."""
    event = QWheelEvent(
        QPointF(AT),
        QPointF(view.viewport().mapToGlobal(AT)),
        pixels,
        pixels * 8,
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.ScrollUpdate,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def pinch(view, value: float) -> None:
    """Spread two fingers by a share of the picture."""
    place, glob = QPointF(AT), QPointF(view.viewport().mapToGlobal(AT))
    kind, device = Qt.NativeGestureType.ZoomNativeGesture, QPointingDevice.primaryPointingDevice()
    event = QNativeGestureEvent(kind, device, 2, place, place, glob, value, QPointF())
    QApplication.sendEvent(view.viewport(), event)


def test_two_fingers_pan_and_keep_the_scale(canvas):
    place = canvas.mapToScene(AT)
    scroll(canvas, QPoint(30, -20))
    assert canvas.scale_factor == 1.0
    assert (canvas.mapToScene(AT + QPoint(30, -20)) - place).manhattanLength() < 2


@pytest.mark.parametrize(
    "zoom", [lambda view: scroll(view, QPoint(0, 40), CTRL), lambda view: pinch(view, 0.3)], ids=["ctrl", "pinch"]
)
def test_with_ctrl_or_a_pinch_they_zoom_at_the_pointer(canvas, zoom):
    place = canvas.mapToScene(AT)
    zoom(canvas)
    assert canvas.scale_factor > 1.2
    assert (canvas.mapToScene(AT) - place).manhattanLength() < 2
