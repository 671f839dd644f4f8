"""The error tree.

Every error of Netcanvas derives from :class:`NetcanvasError`. Its text names the object, what was expected, what
came, and the next step, so that it can be shown to a person as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "CheckError",
    "DataError",
    "FileFormatError",
    "GraphError",
    "LayerError",
    "MissingDataError",
    "NetError",
    "NetcanvasError",
    "NonFiniteError",
    "PluginError",
    "PrototxtError",
    "SchemaError",
    "ShapeError",
    "SolverError",
    "SurplusError",
    "UnknownLayerTypeError",
    "WeightsError",
    "WorkerError",
]


class NetcanvasError(Exception):
    """Root of all errors that Netcanvas raises on purpose.

    Parameters
    ----------
    message : str
        One sentence that names the object, what was expected and what came.
    next_step : str, optional
        What the user can do about it; appended to the text.
    """

    def __init__(self, message: str, *, next_step: str = "") -> None:
        self.message = message
        self.next_step = next_step
        super().__init__(f"{message} {next_step}".strip())


class PrototxtError(NetcanvasError):
    """Text that cannot be read as prototxt where the caller needs it whole.

    Parameters
    ----------
    message : str
        What is wrong, without the place.
    line, column : int
        1-based place in the text; 0 when unknown.
    source : str
        Name of the file, or empty for text in memory.
    """

    def __init__(self, message: str, *, line: int = 0, column: int = 0, source: str = "", next_step: str = "") -> None:
        self.line = line
        self.column = column
        self.source = source
        place = ":".join(part for part in (source, str(line or ""), str(column or "")) if part)
        super().__init__(f"{place}: {message}" if place else message, next_step=next_step)
        self.message = message


class SchemaError(PrototxtError):
    """A field, value or message that the schema does not allow."""


class GraphError(NetcanvasError):
    """An operation on the graph that cannot be done."""


class CheckError(GraphError):
    """A rule of the graph refuses an edit; the message says which, in one sentence."""


class NetError(NetcanvasError):
    """A net that cannot be built or run."""


class LayerError(NetError):
    """A fault of one layer.

    Parameters
    ----------
    layer, layer_type : str
        Name and type of the layer.
    detail : str
        Expected and received, in one sentence.
    port : str
        For example ``bottom 0``; empty when the fault is of the layer as a whole.
    method : str
        ``setup``, ``reshape``, ``forward`` or ``backward`` where it is known.
    traceback_text : str
        The plugin's own traceback, for faults raised by user code.
    """

    def __init__(
        self,
        layer: str,
        layer_type: str,
        detail: str,
        *,
        port: str = "",
        method: str = "",
        next_step: str = "",
        traceback_text: str = "",
    ) -> None:
        self.layer = layer
        self.layer_type = layer_type
        self.detail = detail
        self.port = port
        self.method = method
        self.traceback_text = traceback_text
        where = f", {port}" if port else ""
        during = f" in {method}" if method else ""
        super().__init__(f"Layer '{layer}' ({layer_type}){where}{during}: {detail}", next_step=next_step)


class SurplusError(LayerError):
    """More values of a field than a layer takes.

    Parameters
    ----------
    layer, layer_type : str
        Name and type of the layer.
    field : str
        Name of the field.
    most, have : int
        How many values the layer takes, and how many it has.
    what : str
        What each value is for.
    """

    def __init__(
        self, layer: str, layer_type: str, field: str, most: int, have: int, what: str, *, next_step: str
    ) -> None:
        self.field = field
        self.most = most
        detail = f"expected at most {most} {field} blocks, one for each of its {what}, got {have}."
        super().__init__(layer, layer_type, detail, next_step=next_step)


class ShapeError(LayerError):
    """Shapes that do not fit a layer."""


class UnknownLayerTypeError(NetError):
    """A layer type that nothing registers.

    Parameters
    ----------
    layer, layer_type : str
        Name and type as written.
    closest : sequence of str
        Known types that look like it, best first.
    of_caffe : bool
        Whether it is one of Caffe's, which Netcanvas does not offer yet.
    withheld : str
        Which plugin would supply it, and why it does not; empty where none would.
    """

    def __init__(
        self,
        layer: str,
        layer_type: str,
        closest: Sequence[str] = (),
        *,
        of_caffe: bool = False,
        withheld: str = "",
    ) -> None:
        self.layer = layer
        self.layer_type = layer_type
        self.closest = tuple(closest)
        self.of_caffe = of_caffe
        self.withheld = withheld
        fault = f"no layer type '{layer_type}' is known."
        hint = f"Did you mean '{closest[0]}'?" if closest else "Add a plugin that provides it."
        if of_caffe:
            fault, hint = f"Caffe's layer type '{layer_type}' is not offered yet.", "Write it as a Python layer."
        if withheld:
            fault, hint = f"layer type '{layer_type}' cannot be had: {withheld}", ""
        super().__init__(f"Layer '{layer}': {fault}", next_step=hint)


class PluginError(LayerError, RuntimeError):
    """User code that failed to load or raised; a RuntimeError too, for scripts that await one from a net."""


class DataError(NetcanvasError):
    """A data source that is missing, unreadable or does not fit; the message names the path."""


class MissingDataError(DataError):
    """A data source that is named and not there."""


class FileFormatError(NetcanvasError):
    """A file that is not what it should be; the message says what it looks like."""


class WeightsError(NetcanvasError):
    """Weights that do not fit the net; the message names the layer, the blob and both shapes."""


class SolverError(NetcanvasError):
    """A solver setting that is missing, wrong or not offered."""


class NonFiniteError(SolverError):
    """Numbers of a training that stopped being finite.

    Parameters
    ----------
    layer : str
        Layer in which that began; empty where all blobs are finite and only the sum of the losses is not.
    blob : str
        Name of the blob; the number of a parameter.
    part : str
        ``data`` or ``diff`` of a blob, ``parameter`` or ``parameter diff``.
    iteration : int
        Updates done before it.
    """

    def __init__(
        self, message: str, *, layer: str = "", blob: str = "", part: str = "", iteration: int = 0, next_step: str = ""
    ) -> None:
        self.layer = layer
        self.blob = blob
        self.part = part
        self.iteration = iteration
        super().__init__(message, next_step=next_step)


class WorkerError(NetcanvasError):
    """A worker process that could not be started, reached or understood."""
