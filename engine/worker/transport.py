"""Local sockets (Unix) and pipes (Windows) with a handshake that cannot hang."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import TypeAlias

from engine.errors import WorkerError

__all__ = ["Endpoint", "Pipe", "connect", "hang_up", "remove_socket", "welcome"]

Pipe: TypeAlias = "Connection[bytes, bytes]"

_FOLDER_PREFIX = "netcanvas-"
_LONGEST_SOCKET_PATH = 100
_HANDSHAKE_SECONDS = 10.0


class Endpoint:
    """Where a training process listens.

    The path of a Unix socket may not exceed about 100 bytes, which a run folder easily does; so the socket lies in a
    folder of its own in the system's place for such things, which only this user may enter.

    Attributes
    ----------
    family, address : str
        For :func:`connect`.
    """

    def __init__(self) -> None:
        self._folder: str | None = None
        if sys.platform == "win32":
            self.family, self.address = "AF_PIPE", rf"\\.\pipe\{_FOLDER_PREFIX}{secrets.token_hex(16)}"
        else:
            self._folder = _socket_folder()
            self.family, self.address = "AF_UNIX", str(Path(self._folder) / "s")
        self._listener = Listener(self.address, self.family, backlog=16)

    def accept(self) -> Pipe:
        """Wait for the next viewer; OSError once the endpoint is closed."""
        return self._listener.accept()

    def wake(self) -> None:
        """Make a waiting :meth:`accept` return."""
        with contextlib.suppress(OSError):
            Client(self.address, self.family).close()

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._listener.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _socket_folder() -> str:
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if base and len(os.fsencode(base)) + 40 < _LONGEST_SOCKET_PATH and os.access(base, os.W_OK | os.X_OK):
            return tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=base)
    raise WorkerError(
        "No folder for the run's socket can be written.",
        next_step="Set TMPDIR to a folder with a short path that you may write.",
    )


def remove_socket(address: str) -> None:
    """Remove the socket that a killed process left behind; anything that is not such a socket stays."""
    path = Path(address)
    if path.name == "s" and path.parent.name.startswith(_FOLDER_PREFIX) and path.is_socket():
        shutil.rmtree(path.parent, ignore_errors=True)


def welcome(pipe: Pipe, key: bytes) -> None:
    """Do the listening side's half of the handshake.

    Raises
    ------
    WorkerError
        When the other side does not answer in time or does not know the key.
    """
    _handshake(pipe, key, challenge_first=True)


def connect(family: str, address: str, key: bytes) -> Pipe:
    """Open a connection to a training process.

    Raises
    ------
    WorkerError
        When nobody listens, the process does not answer in time, or the key is not its key.
    """
    try:
        pipe: Pipe = Client(address, family)
    except OSError as error:
        raise WorkerError(
            f"The training process cannot be reached at '{address}': {error.strerror or error}."
        ) from error
    try:
        _handshake(pipe, key, challenge_first=False)
    except WorkerError:
        pipe.close()
        raise
    return pipe


def hang_up(pipe: Pipe) -> None:
    """Break a connection so that threads that wait in it wake up; the owner still has to close it."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as twin:
            twin.shutdown(socket.SHUT_RDWR)


def _handshake(pipe: Pipe, key: bytes, *, challenge_first: bool) -> None:
    try:
        if challenge_first:
            deliver_challenge(_Patient(pipe), key)  # type: ignore[arg-type]
            answer_challenge(_Patient(pipe), key)  # type: ignore[arg-type]
        else:
            answer_challenge(_Patient(pipe), key)  # type: ignore[arg-type]
            deliver_challenge(_Patient(pipe), key)  # type: ignore[arg-type]
    except TimeoutError:
        raise WorkerError(f"The other side of the run did not answer in {_HANDSHAKE_SECONDS:.0f} s.") from None
    except (AuthenticationError, AssertionError, ValueError):
        raise WorkerError("The other side of the run does not know this run's key.") from None
    except (OSError, EOFError) as error:
        raise WorkerError(f"The connection to the run broke during the handshake: {error}.") from error


class _Patient:
    """A connection whose receiving gives up after a while, for the handshake of the standard library."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self.send_bytes = pipe.send_bytes

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        if not self._pipe.poll(_HANDSHAKE_SECONDS):
            raise TimeoutError
        return self._pipe.recv_bytes(maxlength)
