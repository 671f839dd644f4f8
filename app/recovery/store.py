"""The folder of recovery files: one folder a running program, one file a document with unsaved changes."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from app.recovery.lock import ProcessLock
from engine.files import atomic_write

__all__ = ["Kept", "KeptCode", "KeptSolver", "Leftover", "RecoveryStore", "recovery_path"]

_VERSION = 1
_LOCK, _OFFERED, _CODE = "lock", "offered", "code"
_KEPT_FOR = 30 * 86_400

_log = logging.getLogger(__name__)


def recovery_path() -> Path:
    """Return the folder of this user's recovery files; it need not exist."""
    return platformdirs.user_state_path("netcanvas", appauthor=False) / "recovery"


@dataclass(frozen=True, slots=True)
class KeptSolver:
    """What is kept of a solver that was edited with its net.

    Attributes
    ----------
    path : Path
        Its file, which holds something else.
    text : bytes
        The solver.
    on_disk : str or None
        Digest of what the file held when it was last read or written.
    """

    path: Path
    text: bytes
    on_disk: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"path": str(self.path), "text": self.text.decode("utf-8", "surrogateescape"), "on_disk": self.on_disk}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> KeptSolver:
        """Return what :meth:`to_json` wrote; it raises what :meth:`Kept.from_json` does."""
        text = str(stored["text"]).encode("utf-8", "surrogateescape")
        return cls(Path(str(stored["path"])), text, str(stored["on_disk"]) if stored["on_disk"] else None)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a document.

    Attributes
    ----------
    identity : str
        The document's.
    title : str
        What it was called.
    path : Path or None
        Its file, which holds something else; None for a net that has none.
    text : bytes
        The net.
    layout : str
        What would be written beside the net.
    on_disk : str or None
        Digest of what the file held when the document last read or wrote it.
    modified : bool
        Whether the net itself has unsaved changes.
    solvers : tuple of KeptSolver
        Solvers with unsaved changes.
    """

    identity: str
    title: str
    path: Path | None
    text: bytes
    layout: str = ""
    on_disk: str | None = None
    modified: bool = True
    solvers: tuple[KeptSolver, ...] = ()

    def to_json(self) -> bytes:
        """Write it; bytes of the net that are no text survive."""
        data = {
            "version": _VERSION,
            "identity": self.identity,
            "title": self.title,
            "path": str(self.path) if self.path else None,
            "on_disk": self.on_disk,
            "layout": self.layout,
            "text": self.text.decode("utf-8", "surrogateescape"),
            "modified": self.modified,
            "solvers": [solver.to_json() for solver in self.solvers],
        }
        return json.dumps(data).encode("ascii")

    @classmethod
    def from_json(cls, data: bytes) -> Kept:
        """Read it.

        Raises
        ------
        ValueError, KeyError, TypeError
            When the file is not one of ours.
        """
        stored: dict[str, Any] = json.loads(data)
        if stored["version"] != _VERSION:
            raise ValueError(f"expected version {_VERSION}, got {stored['version']}")
        path, on_disk = stored["path"], stored["on_disk"]
        return cls(
            str(stored["identity"]),
            str(stored["title"]),
            Path(path) if path else None,
            str(stored["text"]).encode("utf-8", "surrogateescape"),
            str(stored["layout"]),
            str(on_disk) if on_disk else None,
            bool(stored.get("modified", True)),
            tuple(KeptSolver.from_json(each) for each in stored.get("solvers", ())),
        )


@dataclass(frozen=True, slots=True)
class KeptCode:
    """What is kept of a plugin's source file that was edited.

    Attributes
    ----------
    path : Path
        The file, which holds something else.
    held : bytes
        What it held when it was last read or written.
    text : str
        The code, with plain line feeds.
    """

    path: Path
    held: bytes
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"path": str(self.path), "held": self.held.decode("utf-8", "surrogateescape"), "text": self.text}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> KeptCode:
        """Return what :meth:`to_json` wrote; it raises what :meth:`Kept.from_json` does."""
        held = str(stored["held"]).encode("utf-8", "surrogateescape")
        return cls(Path(str(stored["path"])), held, str(stored["text"]))


@dataclass(slots=True)
class Leftover:
    """What a program that did not end well left behind; nobody else can take it while it is held.

    Attributes
    ----------
    kept : list of Kept
        Its documents.
    code : list of KeptCode
        Source files that were edited in it.
    offered : bool
        Whether the user was asked about them before.
    """

    folder: Path
    lock: ProcessLock
    kept: list[Kept] = field(default_factory=list)
    offered: bool = False
    code: list[KeptCode] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """What its nets and files are called."""
        return [*(each.title for each in self.kept), *(each.path.name for each in self.code)]

    def mark_offered(self) -> None:
        """Do not ask about it again; it can still be had by asking for it."""
        self.offered = True
        (self.folder / _OFFERED).touch()

    def release(self) -> None:
        """Leave it to the next start."""
        self.lock.release()

    def discard(self) -> None:
        """Remove it for good."""
        self.lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)


class RecoveryStore:
    """Recovery files of this run of the program, and what others left.

    Parameters
    ----------
    root : Path, optional
        The folder of all of them; the user's own by default. It is made when something is written.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or recovery_path()
        self._folder = self._root / f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self._lock: ProcessLock | None = None

    def write(self, kept: Kept) -> None:
        """Write the file of a document, aside and then renamed.

        Raises
        ------
        OSError
            When that cannot be done.
        """
        self._hold()
        atomic_write(self._file(kept.identity), kept.to_json())

    def write_code(self, code: Sequence[KeptCode]) -> None:
        """Write all source files with changes in place of those before; none removes what was written.

        Raises
        ------
        OSError
            When that cannot be done.
        """
        if not code:
            (self._folder / _CODE).unlink(missing_ok=True)
            return
        self._hold()
        data = {"version": _VERSION, "files": [each.to_json() for each in code]}
        atomic_write(self._folder / _CODE, json.dumps(data).encode("ascii"))

    def _hold(self) -> None:
        """Make the folder, and mark it as one of a program that runs."""
        if self._lock is None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = ProcessLock(self._folder / _LOCK)
            lock.acquire()
            self._lock = lock

    def remove(self, identity: str) -> None:
        """Remove the file of a document that is saved or gone."""
        self._file(identity).unlink(missing_ok=True)

    def _file(self, identity: str) -> Path:
        return self._folder / f"{identity}.json"

    def close(self) -> None:
        """Remove all that this run wrote: it ends as it should."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def leave(self) -> None:
        """Leave what was written to the next start."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def leftovers(self, *, offered: bool = False) -> list[Leftover]:
        """Find and hold what programs that are gone left behind.

        Parameters
        ----------
        offered : bool
            Also what the user was asked about before.
        """
        try:
            folders = sorted(each for each in self._root.iterdir() if each.is_dir() and each != self._folder)
        except OSError:
            return []
        found = (_take(folder, offered) for folder in folders)
        return [each for each in found if each is not None]


def _take(folder: Path, offered: bool) -> Leftover | None:
    """Hold a folder whose program is gone; empty ones and very old ones are removed."""
    lock = ProcessLock(folder / _LOCK)
    try:
        if not lock.acquire():
            return None
        left = Leftover(folder, lock, offered=(folder / _OFFERED).exists())
        too_old = left.offered and time.time() - (folder / _OFFERED).stat().st_mtime > _KEPT_FOR
        if not too_old:
            left.kept, left.code = _read_all(folder), _read_code(folder / _CODE)
    except OSError as error:
        _log.warning("Recovery files in '%s' cannot be read: %s", folder, error)
        lock.release()
        return None
    if not left.names:
        left.discard()
        return None
    if left.offered and not offered:
        left.release()
        return None
    return left


def _read_all(folder: Path) -> list[Kept]:
    kept = []
    for file in sorted(folder.glob("*.json"), key=lambda each: each.stat().st_mtime_ns):
        try:
            kept.append(Kept.from_json(file.read_bytes()))
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("Recovery file '%s' is damaged and is left out: %s", file, error)
    return kept


def _read_code(file: Path) -> list[KeptCode]:
    if not file.exists():
        return []
    try:
        stored: dict[str, Any] = json.loads(file.read_bytes())
        if stored["version"] != _VERSION:
            raise ValueError(f"expected version {_VERSION}, got {stored['version']}")
        return [KeptCode.from_json(each) for each in stored["files"]]
    except (ValueError, KeyError, TypeError) as error:
        _log.warning("Recovery file '%s' is damaged and is left out: %s", file, error)
        return []
