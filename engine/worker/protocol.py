"""Messages between a training process and its viewers.

A message is one block of bytes, sent whole through :mod:`multiprocessing.connection` (which puts its length in front):

========  ==========================================================================
bytes     content
========  ==========================================================================
4         the letters ``NCNV``
2         protocol version, big-endian
2         zero
4         length of the header, big-endian
header    UTF-8 JSON: ``{"kind": str, "data": {...}, "frames": [length, ...]}``
frames    raw bytes, one block per entry of ``frames``, in that order
========  ==========================================================================

Nothing is ever pickled, so a message from a stranger can at worst be refused. JSON has no ``NaN``: numbers that are
not finite travel as the strings ``"nan"``, ``"inf"`` and ``"-inf"``.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import WorkerError

__all__ = [
    "MAX_COMMAND_BYTES",
    "MAX_EVENT_BYTES",
    "PROTOCOL_VERSION",
    "Message",
    "ProtocolError",
    "ProtocolVersionError",
    "decode",
    "dumps",
    "encode",
]

PROTOCOL_VERSION = 1
MAX_COMMAND_BYTES = 64 * 1024
MAX_EVENT_BYTES = 1024 * 1024 * 1024

_MAGIC = b"NCNV"
_PREFIX = struct.Struct(">4sHHI")
_MAX_HEADER_BYTES = 4 * 1024 * 1024
_MAX_FRAMES = 64
_NEXT_STEP = "Close this viewer and attach to the run again."


class ProtocolError(WorkerError):
    """A message that is not what the protocol allows."""

    def __init__(self, message: str, *, next_step: str = _NEXT_STEP) -> None:
        super().__init__(message, next_step=next_step)


class ProtocolVersionError(ProtocolError):
    """A message of a protocol version that this program does not speak."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__(
            f"The other side speaks version {version} of the run protocol, this program speaks {PROTOCOL_VERSION}.",
            next_step="Open the run with the Netcanvas that started it.",
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes
    ----------
    kind : str
        What it is, such as ``"progress"``.
    data : mapping
        JSON values.
    frames : sequence of bytes
        Raw blocks that the data refers to by position.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    frames: Sequence[bytes] = ()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def dumps(value: Any) -> str:
    """Return compact JSON in which numbers that are not finite stand as strings that ``float`` reads."""
    return json.dumps(_plain(value), separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    lengths = [len(frame) for frame in message.frames]
    header = dumps({"kind": message.kind, "data": message.data, "frames": lengths}).encode()
    return b"".join((_PREFIX.pack(_MAGIC, PROTOCOL_VERSION, 0, len(header)), header, *message.frames))


def decode(block: bytes) -> Message:
    """Read a message.

    Raises
    ------
    ProtocolVersionError
        For another version of the protocol.
    ProtocolError
        For anything else that is not a whole, well-formed message.
    """
    if len(block) < _PREFIX.size:
        raise ProtocolError(f"Expected a message of at least {_PREFIX.size} bytes, got {len(block)}.")
    magic, version, _, header_length = _PREFIX.unpack_from(block)
    if magic != _MAGIC:
        raise ProtocolError(f"Expected a message that begins with {_MAGIC!r}, got {magic!r}.")
    if version != PROTOCOL_VERSION:
        raise ProtocolVersionError(version)
    end = _PREFIX.size + header_length
    if header_length > _MAX_HEADER_BYTES or end > len(block):
        raise ProtocolError(f"Expected a header of {header_length} bytes, the message holds {len(block)} in all.")
    kind, data, lengths = _header(block[_PREFIX.size : end])
    if end + sum(lengths) != len(block):
        raise ProtocolError(f"Expected {end + sum(lengths)} bytes in message '{kind}', got {len(block)}.")
    frames = []
    for length in lengths:
        frames.append(block[end : end + length])
        end += length
    return Message(kind, data, tuple(frames))


def _header(text: bytes) -> tuple[str, dict[str, Any], list[int]]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"Expected a JSON header, got {text[:40]!r} ({error}).") from None
    if not isinstance(header, dict):
        raise ProtocolError(f"Expected a JSON object as header, got {type(header).__name__}.")
    kind, data, lengths = header.get("kind"), header.get("data", {}), header.get("frames", [])
    if not isinstance(kind, str) or not kind:
        raise ProtocolError(f"Expected the name of a message in 'kind', got {kind!r}.")
    if not isinstance(data, dict):
        raise ProtocolError(f"Expected a JSON object in 'data' of message '{kind}', got {type(data).__name__}.")
    if not isinstance(lengths, list) or len(lengths) > _MAX_FRAMES:
        raise ProtocolError(f"Expected at most {_MAX_FRAMES} frame lengths in message '{kind}'.")
    for length in lengths:
        if not isinstance(length, int) or isinstance(length, bool) or length < 0:
            raise ProtocolError(f"Expected frame lengths of 0 or more in message '{kind}', got {length!r}.")
    return kind, data, lengths
