from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.properties.forms import MessageForm, NestedMessage, RepeatedMessages
from app.properties.section import Section
from app.properties.target import LayerTarget
from engine.schema import load_schema
from tests.app.properties.nets import TYPES

SCHEMA = load_schema()
LAYER = SCHEMA.describe("LayerParameter")
PARAM_FIELDS = [field for field in LAYER.fields if field.name.endswith("_param")]


def open_all(widget: QWidget) -> int:
    count = 0
    for form in widget.findChildren(MessageForm):
        form.complete()
    for section in widget.findChildren(Section):
        if not section.is_open:
            section.set_open(True)
            count += 1
    return count


@pytest.mark.parametrize("layer_type", TYPES)
def test_every_layer_type_has_a_form(bench: Callable[[str], Any], layer_type: str) -> None:
    net = bench(f'layer {{ name: "x" type: "{layer_type}" bottom: "a" top: "b" }}\n')
    net.select("x")
    while open_all(net.panel.page):
        pass
    own = SCHEMA.param_fields_for(layer_type)
    titles = [section.header.text() for section in net.panel.page.sections]
    assert len(titles) == len(set(titles))
    for name in own:
        for field in SCHEMA.describe(LAYER.field(name).message_type).fields:  # type: ignore[union-attr, arg-type]
            if not (field.repeated and field.kind == "message"):
                net.find(f"{name}.{field.name}")
    assert net.text.encode() == net.before
    assert net.document.undo_stack.count() == 0


@pytest.mark.parametrize("message", SCHEMA.message_names)
def test_every_message_has_a_form(qtbot: QtBot, bench: Callable[[str], Any], message: str) -> None:
    net = bench('layer { name: "x" type: "ReLU" }\n')
    target = LayerTarget(net.document, net.ids("x"))
    info = SCHEMA.describe(message)
    form = MessageForm(target, message, info.fields, ("nothing_here",))
    qtbot.addWidget(form)
    form.show()
    form.complete()
    rounds = 0
    while open_all(form) and rounds < 4:
        rounds += 1
    assert len(form.parts) == len(info.fields)
    for part, field in zip(form.parts, info.fields, strict=True):
        is_message = isinstance(part, NestedMessage | RepeatedMessages)
        assert is_message <= (field.kind == "message")


@pytest.mark.parametrize("field", PARAM_FIELDS, ids=lambda field: field.name)
def test_every_parameter_message_shows_where_it_is_present(bench: Callable[[str], Any], field: Any) -> None:
    net = bench(f'layer {{ name: "x" type: "NoSuchType" {field.name} {{ }} }}\n')
    net.select("x")
    titles = {group.base for group in net.panel.page.groups}
    assert (field.name,) in titles
