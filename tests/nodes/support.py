"""One layer over Input layers, with given values."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.layer import Phase
from engine.net import Net


def layer_net(text: str, *bottoms: Any, tops: str = "top", phase: Phase = Phase.TRAIN, **options: Any) -> Net:
    """Return a net of a layer ``subject`` whose bottoms hold the given values; ``text`` is its type and fields."""
    arrays = [np.asarray(values, float) for values in bottoms]
    lines = ["force_backward: true"]
    for index, values in enumerate(arrays):
        dims = " ".join(f"dim: {dim}" for dim in values.shape)
        lines.append(f'layer {{ name: "b{index}" type: "Input" top: "b{index}" input_param {{ shape {{ {dims} }} }} }}')
    ports = " ".join(
        [f'bottom: "b{index}"' for index in range(len(arrays))] + [f'top: "{top}"' for top in tops.split()]
    )
    lines.append(f'layer {{ name: "subject" {ports} {text} }}')
    net = Net("\n".join(lines), phase, seed=1, **options)
    for index, values in enumerate(arrays):
        net.blobs[f"b{index}"].data[...] = values
    return net


def run_layer(text: str, *bottoms: Any, top_diff: Any = None, **options: Any) -> tuple[Any, Any]:
    """Return the first top, and the first bottom's gradient for a top gradient of ones."""
    net = layer_net(text, *bottoms, **options)
    net.forward()
    name = net.top_names["subject"][0]
    top = net.blobs[name].data.copy()
    if name not in net.loss_weights:
        net.blobs[name].diff[...] = 1 if top_diff is None else top_diff
    net.backward()
    return top, net.blobs["b0"].diff.copy()
