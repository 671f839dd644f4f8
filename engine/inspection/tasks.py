"""What the inspection process does when asked."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from engine.backends import Workspace, get_backend
from engine.inspection.shaping import shape_layer
from engine.layer import Layer, LayerContext, Phase, binding
from engine.operators import settings_of
from engine.plugins import PluginProject, find_plugins, python_layer_factory
from engine.plugins.failures import layer_classes, operator_functions
from engine.plugins.functions import FunctionLayer
from engine.plugins.roots import plugin_finder
from engine.registry import LayerRegistry, default_registry

__all__ = ["TASKS"]


class _Registries:
    """The registry of the last project, made anew when its plugins say something else."""

    def __init__(self) -> None:
        self._key: object = None
        self._registry = LayerRegistry()

    def registry(self, plugin_folders: list[str], base_dirs: list[Path]) -> LayerRegistry:
        key = (tuple(plugin_folders), find_plugins(plugin_folders, base_dirs))
        if key != self._key:
            registry = default_registry(base_dirs, plugin_folders)
            info = registry.info("Python")
            make = partial(python_layer_factory, plugin_folders=plugin_folders)
            if info is not None:
                registry.register_factory("Python", make, info)
            self._key, self._registry = key, registry
        return self._registry


def _asked(question: dict[str, Any]) -> tuple[Any, list[Path], LayerRegistry]:
    """Return the layer that a question is about, the folders of its net, and the registry for it."""
    base_dirs = [Path(folder) for folder in question["base_dirs"]]
    registry = _REGISTRIES.registry(question["plugin_folders"], base_dirs if question["trusted"] else [])
    layer_param = registry.schema().message("LayerParameter").FromString(base64.b64decode(question["layer"]))
    _reload_changed()
    return layer_param, base_dirs, registry


def _check_gradients(question: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    from engine.inspection.gradients import check_message  # loads nets, which nothing else here needs

    tell("import")
    layer_param, base_dirs, registry = _asked(question)
    tell("check")
    report = check_message(
        layer_param,
        Phase(question["phase"]),
        [tuple(shape) for shape in question["bottoms"]],
        labels=question["labels"],
        seed=question["seed"],
        base_dirs=base_dirs if question["trusted"] else [],
        registry=registry,
    )
    return {"report": report.to_json()}


def _layer_shapes(question: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    tell("import")
    layer_param, base_dirs, registry = _asked(question)
    backend = get_backend("numpy")
    context = LayerContext(
        phase=Phase(question["phase"]),
        backend=backend,
        workspace=Workspace(backend),
        dtype=np.dtype(np.float32),
        base_dirs=base_dirs,
        level=question["level"],
        stages=tuple(question["stages"]),
        shapes_only=True,
    )
    layer = registry.create(layer_param, context)
    tops, params = shape_layer(layer, layer_param, [tuple(shape) for shape in question["bottoms"]], tell)
    return {"tops": tops, "params": params, "file": "" if binding(layer).info.builtin else _source(layer)}


def _reload_changed() -> None:
    """Load edited plugins anew; a module that fails at that is told when a layer of it is asked for."""
    finder = plugin_finder()
    finder.refuses_stale = True
    with finder.lock:
        for root in finder.roots():
            if root.changed_files():
                root.reload()


def _source(layer: Layer) -> str:
    if isinstance(layer, FunctionLayer):
        return layer.source_file
    try:
        return inspect.getfile(type(layer))
    except (TypeError, OSError):
        return ""


def _list_module(question: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    tell("import")
    _reload_changed()
    folder = Path(question["folder"])
    project = PluginProject([folder])
    loaded = project.load_module(question["module"], layer=question["module"])
    own = [
        (name, cls)
        for name in [*layer_classes(loaded.module), *_operators(loaded.module)]
        if (cls := getattr(loaded.module, name)).__module__ == loaded.module.__name__
    ]
    return {
        "layers": [
            {"name": name, "file": str(loaded.file or ""), "summary": (cls.__doc__ or "").strip().partition("\n")[0]}
            for name, cls in own
        ]
    }


def _operators(module: ModuleType) -> list[str]:
    """Return the functions of a module that are meant as layers, by the names of their parameters."""
    functions = {name: getattr(module, name) for name in operator_functions(module)}
    gradients = {id(settings_of(function).gradient) for function in functions.values()}
    return [
        name
        for name, function in functions.items()
        if function.__code__.co_varnames[:2] == ("inputs", "outputs") and id(function) not in gradients
    ]


_REGISTRIES = _Registries()  # of this process, which answers one question at a time

TASKS: dict[str, Callable[[dict[str, Any], Callable[[str], None]], dict[str, Any]]] = {
    "check_gradients": _check_gradients,
    "layer_shapes": _layer_shapes,
    "list_module": _list_module,
}
"""What can be asked: name of a question to the function that answers it."""
