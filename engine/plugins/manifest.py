"""``plugin.toml``: what a plugin folder says of itself. It is text, and read before any of the folder's code runs.

A folder needs none: its Python layers are found by reading their source. With one, it can say::

    [plugin]
    name = "detection"                  # the folder's name when left out
    version = "1.2"
    summary = "Layers of detectors."
    requires = ["scipy>=1.10"]          # Python packages, as pip spells them
    schema = "detection.proto"          # or a list: the messages of the types below
    extends = ["Pooling"]               # types of others that understand fields which the schema adds to their messages
    category = "Detection"              # where the palette shows the layers
    icon = "icon.svg"

    [types.ROIPooling]                  # a net says  type: "ROIPooling"
    module = "roi_pooling"
    class = "ROIPoolingLayer"           # "<Type>Layer" when left out
    summary = "Largest value in each cell of a grid over a region."
    bottoms = ["features", "regions"]   # port names; a mark on the last: ? optional, * any number, + one or more
    tops = ["pooled"]
    in_place = false
    paired = false
    param_field = "roi_pooling_param"   # one name or a list; found by the type's name when left out

    [types.SoftmaxWithLoss]             # a type that there is already
    module = "weighted_loss"
    only_with = "loss_param.weighted"   # one field or a list: stands in for it in layers that set one of them

    [layers."rpn.anchors.AnchorLayer"]  # a net says  type: "Python"  and names module and class
    summary = "Anchors of all cells."
    bottoms = ["scores"]
    tops = ["anchors"]

    [layers."rpn.anchors.AnchorLayer".param_str.feat_stride]
    type = "int"                        # see engine.plugins.param_schema
    default = 16
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import NetcanvasError
from engine.plugins.param_schema import ParamStrSchema, read_param_schema

__all__ = ["MANIFEST", "LayerEntry", "Manifest", "ManifestError", "TypeEntry", "read_manifest"]

#: Name of the file.
MANIFEST = "plugin.toml"
_BIGGEST = 1 << 20


class ManifestError(NetcanvasError):
    """A ``plugin.toml`` that cannot be read or says what it must not."""


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """What a manifest says of one layer.

    Attributes
    ----------
    module, cls : str
        The module, named from the plugin folder, and the class or function in it.
    summary, doc : str
        One sentence; all else there is to know.
    category, icon : str
        As for :class:`Manifest`, for this layer.
    bottoms, tops : tuple of str or None
        Names of the ports, marked as in :class:`engine.registry.LayerInfo`; None where the manifest has none.
    param_str : ParamStrSchema or None
        What ``param_str`` may hold.
    """

    module: str
    cls: str
    summary: str = ""
    doc: str = ""
    category: str = ""
    icon: str = ""
    bottoms: tuple[str, ...] | None = None
    tops: tuple[str, ...] | None = None
    param_str: ParamStrSchema | None = None


@dataclass(frozen=True, slots=True)
class TypeEntry:
    """A layer type that a plugin registers.

    Attributes
    ----------
    type : str
        As nets spell it.
    layer : LayerEntry
        Where its code is, and what is shown.
    in_place, paired : bool
        As in :class:`engine.registry.LayerInfo`.
    param_fields : tuple of str
        Fields of ``LayerParameter`` with its settings, the main one first; empty to find them by the type's name.
    only_with : tuple of str
        Fields, dotted from ``LayerParameter``, of a type that there is already: a layer that sets one of them, to
        another value than its default, is this plugin's, and every other stays what it was. ``top[2]`` is a third top.
    """

    type: str
    layer: LayerEntry
    in_place: bool = False
    paired: bool = False
    param_fields: tuple[str, ...] = ()
    only_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A plugin as it describes itself.

    Attributes
    ----------
    name, version, summary : str
    requires : tuple of str
        Requirements of Python packages.
    schema_files : tuple of Path
        Its ``.proto`` files.
    category : str
        Group in the palette; empty where it names none.
    icon : str
        Path of a picture; empty for none.
    extends : tuple of str
        Layer types of others that understand fields which its schema adds.
    types : tuple of TypeEntry
        Layer types that it registers.
    layers : tuple of LayerEntry
        What it says of its Python layers.
    """

    name: str
    version: str = ""
    summary: str = ""
    requires: tuple[str, ...] = ()
    schema_files: tuple[Path, ...] = ()
    category: str = ""
    icon: str = ""
    extends: tuple[str, ...] = ()
    types: tuple[TypeEntry, ...] = ()
    layers: tuple[LayerEntry, ...] = ()


def read_manifest(folder: Path) -> Manifest | None:
    """Return what a plugin folder says of itself, or None where it says nothing.

    Raises
    ------
    ManifestError
        Names the file, the key, what was expected and what was found.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > _BIGGEST:
            raise ManifestError(f"'{path}': expected at most {_BIGGEST} bytes.", next_step="Shorten it.")
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"'{path}' cannot be read: {error}.", next_step="Save it as UTF-8 text.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ManifestError(f"'{path}' is not TOML: {error}.", next_step="Correct the line.") from error
    top = _Table(path, "", table)
    about = top.table("plugin")
    types, layers = top.table("types"), top.table("layers")
    manifest = Manifest(
        name=about.text("name") or folder.name,
        version=about.text("version"),
        summary=about.text("summary"),
        requires=about.texts("requires") or (),
        schema_files=tuple(about.inside(name) for name in about.texts("schema") or ()),
        category=about.text("category"),
        icon=about.picture("icon"),
        extends=about.texts("extends") or (),
        types=tuple(_type_entry(name, types.table(name)) for name in types.names),
        layers=tuple(_layer_entry(name, layers.table(name)) for name in layers.names),
    )
    about.refuse_others()
    top.refuse_others()
    return manifest


def _type_entry(name: str, table: _Table) -> TypeEntry:
    module = table.text("module")
    if not module:
        raise table.error("module", "expected the module that holds the class", "nothing")
    entry = TypeEntry(
        type=name,
        layer=_shown(table, module, table.text("class") or f"{name}Layer"),
        in_place=table.flag("in_place"),
        paired=table.flag("paired"),
        param_fields=table.texts("param_field") or (),
        only_with=table.texts("only_with") or (),
    )
    table.refuse_others()
    return entry


def _layer_entry(name: str, table: _Table) -> LayerEntry:
    module, _, cls = name.rpartition(".")
    if not module:
        raise table.error("", 'expected the table\'s name to be module and class, as in "module.Class"', f"'{name}'")
    entry = _shown(table, module, cls)
    table.refuse_others()
    return entry


def _shown(table: _Table, module: str, cls: str) -> LayerEntry:
    parameters = table.table("param_str")
    try:
        param_str = read_param_schema(parameters.values) if parameters.values else None
    except ValueError as error:
        raise ManifestError(f"'{table.path}', {parameters.place}: {error}.", next_step="Correct it.") from error
    return LayerEntry(
        module=module,
        cls=cls,
        summary=table.text("summary"),
        doc=table.text("doc"),
        category=table.text("category"),
        icon=table.picture("icon"),
        bottoms=table.texts("bottoms"),
        tops=table.texts("tops"),
        param_str=param_str,
    )


class _Table:
    """One table of the file; what is asked for is checked, what nobody asked for is refused."""

    def __init__(self, path: Path, place: str, values: dict[str, Any]) -> None:
        self.path = path
        self.place = place
        self.values = values
        self._asked: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def table(self, key: str) -> _Table:
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "expected a table", repr(value))
        return _Table(self.path, f"{self.place}.{key}" if self.place else key, value)

    def text(self, key: str) -> str:
        value = self._get(key, "")
        if not isinstance(value, str):
            raise self.error(key, "expected text", repr(value))
        return value.strip()

    def texts(self, key: str) -> tuple[str, ...] | None:
        """One text or a list of them; None where the key is absent."""
        value = self._get(key, None)
        if isinstance(value, str):
            return (value,) if value else ()
        if value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            return None if value is None else tuple(value)
        raise self.error(key, "expected a list of texts", repr(value))

    def flag(self, key: str) -> bool:
        value = self._get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, "expected true or false", repr(value))
        return value

    def inside(self, name: str) -> Path:
        """A file of the plugin folder; a manifest names no file outside it."""
        folder = self.path.parent.resolve()
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise self.error("", "expected a file inside the plugin folder", f"'{name}'")
        return path

    def picture(self, key: str) -> str:
        name = self.text(key)
        return str(self.inside(name)) if name else ""

    def error(self, key: str, expected: str, got: str) -> ManifestError:
        where = ".".join(part for part in (self.place, key) if part)
        return ManifestError(f"'{self.path}', {where}: {expected}, got {got}.", next_step="Correct it.")

    def refuse_others(self) -> None:
        others = [name for name in self.values if name not in self._asked]
        if others:
            known = ", ".join(sorted(self._asked))
            raise self.error(others[0], f"expected one of {known}", f"'{others[0]}'")

    def _get(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        return self.values.get(key, default)
