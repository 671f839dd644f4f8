"""Layer types of older formats, and the names that nodes get."""

from __future__ import annotations

from collections.abc import Container

from engine.schema.upgrade import PADDING, V0_TYPES, V1_WORDS, type_of_word

__all__ = ["LAYER_FIELDS", "base_name", "current_type", "fresh_name", "v1_type"]

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
    """Return today's name of a layer type as an old file writes it; the written one where none is known.

    A padding layer passes its blob on; its padding belongs to the layer that reads it.
    """
    if version == 1:
        return type_of_word(written) or written
    if version == 0:
        return "Split" if written == PADDING else V0_TYPES.get(written, written)
    return written


def v1_type(type_name: str) -> str | None:
    """Return the enum word that the old ``layers`` format has for a type, if it has one."""
    return V1_WORDS.get(type_name)


def base_name(type_name: str) -> tuple[str, bool]:
    """Return what layers of a type are usually called, and whether the first of them carries no number."""
    base = _BASES.get(type_name) or ("loss" if type_name.endswith("Loss") else type_name.lower())
    cleaned = "".join(char if char.isalnum() or char == "_" else "_" for char in base) or "layer"
    return cleaned, cleaned in _SINGLE


def fresh_name(base: str, bare_first: bool, *taken: Container[str]) -> str:
    """Return ``base`` with the first number that is free; far up, with a free one that is found faster."""

    def is_free(name: str) -> bool:
        for names in taken:  # noqa: SIM110 - asked a hundred times for each layer that is pasted
            if name in names:
                return False
        return True

    if bare_first and is_free(base):
        return base
    number = 2 if bare_first else 1
    while not is_free(f"{base}{number}"):
        number += 1 if number < 100 else number // 2
    low = number - number // 3
    while number > 100 and low < number:
        middle = (low + number) // 2
        low, number = (low, middle) if is_free(f"{base}{middle}") else (middle + 1, number)
    return f"{base}{number}"
