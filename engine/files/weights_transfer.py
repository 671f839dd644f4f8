"""Moving weights between files and nets, by layer name as Caffe does it.

A net here is anything with ``layers``, each with ``name``, ``type`` and ``blobs``; a blob has ``shape``, ``data`` and
``diff``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import WeightsError
from engine.files.atomic import atomic_write, atomic_writer
from engine.files.blobs import encode_blob
from engine.files.hdf5_weights import encode_hdf5_weights, owned_params
from engine.files.stored import StoredLayer, host_blobs, layers_of
from engine.files.weights import read_stored_layers
from engine.schema import load_schema
from engine.schema.fragments import without_text_only
from engine.schema.wire import encode_length

__all__ = ["LoadReport", "load_weights", "write_hdf5_weights", "write_weights"]

_log = logging.getLogger(__name__)

_NAME, _LAYER, _BLOBS = 1, 100, 7
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What loading weights did.

    Attributes
    ----------
    source : str
        The file, or empty for a message.
    loaded : tuple of str
        Layers of the net that got their weights.
    missing : tuple of str
        Layers of the net that have weights but are not in the file; they keep the values they had.
    unused : tuple of str
        Layers of the file that have weights but are not in the net.
    """

    source: str
    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every layer found its counterpart, both ways."""
        return not self.missing and not self.unused

    def __str__(self) -> str:
        text = f"{len(self.loaded)} layers loaded from {self.source or 'the weights given'}"
        if self.missing:
            text += f"; not in the file: {_names(self.missing)}"
        if self.unused:
            text += f"; not in the net: {_names(self.unused)}"
        return f"{text}."


def load_weights(net: Any, source: str | os.PathLike[str] | Any, *, strict: bool = False) -> LoadReport:
    """Copy weights into the layers of the same names.

    Everything is checked before anything is copied, so that a net is never left half loaded.

    Parameters
    ----------
    net : Net
        Or anything with ``layers`` that have ``name``, ``type`` and ``blobs``.
    source : path or NetParameter message
        Weights file of any age of Caffe.
    strict : bool
        Refuse, as fits resuming, a net and a file that do not match layer by layer. Without it, layers without a
        counterpart are left alone and reported, as fits fine-tuning.

    Returns
    -------
    LoadReport

    Raises
    ------
    WeightsError
        If blobs differ in number or shape (the message names layer, blob and both shapes), if no layer matches at
        all, or if ``strict`` and one does not.
    FileFormatError
        If the file cannot be read or is no weights file.
    """
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    stored = {layer.name: layer for layer in read_stored_layers(source)}
    layers = {layer.name: layer for layer in layers_of(net)}
    learnable = {key: layer for key, layer in layers.items() if len(layer.blobs)}
    matching = [key for key, layer in stored.items() if key in layers and (layer.blobs or key in learnable)]
    owned = owned_params(net)
    faults = {key: found for key in matching if (found := list(_faults(layers[key], stored[key], owned)))}
    report = LoadReport(
        source=name,
        loaded=tuple(key for key in learnable if key in stored and key not in faults),
        missing=tuple(key for key in learnable if key not in stored),
        unused=tuple(key for key, layer in stored.items() if layer.blobs and key not in layers),
    )
    if faults:
        raise _misfit(net, report, faults)
    if (report.missing and not report.loaded) or (strict and not report.complete):
        raise _mismatch(report)
    for key in report.loaded:
        for blob, source_blob in zip(host_blobs(layers[key]), stored[key].blobs, strict=False):
            if source_blob is not None:
                blob.data[...] = source_blob.data.reshape(tuple(blob.shape))
    _log.info("%s", report)
    return report


def _faults(layer: Any, stored: StoredLayer, owned: set[tuple[str, int]] | None) -> Iterator[str]:
    """Yield one sentence for each way in which a layer cannot take the stored values."""
    count = len(stored.blobs)
    absent = [index for index in range(len(layer.blobs)) if index >= count or stored.blobs[index] is None]
    if count > len(layer.blobs) or any(owned is None or (layer.name, index) in owned for index in absent):
        yield (
            f"Layer '{layer.name}' ({layer.type}) has {len(layer.blobs)} blobs in the net and "
            f"{len(stored.blobs) - stored.blobs.count(None)} in the file (a bias is a blob of its own, see bias_term)."
        )
        return
    for index, (blob, stored_blob) in enumerate(zip(layer.blobs, stored.blobs, strict=False)):
        shape = tuple(blob.shape)
        if stored_blob is not None and not stored_blob.fits(shape):
            yield (
                f"Layer '{layer.name}' ({layer.type}), blob {index}: the net's shape is {shape}, "
                f"the file's is {stored_blob.shape}."
            )


def _misfit(net: Any, report: LoadReport, faults: Mapping[str, Sequence[str]]) -> WeightsError:
    """Return the error of layers that bear the right names and the wrong shapes; nothing was loaded."""
    source = f"'{report.source}'" if report.source else "the message"
    name = str(getattr(net, "name", "") or "")
    target = f"the net '{name}'" if name else "the net"
    others = f" Of the other layers, {_names(report.loaded)} would load" if report.loaded else " No other layer fits"
    others += f"; not in the file: {_names(report.missing)}" if report.missing else ""
    others += f"; not in the net: {_names(report.unused)}" if report.unused else ""
    return WeightsError(
        f"Weights of {source} do not fit {target}: {' '.join(text for found in faults.values() for text in found)}"
        f"{others}. Nothing was loaded.",
        next_step=f"Rename {_names(tuple(faults))} in the net, so that its weights are learned anew and the others "
        "load.",
    )


def _mismatch(report: LoadReport) -> WeightsError:
    source = report.source or "the message"
    missing = f" Not in the file: {_names(report.missing)}." if report.missing else ""
    unused = f" Not in the net: {_names(report.unused)}." if report.unused else ""
    found = "do not match the net layer by layer" if report.loaded else "match no layer of the net"
    return WeightsError(
        f"Weights of {source} {found}.{missing}{unused}",
        next_step="Weights are found by layer name: name the layers as in the net that wrote the file.",
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def write_weights(net: Any, path: str | os.PathLike[str], *, diffs: bool = False) -> None:
    """Write a net's weights as Caffe does: all layers in order with their settings and blobs.

    Parameters
    ----------
    net : Net
        Or anything with ``name`` and ``layers``; of a layer, ``layer_param`` is stored where it has one, else its
        name and type.
    path : path
        Replaced in one step when all is written.
    diffs : bool
        Store gradients too (the solver's ``snapshot_diff``).

    Raises
    ------
    OSError
        If the file cannot be written; it is as it was then.
    """
    name = str(getattr(net, "name", "") or "").encode("utf-8")
    with atomic_writer(Path(path)) as file:
        if name:
            file.write(encode_length(_NAME, len(name)) + name)
        for layer in layers_of(net):
            pieces = _encode_layer(layer, diffs)
            file.write(encode_length(_LAYER, sum(map(len, pieces))))
            file.writelines(pieces)


def write_hdf5_weights(net: Any, path: str | os.PathLike[str], *, diffs: bool = False) -> None:
    """Write a net's weights in HDF5, in Caffe's layout; parameters and errors as for :func:`write_weights`.

    The file is put together in memory first.

    Raises
    ------
    WeightsError
        If two layers would lie in one place of the file, see :mod:`engine.files.hdf5_weights`.
    """
    atomic_write(path, encode_hdf5_weights(net, diffs=diffs))


def _encode_layer(layer: Any, diffs: bool) -> list[bytes | memoryview]:
    """Return the pieces of a serialized ``LayerParameter``, its fields in the order of their numbers."""
    before, after = _settings(layer)
    pieces: list[bytes | memoryview] = [before]
    for blob in host_blobs(layer):
        blob_pieces = encode_blob(blob.data, blob.diff if diffs else None)
        pieces.append(encode_length(_BLOBS, sum(map(len, blob_pieces))))
        pieces += blob_pieces
    pieces.append(after)
    return pieces


def _settings(layer: Any) -> tuple[bytes, bytes]:
    """Return the serialized fields of a layer that come before its blobs and after them."""
    before = load_schema().message("LayerParameter")()
    settings = getattr(layer, "layer_param", None)
    if settings is None:
        before.name, before.type = layer.name, layer.type
        return before.SerializeToString(), b""
    before.MergeFromString(without_text_only(settings).SerializePartialToString())
    before.ClearField("blobs")
    if not before.HasField("phase") and getattr(layer, "phase", None) is not None:
        before.phase = int(layer.phase)
    after = type(before)()
    after.CopyFrom(before)
    for field, _ in before.ListFields():
        (before if field.number > _BLOBS else after).ClearField(field.name)
    before.DiscardUnknownFields()
    return before.SerializePartialToString(), after.SerializePartialToString()
