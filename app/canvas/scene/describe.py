"""From the document's facts about a node to what the node shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from app.canvas.scene.face import Face, Port
from app.live.shapes import ABOUT, shape_text
from app.theme import Theme
from engine.errors import NetcanvasError
from engine.prototxt import Message, Scalar, parse

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Node, OpGraph
    from engine.registry import LayerInfo
    from engine.shapes import NodeShapes

__all__ = ["count_text", "describe"]

_MOST_PARAMS = 3
_OLDEST = 0  # version of the format in which a layer's settings stand in one block with other names
_GENERIC = ("bottom", "top")
_UNITS = ((1e6, "k"), (1e9, "M"), (1e12, "G"), (1e15, "T"))  # up to which count each is used
#: Settings that say little of what a layer does; its panel has them.
_MINOR = frozenset({"backend", "rand_skip", "prefetch", "cache", "engine"})


def describe(document: Document, node: Node) -> Face:
    """Return what the canvas shows of a node."""
    plugins = document.live.plugins
    info = plugins.info_of(node)
    shapes = document.shapes.get(node.id)
    in_place = bool(node.bottoms) and bool(node.tops) and node.bottoms[0] == node.tops[0]
    inputs = _inputs(node, info)
    chip = in_place and len(inputs) == 1 and len(node.tops) == 1
    severity, problems = document.problems_of(node.id)
    phases = {str(phase) for phase in node.phases}
    phase = next(iter(phases)) if len(phases) == 1 else ""
    bypassed = document.graph.is_bypassed(node.id)
    return Face(
        title=node.name or "(no name)",
        type=node.type or "(no type)",
        category=Theme.current().category_key(info.category if info else "other"),
        inputs=inputs,
        outputs=_outputs(node, info, shapes),
        params=() if chip else key_params(document, node, info),
        phase=phase,
        chip=chip,
        severity=severity,
        problems=problems,
        size_text="assumed" if _is_assumed(node, shapes) else _size_text(shapes),
        ghost=not bypassed and not document.in_view(node.id),
        bypassed=bypassed,
        frozen=document.graph.is_frozen(node.id),
        code=plugins.code_state(node),
        picture=plugins.picture_of(info),
        summary=info.summary if info else "",
        reason=shapes.reason if shapes is not None and shapes.state == "unknown" else "",
    )


def count_text(count: int) -> str:
    """Write a large count in three figures: 500, 25.1 k, 1.26 M, 2.79 T."""
    if count < 10_000:
        return f"{count:,}".replace(",", "\u202f")
    limit, unit = next((each for each in _UNITS if count < each[0] * 0.9995), _UNITS[-1])
    return f"{count / limit * 1e3:.3g}\u202f{unit}"


def _inputs(node: Node, info: LayerInfo | None) -> tuple[Port, ...]:
    ports = [Port(_port_name(info, index, True), blob) for index, blob in enumerate(node.bottoms)]
    if info is not None:
        # Ports that could still be wired: all that are required, and one more where any number may come.
        wanted = max(info.min_bottoms, 0)
        if info.max_bottoms is None and not info.paired:
            wanted = max(wanted, len(ports) + 1)
        while len(ports) < wanted:
            ports.append(Port(_port_name(info, len(ports), True) or "input", ""))
    return tuple(ports)


def _outputs(node: Node, info: LayerInfo | None, shapes: NodeShapes | None) -> tuple[Port, ...]:
    known = shapes.tops if shapes is not None and (shapes.state != "unknown" or shapes.assumed) else ()
    about = ABOUT if shapes is not None and shapes.assumed else ""
    return tuple(
        Port(
            _port_name(info, index, False) if len(node.tops) > 1 else "",
            blob,
            _known_text(known, index, about),
        )
        for index, blob in enumerate(node.tops)
    )


def _known_text(shapes: Sequence[tuple[int, ...] | None], index: int, about: str) -> str:
    shape = shapes[index] if index < len(shapes) else None
    return "" if shape is None else f"{about}{shape_text(shape)}"


def _port_name(info: LayerInfo | None, index: int, bottom: bool) -> str:
    if info is None:
        return ""
    name = info.bottom_name(index) if bottom else info.top_name(index)
    return "" if name.split(" ")[0] in _GENERIC else name


def _is_assumed(node: Node, shapes: NodeShapes | None) -> bool:
    """Whether something is assumed of what the layer itself gives, and not only of what it reads."""
    given = shapes is not None and shapes.assumed in node.tops
    return shapes is not None and given and (shapes.absent or shapes.assumed not in node.bottoms)


def _size_text(shapes: NodeShapes | None) -> str:
    if shapes is None or not shapes.params:
        return ""
    total = sum(math.prod(shape) for shape in shapes.params)
    return f"{count_text(total)} params" if total else ""


def key_params(document: Document, node: Node, info: LayerInfo | None) -> tuple[tuple[str, str], ...]:
    """Return the first scalar parameters as written, from the layer's own message."""
    names = [info.param_field] if info is not None and info.param_field else []
    if node.type == "Data" or not names:
        names = [f"{node.type.lower()}_param", *names]
    if node.version == _OLDEST and not node.virtual:
        return _rows_of_old(document.graph, node, names)
    for name in dict.fromkeys(names):
        message = document.graph.field(node.id, (name,))
        if isinstance(message, Message):
            return tuple(_rows(message))
    return ()


def _rows_of_old(graph: OpGraph, node: Node, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the same of a layer of an old format: what its fields are called today, in the order of the schema."""
    from engine.schema import to_text

    try:
        layer = graph.layer_message(node.id)
    except NetcanvasError:
        return ()  # the problems list says what is wrong
    for name in dict.fromkeys(names):
        if name in layer.DESCRIPTOR.fields_by_name and layer.HasField(name):
            return tuple(_rows(parse(to_text(getattr(layer, name))).root))
    return ()


def _rows(message: Message) -> Sequence[tuple[str, str]]:
    rows: dict[str, str] = {}
    for field in message:
        value = field.value
        if not isinstance(value, Scalar) or field.name in _MINOR:
            continue
        text = value.as_str() if value.kind == "string" else value.text
        if value.kind == "string" and "/" in text:
            text = PurePath(text).name or text
        text = " ".join(text.split())
        if field.name in rows:
            rows[field.name] += f"\u00d7{text}"
        elif len(rows) < _MOST_PARAMS:
            rows[field.name] = text
    return list(rows.items())
