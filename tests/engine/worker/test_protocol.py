from __future__ import annotations

import contextlib
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.worker import Message, Progress, ProtocolError, ProtocolVersionError, TensorReply
from engine.worker.events import Failure, Hello, Metrics, SnapshotTaken, StateChanged, from_message, to_message
from engine.worker.protocol import decode, encode

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.builds(
    Message,
    st.text(min_size=1),
    st.dictionaries(st.text(), JSON, max_size=4),
    st.lists(st.binary(max_size=40), max_size=4).map(tuple),
)
GOOD = encode(Message("progress", {"iteration": 3}, (b"abc", b"")))


@given(MESSAGES)
def test_a_message_comes_back_as_it_went(message: Message) -> None:
    assert decode(encode(message)) == message


@given(MESSAGES, st.data())
def test_a_cut_message_is_refused(message: Message, data: st.DataObject) -> None:
    block = encode(message)
    length = data.draw(st.integers(0, len(block) - 1))
    with pytest.raises(ProtocolError):
        decode(block[:length])


@given(st.binary(max_size=300))
def test_noise_is_refused(block: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(block)


@given(st.data())
def test_a_flipped_byte_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    block = bytearray(GOOD)
    block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = decode(bytes(block))
    except ProtocolError:
        return
    assert isinstance(message, Message)
    with contextlib.suppress(ProtocolError):
        from_message(message)


def raw(header: bytes, frames: bytes = b"", *, version: int = 1, length: int | None = None) -> bytes:
    return struct.pack(">4sHHI", b"NCNV", version, 0, len(header) if length is None else length) + header + frames


@pytest.mark.parametrize(
    "block",
    [
        b"",
        raw(b"{}"),
        raw(b"[]"),
        raw(b"\xff\xfe"),
        raw(b"[" * 100_000),
        raw(b'{"kind":"x","data":[]}'),
        raw(b'{"kind":""}'),
        raw(b'{"kind":"x"}', b"more"),
        raw(b'{"kind":"x","frames":[5]}', b"four"),
        raw(b'{"kind":"x","frames":[-1]}'),
        raw(b'{"kind":"x","frames":[true]}', b"1"),
        raw(b'{"kind":"x","frames":[1.5]}', b"1"),
        raw(b'{"kind":"x","frames":[99999999999999999999]}'),
        raw(b'{"kind":"x"}', length=2**32 - 1),
        raw(b'{"kind":"x","frames":[' + b"0," * 100 + b"0]}"),
    ],
)
def test_malformed_messages_are_refused(block: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(block)


def test_another_version_is_named() -> None:
    with pytest.raises(ProtocolVersionError, match="version 9") as caught:
        decode(raw(b'{"kind":"x"}', version=9))
    assert caught.value.version == 9
    assert "Netcanvas that started it" in str(caught.value)


@pytest.mark.parametrize(
    "event",
    [
        Hello("run", 12, "running", 3, 100, "numpy"),
        StateChanged("paused"),
        Metrics(20, 0, {"accuracy": 0.5, "per_class": [0.25, 0.75]}),
        SnapshotTaken(25, "/a/b.caffemodel", "/a/b.solverstate"),
        Failure("Layer 'ip1' is wrong.", "ip1", "setup", "Traceback\n  ü"),
    ],
)
def test_an_event_comes_back_as_it_went(event: object) -> None:
    assert from_message(decode(encode(to_message(event)))) == event  # type: ignore[arg-type]


def test_numbers_that_are_none_travel() -> None:
    sent = Progress(1, 5, math.nan, math.inf, 0.1, 2.0, -math.inf, np.array([[0.0, math.nan, math.inf, 0.1]]))
    got = from_message(decode(encode(to_message(sent))))
    assert isinstance(got, Progress)
    assert math.isnan(got.loss)
    assert (got.smoothed_loss, got.seconds_left) == (math.inf, -math.inf)
    np.testing.assert_array_equal(got.points, sent.points)


@pytest.mark.parametrize(
    "array", [np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, ::2], np.float64(3.0), np.zeros((0, 2), "u1")]
)
def test_arrays_travel_as_frames(array: np.ndarray) -> None:
    array = np.asarray(array)
    message = to_message(TensorReply(4, "ip1", 0, 7, array=array))
    got = from_message(decode(encode(message)))
    assert isinstance(got, TensorReply)
    assert got.array.dtype == array.dtype
    np.testing.assert_array_equal(got.array, array)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"request": "1", "name": "a", "index": 0, "iteration": 0},
        {"request": 1, "name": 5, "index": 0, "iteration": 0},
        {"request": 1, "name": "a", "index": 0, "iteration": 0, "array": {"frame": 3, "dtype": "<f4", "shape": [1]}},
        {"request": 1, "name": "a", "index": 0, "iteration": 0, "array": {"frame": 0, "dtype": "O", "shape": [1]}},
        {"request": 1, "name": "a", "index": 0, "iteration": 0, "array": {"frame": 0, "dtype": "<f4", "shape": [9]}},
        {"request": 1, "name": "a", "index": 0, "iteration": 0, "array": [1, 2]},
    ],
)
def test_an_event_with_wrong_fields_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ProtocolError, match="tensor"):
        from_message(Message("tensor", data, (b"12345678",)))


def test_what_a_newer_worker_adds_is_ignored() -> None:
    assert from_message(Message("telepathy", {"x": 1})) is None
    assert from_message(Message("state", {"state": "running", "mood": "good"})) == StateChanged("running")
