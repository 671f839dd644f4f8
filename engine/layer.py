"""The interface that every layer is written against, built-in or plugin.

A layer is four methods, ``setup``, ``reshape``, ``forward`` and ``backward``, with Caffe's arguments and order; a
fifth, ``lower``, is optional and lets a plan fuse what the layer is made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.backends.base import Array, Backend, Primitive
from engine.blob import Blob
from engine.blob_list import BlobList
from engine.errors import LayerError, ShapeError
from engine.layer_context import Binding, LayerContext, LowerContext, Phase
from engine.layer_info import LayerInfo
from engine.ops import Op, OpSpec, canonical_axis

__all__ = ["Binding", "Layer", "LayerContext", "LowerContext", "Phase", "bind", "binding", "stream"]

_LayerErrorClass: TypeAlias = type[LayerError]  # inside Layer, `type` is the layer's own


class Layer:
    """Base of all layers.

    The net sets the attributes below before it calls :meth:`setup`. Subclasses need no ``__init__``.

    Attributes
    ----------
    layer_param : LayerParameter
        The layer's message, for example ``self.layer_param.convolution_param.num_output``.
    name : str
        Name of the layer.
    phase : Phase
        ``TRAIN`` (0) or ``TEST`` (1).
    blobs : BlobList
        Parameters; :meth:`setup` adds them with ``self.blobs.add_blob(*shape)``.
    param_propagate_down : list of bool
        For each parameter, whether its gradient is wanted. Set after :meth:`setup`.
    context : LayerContext
        The net around it.
    info : LayerInfo
        What the registry knows of the type.
    """

    type: ClassVar[str] = ""
    #: Blobs hold host arrays whatever the backend (Python layers).
    host_arrays: ClassVar[bool] = False
    #: May be given arrays that are not C-contiguous.
    accepts_strided: ClassVar[bool] = False
    #: Produces data by itself; it runs in every pass, also where nothing before it changed.
    is_source: ClassVar[bool] = False
    #: Takes bottoms of any element type; other layers get those of another type than the net's converted.
    any_dtype: ClassVar[bool] = False
    #: Tops that the file leaves out are made without a name (losses).
    auto_top_blobs: ClassVar[bool] = False
    #: What the backward pass needs of the values in its top: nothing (``""``), ``"signs"`` or ``"values"``.
    backward_reads: str = ""
    #: What is left of its bottom's values, wherever a gradient passes, when the layer works in place; as above.
    in_place_leaves: str = ""
    #: Set by ``setup`` where the layer works in place and needs what it overwrites for its own gradient.
    spoils_itself: bool = False

    _netcanvas_binding: Binding

    # -- the four methods, and the fifth -------------------------------------------------------------------------

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read the message, check it, add parameters. Called once; shapes of ``bottom`` are known, of ``top`` not."""

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give every top its shape. Called after :meth:`setup` and again before every forward pass."""
        raise NotImplementedError(f"{type(self).__name__} has no reshape method")

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute ``top[i].data`` from ``bottom[i].data``."""
        raise NotImplementedError(f"{type(self).__name__} has no forward method")

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients from ``top[i].diff``.

        ``bottom[i].diff`` is overwritten where ``propagate_down[i]``; ``self.blobs[i].diff`` is added to where
        ``self.param_propagate_down[i]``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward method")

    def lower(self, ctx: LowerContext) -> Sequence[Op] | None:
        """Return the operations the layer is made of for the present shapes, or ``None`` to be called as it is.

        They must compute what :meth:`forward` and :meth:`backward` compute.
        """
        return None

    # -- facts ---------------------------------------------------------------------------------------------------

    def default_loss_weight(self, top_index: int) -> float:
        """Return the weight of a top in the loss where the file gives none; 1 for the first top of a loss layer."""
        return 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Whether ``force_backward`` may ask for this bottom's gradient (not for labels)."""
        return True

    def get_state(self) -> dict[str, Any]:
        """Return what an exact resume needs beyond parameters and :attr:`rng`, as JSON-able values."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`get_state` returned."""

    def close(self) -> None:
        """Release files and threads; called once, when the net is closed, if :meth:`setup` came to its end."""

    def _netcanvas_code(self) -> str:
        """Return what messages about a plugin call its code."""
        cls = type(self)
        return f"class {cls.__module__}.{cls.__qualname__}"

    def _netcanvas_module(self) -> str:
        """Return the name of the module with a plugin's code, as in :data:`sys.modules`."""
        return type(self).__module__

    def _netcanvas_hint(self, method: str) -> str:
        """Return what the user can do about an exception that left a method, where the kind of layer says so."""
        return ""

    def _netcanvas_bound(self) -> None:
        """Be told that the attributes which the net sets are there."""

    # -- help for authors ----------------------------------------------------------------------------------------

    @property
    def layer_param(self) -> Any:
        """The layer's message."""
        return self._netcanvas_binding.layer_param

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self._netcanvas_binding.name

    @property
    def phase(self) -> Phase:
        """``TRAIN`` (0) or ``TEST`` (1)."""
        return self._netcanvas_binding.phase

    @property
    def blobs(self) -> BlobList:
        """Parameters."""
        return self._netcanvas_binding.blobs

    @property
    def param_propagate_down(self) -> list[bool]:
        """For each parameter, whether its gradient is wanted."""
        return self._netcanvas_binding.param_propagate_down

    @property
    def context(self) -> LayerContext:
        """The net around the layer."""
        return self._netcanvas_binding.context

    @property
    def info(self) -> LayerInfo:
        """What the registry knows of the type."""
        return self._netcanvas_binding.info

    @property
    def backend(self) -> Backend:
        """Where the net computes."""
        return self._netcanvas_binding.context.backend

    @property
    def xp(self) -> Any:
        """The array module of the blobs this layer sees: numpy, or the device's twin of it."""
        return np if self.host_arrays else self._netcanvas_binding.context.backend.xp

    @property
    def rng(self) -> np.random.Generator:
        """The layer's own random stream, seeded from the run's seed and the layer's name; draws host arrays."""
        return stream(self)

    def message(self, name: str) -> Any:
        """Return an empty message of the layer's own schema; see :func:`engine.schema.messages.new_message`."""
        from engine.schema.messages import new_message  # layers of nets made from messages need none

        return new_message(self._netcanvas_binding.layer_param, name)

    def read_message(self, name: str, path: Path) -> Any:
        """Read a message from a text file; see :func:`engine.schema.messages.read_text_message`."""
        from engine.schema.messages import read_text_message  # as above

        return read_text_message(self._netcanvas_binding.layer_param, name, path)

    def primitive(self, spec: OpSpec) -> Primitive:
        """Return the backend's code for an operation, with scratch memory of this net."""
        context = self._netcanvas_binding.context
        return context.backend.primitive(spec, context.workspace)

    def fill(self, blob: Blob, filler: Any, *, parameter: bool = True) -> None:
        """Fill a blob as its ``FillerParameter`` says; where the net needs no values the filler is looked at only.

        A parameter is also left alone where another net gives the parameters.
        """
        from engine.fillers import check_filler, fill  # fillers raise layer errors and would import this module

        context = self._netcanvas_binding.context
        host = blob.on_host
        what = "a parameter" if parameter else "a blob"
        try:
            if context.shapes_only or (parameter and not context.fill_params):
                check_filler(filler)
            else:
                host.data[...] = fill(filler, host.shape, stream(self))
        except MemoryError:
            self.fail(
                f"expected memory for {what} of shape {host.shape}, got less than its {host.count} values need.",
                next_step="Check the layer's sizes and those of its input.",
            )
        except ValueError as error:
            self.fail(str(error))

    def to_backend(self, host: npt.NDArray[Any]) -> Array:
        """Copy a host array to where this layer computes."""
        return host if self.host_arrays else self._netcanvas_binding.context.backend.asarray(host)

    def axis(self, axis: int, blob: Blob, *, extra: int = 0) -> int:
        """Count a negative axis of a blob from its end, or fail naming this layer.

        Parameters
        ----------
        axis : int
            As written in the file.
        blob : Blob
            Whose axes are meant.
        extra : int
            1 where an axis one past the last is allowed.
        """
        try:
            return canonical_axis(axis, blob.axes + extra)
        except ValueError as error:
            if not blob.axes:
                self.fail(
                    f"expected a blob with an axis {axis}; '{blob.name}' is a scalar.",
                    next_step=f"Give '{blob.name}' a shape where it is made, or connect another blob.",
                )
            self.fail(
                f"{error}; blob '{blob.name}' has shape {blob.shape}.", next_step="Set axis to an axis of the bottom."
            )

    def fail(
        self,
        message: str,
        *,
        bottom: int | None = None,
        top: int | None = None,
        next_step: str = "",
        error: _LayerErrorClass = LayerError,
    ) -> NoReturn:
        """Raise an error that names this layer.

        Parameters
        ----------
        message : str
            What was expected and what came.
        bottom, top : int, optional
            The port at fault.
        next_step : str
            What the user can do.
        error : type
            A :class:`~engine.errors.LayerError` or a subclass of it.
        """
        port = f"bottom {bottom}" if bottom is not None else f"top {top}" if top is not None else ""
        bound = self._netcanvas_binding
        raise error(bound.name, bound.type, message, port=port, next_step=next_step)

    def fail_shape(self, message: str, *, bottom: int | None = None, next_step: str = "") -> NoReturn:
        """Raise a :class:`~engine.errors.ShapeError`; see :meth:`fail`."""
        self.fail(message, bottom=bottom, next_step=next_step, error=ShapeError)

    def __repr__(self) -> str:
        bound = self.__dict__.get("_netcanvas_binding")
        return f"<{type(self).__name__} '{bound.name if bound else '?'}'>"


def bind(layer: Layer, layer_param: Any, context: LayerContext, info: LayerInfo) -> None:
    """Give a layer its message and surroundings; called once by the registry, before :meth:`Layer.setup`."""
    # Caffe lets a layer's own message override the net's phase
    phase = Phase(layer_param.phase) if layer_param.HasField("phase") else context.phase
    name: str = layer_param.name
    blobs = BlobList(context.backend, dtype=context.dtype, device=not layer.host_arrays, name=name)
    bound = Binding(layer_param, context, info, name, layer_param.type or layer.type, phase, blobs)
    object.__setattr__(layer, "_netcanvas_binding", bound)  # whatever a plugin's own __setattr__ does
    layer._netcanvas_bound()


def stream(layer: Layer) -> np.random.Generator:
    """Return the random stream of a layer, whatever the layer's own code calls ``rng``."""
    bound = layer._netcanvas_binding
    if bound.rng is None:
        bound.rng = np.random.Generator(np.random.PCG64(layer_seed(bound.context.seed, bound.name)))
    return bound.rng


def binding(layer: Layer) -> Binding:
    """Return what the net gave a layer, whatever the layer's own code has made of its attributes."""
    return layer._netcanvas_binding


def layer_seed(seed: int | None, name: str) -> np.random.SeedSequence:
    """Return the seed of a layer's stream: the run's seed and the layer's name, so that no other layer moves it."""
    if seed is None:
        return np.random.SeedSequence()
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
    return np.random.SeedSequence([seed & 0xFFFFFFFFFFFFFFFF, int.from_bytes(digest[:8], "little")])
