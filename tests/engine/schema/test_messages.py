"""Messages that a layer makes and reads, of types that its plugin may have declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError
from engine.layer import Phase
from engine.net import Net

NET = 'layer { name: "x" type: "Permute" bottom: "in" top: "out" } input: "in" input_dim: [1, 1, 1, 1]'


@pytest.fixture
def layer() -> Any:
    return Net(NET, Phase.TEST).layer("x")


def test_a_layer_makes_messages_of_its_plugins(layer: Any) -> None:
    message = layer.message("AnnotatedDatum")
    message.datum.label = 3
    again = layer.message("AnnotatedDatum")
    again.ParseFromString(message.SerializeToString())
    assert again.datum.label == 3


def test_a_layer_reads_a_message_from_a_text_file(layer: Any, tmp_path: Path) -> None:
    path = tmp_path / "labels.prototxt"
    path.write_text('item { name: "cat" label: 1 }', encoding="utf-8")
    assert layer.read_message("LabelMap", path).item[0].name == "cat"


@pytest.mark.parametrize(
    ("text", "expected"), [(None, "No such file"), ("item { nme: 'cat' }", '1:8.*"nme"'), ("\udcff", "utf-8")]
)
def test_a_file_that_is_no_such_message_is_refused(layer: Any, tmp_path: Path, text: str | None, expected: str) -> None:
    path = tmp_path / "labels.prototxt"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=f"labels.prototxt': expected a LabelMap as text.*{expected}"):
        layer.read_message("LabelMap", path)


def test_a_type_that_nobody_declares_is_refused(layer: Any) -> None:
    with pytest.raises(DataError, match="'Nonsense' is not known.*Declare it"):
        layer.message("Nonsense")
