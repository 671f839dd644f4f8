"""Buttons keep their words: what has no room in a line goes to the next."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from app.pluginpanel.panel import PluginsPanel
from app.widgets.flowrow import FlowRow


@pytest.mark.parametrize(("width", "lines"), [(600, 1), (180, 2), (60, 4)])
def test_buttons_go_to_the_next_line_and_are_never_cut(qtbot, width, lines):
    panel = QWidget()
    qtbot.addWidget(panel)
    row = FlowRow(8)
    box = QVBoxLayout(panel)
    box.setContentsMargins(0, 0, 0, 0)
    box.addLayout(row)
    box.addStretch(1)
    buttons = [QPushButton(text) for text in ("Trust", "Reload", "Code", "Copy")]
    for button in buttons:
        row.addWidget(button)
    hidden = QPushButton("Hidden")
    row.addWidget(hidden)
    hidden.hide()
    panel.resize(width, 400)
    panel.show()
    assert len({button.y() for button in buttons}) == lines
    for button in buttons:
        assert button.width() >= button.sizeHint().width()
    assert row.heightForWidth(width) == buttons[-1].geometry().bottom() + 1
    assert row.takeAt(0).widget() is buttons[0]
    assert row.itemAt(9) is None


def test_with_large_letters_the_buttons_of_the_plugins_are_whole(qtbot):
    font = QApplication.font()
    large = QApplication.font()
    large.setPointSizeF(18.0)
    QApplication.setFont(large)
    try:
        panel = PluginsPanel(None)
        qtbot.addWidget(panel)
        for button in panel._buttons.values():
            button.setVisible(True)
        panel.resize(700, 320)
        panel.show()
        for button in panel._buttons.values():
            button.setVisible(True)
        qtbot.wait(1)
        for button in panel._buttons.values():
            assert button.width() >= button.sizeHint().width(), button.text()
            assert button.parentWidget().rect().contains(button.geometry()), button.text()
    finally:
        QApplication.setFont(font)
