"""Which layer types exist, what is known of them, and how they are made."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from engine.errors import NetcanvasError, UnknownLayerTypeError
from engine.layer import Layer, LayerContext, bind
from engine.layer_info import LayerInfo

if TYPE_CHECKING:
    from engine.schema import Schema, SchemaFragment

__all__ = ["LayerFactory", "LayerInfo", "LayerRegistry", "default_registry", "layer_entry_points"]

_log = logging.getLogger(__name__)

LayerFactory: TypeAlias = Callable[[Any, LayerContext], Layer]

ENTRY_POINT_GROUP = "netcanvas.layers"
_OUR_PACKAGES = ("app", "engine", "nodes")


@dataclass(frozen=True, slots=True)
class _Variant:
    """What makes a type's layers where their messages set one of some fields."""

    fields: tuple[str, ...]
    factory: LayerFactory
    info: LayerInfo

    def fits(self, layer_param: Any) -> bool:
        return any(_is_set(layer_param, field.split(".")) for field in self.fields)


@dataclass(frozen=True, slots=True)
class _Entry:
    factory: LayerFactory
    info: LayerInfo
    variants: tuple[_Variant, ...] = ()

    def maker(self, layer_param: Any) -> _Entry | _Variant:
        """Return what makes a layer of this type: the first variant that fits, or the type's own."""
        return next((variant for variant in self.variants if variant.fits(layer_param)), self)


class LayerRegistry:
    """A set of layer types.

    A registry is an object: each net, document or process has its own, so that one project's plugins never show in
    another.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._fragments: dict[SchemaFragment, None] = {}
        self._withheld: dict[str, str] = {}
        self._checks: list[Callable[[Any], None]] = []

    def withhold(self, layer_type: str, reason: str) -> None:
        """Remember who would supply a layer type that cannot be had now, and why, in a sentence."""
        self._withheld.setdefault(layer_type, reason)

    def withheld(self, layer_type: str) -> str:
        """Return who would supply a layer type that this registry lacks, and why it does not; empty for no one."""
        return "" if layer_type in self._entries else self._withheld.get(layer_type, "")

    def add_check(self, check: Callable[[Any], None]) -> None:
        """Let a function refuse layers of a net, given their messages, before any layer of it is made."""
        self._checks.append(check)

    def check(self, layer_param: Any) -> None:
        """Raise what is known to be wrong with a layer without making it; see :meth:`add_check`."""
        for check in self._checks:
            check(layer_param)

    @property
    def fragments(self) -> tuple[SchemaFragment, ...]:
        """What the plugins of this registry add to the messages."""
        return tuple(self._fragments)

    def add_fragment(self, fragment: SchemaFragment) -> None:
        """Add what a plugin declares of its layers' messages."""
        self._fragments[fragment] = None

    def schema(self, dialect: str = "") -> Schema:
        """Return the messages by which nets with these layers are read.

        Parameters
        ----------
        dialect : str
            The document's; BVLC's Caffe when left out.
        """
        from engine.schema import BVLC, load_schema  # nets made from messages need no schema

        return load_schema(dialect or BVLC, self.fragments)

    def register(self, cls: type[Layer], info: LayerInfo | None = None) -> None:
        """Add a layer class under ``info.type``, or its own ``type``.

        A later registration of the same type replaces the earlier one, so that a project can override a layer.

        Raises
        ------
        engine.errors.NetcanvasError
            If neither names a type.
        """
        info = info or LayerInfo(type=cls.type, summary=_first_line(cls.__doc__))
        self.register_factory(info.type, lambda layer_param, context: cls(), info)

    def register_factory(self, layer_type: str, factory: LayerFactory, info: LayerInfo) -> None:
        """Add a layer type whose layers a function makes.

        Parameters
        ----------
        layer_type : str
            As written in prototxt.
        factory : callable
            Takes the layer's message and the :class:`~engine.layer.LayerContext`; returns a layer, not yet bound.
        info : LayerInfo
            What is known of it.
        """
        if not layer_type:
            raise NetcanvasError(
                "A layer type needs a name, got an empty one.",
                next_step="Set the class attribute 'type' or LayerInfo.type.",
            )
        self._entries[layer_type] = _Entry(factory, info)

    def add_variant(
        self,
        layer_type: str,
        fields: Sequence[str],
        factory: LayerFactory,
        *,
        plugin: str,
        needs_trust: bool = False,
        tops: Sequence[str] = (),
    ) -> None:
        """Let a plugin stand in for a known layer type where a layer sets a field that the plugin knows.

        Nothing happens where the type is unknown. The type stays what it is in lists and checks, but for further tops.

        Parameters
        ----------
        layer_type : str
            As written in prototxt.
        fields : sequence of str
            Dotted from ``LayerParameter``, such as ``loss_param.weight_by_label_freqs``; one that is set, to another
            value than its default, suffices. ``top[2]`` is a third top. The latest variant that fits counts.
        factory : callable
            As for :meth:`register_factory`.
        plugin : str
            Name of the plugin.
        needs_trust : bool
            Whether its code came with the net.
        tops : sequence of str
            Names of all its tops, where it has more than the type.
        """
        entry = self._entries.get(layer_type)
        if entry is not None:
            if len(tops) > len(entry.info.tops):
                entry = replace(entry, info=replace(entry.info, tops=(*entry.info.tops, *tops[len(entry.info.tops) :])))
            info = replace(entry.info, builtin=False, plugin=plugin, needs_trust=needs_trust)
            variant = _Variant(tuple(fields), factory, info)
            self._entries[layer_type] = replace(entry, variants=(variant, *entry.variants))

    def create(self, layer_param: Any, context: LayerContext) -> Layer:
        """Make a layer and bind it to its message.

        Parameters
        ----------
        layer_param : LayerParameter
            The layer's message.
        context : LayerContext
            The net around it.

        Raises
        ------
        engine.errors.UnknownLayerTypeError
            If nothing registers its type; names the closest ones.
        """
        entry = self._entries.get(layer_param.type)
        if entry is None:
            written, of_caffe = layer_param.type, _is_caffe_type(layer_param.type)
            closest, withheld = self._closest(written, 3), self.withheld(written)
            raise UnknownLayerTypeError(layer_param.name, written, closest, of_caffe=of_caffe, withheld=withheld)
        made_by = entry.maker(layer_param)
        layer = made_by.factory(layer_param, context)
        bind(layer, layer_param, context, made_by.info)
        return layer

    def info(self, layer_type: str) -> LayerInfo | None:
        """Return what is known of a type, or ``None`` for an unknown one."""
        entry = self._entries.get(layer_type)
        return entry.info if entry else None

    def info_of(self, layer_param: Any) -> LayerInfo | None:
        """Return what is known of a layer: as :meth:`info`, but of the plugin's variant that would make it, if any."""
        entry = self._entries.get(layer_param.type)
        return entry.maker(layer_param).info if entry else None

    def has_variants(self, layer_type: str) -> bool:
        """Return whether plugins stand in for some layers of a type; see :meth:`add_variant`."""
        entry = self._entries.get(layer_type)
        return entry is not None and bool(entry.variants)

    def infos(self) -> tuple[LayerInfo, ...]:
        """Return the facts of all types, sorted by type."""
        return tuple(self._entries[layer_type].info for layer_type in sorted(self._entries))

    def types(self) -> tuple[str, ...]:
        """Return all types, sorted."""
        return tuple(sorted(self._entries))

    def __contains__(self, layer_type: object) -> bool:
        return layer_type in self._entries

    def closest(self, layer_type: str) -> str | None:
        """Return the known type that looks most like a misspelt one, or ``None``."""
        found = self._closest(layer_type, 1)
        return found[0] if found else None

    def _closest(self, layer_type: str, count: int) -> list[str]:
        if _is_caffe_type(layer_type):
            return []  # no slip, but a type that is not offered
        written = layer_type.lower()
        by_lower = {known.lower(): known for known in sorted(self._entries)}
        matches = difflib.get_close_matches(written, by_lower, count, 0.7)
        # "ROIPooling" is no slip for "Pooling", but a layer of its own
        return [by_lower[match] for match in matches if match == written or not written.endswith(match)]


def _is_set(message: Any, path: Sequence[str]) -> bool:
    """Whether a field, named from a message on, is there with another value than its default; see ``add_variant``."""
    for name in path[:-1]:
        message = getattr(message, name, None)
    name, _, place = path[-1].partition("[")
    field = None if message is None else message.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        return False
    value = getattr(message, name)
    if field.is_repeated:
        return len(value) > int(place.rstrip("]") or 0)
    return bool(message.HasField(name)) and (field.message_type is not None or value != field.default_value)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def default_registry(
    base_dirs: Sequence[Path] = (),
    plugin_paths: Sequence[Path | str] | None = None,
    *,
    trusted: bool = True,
    safe: bool | None = None,
) -> LayerRegistry:
    """Return a fresh registry with the built-in layers, those of plugins, and ``Python``.

    No plugin's code runs before a layer is made.

    Parameters
    ----------
    base_dirs : sequence of Path
        The net's folders; plugins of its project are found there.
    plugin_paths : sequence of path, optional
        Plugin folders named by the user; those of :func:`engine.plugins.use_plugin_folders` when omitted.
    trusted : bool
        Whether the project's own plugins may replace built-in layers.
    safe : bool, optional
        Only what is shipped with the product; as :func:`engine.plugins.use_safe_mode` says when omitted.
    """
    registry = LayerRegistry()
    for register in _entry_points():
        register(registry)
    if not registry.types():
        # A checkout that was never installed has no entry points; the built-in layers are the sibling package.
        importlib.import_module("nodes").register(registry)
    _register_python(registry)
    plugins = importlib.import_module("engine.plugins")  # it is written against this module
    paths = plugins.plugin_folders() if plugin_paths is None else plugin_paths
    alone = plugins.is_safe_mode() if safe is None else safe
    found = plugins.find_plugins(paths, base_dirs)
    found.register(registry, trusted=trusted, safe=alone)
    registry.add_check(plugins.Declarations(found, paths, base_dirs).check)
    return registry


def layer_entry_points() -> tuple[importlib.metadata.EntryPoint, ...]:
    """Return the entry points of installed packages that have layers, looked up once for a ``sys.path``."""
    return _installed_entry_points(tuple(sys.path))


@functools.lru_cache(maxsize=8)
def _installed_entry_points(_path: tuple[str, ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    return tuple(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP))


def _entry_points() -> Iterable[Callable[[LayerRegistry], None]]:
    """Yield the functions that register our own layers; entry points of others name plugin folders."""
    for entry in layer_entry_points():
        if entry.module.partition(".")[0] not in _OUR_PACKAGES:
            continue
        try:
            yield entry.load()
        except ImportError:
            _log.exception("The layers of entry point '%s' (%s) could not be imported.", entry.name, entry.value)


def _register_python(registry: LayerRegistry) -> None:
    def make(layer_param: Any, context: LayerContext) -> Layer:
        layer: Layer = importlib.import_module("engine.plugins").python_layer_factory(layer_param, context)
        return layer

    registry.register_factory(
        "Python",
        make,
        LayerInfo(
            type="Python",
            category="Python",
            summary="A layer written in Python: module and class are named by python_param.",
            bottoms=("bottom*",),
            tops=("top*",),
            in_place_ok=True,
            param_field="python_param",
        ),
    )


def _is_caffe_type(layer_type: str) -> bool:
    """Whether Caffe has such a layer; asked only on the way to an error, so the schema is loaded then."""
    from engine.schema import is_caffe_type

    return is_caffe_type(layer_type)
