"""The least that counts as a net here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.files import blob_from_proto


@dataclass
class FakeBlob:
    data: np.ndarray
    diff: np.ndarray | None = None

    @property
    def shape(self):
        return self.data.shape


@dataclass
class FakeLayer:
    name: str
    type: str
    blobs: list[FakeBlob]
    layer_param: Any = None


@dataclass
class FakeNet:
    layers: list[FakeLayer]
    name: str = "net"


def blob(*shape, start=0):
    values = np.arange(start, start + int(np.prod(shape, dtype=int)), dtype=np.float32)
    return FakeBlob(values.reshape(shape), -values.reshape(shape))


def fake_net(*, rename=None, ip=(3, 4), bias=True, start=0):
    """Return a net of a convolution, a ReLU and an inner product."""
    blobs = [blob(*ip, start=start), blob(ip[0], start=start)]
    return FakeNet(
        [
            FakeLayer("conv", "Convolution", [blob(2, 1, 3, 3, start=start), blob(2, start=start)]),
            FakeLayer("relu", "ReLU", []),
            FakeLayer(rename or "ip", "InnerProduct", blobs if bias else blobs[:1]),
        ]
    )


def net_from_message(message):
    """Return a net with the layers, settings and blobs of a weights message."""
    return FakeNet(
        [
            FakeLayer(layer.name, layer.type, [FakeBlob(blob_from_proto(proto)) for proto in layer.blobs], layer)
            for layer in message.layer
        ],
        message.name,
    )


__all__ = ["FakeBlob", "FakeLayer", "FakeNet", "blob", "fake_net", "net_from_message"]
