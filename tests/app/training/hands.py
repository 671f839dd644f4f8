"""Clicks and looks at the training panel."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.training import TrainingPanel
from tests.app.training.conftest import PATIENCE, wait_for_state


def button(panel: TrainingPanel, name: str) -> QPushButton:
    found = panel.findChild(QPushButton, f"training.{name}")
    assert isinstance(found, QPushButton), f"no button '{name}'"
    return found


def click(qtbot: QtBot, panel: TrainingPanel, name: str) -> None:
    assert button(panel, name).isEnabled(), button(panel, name).toolTip()
    qtbot.mouseClick(button(panel, name), Qt.MouseButton.LeftButton)


def text_of(panel: TrainingPanel, name: str) -> str:
    label = panel.findChild(QLabel, f"training.{name}")
    assert isinstance(label, QLabel)
    return label.text()


def train(qtbot: QtBot, panel: TrainingPanel) -> None:
    click(qtbot, panel, "train_button")
    wait_for_state(qtbot, panel, "running")
    qtbot.waitUntil(lambda: panel.model.iteration > 0, timeout=PATIENCE)
