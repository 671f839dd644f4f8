"""The log of a run: written by the operating system's file descriptors, followed by viewers."""

from __future__ import annotations

import codecs
import contextlib
import faulthandler
import io
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FAILURE_LOGGER", "GlogFormatter", "LogTail", "log_to", "redirect_output", "set_up_logging"]

FAILURE_LOGGER = "engine.worker.failures"
"""Logger of what ended a training, with its traceback."""

_TAIL_BYTES = 256 * 1024
_MOST_AT_ONCE = 1024 * 1024


class GlogFormatter(logging.Formatter):
    """Lines as Caffe's logger writes them, so that its log parsers read ours.

    ``I0102 15:04:05.678901  1234 solver.py:56] Iteration 100, loss = 0.2``
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, or several when the record carries a traceback."""
        stamp = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1_000_000)
        letter = {"DEBUG": "I", "CRITICAL": "F"}.get(record.levelname, record.levelname[0])
        text = (
            f"{letter}{stamp}.{micros:06d} {record.process:5d} {record.filename}:{record.lineno}] {record.getMessage()}"
        )
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


@contextlib.contextmanager
def log_to(path: Path) -> Iterator[None]:
    """Send all records to a file as well; what ended a training goes there only, for the caller tells it himself."""
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(GlogFormatter())
    handler.setLevel(logging.INFO)
    root, failures = logging.getLogger(), logging.getLogger(FAILURE_LOGGER)
    level = root.level
    root.addHandler(handler)
    failures.addHandler(handler)
    root.setLevel(min(level, logging.INFO))
    failures.propagate = False
    try:
        yield
    finally:
        failures.propagate = True
        root.setLevel(level)
        failures.removeHandler(handler)
        root.removeHandler(handler)
        handler.close()


def redirect_output(path: Path) -> None:
    """Send file descriptors 1 and 2 of this process, and fatal errors of its native code, to a file.

    Plugins that print, libraries that write with C's ``printf`` and crashes all end there; nothing of it can disturb
    the protocol.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        if stream is not None:
            stream.flush()
        os.dup2(descriptor, number)
    os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    faulthandler.enable(2)


def set_up_logging() -> None:
    """Let all loggers write to standard error, in Caffe's form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(GlogFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


class LogTail:
    """Reads what is added to a log file.

    Parameters
    ----------
    path : Path
        The file; it may be missing for now. Of a long file the last 256 KiB come first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = -1
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self) -> str:
        """Return what is new, at most a megabyte at once; empty when nothing is."""
        try:
            with self._path.open("rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                skipped = self._offset < 0 and size > _TAIL_BYTES
                if self._offset < 0:
                    self._offset = max(0, size - _TAIL_BYTES)
                if size <= self._offset:
                    return ""
                stream.seek(self._offset)
                data = stream.read(_MOST_AT_ONCE)
        except OSError:
            return ""
        self._offset += len(data)
        if skipped:
            data = b"...\n" + data.partition(b"\n")[2]
        return self._decoder.decode(data)
