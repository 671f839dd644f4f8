"""The table of costs of a small net."""

from __future__ import annotations

import pytest

from app.costs import CostPanel
from app.document import Document
from engine.graph import OpGraph, View
from tests.app.costs.support import NET, settle


@pytest.fixture
def document():
    opened = Document(OpGraph.parse(NET))
    yield opened
    opened.close()


@pytest.fixture
def panel(document, qtbot):
    panel = CostPanel(document)
    qtbot.addWidget(panel)
    panel.resize(1000, 320)
    panel.show()
    document.set_view(View("TRAIN"))
    document.live.start()
    qtbot.waitUntil(lambda: bool(document.shapes), timeout=20_000)
    settle(qtbot, panel)
    yield panel
    panel.shutdown()
