"""``caffe.Net``: a net as pycaffe scripts use it."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.backends import get_backend
from engine.blob import Blob
from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.session import session
from engine.errors import NetError
from engine.files import load_weights, write_weights
from engine.layer import Layer, Phase
from engine.net import Net as EngineNet
from engine.paths import search_folders
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
        The phase, in the older form after the path of a weights file.
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
        if phase is None or rest:
            raise TypeError("caffe.Net: expected a prototxt file, optionally a weights file, and a phase.")
        path = Path(network_file)
        net = EngineNet(
            read_net(path),
            Phase(phase),
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
            self._fill_inputs(kwargs)
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
            Gradients to set at outputs first.

        Returns
        -------
        dict of str to ndarray
            Gradients of the inputs, or of the bottoms of ``end``, as views.
        """
        for name, value in kwargs.items():
            if name not in self.outputs:
                raise NetError(f"caffe.Net.backward: '{name}' is no output.", next_step=f"Outputs: {self.outputs}.")
            self._blob(name).diff[...] = value
        self._net.backward(start, end)
        names = dict.fromkeys([*(self.inputs if end is None else self.bottom_names[end]), *(diffs or ())])
        return {name: self._blob(name).diff for name in names}

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
        """Read parameters from a ``.caffemodel`` file, layer by layer of one name; others stay as they are."""
        load_weights(self._net, Path(weights))

    def share_with(self, other: Net) -> None:
        """Make the parameters one memory with those of another net, layer by layer of one name."""
        for layer, mine in self.params.items():
            for blob, theirs in zip(mine, other.params.get(layer, ()), strict=False):
                blob.share_data(theirs)

    def _blob(self, name: str) -> Blob:
        try:
            return self._blobs[name]
        except KeyError:
            raise NetError(f"The net has no blob '{name}'.", next_step=f"Blobs: {', '.join(self._blobs)}.") from None

    def _fill_inputs(self, values: dict[str, Any]) -> None:
        if set(values) != set(self.inputs):
            raise NetError(
                f"caffe.Net.forward: expected values for the inputs {sorted(self.inputs)}, got {sorted(values)}."
            )
        for name, value in values.items():
            blob = self._blob(name)
            array = np.asarray(value)
            fault = array.shape[:1] != blob.shape[:1]
            if not fault:
                try:
                    blob.data[...] = array
                except ValueError:
                    fault = True
            if fault:
                raise NetError(
                    f"Input '{name}': expected an array of shape {blob.shape}, got {array.dtype} of {array.shape}.",
                    next_step=f"Call net.blobs['{name}'].reshape first.",
                )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_offered("caffe.Net", name, dir(type(self)))
