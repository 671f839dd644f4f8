"""What the inspection process is asked and answers, and how errors travel as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.errors import (
    DataError,
    LayerError,
    MissingDataError,
    NetcanvasError,
    PluginError,
    ShapeError,
    UnknownLayerTypeError,
)
from engine.plugins.failures import PluginLoadError

__all__ = [
    "LayerListing",
    "LayerShapes",
    "ListedLayer",
    "ModuleFailure",
    "PluginLost",
    "error_from_json",
    "error_to_json",
]

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayerShapes:
    """Shapes of one layer after ``setup`` and ``reshape``.

    Attributes
    ----------
    tops : tuple of shapes or None
        In order; None for a top that gets its shape only in ``forward``.
    params : tuple of shapes
        In order.
    file : str
        Source of the layer's class, empty for built-in layers.
    warnings : tuple of str
        What its code did that others suffer from, a sentence each.
    """

    tops: tuple[Shape | None, ...]
    params: tuple[Shape, ...]
    file: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedLayer:
    """A layer class of a plugin module that was loaded.

    Attributes
    ----------
    module, name : str
        What a net writes in ``python_param``.
    file : str
        The file actually used.
    summary : str
        First line of its documentation.
    """

    module: str
    name: str
    file: str
    summary: str


@dataclass(frozen=True, slots=True)
class ModuleFailure:
    """A plugin module that could not be loaded, and why."""

    module: str
    error: NetcanvasError


@dataclass(frozen=True, slots=True)
class LayerListing:
    """What a plugin folder offers, which of its modules fail, and which do what others suffer from."""

    layers: tuple[ListedLayer, ...]
    failures: tuple[ModuleFailure, ...]
    warnings: tuple[str, ...] = ()


class PluginLost(PluginError):
    """Code that hung, crashed or left the inspection process; asking again costs as much again.

    Attributes
    ----------
    file, line : str, int
        Where it was when it was stopped; empty and 0 where that is not known.
    """

    file: str = ""
    line: int = 0


_LAYER_ERRORS: dict[str, type[LayerError]] = {cls.__name__: cls for cls in (LayerError, PluginError, ShapeError)}
_DATA_ERRORS: dict[str, type[DataError]] = {cls.__name__: cls for cls in (DataError, MissingDataError)}


def error_to_json(error: NetcanvasError) -> dict[str, Any]:
    """Return an error as JSON values."""
    fields: dict[str, Any] = {"message": error.message, "next_step": error.next_step}
    if isinstance(error, LayerError):
        names = ("layer", "layer_type", "detail", "port", "method", "traceback_text")
        fields |= {name: getattr(error, name) for name in names}
    if isinstance(error, PluginLoadError):
        fields |= {"kind": error.kind, "file": error.file, "line": error.line}
    if isinstance(error, UnknownLayerTypeError):
        fields |= {"layer": error.layer, "layer_type": error.layer_type, "closest": list(error.closest)}
        fields |= {"of_caffe": error.of_caffe, "withheld": error.withheld}
    bases = [cls.__name__ for cls in type(error).__mro__ if issubclass(cls, NetcanvasError)]
    return {"classes": bases, "fields": fields}


def error_from_json(value: dict[str, Any]) -> NetcanvasError:
    """Return the error that :func:`error_to_json` described; of an unknown class, the nearest known one."""
    fields = value["fields"]
    step = fields["next_step"]
    for name in value["classes"]:
        if name == "PluginLoadError":
            return PluginLoadError(
                fields["layer"],
                fields["detail"],
                kind=fields["kind"],
                file=fields["file"],
                line=fields["line"],
                layer_type=fields["layer_type"],
                next_step=step,
                traceback_text=fields["traceback_text"],
            )
        if name in _LAYER_ERRORS:
            return _LAYER_ERRORS[name](
                fields["layer"],
                fields["layer_type"],
                fields["detail"],
                next_step=step,
                port=fields["port"],
                method=fields["method"],
                traceback_text=fields["traceback_text"],
            )
        if name == "UnknownLayerTypeError":
            return UnknownLayerTypeError(
                fields["layer"],
                fields["layer_type"],
                fields["closest"],
                of_caffe=fields["of_caffe"],
                withheld=fields["withheld"],
            )
        if name in _DATA_ERRORS:
            return _DATA_ERRORS[name](fields["message"], next_step=step)
    return NetcanvasError(fields["message"], next_step=step)
