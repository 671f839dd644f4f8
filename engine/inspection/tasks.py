"""What the inspection process does when asked."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.backends import Workspace, get_backend
from engine.inspection.shaping import shape_layer
from engine.layer import LayerContext, Phase, binding
from engine.plugins import PluginProject, python_layer_factory
from engine.plugins.failures import layer_classes
from engine.registry import LayerRegistry, default_registry
from engine.schema import load_schema

__all__ = ["TASKS"]


def _registry(plugin_folders: list[str]) -> LayerRegistry:
    registry = default_registry()
    info = registry.info("Python")
    if info is not None:
        registry.register_factory(
            "Python", lambda param, context: python_layer_factory(param, context, plugin_folders=plugin_folders), info
        )
    return registry


def _layer_shapes(question: dict[str, Any]) -> dict[str, Any]:
    layer_param = load_schema().message("LayerParameter").FromString(base64.b64decode(question["layer"]))
    base_dirs = [Path(folder) for folder in question["base_dirs"]]
    folders = question["plugin_folders"]
    if layer_param.type == "Python":
        project = PluginProject(folders, base_dirs)
        if project.changed_files():
            project.reload(layer=layer_param.name)
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
    layer = _registry(folders).create(layer_param, context)
    tops, params = shape_layer(layer, layer_param, [tuple(shape) for shape in question["bottoms"]])
    return {"tops": tops, "params": params, "file": "" if binding(layer).info.builtin else _source(type(layer))}


def _source(cls: type) -> str:
    try:
        return inspect.getfile(cls)
    except (TypeError, OSError):
        return ""


def _list_module(question: dict[str, Any]) -> dict[str, Any]:
    folder = Path(question["folder"])
    project = PluginProject([folder])
    if project.changed_files():
        project.reload()
    loaded = project.load_module(question["module"], layer=question["module"])
    own = [
        (name, cls)
        for name in layer_classes(loaded.module)
        if (cls := getattr(loaded.module, name)).__module__ == loaded.module.__name__
    ]
    return {
        "layers": [
            {"name": name, "file": str(loaded.file or ""), "summary": (cls.__doc__ or "").strip().partition("\n")[0]}
            for name, cls in own
        ]
    }


TASKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "layer_shapes": _layer_shapes,
    "list_module": _list_module,
}
"""What can be asked: name of a question to the function that answers it."""
