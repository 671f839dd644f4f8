"""What a training process tells its viewers, as values.

Each event is a frozen dataclass with a ``kind``; :func:`to_message` and :func:`from_message` carry it over the
protocol. Arrays travel as raw frames. Fields that a newer worker adds are ignored, fields that are missing are an
error. :class:`Output` and :class:`Lost` never travel: the client makes them from the log file and from a connection
that broke.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.worker.protocol import Message, ProtocolError

__all__ = [
    "Event",
    "Failure",
    "Finished",
    "Hello",
    "LogRecord",
    "Lost",
    "Metrics",
    "Output",
    "Progress",
    "SnapshotTaken",
    "StateChanged",
    "TensorReply",
    "Updates",
    "from_message",
    "to_message",
]

POINT_COLUMNS = ("iteration", "loss", "smoothed_loss", "learning_rate")


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class Hello(Event):
    """First message to every viewer: what runs, and how far it is."""

    kind: ClassVar[str] = "hello"
    run: str
    pid: int
    state: str
    iteration: int
    max_iter: int
    backend: str = ""


@dataclass(frozen=True, slots=True)
class StateChanged(Event):
    """The run's state: waiting, running, paused, finished, failed or stopped."""

    kind: ClassVar[str] = "state"
    state: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """Where the training stands, at most about ten times a second.

    Attributes
    ----------
    iteration, max_iter : int
        Finished updates, and their number at the end.
    loss, smoothed_loss, learning_rate : float
        Of the last iteration.
    speed : float
        Iterations per second; 0 while it is not known.
    seconds_left : float
        Expected time to the end; NaN while it is not known.
    points : ndarray of float64, shape (n, 4)
        Iteration, loss, smoothed loss and learning rate of every iteration since the last event.
    """

    kind: ClassVar[str] = "progress"
    iteration: int
    max_iter: int
    loss: float
    smoothed_loss: float
    learning_rate: float
    speed: float
    seconds_left: float
    points: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metrics(Event):
    """Outputs of one test pass: a number, or a list of numbers, for each output blob of a test net."""

    kind: ClassVar[str] = "metrics"
    iteration: int
    net: int
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Updates(Event):
    """How large the last update of each layer was, a few times a second at most; see :mod:`engine.worker.updates`.

    A viewer that does not know it skips it, and a worker that does not never sends it.

    Attributes
    ----------
    iteration : int
        Finished updates.
    layers : mapping of str to float
        ``norm(update) / norm(weights)`` by layer; what is not finite may come as text that ``float`` reads.
    """

    kind: ClassVar[str] = "updates"
    iteration: int
    layers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogRecord(Event):
    """Something the user should know, such as a loss that is no number any more; it stands in the log file as well."""

    kind: ClassVar[str] = "log"
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class SnapshotTaken(Event):
    """A snapshot: absolute paths of the weights and of the solver state."""

    kind: ClassVar[str] = "snapshot"
    iteration: int
    weights: str
    state: str


@dataclass(frozen=True, slots=True)
class Failure(Event):
    """The run failed.

    Attributes
    ----------
    message : str
        One sentence with the next step.
    layer, method : str
        Where it happened; empty when it was no layer's fault.
    traceback : str
        For the details that the user asks for.
    """

    kind: ClassVar[str] = "failure"
    message: str
    layer: str = ""
    method: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The run reached its end (``finished``) or was stopped (``stopped``)."""

    kind: ClassVar[str] = "finished"
    state: str
    iteration: int


@dataclass(frozen=True, slots=True)
class TensorReply(Event):
    """Answer to ``get_tensor``: a copy of a param or blob, or the reason why there is none."""

    kind: ClassVar[str] = "tensor"
    request: int
    name: str
    index: int
    iteration: int
    error: str = ""
    array: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class Output(Event):
    """Text that was added to the log file."""

    kind: ClassVar[str] = "output"
    text: str


@dataclass(frozen=True, slots=True)
class Lost(Event):
    """The process ended without a word; ``snapshot`` is the newest solver state to resume from, or empty.

    ``layer`` and ``method`` are what it ran at last, where it had noted that.
    """

    kind: ClassVar[str] = "lost"
    message: str
    snapshot: str = ""
    layer: str = ""
    method: str = ""


_TRAVELLING: tuple[type[Event], ...] = (
    Hello,
    StateChanged,
    Progress,
    Metrics,
    Updates,
    LogRecord,
    SnapshotTaken,
    Failure,
    Finished,
    TensorReply,
)


@functools.cache
def _catalogue() -> Mapping[str, tuple[type[Event], Mapping[str, Any]]]:
    """Event type and the types of its fields, for every kind that travels."""
    return types.MappingProxyType({item.kind: (item, typing.get_type_hints(item)) for item in _TRAVELLING})


def to_message(event: Event) -> Message:
    """Return the message that carries an event."""
    data: dict[str, Any] = {}
    frames: list[bytes] = []
    for item in dataclasses.fields(event):
        value = getattr(event, item.name)
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value)
            data[item.name] = {"frame": len(frames), "dtype": array.dtype.str, "shape": list(value.shape)}
            frames.append(array.tobytes())
        else:
            data[item.name] = value
    return Message(event.kind, data, tuple(frames))


def from_message(message: Message) -> Event | None:
    """Return the event that a message carries, or None for a kind that this version does not know.

    Raises
    ------
    ProtocolError
        When fields are missing or of the wrong type.
    """
    entry = _catalogue().get(message.kind)
    if entry is None:
        return None
    event_type, hints = entry
    values: dict[str, Any] = {}
    for item in dataclasses.fields(event_type):
        if item.name in message.data:
            values[item.name] = _read(message, item.name, hints[item.name])
        elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            raise ProtocolError(f"Message '{message.kind}' lacks '{item.name}'.")
    return event_type(**values)


def _read(message: Message, name: str, hint: Any) -> Any:
    value = message.data[name]
    try:
        if hint is float:
            return float(value)
        if hint in (int, str):
            if isinstance(value, bool) or not isinstance(value, hint):
                raise TypeError(f"expected {hint.__name__}, got {type(value).__name__}")
            return value
        if typing.get_origin(hint) is np.ndarray:
            return _array(message, value)
        if not isinstance(value, Mapping):
            raise TypeError(f"expected an object, got {type(value).__name__}")
        return value
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        raise ProtocolError(f"Message '{message.kind}', field '{name}': {error}.") from None


def _array(message: Message, value: Any) -> NDArray[Any]:
    frame = message.frames[value["frame"]]
    dtype = np.dtype(str(value["dtype"]))
    if dtype.hasobject:
        raise TypeError("arrays of objects do not travel")
    return np.frombuffer(frame, dtype).reshape([int(size) for size in value["shape"]])
