"""What trained weights tell of the items that a net read: how many channels or values its first layer took."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.assumed import Assumed
from engine.blob import Shape
from engine.errors import NetcanvasError
from engine.files import read_stored_layers
from engine.layer import Phase
from engine.layer_specs import LayerSpec
from engine.node_shapes import NodeShapes
from engine.registry import LayerRegistry
from engine.shapes import ShapeService

__all__ = ["FirstReader", "WeightsFacts", "WeightsTrial", "first_reader", "read_weights_facts"]

_MOST_FILES = 4
_ENDINGS = (".caffemodel", ".caffemodel.h5")
_READERS = frozenset({"Convolution", "InnerProduct"})
#: Layers that leave the channels, and most also the size, of their only bottom as they are.
_KEEP_ALL = frozenset(("BatchNorm", "Bias", "Dropout", "Exp", "LRN", "Log", "MVN", "Power", "ReLU", "Scale", "Split"))
_KEEP_CHANNELS = _KEEP_ALL | {"Pooling", "Crop"}


@dataclass(frozen=True, slots=True)
class FirstReader:
    """The first layer with weights that reads what a data layer gives.

    Attributes
    ----------
    top : int
        Which top of the data layer it reads, itself or through layers that change nothing of what is asked.
    spec : LayerSpec
    """

    top: int
    spec: LayerSpec


@dataclass(frozen=True, slots=True)
class WeightsFacts:
    """What the weights of a first reader say.

    Attributes
    ----------
    top : int
        Of which top of the data layer.
    channels : int
        How many the items have; 0 where the weights do not tell.
    values : int
        How many values an item has in all; 0 where they do not tell.
    why : str
        Where it comes from, in a few words.
    file : Path
        The weights file.
    """

    top: int
    channels: int
    values: int
    why: str
    file: Path

    def suit(self, item: Shape) -> Shape | None:
        """Return an item's shape as the weights allow it: with other channels where need be; None where it is none."""
        if self.values:
            return item if math.prod(item) == self.values else None
        return (self.channels, *item[1:]) if len(item) == 3 else None


def first_reader(data: LayerSpec, specs: Sequence[LayerSpec]) -> FirstReader | None:
    """Return the first Convolution or InnerProduct below a data layer; None where something else comes first.

    Parameters
    ----------
    data : LayerSpec
        The layer that reads data.
    specs : sequence of LayerSpec
        All layers of the net, in order.
    """
    whole = {blob: top for top, blob in enumerate(data.tops)}
    channelled = dict(whole)
    below = [spec for spec in specs if spec.node_id != data.node_id]
    for spec in below:
        source = spec.bottoms[0] if spec.bottoms else ""
        if spec.type in _READERS and source in (channelled if spec.type == "Convolution" else whole):
            return FirstReader(channelled[source], spec)
        for kept, types in ((whole, _KEEP_ALL), (channelled, _KEEP_CHANNELS)):
            if spec.type in types and source in kept:
                kept.update(dict.fromkeys(spec.tops, kept[source]))
            else:
                for top in spec.tops:
                    kept.pop(top, None)
    return None


def read_weights_facts(reader: FirstReader, net: Path | None, weights: Path | None = None) -> WeightsFacts | None:
    """Return what a weights file tells: the one given, or one beside the net that has the layer; None where none does.

    Files are read; not for the thread of a window.
    """
    for path in [*([weights] if weights is not None else []), *_beside(net)]:
        try:
            stored = next((each for each in read_stored_layers(path) if each.name == reader.spec.name), None)
            blob = stored.blobs[0] if stored is not None and stored.blobs else None
            found = None if blob is None else _facts(reader, blob.shape, path)
        except (NetcanvasError, OSError):
            continue
        if found is not None:
            return found
    return None


def _beside(net: Path | None) -> Iterator[Path]:
    if net is None:
        return
    try:
        found = sorted(path for path in net.parent.iterdir() if path.name.endswith(_ENDINGS))
    except OSError:
        return
    yield from found[:_MOST_FILES]


def _facts(reader: FirstReader, shape: Shape, path: Path) -> WeightsFacts | None:
    spec = reader.spec
    why = f"the weights of '{spec.name}' in {path.name}"
    if min(shape, default=0) < 1:
        return None
    if spec.type == "Convolution":
        if len(shape) < 3:
            return None
        groups = max(int(spec.message().convolution_param.group), 1)
        return WeightsFacts(reader.top, shape[1] * groups, 0, why, path)
    param = spec.message().inner_product_param
    if len(shape) < 2 or param.axis != 1:  # its rows are not whole items
        return None
    return WeightsFacts(reader.top, 0, shape[-2] if param.transpose else shape[-1], why, path)


class WeightsTrial:
    """Tells with which shapes of its data a net has the weights of a file.

    Parameters
    ----------
    specs : sequence of LayerSpec
        All layers of the net, in order.
    file : Path
        The weights.
    registry : LayerRegistry, optional
        The layer types; all installed ones when omitted.

    Raises
    ------
    FileFormatError
        If the file cannot be read.
    """

    def __init__(self, specs: Sequence[LayerSpec], file: Path, registry: LayerRegistry | None = None) -> None:
        self._stored = {layer.name: layer.blobs for layer in read_stored_layers(file) if layer.blobs}
        sized = [spec for spec in specs if spec.type == "InnerProduct" and spec.name in self._stored]
        #: Whether there is a layer whose weights depend on the size of what the net reads.
        self.tells = bool(sized)
        self._specs = specs[: specs.index(sized[-1]) + 1] if sized else []
        self._service = ShapeService(registry=registry)

    def agrees(self, assumed: Assumed) -> bool:
        """Whether all layers with weights, up to the last that depends on sizes, have weights of these shapes."""
        shapes = self._service.infer(self._specs, Phase.TRAIN, assumed=assumed)
        asked = [spec for spec in self._specs if spec.node_id in shapes and spec.name in self._stored]
        return all(self._fits(spec, shapes[spec.node_id]) for spec in asked)

    def _fits(self, spec: LayerSpec, known: NodeShapes) -> bool:
        pairs = list(zip(self._stored[spec.name], known.params, strict=False))
        return bool(pairs) and all(blob is None or blob.fits(shape) for blob, shape in pairs)
