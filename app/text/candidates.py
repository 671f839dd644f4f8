"""What could be typed at a place: fields of the message, words of an enum, layer types, blobs, and so on."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from app.palette.fuzzy import match_text
from app.palette.starters import starter_fields, works_in_place
from app.properties.editors.choices import known_spellings
from app.properties.sharing import shared_names
from app.text.context import Context
from app.text.snippets import slot
from engine.graph import OpGraph
from engine.schema import FieldInfo, MessageInfo, Schema

if TYPE_CHECKING:
    from engine.registry import LayerInfo, LayerRegistry

__all__ = ["Candidate", "Source", "candidates", "field_at", "ranked"]

_MOST, _FEW = 200, 1500
_OLD = ("V1LayerParameter", "V0LayerParameter")


class Source(Protocol):
    """What is edited as text: a net, or a solver."""

    @property
    def graph(self) -> OpGraph: ...
    @property
    def schema(self) -> Schema: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could be typed.

    Attributes
    ----------
    text : str
        What it is called in the list.
    insert : str or callable
        What is written, or what makes it: tabs for levels of indentation, :func:`~app.text.snippets.slot` for what is
        filled in then.
    detail : str
        What kind it is, in a word or two.
    doc : str
        What it means.
    rank : int
        Less comes first.
    """

    text: str
    insert: str | Callable[[], str] = dataclasses.field(compare=False)
    detail: str = ""
    doc: str = ""
    rank: int = 0


def candidates(
    context: Context, source: Source, root: str, registry: LayerRegistry | None, line: int
) -> Sequence[Candidate]:
    """Return what fits at a place, whatever is typed of it, blobs apart; :func:`ranked` orders it.

    Parameters
    ----------
    root : str
        Type of the whole text: ``NetParameter`` or ``SolverParameter``.
    registry : LayerRegistry or None
        The layer types there are.
    line : int
        The 0-based line: blobs of layers above it come first.
    """
    schema, message = _message(context, source.schema, root)
    if message is None:
        return ()
    if context.field:
        info = message.field(context.field)
        return tuple(_values(context, source.graph, registry, message, info, line))
    return tuple(_fields(context, schema, message, source.graph, registry))


def field_at(context: Context, name: str, schema: Schema, root: str) -> FieldInfo | None:
    """Return what is known of a field named at a place, or None."""
    message = _message(context, schema, root)[1]
    return message.field(name) if message is not None else None


def _message(context: Context, schema: Schema, root: str) -> tuple[Schema, MessageInfo | None]:
    """Return the message that a place is in, and the schema that counts for its layer."""
    if context.path and context.path[0] == "layer":
        schema = schema.for_layer(context.value_of("type"))
    message: MessageInfo | None = schema.describe(root)
    for name in context.path:
        field = message.field(name) if message is not None else None
        if field is None or field.message_type is None:
            return schema, None
        message = schema.describe(field.message_type)
    return schema, message


def ranked(found: Sequence[Candidate], prefix: str) -> list[Candidate]:
    """Return what fits what is typed, best first."""
    scored = []
    wanted = prefix.lower()
    if len(found) > _FEW:  # letters apart are looked for in short lists only
        found = [each for each in found if wanted in each.text.lower()]
    for place, each in enumerate(found[:_FEW]):
        match = match_text(prefix, each.text)
        if match is not None:
            scored.append((-match[0] if prefix else 0.0, each.rank, place, each))
    scored.sort(key=lambda item: (item[1] > 9, *item[:3]))
    return [item[3] for item in scored[:_MOST]]


# Names of fields


def _fields(
    context: Context, schema: Schema, message: MessageInfo, graph: OpGraph, registry: LayerRegistry | None
) -> Iterator[Candidate]:
    have = {each.name for each in context.given}
    own: Sequence[str] = ()
    kind = context.value_of("type")
    if message.name == "LayerParameter":
        own = schema.param_fields_for(kind)
    for field in message.fields:
        if field.name in have and not field.repeated:
            continue
        rank = 1 + (2 if field.deprecated else 0)
        if field.name.endswith("_param") and message.name in ("LayerParameter", *_OLD):
            rank = 0 if field.name in own else 2
            if own and field.name not in own and field.name not in ("transform_param", "loss_param"):
                rank = 3
        yield Candidate(field.name, _field_text(field), _kind_of(field), field.doc, rank)
    if message.name == "NetParameter" and registry is not None:
        for info in registry.infos():
            yield Candidate(f"layer {info.type}", partial(_snippet, info, graph), "new layer", info.summary, 10)


def _field_text(field: FieldInfo) -> str:
    if field.kind == "message":
        return f"{field.name} {{\n\t{slot()}\n}}"
    if field.kind in ("string", "bytes"):
        return f'{field.name}: "{slot()}"'
    return f"{field.name}: {slot()}"


def _kind_of(field: FieldInfo) -> str:
    kind = field.message_type if field.kind == "message" else field.kind
    return f"{kind or ''}{'[]' if field.repeated else ''}"


def _snippet(info: LayerInfo, graph: OpGraph) -> str:
    """Return the text of a whole layer; the places to fill in are marked."""
    name = graph.fresh_layer_name(info.type)
    above = _last_top(graph)
    lines = ["layer {", f'\tname: "{slot(name)}"', f'\ttype: "{info.type}"']
    bottoms = [above if place == 0 and above else "" for place in range(max(info.min_bottoms, 0))]
    lines += [f'\tbottom: "{slot(bottom)}"' for bottom in bottoms]
    in_place = works_in_place(info.type) and bool(above)
    lines += [f'\ttop: "{slot(above if in_place and not place else name)}"' for place in range(max(info.min_tops, 0))]
    for each in (starter_fields(info.type) or "").strip().splitlines():
        lines += _spread(each)
    return "\n".join([*lines, "}"])


def _spread(text: str) -> list[str]:
    """Write fields that stand in one line as lines of their own, indented by their brackets."""
    lines, depth = [], 1
    for token in re.findall(r"""[\w.]+\s*\{|[\w.]+\s*:\s*(?:"[^"]*"|[^\s{}]+)|\}""", text):
        depth -= token == "}"
        lines.append("\t" * depth + re.sub(r"\s*\{$", " {", token))
        depth += token.endswith("{")
    return lines


def _last_top(graph: OpGraph) -> str:
    tops = next((node.tops for node in reversed(graph.nodes()) if node.tops), ())
    return tops[0] if tops else ""


# Values


def _values(
    context: Context,
    graph: OpGraph,
    registry: LayerRegistry | None,
    message: MessageInfo,
    info: FieldInfo | None,
    line: int,
) -> Iterator[Candidate]:
    quote = "" if context.quote else '"'
    if message.name in ("LayerParameter", *_OLD) and context.field in ("bottom", "top", "name"):
        yield from _names(context, graph, quote, line)
    elif (message.name, context.field) in (("ParamSpec", "name"), ("V1LayerParameter", "param")):
        for name, layers in shared_names(graph).items():
            yield Candidate(name, f"{quote}{name}{quote}", f"of {layers[0]}", "A parameter of " + ", ".join(layers[:9]))
    elif message.name == "LayerParameter" and context.field == "type" and registry is not None:
        for each in registry.infos():
            yield Candidate(each.type, f"{quote}{each.type}{quote}", each.category, each.summary)
    elif info is not None and info.kind == "enum":
        for choice in info.choices:
            is_default = choice.name == info.default_text
            yield Candidate(choice.name, choice.name, "default" if is_default else "", choice.doc or info.doc)
    elif info is not None and info.kind == "bool":
        for word in ("true", "false"):
            yield Candidate(word, word, "default" if word == info.default_text else "", info.doc)
    elif info is not None:
        for word in known_spellings(message.name, info.name):
            is_default = f'"{word}"' == info.default_text
            yield Candidate(word, f"{quote}{word}{quote}", "default" if is_default else "", info.doc)


def _names(context: Context, graph: OpGraph, quote: str, line: int) -> Iterator[Candidate]:
    """Blobs for a bottom, those made above first, the newest first of all; for a top what works in place."""
    if context.field == "name":
        kind = context.value_of("type")
        if kind:
            name = graph.fresh_layer_name(kind)
            yield Candidate(name, f"{quote}{name}{quote}", "free name")
        return
    if context.field == "top":
        own = context.value_of("name")
        bottoms = [each.value.strip("\"'") for each in context.outer if each.name == "bottom"]
        for blob, detail in ((own, "like the layer"), *((each, "in place") for each in bottoms)):
            if blob:
                yield Candidate(blob, f"{quote}{blob}{quote}", detail)
        return
    seen: set[str] = {each.value.strip("\"'") for each in context.given if each.name == "bottom"}
    own, wanted, left = context.value_of("name"), context.prefix.lower(), _MOST
    nodes = graph.nodes()
    split = bisect_left(nodes, line + 1, key=lambda node: node.line)
    for found, rank in ((reversed(nodes[:split]), 0), (iter(nodes[split:]), 1)):
        for node in found:
            for top in node.tops:
                if top in seen or wanted not in top.lower() or (rank == 0 and node.name == own):
                    continue
                seen.add(top)
                made = f"made by {node.name}" if rank == 0 else f"made below, by {node.name}"
                yield Candidate(top, f"{quote}{top}{quote}", made, rank=rank)
                left -= 1
                if not left:
                    return
