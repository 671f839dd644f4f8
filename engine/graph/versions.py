"""Layer types of older formats, and the names that nodes get."""

from __future__ import annotations

from engine.schema.upgrade import V0_TYPES, V1_TYPES, V1_WORDS

__all__ = ["LAYER_FIELDS", "base_name", "current_type", "v1_type"]

#: Top-level fields that hold a layer.
LAYER_FIELDS = ("layer", "layers")

# What people call their layers; a name that ends in nothing is tried without a number first.
_BASES = {
    "Accuracy": "accuracy",
    "BatchNorm": "bn",
    "Convolution": "conv",
    "Data": "data",
    "Deconvolution": "deconv",
    "Dropout": "drop",
    "HDF5Data": "data",
    "ImageData": "data",
    "InnerProduct": "ip",
    "Input": "data",
    "LRN": "norm",
    "Pooling": "pool",
    "Softmax": "prob",
    "SoftmaxWithLoss": "loss",
}
_SINGLE = frozenset({"accuracy", "data", "label", "loss", "prob"})


def current_type(written: str, version: int) -> str:
    """Return today's name of a layer type as an old file writes it; the written one where none is known."""
    if version == 1:
        return V1_TYPES.get(written, written)
    if version == 0:
        return V0_TYPES.get(written, written)
    return written


def v1_type(type_name: str) -> str | None:
    """Return the enum word that the old ``layers`` format has for a type, if it has one."""
    return V1_WORDS.get(type_name)


def base_name(type_name: str) -> tuple[str, bool]:
    """Return what layers of a type are usually called, and whether the first of them carries no number."""
    base = _BASES.get(type_name) or ("loss" if type_name.endswith("Loss") else type_name.lower())
    cleaned = "".join(char if char.isalnum() or char == "_" else "_" for char in base) or "layer"
    return cleaned, cleaned in _SINGLE
