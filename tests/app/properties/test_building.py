"""Pages are built in slices that are not felt, and whole before anybody needs the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from engine.registry import default_registry
from tests.app.properties.nets import LONGEST, TYPES

Make = Callable[[str], Any]
WIDE = ("Convolution", "Pooling", "Data", "ImageData", "WindowData", "InnerProduct", "LSTM")


def _layers() -> str:
    filled = (
        'layer { name: "Filled" type: "Convolution" bottom: "a" top: "b" param { lr_mult: 1 } param { lr_mult: 2 } '
        'include { phase: TRAIN } convolution_param { num_output: 3 weight_filler { type: "msra" } } '
        "transform_param { scale: 2 } mystery: 3 }\n"
    )
    return filled + "".join(f'layer {{ name: "{each}" type: "{each}" bottom: "a" top: "b" }}\n' for each in WIDE)


@pytest.mark.parametrize("name", ["Filled", *WIDE])
def test_the_first_page_of_a_type_is_there_at_once(bench: Make, name: str) -> None:
    assert set(WIDE) <= set(TYPES)
    assert default_registry().schema()  # read once in a session, long before anything is selected
    looks = []
    for _look in range(3):
        net = bench(_layers())
        net.document.schema.describe("LayerParameter")
        net.document.selection.set(net.ids(name))
        begin = time.thread_time()
        net.document.selection.flush()
        selected = time.thread_time() - begin
        slices = []
        while any(form._rest for form in net.panel.page.fields.forms()) or len(slices) < 3:
            begin = time.thread_time()
            QApplication.processEvents()
            slices.append(time.thread_time() - begin)
        looks.append(max(selected, *slices))
    assert min(looks) < LONGEST, f"{name}: {min(looks) * 1e3:.0f} ms at once"


def test_the_rest_comes_by_itself(bench: Make) -> None:
    net = bench(_layers())
    net.select("Convolution")
    form = net.panel.page.fields.forms()[0]
    net.qtbot.waitUntil(lambda: not form._rest)
    names = [part.path[-1] for part in form.parts]
    assert names == [info.name for info in net.document.schema.describe("ConvolutionParameter").fields]


def test_a_search_finds_what_is_not_made_yet(bench: Make) -> None:
    net = bench(_layers())
    net.document.selection.set(net.ids("Convolution"))
    net.document.selection.flush()
    net.panel.search_line.setText("force_nd")
    shown = [part.path[-1] for part in net.panel.page.fields.forms()[0].parts if not part.isHidden()]
    assert shown == ["force_nd_im2col"]


def test_what_is_wrong_is_told_of_rows_that_come_later(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.diagnostics import Diagnostic

    net = bench(_layers())
    last = net.document.schema.describe("ConvolutionParameter").fields[-1].name
    node = net.ids("Convolution")[0]
    found = [Diagnostic("a", "warning", "Too much.", 1, 1, node, ("convolution_param", last))]
    monkeypatch.setattr(type(net.document), "diagnostics", property(lambda self: found))
    net.select("Convolution")
    assert net.row(f"convolution_param.{last}").message.text() == "Too much."
