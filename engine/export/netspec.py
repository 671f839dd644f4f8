"""From a net to the ``caffe.NetSpec`` program that rebuilds it.

The program runs under Netcanvas and under pycaffe alike. A blob is an attribute of the specification, ``n.conv1``. A
layer in place gets the attribute of its own name, and what reads the blob below it reads that. What no attribute can
hold, such as the second of two layers that make the same blob in different phases, is written with ``ntop=0`` and the
names of its blobs as texts.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import SchemaError
from engine.export.python_text import (
    Expression,
    bytes_literal,
    call,
    lay_out,
    lay_out_assignment,
    list_of,
    string_literal,
)
from engine.layer import Phase
from engine.schema import Schema, format_float32, load_schema

__all__ = ["netspec_source"]

_STRUCTURE = frozenset({"name", "type", "bottom", "top"})
# Words that a call of a layer understands by itself.
_OWN_WORDS = frozenset({"ntop", "in_place"})
# Attributes of a NetSpec that are no blobs.
_TAKEN = frozenset({"keys", "tops", "to_proto", "update", "vals"})


def netspec_source(net: Any, *, schema: Schema | None = None) -> str:
    """Return a Python program that rebuilds a net.

    Parameters
    ----------
    net : NetParameter message
        In today's format.
    schema : Schema, optional
        BVLC's when left out.

    Returns
    -------
    str
        Source of a module whose ``make_net()`` returns a NetParameter equal to ``net``; as a program, it prints the
        prototxt.

    Raises
    ------
    SchemaError
        If the net itself, not a layer, has a field that only a fork of Caffe knows.
    """
    return _Program(net, schema or load_schema()).source()


class _Program:
    """One program while it is being written."""

    def __init__(self, net: Any, schema: Schema) -> None:
        self._net = net
        self._values = _Values(schema)
        self._blobs = {top for layer in net.layer for top in layer.top}
        self._used: set[str] = set()
        self._latest: dict[str, str] = {}  # blob -> attribute of the layer that wrote it last
        self._numbers: Counter[str] = Counter()  # of layers whose names are taken, by name
        self._repairs: list[str] = []

    def source(self) -> str:
        """Return the text of the program."""
        body = [line for index, layer in enumerate(self._net.layer) for line in self._layer(index, layer)]
        ending = [*self._net_fields(), *self._repairs]
        if ending:
            body += ["    net = n.to_proto()", *ending, "    return net"]
        else:
            body.append("    return n.to_proto()")
        name = f"Net {string_literal(self._net.name)}, w" if self._net.name else "W"
        imports = ["import caffe", f"from caffe import layers as L{', params as P' if self._values.uses_words else ''}"]
        if self._values.uses_messages:
            imports.append("from caffe.proto import caffe_pb2")
        lines = [f"# {name}ritten by Netcanvas. Running this prints the prototxt.", *imports, "", ""]
        lines += ["def make_net():", "    n = caffe.NetSpec()", *body, "", ""]
        lines += ['if __name__ == "__main__":', "    print(make_net())"]
        return "\n".join(lines) + "\n"

    def _layer(self, index: int, layer: Any) -> Iterator[str]:
        """Yield the lines of one layer."""
        tops, bottoms = list(layer.top), list(layer.bottom)
        known = all(blob in self._latest for blob in bottoms)
        end: list[tuple[str, Expression]] = []
        if known and len(tops) == 1 and tops == bottoms:
            keys, end = [self._spare_key(layer)], [("in_place=", "True")]
            latest = {tops[0]: keys[0]}
        elif tops and len(set(tops)) == len(tops) and not self._used.intersection(tops):
            keys, end = tops, [("ntop=", str(len(tops)))] if len(tops) > 1 else []
            latest = {top: top for top in tops}
        else:
            if tops:
                phase = self._phase(layer)
                yield f"    # {', '.join(map(string_literal, tops))} {f'in phase {phase}' if phase else 'again'}:"
            keys, end, latest = [self._spare_key(layer)], [("ntop=", "0")], {}
        items: list[tuple[str, Expression]] = []
        if known:
            items += [("", _attribute(self._latest[blob])) for blob in bottoms]
        else:
            items.append(("bottom=", _texts(bottoms)))
        if tops and not latest:
            items.append(("top=", _texts(tops)))
        if layer.HasField("name") and layer.name != keys[0]:
            items.append(("name=", string_literal(layer.name)))
        self._used.update(keys)
        self._latest.update(latest)
        for field in ("name", "type"):
            if not layer.HasField(field):
                self._repairs.append(f"    net.layer[{index}].ClearField({string_literal(field)})")
        made = call(_function(layer.type), [*items, *self._values.settings(layer), *end])
        yield from lay_out_assignment([_attribute(key) for key in keys], made, 4)

    def _spare_key(self, layer: Any) -> str:
        """Return a key for a layer that makes no blob of its own: its name where that is free."""
        base = layer.name or layer.type or "layer"
        phase = self._phase(layer)
        key = base
        while key in self._blobs or key in self._used:
            self._numbers[base] += 1
            number = self._numbers[base]
            key = f"{base}_{phase.lower()}" if phase and number == 1 else f"{base}_{number + 1}"
        return key

    @staticmethod
    def _phase(layer: Any) -> str:
        """Return the name of the one phase that a layer is for, or nothing."""
        phases = {rule.phase for rule in layer.include if rule.HasField("phase")}
        return str(Phase(phases.pop())) if len(phases) == 1 else ""

    def _net_fields(self) -> Iterator[str]:
        """Yield the lines that set what a net has beside its layers."""
        for field, value in self._net.ListFields():
            if field.name == "layer":
                continue
            if load_schema().find_field("NetParameter", (field.name,)) is None:
                raise SchemaError(
                    f"The net's field '{field.name}' is one of a fork of Caffe; a NetSpec cannot set it.",
                    next_step="Export the net without it.",
                )
            text = self._values.field(field, value)
            if field.is_repeated or field.message_type is not None:
                items = [("", "net"), ("", string_literal(field.name)), ("", text)]
                yield from lay_out("", call("caffe.net_spec.assign_proto", items), 4)
            else:
                yield from lay_out(f"net.{field.name} = ", text, 4)


class _Values:
    """Values of fields as Python expressions; remembers which modules they need."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._layer_fields = {field.name for field in schema.describe("LayerParameter").fields}
        self.uses_words = False
        self.uses_messages = False

    def settings(self, layer: Any) -> Iterator[tuple[str, Expression]]:
        """Yield the keyword arguments of a layer: its own settings first, plainly where pycaffe takes them so."""
        fields = [(field, value) for field, value in layer.ListFields() if field.name not in _STRUCTURE]
        own = next((each for each in fields if self._is_plain(layer.type, *each)), None)
        if own is not None:
            fields.remove(own)
            for field, value in own[1].ListFields():
                yield f"{field.name}=", self.field(field, value)
        for field, value in fields:
            yield f"{field.name}=", self.field(field, value)

    def _is_plain(self, layer_type: str, field: Any, value: Any) -> bool:
        """Whether a layer's call may name the parts of a field: ``num_output=``, not ``convolution_param=``."""
        if field.message_type is None or field.name != self._schema.param_field_for(layer_type):
            return False
        names = [part.name for part, _ in value.ListFields()]
        clash = self._layer_fields | _OWN_WORDS
        return (
            field.message_type.name == f"{layer_type}Parameter"  # the rule by which pycaffe finds the field
            and bool(names)
            and not any(name in clash or name.endswith("param") or keyword.iskeyword(name) for name in names)
        )

    def field(self, field: Any, value: Any) -> Expression:
        """Return the value of a field; a repeated one of one value as that value."""
        if not field.is_repeated:
            return self._value(field, value)
        values = [self._value(field, each) for each in value]
        return values[0] if len(values) == 1 else list_of(values)

    def _value(self, field: Any, value: Any) -> Expression:
        if field.message_type is not None:
            return self._message(value)
        if field.enum_type is not None:
            return self._word(field.enum_type, value)
        if isinstance(value, str):
            return string_literal(value)
        if isinstance(value, bytes):
            return bytes_literal(value)
        if isinstance(value, float):
            text = format_float32(value) if field.type == field.TYPE_FLOAT else repr(value)
            return text if text[-1].isdigit() else f'float("{text}")'
        return str(value)

    def _message(self, message: Any) -> Expression:
        fields = [(field.name, self.field(field, value)) for field, value in message.ListFields()]
        if any(keyword.iskeyword(name) for name, _ in fields):
            return call("dict", [("", list_of([call("", [("", string_literal(n)), ("", v)]) for n, v in fields]))])
        return call("dict", [(f"{name}=", value) for name, value in fields])

    def _word(self, enum: Any, number: int) -> str:
        name = str(enum.values_by_number[number].name)
        owner = enum.containing_type
        if owner is None:
            return f"caffe.{name}" if enum.name == "Phase" else string_literal(name)
        if owner.name.endswith("Parameter"):
            self.uses_words = True
            return f"P.{owner.name.removesuffix('Parameter')}.{name}"
        self.uses_messages = True
        return f"caffe_pb2.{owner.name}.{name}"


def _attribute(key: str) -> str:
    plain = key.isidentifier() and key.isascii() and not keyword.iskeyword(key)
    return f"n.{key}" if plain and key not in _TAKEN and not key.startswith("__") else f"n[{string_literal(key)}]"


def _function(layer_type: str) -> str:
    plain = layer_type.isidentifier() and layer_type.isascii() and not keyword.iskeyword(layer_type)
    return f"L.{layer_type}" if plain else f"getattr(L, {string_literal(layer_type)})"


def _texts(names: Sequence[str]) -> Expression:
    texts = [string_literal(name) for name in names]
    return texts[0] if len(texts) == 1 else list_of(texts)
