"""Rules about the ``param_str`` of Python layers whose plugin says what it may hold; nothing is run for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.diagnostics.plugins import python_code
from engine.diagnostics.records import Diagnostic
from engine.graph import OpGraph
from engine.param_edit import schema_faults
from engine.param_str import parse_param_str
from engine.prototxt import unquote

if TYPE_CHECKING:
    from engine.plugins.param_schema import ParamStrSchema

__all__ = ["ParamSchemas", "check_param_strs"]

#: What the layers of plugins take, by module and class.
ParamSchemas = Mapping[tuple[str, str], "ParamStrSchema"]

_FIELD = ("python_param", "param_str")


def check_param_strs(graph: OpGraph, schemas: ParamSchemas) -> Iterator[Diagnostic]:
    """Find values that a layer would not take, names it does not know, and what it needs and is not there."""
    if not schemas:
        return
    for node in graph.nodes():
        if node.type != "Python" or node.virtual:
            continue
        schema = schemas.get(python_code(graph, node))
        if schema is None:
            continue
        text = unquote(graph.value(node.id, _FIELD) or '""')
        place = graph.place(node.id, _FIELD if graph.count(node.id, _FIELD) else ("python_param",))
        for key, fault in schema_faults(schema, parse_param_str(text)).items():
            known = schema.field(key) is not None
            message = f"{node.heading}, param_str: {fault}"
            yield Diagnostic("param-str", "error" if known else "warning", message, *place, node.id, _FIELD)
