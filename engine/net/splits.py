"""Split layers where a blob has several readers, so that their gradients are summed in one place."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.errors import LayerError

__all__ = ["insert_splits", "split_blob_name", "split_layer_name"]


def split_layer_name(layer: str, blob: str, top_index: int) -> str:
    """Return Caffe's name for the Split layer below a top."""
    return f"{blob}_{layer}_{top_index}_split"


def split_blob_name(layer: str, blob: str, top_index: int, split_index: int) -> str:
    """Return Caffe's name for one copy of a split top."""
    return f"{blob}_{layer}_{top_index}_split_{split_index}"


def insert_splits(param: Any) -> Any:
    """Return a copy of a net's message with Split layers, named and placed as by Caffe's ``InsertSplits``.

    A loss weight counts as a reader: it moves to the first copy. (Caffe then clears all weights of the producing layer;
    here only that top's weight becomes 0, so that a layer with several weighted tops keeps the others.)

    Parameters
    ----------
    param : NetParameter
        A filtered net in which every bottom has a producer.

    Raises
    ------
    engine.errors.LayerError
        If a layer works in place on a blob that has other readers, or weighs in the loss. The layer then reads a copy,
        so that its top is a second blob of the name, which Caffe's ``Net::AppendTop`` refuses.
    """
    last_top: dict[str, tuple[int, int]] = {}
    source_of: dict[tuple[int, int], tuple[int, int]] = {}
    readers: Counter[tuple[int, int]] = Counter()
    weights: dict[tuple[int, int], float] = {}
    for index, layer in enumerate(param.layer):
        for port, blob in enumerate(layer.bottom):
            source_of[index, port] = last_top[blob]
            readers[last_top[blob]] += 1
        for port, blob in enumerate(layer.top):
            last_top[blob] = (index, port)
            if port < len(layer.loss_weight) and layer.loss_weight[port]:
                weights[index, port] = layer.loss_weight[port]
                readers[index, port] += 1

    result = type(param)()
    result.CopyFrom(param)
    del result.layer[:]
    used: Counter[tuple[int, int]] = Counter()
    for index, layer in enumerate(param.layer):
        copy = result.layer.add()
        copy.CopyFrom(layer)
        for port, blob in enumerate(layer.bottom):
            source = source_of[index, port]
            if readers[source] > 1:
                if blob in layer.top[port : port + 1]:
                    raise _not_in_place(layer, port, _other_reader(param, source_of, source, (index, port)))
                copy.bottom[port] = split_blob_name(param.layer[source[0]].name, blob, source[1], used[source])
                used[source] += 1
        for port, blob in enumerate(layer.top):
            source = (index, port)
            if readers[source] < 2:
                continue
            split = result.layer.add(name=split_layer_name(layer.name, blob, port), type="Split", bottom=[blob])
            split.top.extend(
                split_blob_name(layer.name, blob, port, copy_index) for copy_index in range(readers[source])
            )
            if source in weights:
                split.loss_weight.extend([weights[source]] + [0.0] * (readers[source] - 1))
                copy.loss_weight[port] = 0.0
                used[source] += 1
    return result


def _other_reader(
    param: Any, source_of: dict[tuple[int, int], tuple[int, int]], source: tuple[int, int], own: tuple[int, int]
) -> str:
    """Name what else reads a top: a layer, or the loss."""
    others = (slot[0] for slot, read in source_of.items() if read == source and slot != own)
    reader = next(others, None)
    return "the loss reads too" if reader is None else f"layer '{param.layer[reader].name}' reads too"


def _not_in_place(layer: Any, port: int, other: str) -> LayerError:
    return LayerError(
        layer.name,
        layer.type,
        f"cannot work in place on '{layer.bottom[port]}', which {other}.",
        port=f"top {port}",
        next_step="Give the top a name of its own, and have the layers below read that.",
    )
