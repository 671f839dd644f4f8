"""Nets written as Python programs: ``caffe.NetSpec``, ``caffe.layers``, ``caffe.params`` and ``caffe.to_proto``.

A call such as ``L.Convolution(n.data, num_output=20, kernel_size=5)`` makes a :class:`Function`, the layer, and gives
back its :class:`Top`, the blob. Assigned to a :class:`NetSpec`, a top has a name; the others get names made of their
layer's type and a number when the net is built.
"""

from __future__ import annotations

import difflib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.schemas import net_schemas
from engine.schema import Schema, dialect_names, load_schema

__all__ = ["Function", "Layers", "NetSpec", "Parameters", "Top", "assign_proto", "layers", "params", "to_proto"]


class MissingTopError(AttributeError, KeyError):
    """A name that a :class:`NetSpec` lacks: an attribute to Python, a key to pycaffe."""

    def __str__(self) -> str:
        return str(self.args[0])


class Function:
    """A layer: its type, inputs and settings.

    Parameters
    ----------
    type_name : str
        Layer type, such as ``"Convolution"``.
    inputs : tuple of Top
        Bottoms.
    params : dict
        Settings as in ``L.Convolution(...)``; ``ntop`` and ``in_place`` are taken out of it.

    Attributes
    ----------
    tops : tuple of Top
        Blobs that the layer makes.
    """

    def __init__(self, type_name: str, inputs: tuple[Top, ...], params: dict[str, Any]) -> None:
        for index, each in enumerate(inputs):
            if not isinstance(each, Top):
                raise TypeError(f"{type_name} input {index} is not a Top (type is {type(each)})")
        self.type_name = type_name
        self.inputs = inputs
        self.params = params
        self.ntop: int = params.pop("ntop", 1)
        self.in_place: bool = params.pop("in_place", False)
        self.tops = tuple(Top(self, index) for index in range(self.ntop))

    def to_proto(self) -> Any:
        """Return the NetParameter of this layer and all that it needs."""
        return to_proto(self)


class Top:
    """A blob that a layer makes.

    Parameters
    ----------
    fn : Function
        The layer.
    n : int
        Place among the layer's tops.
    """

    def __init__(self, fn: Function, n: int) -> None:
        self.fn = fn
        self.n = n

    def to_proto(self) -> Any:
        """Return the NetParameter of all layers that this blob needs."""
        return to_proto(self)


class NetSpec:
    """Blobs by name; assigning one names it, as an attribute or as an item.

    A layer without tops, such as ``L.Silence(n.x, ntop=0)``, is assigned in the same way and so gets its name.

    Attributes
    ----------
    tops : OrderedDict of str to Top or Function
        What has been assigned, in order.
    """

    tops: OrderedDict[str, Top | Function]

    def __init__(self) -> None:
        super().__setattr__("tops", OrderedDict())

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(value, Top | Function):
            hint = " Write 'n.a, n.b = ...' for a layer of several tops." if isinstance(value, tuple) else ""
            raise TypeError(f"NetSpec '{name}': expected what a call such as L.ReLU(...) gives, got {value!r}.{hint}")
        self.tops[name] = value

    def __getitem__(self, name: str) -> Any:
        try:
            return self.tops[name]
        except KeyError:
            near = difflib.get_close_matches(name, self.tops, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise MissingTopError(f"The NetSpec has no '{name}'.{hint}") from None

    def __delitem__(self, name: str) -> None:
        del self.tops[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __getattr__(self, name: str) -> Any:
        if name == "tops" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)  # asked for by copy and pickle, before there are any tops
        return self[name]

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tops

    def __iter__(self) -> Iterator[str]:
        return iter(self.tops)

    def keys(self) -> list[str]:
        """Return the names."""
        return list(self.tops)

    def vals(self) -> list[Top | Function]:
        """Return what has been assigned."""
        return list(self.tops.values())

    def update(self, name: str, params: Mapping[str, Any]) -> None:
        """Change settings of the layer that makes the blob ``name``."""
        _function(self[name]).params.update(params)

    def to_proto(self) -> Any:
        """Return the NetParameter of all that has been assigned; its ``str`` is prototxt."""
        return to_proto(self)


def to_proto(*tops: Top | Function | NetSpec) -> Any:
    """Return the NetParameter of all layers that blobs or whole specifications need.

    Parameters
    ----------
    *tops : Top, Function or NetSpec
        Several specifications become one net, in order; a layer that they share is there once.

    Returns
    -------
    NetParameter message
        Names that are made up differ from all given ones. Settings that BVLC's Caffe lacks are those of the first
        fork that has them all.

    Raises
    ------
    AttributeError, TypeError, ValueError
        If a layer has no such setting, or it cannot have that value.
    """
    names: dict[Top | Function, str] = {}
    roots: list[Top | Function] = []
    for each in tops:
        if isinstance(each, NetSpec):
            for name, top in each.tops.items():
                names[top] = name
                roots.append(top)
        else:
            roots.append(each)
    functions = _in_order(map(_function, roots))
    refusals: list[Exception] = []
    for schema in net_schemas():
        try:
            return _build(functions, names, schema)
        except (AttributeError, TypeError, ValueError) as refusal:
            refusals.append(refusal)
    # A fork that knows what BVLC's Caffe does not, and stumbles over something else, tells more.
    raise next((each for each in refusals if str(each) != str(refusals[0])), refusals[0])


def _build(functions: Sequence[Function], names: Mapping[Top | Function, str], schema: Schema) -> Any:
    """Return the NetParameter of layers, in the words of one dialect."""
    namer = _Namer(names, functions)
    net = schema.message("NetParameter")()
    made: dict[Function, Any] = {}
    for fn in functions:
        made[fn] = net.layer.add()
        _write(fn, made, namer, schema)
    return net


def _function(top: Top | Function) -> Function:
    return top.fn if isinstance(top, Top) else top


def _in_order(roots: Iterable[Function]) -> list[Function]:
    """Return the layers that are needed, each after those it takes blobs from; nets may be deeper than the stack."""
    done: dict[Function, None] = {}
    for root in roots:
        stack = [(root, iter(root.inputs))]
        while stack:
            fn, inputs = stack[-1]
            needed = next((top.fn for top in inputs if top.fn not in done), None) if fn not in done else None
            if needed is not None:
                stack.append((needed, iter(needed.inputs)))
            else:
                done[fn] = None
                stack.pop()
    return list(done)


class _Namer:
    """Names of blobs and layers: the given ones, and others made of a type and a number."""

    def __init__(self, names: Mapping[Top | Function, str], functions: Iterable[Function]) -> None:
        self._names = dict(names)
        self._taken = {*names.values(), *(fn.params.get("name") for fn in functions)}
        self._counts: Counter[str] = Counter()

    def of(self, each: Top | Function) -> str:
        """Return the name of a blob, or of a layer: that of its first blob."""
        if each not in self._names:
            if isinstance(each, Function) and each.tops:
                self._names[each] = self.of(each.tops[0])
            else:
                self._names[each] = self._next(_function(each).type_name)
        return self._names[each]

    def _next(self, type_name: str) -> str:
        while True:
            self._counts[type_name] += 1
            name = f"{type_name}{self._counts[type_name]}"
            if name not in self._taken:
                return name


def _write(fn: Function, made: Mapping[Function, Any], namer: _Namer, schema: Schema) -> None:
    """Fill the message of a layer; those of its bottoms are filled."""
    layer = made[fn]
    layer.type = fn.type_name
    layer.bottom.extend(made[top.fn].top[top.n] for top in fn.inputs)
    layer.top.extend(layer.bottom if fn.in_place else map(namer.of, fn.tops))
    layer.name = namer.of(fn)
    own = schema.param_fields_for(fn.type_name)
    for key, value in fn.params.items():
        parts = () if key.endswith("param") else own
        part = next((part for part in parts if key in _fields(getattr(layer, part))), None)
        target = layer if part is None else getattr(layer, part)
        if part is None and key not in _fields(layer):
            _refuse(fn, layer, key, own)
        try:
            assign_proto(target, key, value)
        except (AttributeError, TypeError, ValueError) as error:
            raise type(error)(f"Layer '{layer.name}' (L.{fn.type_name}): {key}={value!r}: {error}") from error


def _refuse(fn: Function, layer: Any, key: str, own: Iterable[str]) -> NoReturn:
    known = [name for part in own for name in _fields(getattr(layer, part))]
    near = difflib.get_close_matches(key, [*known, *_fields(layer), "ntop", "in_place"], n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise AttributeError(f"Layer '{layer.name}': L.{fn.type_name} has no setting '{key}'.{hint}", name=key)


def _fields(message: Any) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = message.DESCRIPTOR.fields_by_name
    return fields


def assign_proto(proto: Any, name: str, val: Any) -> None:
    """Set a field of a message from plain Python values.

    Parameters
    ----------
    proto : protobuf message
    name : str
        Name of the field.
    val : object
        A dict for a message, a list for a repeated field; a repeated field takes a single value too.

    Raises
    ------
    AttributeError
        If there is no such field.
    TypeError, ValueError
        If the value does not fit.
    """
    field = _fields(proto).get(name)
    if field is None:
        near = difflib.get_close_matches(name, _fields(proto), n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise AttributeError(f"{proto.DESCRIPTOR.name} has no field '{name}'.{hint}", name=name, obj=proto)
    if field.is_repeated:
        entries = getattr(proto, name)
        values = val if isinstance(val, list | tuple) else [val]
        if field.message_type is None:
            if values:  # extending by nothing would make the message present
                entries.extend(values)
        else:
            for each in values:
                _fill(entries.add(), each)
    elif field.message_type is not None:
        _fill(getattr(proto, name), val)
    else:
        setattr(proto, name, val)


def _fill(message: Any, val: Any) -> None:
    """Set fields of a message from a dict, or from another message."""
    message.SetInParent()
    if isinstance(val, Mapping):
        for key, each in val.items():
            assign_proto(message, key, each)
    elif hasattr(val, "DESCRIPTOR"):
        message.MergeFrom(val)
    else:
        raise TypeError(f"expected a dict for {message.DESCRIPTOR.name}, got {val!r}")


class Layers:
    """``caffe.layers``: has a function for every layer type, known or not.

    A function takes Tops and settings and gives a :class:`Top`; a tuple of them with ``ntop=2`` or more; the
    :class:`Function` itself with ``ntop=0``.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def layer(*inputs: Top, **params: Any) -> Top | tuple[Top, ...] | Function:
            fn = Function(name, inputs, params)
            if fn.ntop == 0:
                return fn
            return fn.tops[0] if fn.ntop == 1 else fn.tops

        layer.__name__ = layer.__qualname__ = name
        return layer


class Parameters:
    """``caffe.params``: words of settings, such as ``P.Pooling.MAX``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        message = f"{name}Parameter"
        schemas = [load_schema(dialect) for dialect in dialect_names()]
        if not any(message in schema.message_names for schema in schemas):
            schemas = list(net_schemas())
        if not any(message in schema.message_names for schema in schemas):
            known = [each for schema in schemas for each in schema.message_names if each.endswith("Parameter")]
            raise not_offered("caffe.params", name, {each.removesuffix("Parameter") for each in known})
        return _Words(name, [schema.message(message) for schema in schemas if message in schema.message_names])


class _Words:
    """The words of one kind of settings, as the numbers that stand for them.

    A word to which forks give different numbers stands for itself.
    """

    def __init__(self, name: str, messages: Sequence[Any]) -> None:
        self._name = name
        self._tables: list[Mapping[str, Any]] = [message.DESCRIPTOR.enum_values_by_name for message in messages]

    def __getattr__(self, name: str) -> int | str:
        if name.startswith("_"):
            raise AttributeError(name)
        numbers = [int(table[name].number) for table in self._tables if name in table]
        if not numbers:
            raise not_offered(f"caffe.params.{self._name}", name, {word for table in self._tables for word in table})
        return numbers[0] if name in self._tables[0] or len(set(numbers)) == 1 else name


layers = Layers()
params = Parameters()
