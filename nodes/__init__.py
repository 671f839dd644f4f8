"""The built-in layers.

Each group is a package (``nodes/vision``, ``nodes/dense``, ...) with one module a layer or tight family, and a
``layers.toml`` that holds what the editor shows. A table of that file is named for the layer type::

    [Convolution]
    module = "convolution"            # module of the group that holds the class
    class = "ConvolutionLayer"        # its name; "<Type>Layer" when left out
    summary = "Slides learned filters over the input."
    bottoms = ["data+"]               # port names; a mark on the last: ? optional, * any number, + one or more
    tops = ["features+"]
    in_place = false                  # whether a top may have its bottom's name; false when left out
    paired = true                     # as many tops as bottoms; false when left out
    param_field = "convolution_param" # its field of LayerParameter; "" (the default) where it has none

The table ``[group]`` gives the palette's ``category`` for all of them; a layer may name another one for itself.
"""

from __future__ import annotations

import importlib
import importlib.resources
import tomllib
from typing import Any

from engine.api import Layer, LayerContext, LayerInfo, LayerRegistry

__all__ = ["GROUPS", "register"]

GROUPS = ("data", "vision", "dense", "activation", "normalization", "recurrent", "loss", "shape")


def register(registry: LayerRegistry) -> None:
    """Add all built-in layers to a registry; their modules are imported when the first layer of a type is made."""
    for group in GROUPS:
        table = importlib.resources.files(__name__) / group / "layers.toml"
        if not table.is_file():
            continue
        facts = tomllib.loads(table.read_text(encoding="utf-8"))
        category = facts.pop("group", {}).get("category", group.capitalize())
        for layer_type, entry in facts.items():
            _register_layer(registry, group, layer_type, category, entry)


def _register_layer(registry: LayerRegistry, group: str, layer_type: str, category: str, entry: dict[str, Any]) -> None:
    info = LayerInfo(
        type=layer_type,
        category=entry.get("category", category),
        summary=entry["summary"],
        bottoms=tuple(entry.get("bottoms", ())),
        tops=tuple(entry.get("tops", ())),
        in_place_ok=entry.get("in_place", False),
        param_field=entry.get("param_field", ""),
        builtin=True,
        paired=entry.get("paired", False),
    )
    module = f"{__name__}.{group}.{entry['module']}"
    class_name = entry.get("class", f"{layer_type}Layer")

    def make(layer_param: Any, context: LayerContext) -> Layer:
        layer: Layer = getattr(importlib.import_module(module), class_name)()
        return layer

    registry.register_factory(layer_type, make, info)
