"""``caffe.Net``: a net as pycaffe scripts use it."""

from __future__ import annotations

import itertools
import os
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.backends import get_backend
from engine.blob import Blob
from engine.compat.caffe.batching import Gathered, batches, count_items
from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.session import session
from engine.errors import NetError
from engine.files import atomic_write, load_weights, write_weights
from engine.files.hdf5_weights import encode_hdf5_weights
from engine.layer import Layer, Phase
from engine.net import Net as EngineNet
from engine.net.nodes import call_layer
from engine.paths import search_folders
from engine.registry import default_registry
from engine.schema import read_net

__all__ = ["Net"]

_PathText = str | os.PathLike[str]


class Net:
    """A net of one phase.

    ``Net(model, phase)``, ``Net(model, weights, phase)`` and ``Net(model, phase, weights=...)`` are all understood.
    Every blob and gradient is kept.

    Parameters
    ----------
    network_file : path
        Prototxt of the net.
    *args : int, or path and int
        The phase, in the older form after the path of a weights file; then ``level``, ``stages`` and ``weights``.
    phase : int
        ``caffe.TRAIN`` or ``caffe.TEST``.
    level, stages : int, sequence of str
        State for include and exclude rules.
    weights : path, optional
        A ``.caffemodel`` to read parameters from.
    """

    def __init__(
        self,
        network_file: _PathText,
        *args: Any,
        phase: int | None = None,
        level: int = 0,
        stages: Sequence[str] | None = None,
        weights: _PathText | None = None,
    ) -> None:
        rest = list(args)
        if rest and isinstance(rest[0], str | os.PathLike):
            weights = rest.pop(0)
        if rest:
            phase = rest.pop(0)
        if rest:
            level = rest.pop(0)
        if rest:
            stages = rest.pop(0)
        if rest:
            weights = rest.pop(0)
        if phase is None or rest:
            raise TypeError("caffe.Net: expected a prototxt file, optionally a weights file, and a phase.")
        path = Path(network_file)
        registry = default_registry(search_folders(path.parent))
        net = EngineNet(
            read_net(path, schema=registry.schema()),
            Phase(phase),
            registry=registry,
            backend=get_backend(session.backend),
            level=level,
            stages=tuple(stages or ()),
            base_dirs=search_folders(path.parent),
            seed=session.seed,
        )
        self._take(net)
        weakref.finalize(self, net.close)
        if weights is not None:
            self.copy_from(weights)

    @classmethod
    def wrap(cls, net: EngineNet) -> Net:
        """Return an engine's net, such as a solver's, as a ``caffe.Net``."""
        self = cls.__new__(cls)
        self._take(net)
        return self

    def _take(self, net: EngineNet) -> None:
        self._net = net
        self._layers = list(net.layers)
        self._blobs = OrderedDict(net.blobs)
        self._params = OrderedDict(net.params)
        net.seed_losses()
        self._seeded = {name: net.blobs[name].shape for name in net.loss_weights}

    @property
    def name(self) -> str:
        """Name of the net as the file gives it."""
        return self._net.name

    @property
    def blobs(self) -> OrderedDict[str, Blob]:
        """Blobs by name, in the order in which they are made."""
        return self._blobs

    @property
    def params(self) -> OrderedDict[str, list[Blob]]:
        """Parameters by layer, of those layers that have any; weights before biases."""
        return self._params

    @property
    def layers(self) -> list[Layer]:
        """Layers in order, split layers among them; of a Python layer, the user's own object."""
        return self._layers

    @property
    def _layer_names(self) -> list[str]:
        return list(self._net.layer_names)

    @property
    def _blob_names(self) -> list[str]:
        return list(self._blobs)

    @property
    def blob_loss_weights(self) -> OrderedDict[str, float]:
        """Weight of each blob in the loss, 0 for most."""
        return OrderedDict((name, self._net.loss_weights.get(name, 0.0)) for name in self._blobs)

    @property
    def layer_dict(self) -> OrderedDict[str, Layer]:
        """Layers by name."""
        return OrderedDict(zip(self._net.layer_names, self._layers, strict=True))

    @property
    def inputs(self) -> list[str]:
        """Names of the blobs that the caller fills."""
        return list(self._net.inputs)

    @property
    def outputs(self) -> list[str]:
        """Names of the blobs that no layer takes."""
        return list(self._net.outputs)

    @property
    def bottom_names(self) -> OrderedDict[str, list[str]]:
        """For each layer the names of its bottoms."""
        return OrderedDict((name, list(names)) for name, names in self._net.bottom_names.items())

    @property
    def top_names(self) -> OrderedDict[str, list[str]]:
        """For each layer the names of its tops."""
        return OrderedDict((name, list(names)) for name, names in self._net.top_names.items())

    def forward(
        self, blobs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the net forward.

        Parameters
        ----------
        blobs : iterable of str, optional
            Blobs to return beside the outputs.
        start, end : str, optional
            First and last layer, both included.
        **kwargs : ndarray
            A value for every input.

        Returns
        -------
        dict of str to ndarray
            Outputs, or the tops of ``end``. They are views of the blobs and change with the next call.
        """
        if kwargs:
            self._fill("forward", "input", self.inputs, kwargs, "data")
        self._net.forward(start, end)
        names = dict.fromkeys([*(self.outputs if end is None else self.top_names[end]), *(blobs or ())])
        return {name: self._blob(name).data for name in names}

    def backward(
        self, diffs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the net backward.

        Parameters
        ----------
        diffs : iterable of str, optional
            Blobs whose gradients to return beside those of the inputs.
        start, end : str, optional
            Layers nearest to the loss and farthest from it, both included.
        **kwargs : ndarray
            Gradients to set at the outputs first, one for each; they stay until others are set.

        Returns
        -------
        dict of str to ndarray
            Gradients of the inputs, or of the bottoms of ``end``, as views.
        """
        if kwargs:
            self._fill("backward", "output", self.outputs, kwargs, "diff")
        self._run_backward(start, end)
        names = dict.fromkeys([*(self.inputs if end is None else self.bottom_names[end]), *(diffs or ())])
        return {name: self._blob(name).diff for name in names}

    def _run_backward(self, start: str | None, end: str | None) -> None:
        """Run backward from the gradients that losses have: their weights, where the script has not set others."""
        weights = self._net.loss_weights
        losses = {name: self._blobs[name] for name in self._net.outputs if name in weights}
        set_by_script = {  # a loss of a new shape has memory of its own, which nobody has written into
            blob: blob.diff.copy()
            for name, blob in losses.items()
            if self._seeded[name] == blob.shape and (blob.diff != weights[name]).any()
        }
        if set_by_script:
            self._net.seed_losses()
            for blob, diff in set_by_script.items():
                blob.diff[...] = diff
        self._net.backward(start, end, seed_losses=not set_by_script)
        self._seeded.update({name: blob.shape for name, blob in losses.items()})

    def forward_all(self, blobs: Iterable[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the net forward over any number of items, batch by batch.

        Parameters
        ----------
        blobs : iterable of str, optional
            Blobs to return beside the outputs.
        **kwargs : array
            Items for every input, all of one length.

        Returns
        -------
        dict of str to ndarray
            Copies, an entry for each item; of blobs without one for each item of a batch, an entry for each batch.

        Raises
        ------
        NetError
            If an input is missing, or the lengths differ.
        """
        total = count_items("forward_all", kwargs)
        wanted, size = list(blobs or ()), self._batch_size
        gathered = Gathered(size)
        for batch in batches(kwargs, size):
            gathered.add(self.forward(blobs=wanted, **batch))
        return gathered.joined(total)

    def forward_backward_all(
        self, blobs: Iterable[str] | None = None, diffs: Iterable[str] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run the net forward and backward over any number of items, batch by batch.

        Parameters
        ----------
        blobs, diffs : iterable of str, optional
            Blobs whose values, or gradients, to return beside those of the outputs, or inputs.
        **kwargs : array
            Items for every input and gradients for every output; without either, what the blobs hold is used.

        Returns
        -------
        tuple of dict of str to ndarray
            Values and gradients, as :meth:`forward_all` returns them.
        """
        total = count_items("forward_backward_all", kwargs)
        known = {*self.inputs, *self.outputs}
        if not known.issuperset(kwargs):
            unknown = sorted(set(kwargs) - known)
            raise NetError(
                f"caffe.Net.forward_backward_all: {unknown} are neither inputs nor outputs.",
                next_step=f"Inputs: {self.inputs}; outputs: {self.outputs}.",
            )
        size = self._batch_size
        values, gradients = Gathered(size), Gathered(size)
        inputs = batches({name: kwargs[name] for name in self.inputs if name in kwargs}, size)
        outputs = batches({name: kwargs[name] for name in self.outputs if name in kwargs}, size)
        wanted, wanted_diffs = list(blobs or ()), list(diffs or ())
        nothing: dict[str, Any] = {}
        for given, diff in itertools.zip_longest(inputs, outputs, fillvalue=nothing):
            values.add(self.forward(blobs=wanted, **given))
            gradients.add(self.backward(diffs=wanted_diffs, **diff))
        return values.joined(total), gradients.joined(total)

    @property
    def _batch_size(self) -> int:
        shape = next(iter(self._blobs.values())).shape
        return shape[0] if shape else 1

    def set_input_arrays(self, data: Any, labels: Any) -> None:
        """Give the net's MemoryData layer, which is its first layer, what it hands out batch by batch.

        Parameters
        ----------
        data : ndarray of float32, shape (N, channels, height, width)
            C-contiguous; N is a multiple of the layer's batch size.
        labels : ndarray of float32, shape (N,) or (N, 1, 1, 1)

        Raises
        ------
        NetError
            If the net's first layer is of another type, or an array does not fit it.
        """
        first = self._net.nodes[0]
        if first.type != "MemoryData":
            raise NetError(
                f"caffe.Net.set_input_arrays: expected a MemoryData layer first, got '{first.name}' ({first.type}).",
                next_step="Call net.forward with the inputs by name, or begin the net with a MemoryData layer.",
            )
        call_layer(first.layer, "reset", data, labels)

    def reshape(self) -> None:
        """Give every blob the shape that follows from the inputs."""
        self._net.reshape()

    def clear_param_diffs(self) -> None:
        """Set the gradients of all parameters to zero."""
        self._net.clear_param_diffs()

    def save(self, filename: _PathText) -> None:
        """Write the parameters to a ``.caffemodel`` file."""
        write_weights(self._net, Path(filename))

    def copy_from(self, weights: _PathText) -> None:
        """Read parameters from a weights file, binary or HDF5, layer by layer of one name; others stay as they are."""
        load_weights(self._net, Path(weights))

    def save_hdf5(self, filename: _PathText) -> None:
        """Write the parameters to a ``.caffemodel.h5`` file."""
        atomic_write(Path(filename), encode_hdf5_weights(self._net))

    def load_hdf5(self, filename: _PathText) -> None:
        """Read parameters from a ``.caffemodel.h5`` file, as :meth:`copy_from` does."""
        self.copy_from(filename)

    def share_with(self, other: Net) -> None:
        """Make the parameters one memory with those of another net, layer by layer of one name.

        Raises
        ------
        LayerError
            If the parameters of such a layer differ in number or shape.
        """
        self._net.share_trained_layers_with(other._net)

    def _blob(self, name: str) -> Blob:
        try:
            return self._blobs[name]
        except KeyError:
            raise NetError(f"The net has no blob '{name}'.", next_step=f"Blobs: {', '.join(self._blobs)}.") from None

    def _fill(self, method: str, kind: str, names: Sequence[str], values: dict[str, Any], part: str) -> None:
        """Write arrays into the data, or the gradients, of all inputs or outputs."""
        if set(values) != set(names):
            raise NetError(
                f"caffe.Net.{method}: expected values for the {kind}s {sorted(names)}, got {sorted(values)}.",
                next_step=f"Give an array for each {kind}, by its name.",
            )
        for name, value in values.items():
            blob = self._blob(name)
            array = np.asarray(value)
            fault = array.shape[:1] != blob.shape[:1]
            if not fault:
                try:
                    getattr(blob, part)[...] = array
                except ValueError:
                    fault = True
            if fault:
                raise NetError(
                    f"{kind.capitalize()} '{name}': expected an array of shape {blob.shape}, "
                    f"got {array.dtype} of {array.shape}.",
                    next_step=f"Call net.blobs['{name}'].reshape first."
                    if part == "data"
                    else "Give a gradient of the output's shape.",
                )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_offered("caffe.Net", name, dir(type(self)))
