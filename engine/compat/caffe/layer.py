"""``caffe.Layer``: the base class of Python layers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, overload

from engine.layer import Layer as EngineLayer

__all__ = ["Layer"]

_log = logging.getLogger("netcanvas.plugins")


class _Yielding:
    """An attribute computed on the class that an instance may set: plugins own every name Caffe leaves free."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> _Yielding: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Any: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        return self if instance is None else self._compute(instance)


class Layer(EngineLayer):
    """A layer written in Python, as pycaffe calls it.

    Subclasses define ``setup(bottom, top)``, ``reshape(bottom, top)``, ``forward(bottom, top)`` and
    ``backward(top, propagate_down, bottom)``. Blobs are host arrays whatever the net computes on, unless the class says
    ``host_arrays = False``: then they are the backend's own, without a copy. Where a blob is both bottom and top (in
    place), both are one memory.

    Parameters
    ----------
    layer_param : LayerParameter, optional
        The layer's message; subclasses with a constructor pass on what they are given.

    Attributes
    ----------
    param_str : str
        The layer's parameter text. Its name before 2015, ``param_str_``, works too.
    phase : int
        ``caffe.TRAIN`` (0) or ``caffe.TEST`` (1); set before ``setup``.
    blobs : BlobList
        Trainable parameters, added in ``setup`` with ``self.blobs.add_blob(*shape)``.
    """

    type = "Python"
    host_arrays = True

    param_str: str

    def __init__(self, layer_param: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def _netcanvas_bound(self) -> None:
        bound = self._netcanvas_binding
        object.__setattr__(self, "param_str", bound.layer_param.python_param.param_str)
        object.__setattr__(self, "phase", bound.phase)

    @_Yielding
    def param_str_(self) -> str:
        """The older name of ``param_str``."""
        cls = type(self)
        if "_told_param_str" not in cls.__dict__:
            cls._told_param_str = True  # type: ignore[attr-defined]  # once a class, which a reload makes anew
            _log.warning("%s reads self.param_str_, the name before 2015; write self.param_str.", cls.__name__)
        return self.param_str

    backend = _Yielding(EngineLayer.backend.fget)  # type: ignore[attr-defined]
    context = _Yielding(EngineLayer.context.fget)  # type: ignore[attr-defined]
    info = _Yielding(EngineLayer.info.fget)  # type: ignore[attr-defined]
    layer_param = _Yielding(EngineLayer.layer_param.fget)  # type: ignore[attr-defined]
    name = _Yielding(EngineLayer.name.fget)  # type: ignore[attr-defined]
    param_propagate_down = _Yielding(EngineLayer.param_propagate_down.fget)  # type: ignore[attr-defined]
    phase = _Yielding(EngineLayer.phase.fget)  # type: ignore[attr-defined]
    rng = _Yielding(EngineLayer.rng.fget)  # type: ignore[attr-defined]
    xp = _Yielding(EngineLayer.xp.fget)  # type: ignore[attr-defined]
