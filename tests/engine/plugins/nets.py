"""Nets of Python layers for the tests of plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.layer import Phase
from engine.net import Net

COMMON = """
    import caffe
    import numpy as np

    class Same(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data
        def backward(self, top, propagate_down, bottom):
            for want, blob in zip(propagate_down, bottom):
                if want: blob.diff[...] = top[0].diff
"""


def input_layer(name: str, *dims: int) -> str:
    shape = " ".join(f"dim: {dim}" for dim in dims)
    return f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {shape} }} }} }}\n'


def python_layer(name: str, cls: str, bottoms: str, tops: str, more: str = "", param_str: str = "") -> str:
    ports = "".join(f' bottom: "{b}"' for b in bottoms.split()) + "".join(f' top: "{t}"' for t in tops.split())
    return (
        f'layer {{ name: "{name}" type: "Python"{ports} {more} python_param '
        f"{{ module: 'mod' layer: '{cls}' param_str: '{param_str}' }} }}\n"
    )


def net_of(folder: Path, text: str, *, phase: Phase = Phase.TRAIN, **settings: Any) -> Net:
    return Net('name: "n"\n' + text, phase, base_dirs=(folder,), **settings)
