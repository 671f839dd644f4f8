from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import WorkerError
from engine.worker import Event, Hello, LogRecord, Message, StateChanged, TensorReply
from engine.worker.events import from_message
from engine.worker.protocol import MAX_COMMAND_BYTES, decode, encode
from engine.worker.server import Server
from engine.worker.transport import Pipe, connect, remove_socket

KEY = b"k" * 32


class Desk:
    """A server that notes what it is asked."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.server = Server(KEY, lambda: Hello("run", 1, "running", 0, 10), self._obey)

    def _obey(self, command: Message, reply: Callable[[Event], None]) -> None:
        self.commands.append(command.kind)
        reply(LogRecord("info", f"did {command.kind}"))

    def connect(self) -> Pipe:
        pipe = connect(self.server.family, self.server.address, KEY)
        assert receive(pipe) == Hello("run", 1, "running", 0, 10)
        return pipe

    def wait_for_viewers(self, count: int) -> None:
        deadline = time.monotonic() + 5.0
        while self.server.viewers != count:
            assert time.monotonic() < deadline, f"{self.server.viewers} viewers, expected {count}"
            time.sleep(0.01)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.server.close()


def receive(pipe: Pipe) -> Event | None:
    assert pipe.poll(5.0), "no message came"
    return from_message(decode(pipe.recv_bytes()))


def test_every_viewer_hears_everything_and_replies_go_to_the_asker(desk: Desk) -> None:
    first, second = desk.connect(), desk.connect()
    first.send_bytes(encode(Message("pause")))
    assert receive(first) == LogRecord("info", "did pause")
    desk.server.broadcast(StateChanged("paused"))
    assert receive(first) == receive(second) == StateChanged("paused")
    first.close()
    second.close()


@pytest.mark.parametrize(
    "junk",
    [b"", b"junk", encode(Message("pause"))[:-1], encode(Message("x", {"y": "z" * MAX_COMMAND_BYTES}))],
    ids=["empty", "noise", "cut", "too large"],
)
def test_a_viewer_that_talks_nonsense_is_let_go_and_nobody_else(desk: Desk, junk: bytes) -> None:
    bad, good = desk.connect(), desk.connect()
    bad.send_bytes(junk)
    desk.wait_for_viewers(1)
    desk.server.broadcast(StateChanged("paused"))
    assert receive(good) == StateChanged("paused")
    assert desk.commands == []
    bad.close()
    good.close()


def test_another_version_is_let_go(desk: Desk) -> None:
    pipe = desk.connect()
    block = bytearray(encode(Message("pause")))
    block[5] = 99
    pipe.send_bytes(bytes(block))
    desk.wait_for_viewers(0)
    assert desk.commands == []
    pipe.close()


def test_the_wrong_key_is_refused(desk: Desk) -> None:
    with pytest.raises(WorkerError, match="key"):
        connect(desk.server.family, desk.server.address, b"x" * 32)
    assert desk.server.viewers == 0


def test_a_viewer_that_does_not_read_never_holds_the_server_up(desk: Desk) -> None:
    idle, good = desk.connect(), desk.connect()
    heard: list[Event | None] = []
    listener = threading.Thread(target=lambda: heard.extend(receive(good) for _ in range(600)))
    listener.start()
    block = np.zeros(5000, np.float32)
    slowest = 0.0
    for number in range(600):
        begin = time.perf_counter()
        desk.server.broadcast(TensorReply(number, "x", 0, 0, array=block))
        slowest = max(slowest, time.perf_counter() - begin)
        time.sleep(0.001)
    listener.join(20.0)
    assert len(heard) == 600
    assert slowest < 0.5
    desk.wait_for_viewers(1)
    idle.close()
    good.close()


def test_what_was_said_before_the_end_arrives(desk: Desk) -> None:
    pipe = desk.connect()
    for number in range(50):
        desk.server.broadcast(LogRecord("info", str(number)))
    desk.server.close()
    assert [receive(pipe) for _ in range(50)] == [LogRecord("info", str(number)) for number in range(50)]
    with pytest.raises((EOFError, OSError)):
        pipe.recv_bytes()
    pipe.close()


def test_the_socket_is_short_private_and_removed() -> None:
    desk = Desk()
    if desk.server.family != "AF_UNIX":
        pytest.skip("no Unix sockets on this system")
    path = Path(desk.server.address)
    assert len(desk.server.address) <= 100
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    desk.server.close()
    assert not path.parent.exists()


def test_only_sockets_of_ours_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "netcanvas-x"
    folder.mkdir()
    (folder / "s").write_text("the user's")
    remove_socket(str(folder / "s"))
    assert (folder / "s").read_text() == "the user's"
