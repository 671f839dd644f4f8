"""The net in a weights file: Caffe writes the whole ``NetParameter``, with its layers and not only their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from engine.errors import FileFormatError
from engine.files.opening import damaged, map_file
from engine.schema import FileKind, dialect_names, find_dialect, is_caffe_type, load_schema, to_text
from engine.schema.upgrade import upgrade_inputs, upgrade_layers
from engine.schema.upgrade.nets import input_shapes
from engine.schema.wire import LENGTH, VARINT, WireError, encode_length, encode_varint, iter_fields

__all__ = ["WeightsNet", "net_of_weights"]

# Field numbers: layers of a NetParameter, and what holds values in a layer, by the format's age.
_LAYER, _LAYER_V1 = 100, 2
_BLOBS, _BLOBS_V1, _NESTED_V0, _BLOBS_V0 = 7, 6, 1, 50
_TYPE = 2
_SPLIT = "Split"


@dataclass(frozen=True, slots=True)
class WeightsNet:
    """The net that a weights file holds.

    Attributes
    ----------
    text : str
        Prototxt in today's format, without the values.
    notes : tuple of str
        What is not as in the file, or not known, one sentence each.
    """

    text: str
    notes: tuple[str, ...] = ()


def net_of_weights(path: Path) -> WeightsNet:
    """Return the net that a weights file holds, as text that a person could have written.

    The file says which layers were there when it was saved, in one phase: rules and phases of layers, which tell
    nothing more, are left out, and so are the Split layers that Caffe puts between a blob and its readers. Values are
    not read. A fork's fields are taken for those of the dialect that knows most of them.

    Parameters
    ----------
    path : Path
        A file in Caffe's binary format, of any age.

    Raises
    ------
    FileFormatError
        If the file is damaged, of another kind, or holds values and no net.
    SchemaError
        If old and new layers are mixed.
    """
    view = map_file(path, FileKind.WEIGHTS)
    try:
        data = b"".join(_without_blobs(view))
        net, lost = _decode(data)
    except (WireError, DecodeError) as error:
        raise damaged(path, FileKind.WEIGHTS, error) from error
    if not any(layer.type for layer in net.layer) and not len(net.layers):
        raise FileFormatError(
            f"'{path.name}' holds trained weights, by the names of layers, but no net.",
            next_step="Open their net first.",
        )
    notes = [f"{sentence} It is left out, as Caffe does." for sentence in upgrade_layers(net)]
    if lost:
        words = "One of its fields is" if lost == 1 else f"{lost} of its fields are"
        notes.append(f"{words} of a Caffe that is not known here, and left out.")
    notes += _declare_inputs(net)
    for layer in net.layer:
        for field in ("phase", "include", "exclude"):
            layer.ClearField(field)
    net.ClearField("state")
    _join_splits(net)
    return WeightsNet(to_text(net), tuple(notes))


def _without_blobs(net: memoryview) -> Iterator[bytes]:
    """Return the bytes of a NetParameter, but for the values of its layers."""
    for number, wire_type, value in iter_fields(net):
        if number == _LAYER and isinstance(value, memoryview):
            value = memoryview(_left_out(value, _BLOBS))
        elif number == _LAYER_V1 and isinstance(value, memoryview):
            value = memoryview(_left_out(value, _BLOBS_V1, _NESTED_V0, _BLOBS_V0))
        yield _encoded(number, wire_type, value)


def _left_out(message: memoryview, blobs: int, nested: int = 0, nested_blobs: int = 0) -> bytes:
    """Return the bytes of a message without a field, and without one of the messages in a field of it."""
    parts = []
    for number, wire_type, value in iter_fields(message):
        if number == blobs:
            continue
        if number == nested and isinstance(value, memoryview):
            value = memoryview(_left_out(value, nested_blobs))
        parts.append(_encoded(number, wire_type, value))
    return b"".join(parts)


def _encoded(number: int, wire_type: int, value: int | memoryview) -> bytes:
    if isinstance(value, int):
        return encode_varint(number << 3 | VARINT) + encode_varint(value)
    head = encode_length(number, len(value)) if wire_type == LENGTH else encode_varint(number << 3 | wire_type)
    return head + value.tobytes()


def _decode(data: bytes) -> tuple[Any, int]:
    """Return the message in the dialect that knows most of it, and how many of its fields even that does not know."""
    found: list[tuple[tuple[int, int], Any]] = []
    for name in dialect_names():
        net = load_schema(name).message("NetParameter").FromString(data)
        types = {layer.type for layer in net.layer} - find_dialect(name).layer_types
        strange = sum(1 for each in types if not is_caffe_type(each))
        found.append(((_unknown(net), strange), net))
        if found[-1][0] == (0, 0):
            break
    (lost, _), net = min(found, key=lambda each: each[0])
    return net, lost


def _unknown(message: Any) -> int:
    """Count the fields of a message, and of all in it, that its schema does not know."""
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is not None:
            count += sum(map(_unknown, value if field.is_repeated else (value,)))
    return count


def _declare_inputs(net: Any) -> list[str]:
    """Make the net's own inputs a layer; where the file does not say their shapes, say so."""
    names = list(net.input)
    if not names or input_shapes(net):
        upgrade_inputs(net)
        return []
    layers = [type(layer).FromString(layer.SerializeToString()) for layer in net.layer]
    del net.layer[:]
    net.layer.add(name="input", type="Input", top=names)
    net.layer.extend(layers)
    net.ClearField("input")
    words = " and ".join(f"'{name}'" for name in names)
    return [f"The file does not say the shape of {words}: give layer 'input' one."]


def _join_splits(net: Any) -> None:
    """Take the Split layers out that Caffe put in; what they copied is read itself, and weighs in the loss itself."""
    copies: dict[str, str] = {}
    made: dict[str, Any] = {}
    for index, layer in reversed(list(enumerate(net.layer))):
        expected = [f"{layer.name}_{copy}" for copy in range(len(layer.top))]
        if layer.type != _SPLIT or not layer.name.endswith("_split") or list(layer.top) != expected:
            continue
        (blob,) = layer.bottom
        copies.update(dict.fromkeys(layer.top, blob))
        if layer.loss_weight and layer.loss_weight[0]:
            made[blob] = layer.loss_weight[0]
        del net.layer[index]
    for layer in net.layer:
        for port, blob in enumerate(layer.bottom):
            layer.bottom[port] = copies.get(blob, blob)
        weights = [made.pop(blob, 0.0) for blob in layer.top]
        if any(weights):
            held = [*layer.loss_weight, *[0.0] * (len(weights) - len(layer.loss_weight))]
            layer.loss_weight[:] = [new or old for new, old in zip(weights, held, strict=True)]
