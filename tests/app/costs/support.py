"""A net with layers of all sorts, and hands for its table of costs."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

NET = b"""
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } }
  include { phase: TRAIN } }
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } }
  include { phase: TEST } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { name: "w" } param { name: "b" }
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: "twin" type: "Convolution" bottom: "data" top: "twin" param { name: "w" } param { name: "b" }
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: "sum" type: "Eltwise" bottom: "conv" bottom: "twin" top: "sum" }
layer { name: "ip" type: "InnerProduct" bottom: "sum" top: "ip" inner_product_param { num_output: 10 } }
layer { name: "lost" type: "NoSuchType" bottom: "ip" top: "lost" }
"""


def settle(qtbot, panel):
    document = panel.document
    qtbot.waitUntil(lambda: not document.live.busy and not panel._stale, timeout=20_000)


def column(panel, title):
    from app.costs.formats import TITLES

    return TITLES.index(title)


def names(panel):
    return [panel.model.index(row, 0).data() for row in range(panel.model.rowCount())]


def cell(panel, name, title):
    return panel.model.index(names(panel).index(name), column(panel, title)).data()


def click_header(panel, title):
    header = panel.view.header()
    section = column(panel, title)
    at = QPoint(header.sectionViewportPosition(section) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def click_row(panel, name, modifier=Qt.KeyboardModifier.NoModifier):
    rect = panel.view.visualRect(panel.model.index(names(panel).index(name), 0))
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, modifier, rect.center())
