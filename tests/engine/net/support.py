"""Small nets for the tests of the net."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.api import Blob, Layer, LayerInfo, LayerRegistry
from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry


def input_layer(name: str, *dims: int) -> str:
    shape = " ".join(f"dim: {dim}" for dim in dims)
    return f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {shape} }} }} }}\n'


def layer(name: str, layer_type: str, bottoms: str = "", tops: str | None = None, body: str = "") -> str:
    """Return a layer's text; bottoms and tops are names separated by spaces, the top is the layer's name by default."""
    ports = [f'bottom: "{blob}"' for blob in bottoms.split()]
    ports += [f'top: "{blob}"' for blob in (name if tops is None else tops).split()]
    return f'layer {{ name: "{name}" type: "{layer_type}" {" ".join(ports)} {body} }}\n'


def ip(name: str, bottom: str, outputs: int = 3, body: str = "", top: str | None = None) -> str:
    return layer(
        name,
        "InnerProduct",
        bottom,
        top,
        f'inner_product_param {{ num_output: {outputs} weight_filler {{ type: "gaussian" std: 0.5 }} }} {body}',
    )


class Probe(Layer):
    """Doubles its bottom, counts calls and keeps what it was told."""

    type = "Probe"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        self.calls = {"setup": 1, "reshape": 0, "forward": 0, "backward": 0}
        self.propagated: list[list[bool]] = []
        self.phase_at_setup = self.phase

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        self.calls["reshape"] += 1
        if top:
            top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        self.calls["forward"] += 1
        if top:
            self.xp.multiply(bottom[0].data, 2, out=top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        self.calls["backward"] += 1
        self.propagated.append(list(propagate_down))
        if top and propagate_down[0]:
            self.xp.multiply(top[0].diff, 2, out=bottom[0].diff)


class Faulty(Probe):
    """Raises in the method that ``fail_in`` names."""

    type = "Faulty"
    fail_in = ""

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        if self.fail_in == "forward":
            raise ValueError("x7")
        if self.fail_in == "exit":
            raise SystemExit(3)
        super().forward(bottom, top)


def registry() -> LayerRegistry:
    known = default_registry()
    for cls in (Probe, Faulty):
        known.register(cls, LayerInfo(type=cls.type, bottoms=("data+",), tops=("result*",)))
    return known


def build(text: str, phase: Phase = Phase.TRAIN, **options: Any) -> Net:
    return Net(text, phase, registry=registry(), seed=3, **options)


def fill_inputs(net: Net, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = rng.integers(0, 2, blob.shape) if name == "label" else rng.normal(size=blob.shape)
