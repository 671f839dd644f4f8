"""Files of old formats as text of today.

Layers of an old format are printed anew, with their comments and with values as they were written; so are a net's own
inputs, which become a layer. All else stays as it is, byte for byte.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from engine.errors import PrototxtError, SchemaError
from engine.prototxt import Element, Field, ListValue, Message, Scalar, Tree, parse, style_of
from engine.schema.catalogue import load_schema
from engine.schema.convert import to_message
from engine.schema.text import quote
from engine.schema.upgrade.blocks import input_layer, still_statistics, upgrade_entries
from engine.schema.upgrade.entries import Entry, comments, print_entries, read_entries
from engine.schema.upgrade.nets import input_shapes, upgrade_net, upgrade_solver
from engine.schema.upgrade.oldest import fold_padding
from engine.schema.upgrade.types import PADDING, V1_TYPES, type_of_word
from engine.schema.values import parse_string

__all__ = ["field_of_today", "upgraded_net_text", "upgraded_solver_text"]

_LAYERS = ("layer", "layers")
_INPUTS = ("input", "input_shape", "input_dim")
_NETS = ("net_param", "train_net_param", "test_net_param")


def upgraded_net_text(tree: Tree) -> str:
    """Return a net in today's format; the same text, if it is in that already.

    Where old and new layers are mixed, each stays at its place.

    Parameters
    ----------
    tree : Tree
        The file; stays as it is. Fields that the schema does not know are kept.

    Raises
    ------
    PrototxtError
        If the text is broken.
    SchemaError
        If what is written fits no format: padding before a layer that does not pad, a number of shapes that is not
        that of the inputs.
    """
    _refuse_broken(tree)
    rewriting = _Rewriting(tree.root, style_of(tree).newline, on_one_line=_is_on_one_line(tree))
    text = tree.bom + rewriting.run() + tree.root.close_lead
    _compare(tree, text)
    return text


def upgraded_solver_text(tree: Tree) -> str:
    """Return a solver in today's format, with the nets inside of it; the same text, if it is in that already.

    Parameters and errors are those of :func:`upgraded_net_text`; a solver of two types is refused too.
    """
    _refuse_broken(tree)
    solver = to_message(tree.root, "SolverParameter")
    is_old = solver.HasField("solver_type")
    upgrade_solver(solver)
    newline = style_of(tree).newline
    parts = [tree.bom]
    for item in tree.root.items:
        if isinstance(item, Field) and item.name == "solver_type" and is_old:
            if item is tree.root.get("solver_type"):
                parts.append(f"{item.lead}type{item.gap}{quote(solver.type)}{item.tail}")
        elif isinstance(item, Field) and item.name in _NETS and item.message is not None:
            net = item.message
            inner = _Rewriting(net, newline, on_one_line=_is_on_one_line(tree)).run()
            parts.append(f"{item.lead}{item.name}{item.gap}{net.open}{inner}{net.close_lead}{net.close}{item.tail}")
        else:
            parts.append(item.text)
    return "".join(parts) + tree.root.close_lead


def _is_on_one_line(tree: Tree) -> bool:
    text = "".join(item.text for item in tree.root.items).strip()
    return "\n" not in text and "#" not in text


class _Rewriting:
    """The items of one net, one after the other."""

    def __init__(self, net: Message, newline: str, *, on_one_line: bool) -> None:
        self._net = net
        self._newline = newline
        self._kept = _folded(net)
        self._parts: list[str] = []
        self._on_one_line = on_one_line
        self._apart = "" if on_one_line else newline

    def run(self) -> str:
        """Return the text between the net's brackets."""
        inputs = _inputs(self._net)
        declared = [item for item in self._net if item.name in _INPUTS] if inputs is not None else []
        first = next((item for item in self._net if item.name in _LAYERS or item in declared), None)
        for item in self._net.items:
            if item is first and inputs is not None:
                self._print(inputs, declared[0].lead if item is declared[0] else self._apart, self._apart)
            if not isinstance(item, Field):
                self._parts.append(item.text)
            elif item in declared:
                continue
            elif item.name == "layers":
                self._blocks(item)
            elif item.name == "layer" and _statistics_learn(item):
                fields = still_statistics(read_entries(_body(item)))
                above = comments(item.gap + _body(item).open)
                self._print(Entry("layer", fields, above), item.lead, item.tail or self._apart)
            else:
                self._parts.append(item.text)
        return "".join(self._parts)

    def _blocks(self, item: Field) -> None:
        """Take the layers that an old field holds: one, or those of a list."""
        slots = _slots(item)
        for place, slot in enumerate(slots):
            lead = item.lead if place == 0 else slot.lead
            tail = re.sub(r"^([ \t]*)[,;]", r"\1", item.tail) if place == len(slots) - 1 else ""
            block, message = self._kept.get(id(slot.value)), slot.value
            if block is None or not isinstance(message, Message):  # padding, which the layer below has taken over
                self._parts += [f"{comment}{self._newline}" for comment in comments(lead) + comments(tail)]
                continue
            word = message.text_of("type") or ""
            if block.HasField("type") and block.type:
                word = block.LayerType.Name(block.type)
            entries = _padded(read_entries(message), block)
            above = comments(item.gap + message.open)
            today = Entry("layer", upgrade_entries(entries, word, block.layer.type), above)
            self._print(today, lead, tail or self._apart)

    def _print(self, entry: Entry, lead: str, tail: str) -> None:
        """Take a layer with what leads to it; it begins a line of its own, unless all of the net is on one."""
        if self._on_one_line:
            gap = "" if lead or not self._parts or self._parts[-1][-1:].isspace() else " "
            self._parts.append(lead + gap + " ".join(line.strip() for line in print_entries([entry])) + tail)
            return
        indent = lead.rpartition("\n")[2]
        if indent.strip():
            lead, indent = lead + self._newline, ""
        if self._parts and not self._parts[-1].endswith("\n") and "\n" not in lead:
            lead = self._newline + lead
        lines = print_entries([entry], indent)
        self._parts.append(lead[: len(lead) - len(indent)] + self._newline.join(lines) + tail)


def _slots(item: Field) -> Sequence[Field | Element]:
    """Return what holds the values of a field: the elements of its list, or the field itself."""
    return item.value.elements if isinstance(item.value, ListValue) else (item,)


def _inputs(net: Message) -> Entry | None:
    """Return the layer for a net's own inputs; None where there are none with shapes."""
    own = Message("")
    own.items = [item for item in net if item.name in _INPUTS]
    message = to_message(own, "NetParameter")
    shapes = input_shapes(message)
    if not shapes:
        return None
    entries = read_entries(own)
    above = [comment for entry in entries[1:] for comment in entry.above]
    beside = [comment for entry in entries for comment in comments(entry.beside)]
    return input_layer(list(message.input), shapes, above + beside)


def _body(item: Field) -> Message:
    assert item.message is not None
    return item.message


def _statistics_learn(item: Field) -> bool:
    """Whether a layer is a BatchNorm whose statistics would be taken for weights to learn."""
    message = item.message
    if message is None or message.text_of("type") != "BatchNorm":
        return False
    params = to_message(message, "LayerParameter").param
    return len(params) == 3 and any(param.lr_mult or param.decay_mult for param in params)


def _folded(net: Message) -> dict[int, Any]:
    """Return the old layers that stay, as messages with their padding, by the identity of what holds them."""
    values = [slot.value for item in net.fields("layers") for slot in _slots(item)]
    held = Message("")
    held.items = list(net.fields("layers"))
    old = to_message(held, "NetParameter")
    if len(old.layers) != len(values):
        raise SchemaError(
            "Expected a message in each 'layers' field.", next_step="Write layers { ... } for each layer."
        )
    if not any(block.HasField("layer") for block in old.layers):
        return {id(value): block for value, block in zip(values, old.layers, strict=True)}
    kept = [value for value, block in zip(values, old.layers, strict=True) if block.layer.type != PADDING]
    if len(kept) < len(values) and net.fields("layer"):
        raise SchemaError(
            "The net mixes padding layers of the oldest format and new 'layer'; who pads for whom cannot be told.",
            next_step="Set pad in each layer that needs it, and remove the padding layers.",
        )
    fold_padding(old)
    return {id(value): block for value, block in zip(kept, old.layers, strict=True)}


def _padded(entries: list[Entry], block: Any) -> list[Entry]:
    """Write down what a layer has taken over from a padding layer above it: its pad and its bottom."""
    bottoms = [entry for entry in entries if entry.name == "bottom"]
    changed = False
    for entry, name in zip(bottoms, block.bottom, strict=False):
        if parse_string(Scalar(entry.text).as_bytes()) != name:
            entry.value, changed = quote(name), True
    if changed:
        inner = next(entry for entry in entries if entry.name == "layer")
        kept = [entry for entry in inner.entries if entry.name != "pad"]
        inner.value = [*kept, Entry("pad", str(block.layer.pad))]
    return entries


def _refuse_broken(tree: Tree) -> None:
    for problem in tree.problems:
        raise PrototxtError(problem.message, line=problem.line, column=problem.column, next_step=problem.hint)


def _compare(tree: Tree, text: str) -> None:
    """Make sure that nothing is lost: both texts must be the same net."""
    before, after = (to_message(each.root, "NetParameter") for each in (tree, parse(text)))
    if before.layers and before.layer:
        return  # of these, messages keep no order
    upgrade_net(before)
    upgrade_net(after)
    for old, new in zip(before.layer, after.layer, strict=False):
        if not old.type:  # a fork's word, which messages cannot hold
            new.ClearField("type")
    if before.SerializeToString(deterministic=True) != after.SerializeToString(deterministic=True):
        raise field_of_today(tree.root) or SchemaError(
            "The net cannot be written in today's format without changing it.", next_step="Report this file."
        )


def field_of_today(net: Message) -> SchemaError | None:
    """Return what is wrong with the first old layer that has a field of today's, which no old program ever read.

    Such a net cannot be upgraded: what it would be then is not what it is.
    """
    schema = load_schema()
    old, today = (schema.message(name)().DESCRIPTOR.fields_by_name for name in ("V1LayerParameter", "LayerParameter"))
    for item in net.fields("layers"):
        for slot in _slots(item):
            message = slot.value
            if not isinstance(message, Message):
                continue
            name = next((each.name for each in message if each.name in today and each.name not in old), "")
            if name:
                return _unlike_its_format(message, name)
    return None


def _unlike_its_format(layer: Message, field: str) -> SchemaError:
    word, name = layer.text_of("type") or "", layer.text_of("name") or ""
    lacks = f"no field '{field}'" if type_of_word(word) else f"neither a type {word} nor a field '{field}'"
    near = difflib.get_close_matches(word, V1_TYPES, n=1, cutoff=0.6)
    other = f", or use its type {near[0]}" if near and near[0] != word else f", or remove '{field}'"
    return SchemaError(
        f"Layer '{name}' cannot be upgraded: the old format, that of 'layers', has {lacks}.",
        next_step=f"Write the layer as 'layer' with a type of today{other}.",
    )
