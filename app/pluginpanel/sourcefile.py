"""Reading and writing a plugin's source so that only what was typed differs."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.files import atomic_write

__all__ = ["SourceFile", "newer_files"]

_BIGGEST = 4 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file as it was read.

    Attributes
    ----------
    path : Path
    data : bytes
        Its content.
    encoding : str
        As Python reads it.
    ends : str
        What its lines end with.
    """

    path: Path
    data: bytes
    encoding: str
    ends: str

    @classmethod
    def read(cls, path: Path) -> SourceFile:
        """Read a file.

        Raises
        ------
        OSError
            When it cannot be read, or is too large to be source code.
        """
        if path.stat().st_size > _BIGGEST:
            raise OSError(f"it has more than {_BIGGEST >> 20} MB")
        return cls.of(path, path.read_bytes())

    @classmethod
    def of(cls, path: Path, data: bytes) -> SourceFile:
        """Return what a file of this content is."""
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            data.decode(encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError):
            encoding = "latin-1"
        return cls(path, data, encoding, "\r\n" if b"\r\n" in data else "\n")

    @property
    def text(self) -> str:
        """The text, with plain line feeds."""
        return self.data.decode(self.encoding).replace("\r\n", "\n")

    def write(self, text: str) -> SourceFile:
        """Write a text in the file's own encoding and line ends, aside and then renamed; return the new state.

        Raises
        ------
        UnicodeEncodeError, OSError
            Then nothing is written.
        """
        data = text.replace("\n", self.ends).encode(self.encoding)
        atomic_write(self.path, data)
        return SourceFile(self.path, data, self.encoding, self.ends)


def newer_files(held: Iterable[SourceFile]) -> list[SourceFile]:
    """Return files as they are now, where that is not as they were read; those that cannot be read are left out."""
    found = []
    for old in held:
        try:
            new = SourceFile.read(old.path)
        except OSError:
            continue
        if new.data != old.data:
            found.append(new)
    return found
