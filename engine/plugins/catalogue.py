"""All plugins that a net may use, as one value: their types, messages, Python layers and faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import NetcanvasError
from engine.layer import Layer, LayerContext
from engine.plugins.folders import Origin, PluginFolder, find_folders, read_folder
from engine.plugins.manifest import TypeEntry
from engine.plugins.param_schema import ParamStrSchema
from engine.plugins.scan import FoundLayer, scan_file
from engine.registry import LayerInfo, LayerRegistry

__all__ = ["PluginCatalogue", "PluginFault", "PythonLayerInfo", "find_plugins", "loose_layers"]

_CATEGORY = "Plugins"


@dataclass(frozen=True, slots=True)
class PythonLayerInfo:
    """A Python layer that a net may name with ``type: "Python"``.

    Attributes
    ----------
    module, name : str
        What a net writes in ``python_param``.
    file, line : Path, int
        Where its class is.
    info : LayerInfo
        What the palette and the canvas show. Its ``type`` is ``Python``.
    param_str : ParamStrSchema or None
        What ``param_str`` may hold, where the plugin says so.
    parses : bool
        Whether the file is valid Python 3.
    """

    module: str
    name: str
    file: Path
    line: int
    info: LayerInfo
    param_str: ParamStrSchema | None
    parses: bool


@dataclass(frozen=True, slots=True)
class PluginFault:
    """Something of a plugin that cannot be used, and why.

    Attributes
    ----------
    plugin : str
        Its name.
    folder : Path
        Its folder.
    error : NetcanvasError
        The reason.
    """

    plugin: str
    folder: Path
    error: NetcanvasError


@dataclass(frozen=True, slots=True)
class PluginCatalogue:
    """The plugins that a net may use, in the order in which they are searched.

    Attributes
    ----------
    folders : tuple of PluginFolder
        Faulty ones are among them, with their ``error``.
    """

    folders: tuple[PluginFolder, ...]

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Folders that are refused, say what cannot be used, or lack what they require."""
        found = [PluginFault(each.name, each.path, each.error) for each in self.folders if each.error is not None]
        for folder in self.folders:
            if (lacking := folder.requirement_fault()) is not None:
                found.append(PluginFault(folder.name, folder.path, lacking))
        return tuple(found)

    @property
    def python_layers(self) -> tuple[PythonLayerInfo, ...]:
        """The Python layers of all folders; of two with one module and name, the one that a net would get."""
        found: dict[tuple[str, str], PythonLayerInfo] = {}
        told: set[tuple[Path, str]] = set()  # a package in a place for plugin folders is searched by itself too
        for folder in self.folders:
            types = {(entry.layer.module, entry.layer.cls) for entry in folder.manifest.types}
            for each in folder.layers:
                if (each.module, each.name) in types or (each.file, each.name) in told:
                    continue
                told.add((each.file, each.name))
                module = f"{folder.package}.{each.module}" if folder.package else each.module
                entry = folder.entry(each.module, each.name)
                info = LayerInfo(
                    type="Python",
                    category=(entry and entry.category) or folder.manifest.category or _CATEGORY,
                    summary=(entry and entry.summary) or each.summary,
                    bottoms=_ports(entry.bottoms if entry else None, each.bottoms, "bottom*"),
                    tops=_ports(entry.tops if entry else None, each.tops, "top*"),
                    in_place_ok=True,
                    param_field="python_param",
                    plugin=folder.name,
                    needs_trust=folder.needs_trust,
                    icon=(entry and entry.icon) or folder.manifest.icon,
                    doc=(entry and entry.doc) or "",
                )
                schema = entry.param_str if entry else None
                layer = PythonLayerInfo(module, each.name, each.file, each.line, info, schema, each.parses)
                found.setdefault((module, each.name), layer)
        return tuple(found.values())

    def python_layer(self, module: str, name: str) -> PythonLayerInfo | None:
        """Return what is known of the Python layer that a net names, or None."""
        return next((each for each in self.python_layers if (each.module, each.name) == (module, name)), None)

    def plugin_with_type(self, layer_type: str) -> PluginFolder | None:
        """Return the plugin that registers a layer type, or None."""
        for folder in self.folders:
            if any(entry.type == layer_type for entry in folder.manifest.types):
                return folder
        return None

    def plugin_with_field(self, field: str) -> PluginFolder | None:
        """Return the plugin that adds a field to ``LayerParameter``, or None."""
        for folder in self.folders:
            if folder.fragment is not None and field in folder.fragment.layer_fields():
                return folder
        return None

    def register(self, registry: LayerRegistry, *, trusted: bool = True, safe: bool = False) -> None:
        """Add the plugins' layer types and messages to a registry.

        Parameters
        ----------
        registry : LayerRegistry
            Of one document or net. A type that it has already as a built-in one is replaced only by code that may run.
        trusted : bool
            Whether the code of the project's own plugins may run.
        safe : bool
            Leave out all that is not shipped with the product.
        """
        for folder in reversed(self.folders):  # what is searched first is registered last, and counts
            if (why := _unusable(folder, safe)) and folder.manifest.types:
                for entry in folder.manifest.types:
                    registry.withhold(entry.type, why)
                continue
            for entry in folder.manifest.types:
                known = registry.info(entry.type)
                if known is not None and known.builtin and folder.needs_trust and not trusted:
                    continue
                make, info = partial(_make, folder, entry), _info(folder, entry)
                if entry.only_with:
                    registry.add_variant(
                        entry.type,
                        entry.only_with,
                        make,
                        plugin=folder.name,
                        needs_trust=folder.needs_trust,
                        tops=entry.layer.tops or (),
                    )
                else:
                    registry.register_factory(entry.type, make, info)
        for folder in self.folders:
            if folder.fragment is not None and not _unusable(folder, safe):
                registry.add_fragment(folder.fragment)


def loose_layers(module: str, file: Path) -> tuple[PythonLayerInfo, ...]:
    """Return the Python layers of a file that a net names and that lies in no plugin folder; no code of it runs.

    Parameters
    ----------
    module : str
        What the net calls it.
    """

    def info(each: FoundLayer) -> LayerInfo:
        return LayerInfo(
            type="Python",
            category=_CATEGORY,
            summary=each.summary,
            bottoms=_ports(None, each.bottoms, "bottom*"),
            tops=_ports(None, each.tops, "top*"),
            in_place_ok=True,
            param_field="python_param",
            needs_trust=True,
        )

    found = scan_file(module, file)
    return tuple(PythonLayerInfo(module, each.name, file, each.line, info(each), None, each.parses) for each in found)


def _ports(declared: tuple[str, ...] | None, written: tuple[str, ...] | None, any_number: str) -> tuple[str, ...]:
    """Return the names of ports: what the manifest declares, else what the class says, else any number of them."""
    return declared if declared is not None else written if written is not None else (any_number,)


def _unusable(folder: PluginFolder, safe: bool) -> str:
    """Return why the types of a plugin cannot be had, or an empty text."""
    if folder.error is not None:
        return f"plugin '{folder.name}' in '{folder.path}' would supply it, but cannot be used: {folder.error}"
    if safe and folder.origin != "shipped":
        return f"plugin '{folder.name}' in '{folder.path}' would supply it, but is left out: this is safe mode."
    return ""


def _info(folder: PluginFolder, entry: TypeEntry) -> LayerInfo:
    layer = entry.layer
    return LayerInfo(
        type=entry.type,
        category=layer.category or folder.manifest.category or _CATEGORY,
        summary=layer.summary,
        bottoms=("bottom*",) if layer.bottoms is None else layer.bottoms,
        tops=("top*",) if layer.tops is None else layer.tops,
        in_place_ok=entry.in_place,
        param_field=entry.param_fields[0] if entry.param_fields else _field_of(folder, entry.type),
        paired=entry.paired,
        plugin=folder.name,
        needs_trust=folder.needs_trust,
        icon=layer.icon or folder.manifest.icon,
        doc=layer.doc,
    )


def _field_of(folder: PluginFolder, layer_type: str) -> str:
    """Return the field that is called like the type, as Caffe's are."""
    fields = folder.fragment.layer_fields() if folder.fragment is not None else ()
    wanted = layer_type.lower()
    return next((name for name in fields if name.removesuffix("_param").replace("_", "") == wanted), "")


def _make(folder: PluginFolder, entry: TypeEntry, layer_param: Any, context: LayerContext) -> Layer:
    from engine.plugins.python_layer import make_layer

    module = f"{folder.package}.{entry.layer.module}" if folder.package else entry.layer.module
    return make_layer(module, entry.layer.cls, layer_param, context, folders=[folder.path])


def find_plugins(
    plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = (), *, safe: bool = False
) -> PluginCatalogue:
    """Return the plugins that a net may use; no code of theirs runs.

    Parameters
    ----------
    plugin_paths : sequence of path
        Folders named by the user; each may hold modules, or plugin folders that do.
    base_dirs : sequence of path
        The net's folders, as :func:`engine.paths.search_folders` gives them. Their ``plugins`` count.
    safe : bool
        Leave out all that is not shipped with the product.
    """
    found: list[tuple[Path, Origin, str]] = list(find_folders(plugin_paths, base_dirs, safe=safe))
    return PluginCatalogue(tuple(read_folder(*each) for each in found))
