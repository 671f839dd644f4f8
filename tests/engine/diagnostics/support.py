"""Helpers of the tests of diagnostics."""

from __future__ import annotations

from types import SimpleNamespace


class Types:
    """A registry of four types."""

    def types(self):
        return ("Power", "ReLU", "SoftmaxWithLoss", "Convolution")

    def closest(self, layer_type):
        return {"relu": "ReLU", "softmaxwithloss": "SoftmaxWithLoss", "convolution": "Convolution"}.get(
            layer_type.lower()
        )

    def info(self, layer_type):
        least, most = (2, 3) if layer_type == "SoftmaxWithLoss" else (0, None)
        return SimpleNamespace(min_bottoms=least, max_bottoms=most, min_tops=0, max_tops=None)


def source(*shapes: tuple[int, ...], name: str = "x") -> str:
    """A layer that gives blobs of these shapes: x, and xb, xc, ..."""
    tops = [name, *(f"{name}{letter}" for letter in "bcd"[: len(shapes) - 1])]
    dims = " ".join(f"shape {{ {' '.join(f'dim: {dim}' for dim in shape)} }}" for shape in shapes)
    named = " ".join(f'top: "{top}"' for top in tops)
    return f'layer {{ name: "in_{name}" type: "Input" {named} input_param {{ {dims} }} }}\n'


def layer(kind: str, param: str = "", bottoms: str = "x", tops: str = "y", name: str = "it") -> str:
    ports = " ".join([*(f'bottom: "{each}"' for each in bottoms.split()), *(f'top: "{each}"' for each in tops.split())])
    return f'layer {{ name: "{name}" type: "{kind}" {ports} {param} }}\n'
