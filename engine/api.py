"""All that a layer, built-in or plugin, is written against."""

from engine import ops
from engine.backends.base import Array, Backend, Primitive
from engine.blob import Blob, Shape
from engine.blob_list import BlobList
from engine.errors import DataError, LayerError, PluginError, ShapeError
from engine.layer import Layer, LayerContext, LowerContext, Phase
from engine.operators import gradient_of, operator
from engine.paths import resolve
from engine.registry import LayerInfo, LayerRegistry

__all__ = [
    "Array",
    "Backend",
    "Blob",
    "BlobList",
    "DataError",
    "Layer",
    "LayerContext",
    "LayerError",
    "LayerInfo",
    "LayerRegistry",
    "LowerContext",
    "Phase",
    "PluginError",
    "Primitive",
    "Shape",
    "ShapeError",
    "gradient_of",
    "operator",
    "ops",
    "resolve",
]
