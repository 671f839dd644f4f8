"""What plugins declare, held against the layers of a net before any of their code runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.errors import PluginError
from engine.plugins.catalogue import PluginCatalogue
from engine.plugins.folders import PluginFolder
from engine.plugins.manifest import MANIFEST
from engine.plugins.param_schema import ParamField, ParamStrSchema
from engine.plugins.project import search_order
from engine.plugins.roots import PluginRoot, plugin_finder

__all__ = ["Declarations"]

_log = logging.getLogger("netcanvas.plugins")


class Declarations:
    """What the manifests of the plugins that a net may use say of its layers.

    Parameters
    ----------
    catalogue : PluginCatalogue
        The plugins.
    plugin_paths, base_dirs : sequence of path
        Those that the catalogue was made with; see :func:`engine.plugins.find_plugins`.
    """

    def __init__(
        self, catalogue: PluginCatalogue, plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = ()
    ) -> None:
        self._catalogue = catalogue
        self._before, self._after = search_order(plugin_paths, base_dirs)
        self._found: dict[str, PluginFolder | None] = {}

    def plugin_of(self, layer_type: str, module: str = "") -> PluginFolder | None:
        """Return the plugin whose code a layer is, or None; nothing of it runs.

        Parameters
        ----------
        layer_type : str
            As the net spells it.
        module : str
            Of a layer of type ``Python``: the module that it names.
        """
        if layer_type != "Python":
            registered = (
                folder
                for folder in self._catalogue.folders
                for each in folder.manifest.types
                if each.type == layer_type and not each.only_with
            )
            return next(registered, None)
        if module not in self._found:
            self._found[module] = self._plugin_with_module(module) if module else None
        return self._found[module]

    def file_of(self, module: str) -> Path | None:
        """Return the file in a searched folder that a net's ``module`` means, or None; nothing of it runs."""
        for path in (*self._before, *self._after) if module else ():
            if (file := PluginRoot(path).locate(module)) is not None:
                return file
        return None

    def param_schema(self, module: str, name: str) -> ParamStrSchema | None:
        """Return what the ``param_str`` of a Python layer may hold, where the plugin with its code says so."""
        folder = self.plugin_of("Python", module)
        entry = folder.entry(module, name) if folder is not None else None
        return entry.param_str if entry is not None else None

    def check(self, layer_param: Any) -> None:
        """Refuse a layer whose ``param_str`` its plugin would not take, and log what the plugin lacks.

        Parameters
        ----------
        layer_param : LayerParameter
            The layer.

        Raises
        ------
        PluginError
            Names the layer, each parameter at fault, what was expected and what came.
        """
        python = layer_param.python_param
        folder = self.plugin_of(layer_param.type, python.module)
        if folder is None:
            return
        _tell_missing(folder)
        schema = self.param_schema(python.module, python.layer) if layer_param.type == "Python" else None
        if schema is not None:
            _check_param_str(layer_param, schema, folder)

    def _plugin_with_module(self, module: str) -> PluginFolder | None:
        """Return the plugin folder that holds a module, by the order in which folders are searched for it."""
        plain = {folder.path: folder for folder in self._catalogue.folders if not folder.package}
        for path in self._before:
            if PluginRoot(path).locate(module):
                return plain.get(path)
        for folder in self._catalogue.folders:
            inside = module.startswith(f"{folder.package}.") if folder.package else folder.origin == "path"
            if inside and PluginRoot(folder.path).locate(module.removeprefix(f"{folder.package}.")):
                return folder
        return next((plain.get(path) for path in self._after if PluginRoot(path).locate(module)), None)


def _tell_missing(folder: PluginFolder) -> None:
    """Log once in a process what a plugin requires and is not installed."""
    told = plugin_finder().told
    if folder.path not in told:
        told.add(folder.path)
        if (lacking := folder.requirement_fault()) is not None:
            _log.warning("%s", lacking)


def _check_param_str(layer_param: Any, schema: ParamStrSchema, folder: PluginFolder) -> None:
    from engine.param_edit import schema_faults  # with readers of notations, which few nets need
    from engine.param_str import parse_param_str

    python = layer_param.python_param
    faults = schema_faults(schema, parse_param_str(python.param_str))
    wrong = {key: fault for key, fault in faults.items() if schema.field(key) is not None}
    for key, fault in faults.items():
        if key not in wrong:
            _log.warning("Layer '%s' (%s), param_str: %s", layer_param.name, layer_param.type, fault)
    if wrong:
        takes = "; ".join(_takes(field) for key in wrong if (field := schema.field(key)) is not None)
        place = folder.path / MANIFEST
        raise PluginError(
            layer_param.name,
            layer_param.type,
            " ".join(wrong.values()),
            port="param_str",
            next_step=f"Correct it: {python.module}.{python.layer} takes {takes}, as '{place}' declares.",
        )


def _takes(field: ParamField) -> str:
    """Return what a parameter may be, as in ``'k', an int from 1 to 5``."""
    kind = f"{field.kind} of {field.items}" if field.items else field.kind
    parts = [f"'{field.name}', {'an' if kind.startswith('i') else 'a'} {kind}"]
    least, most = field.minimum, field.maximum
    if least is not None and most is not None:
        parts.append(f"from {least:g} to {most:g}")
    elif least is not None or most is not None:
        parts.append(f"of {least:g} or more" if least is not None else f"of {most:g} or less")
    if field.choices:
        parts.append(f"out of {', '.join(map(repr, field.choices))}")
    return " ".join(parts)
