"""What a plugin says of its ``param_str`` is checked before anything runs."""

from __future__ import annotations

import pytest

from engine.diagnostics import diagnose
from engine.graph import OpGraph
from engine.plugins.param_schema import read_param_schema

SCHEMAS = {
    ("m", "L"): read_param_schema(
        {"stride": {"type": "int", "max": 64}, "source": {"type": "string", "required": True}}
    )
}


def found(param_str: str, layer: str = "L") -> list[tuple[str, str]]:
    text = f'layer {{ name: "p" type: "Python" python_param {{ module: "m" layer: "{layer}" {param_str} }} }}'
    graph = OpGraph.parse(text.encode())
    told = diagnose(graph, param_schemas=SCHEMAS)
    return [(each.severity, each.message) for each in told if each.code == "param-str"]


@pytest.mark.parametrize(
    ("param_str", "severity", "words"),
    [
        ("", "error", "'source' is missing"),
        ("param_str: \"{'source': 'x', 'stride': 65}\"", "error", "64 or less"),
        ("param_str: '--source x --strid 3'", "warning", "Did you mean 'stride'"),
        (r"param_str: 'source: x\nstride: y'", "error", "whole number"),
    ],
)
def test_what_does_not_fit_is_told_at_the_layer(param_str: str, severity: str, words: str) -> None:
    ((told, message),) = found(param_str)
    assert told == severity and words in message and "'p'" in message


def test_what_fits_and_what_nobody_knows_is_not_told() -> None:
    assert found("param_str: \"'source': 'x'\"") == []
    assert found("param_str: 'some words ('") == []
    assert found("param_str: '{}'", layer="Other") == []
