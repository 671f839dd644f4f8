"""Watching plugin folders, so that a saved file counts without being asked for.

A thread looks at names, times and sizes a few times a second: that works on every file system, network drives and
containers included, and a plugin folder holds few files. Events come on that thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.plugins.ordinary import file_stamp
from engine.plugins.scan import walk_sources

__all__ = ["FilesChanged", "PluginWatcher"]

_log = logging.getLogger(__name__)
_ENDINGS = (".py", ".toml", ".proto", ".svg", ".png")
_INTERVAL = 0.2
_SETTLE = 0.05

_Stamps = dict[Path, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Files of plugins that are not as they were.

    Attributes
    ----------
    changed, added, removed : tuple of Path
    """

    changed: tuple[Path, ...] = ()
    added: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file of the three kinds."""
        return self.changed + self.added + self.removed


class PluginWatcher:
    """Tells when a file of a plugin folder is saved, added or removed.

    Parameters
    ----------
    on_change : callable
        Called on the watcher's thread with a :class:`FilesChanged`, once for all that changed together: an editor
        that writes a file in several steps is heard when it is done.
    folders : iterable of Path
        Folders to watch; they need not exist yet.
    interval : float
        Seconds between two looks.
    """

    def __init__(
        self, on_change: Callable[[FilesChanged], None], folders: Iterable[Path] = (), *, interval: float = _INTERVAL
    ) -> None:
        self._on_change = on_change
        self._interval = interval
        self._folders: tuple[Path, ...] = ()
        self._known: _Stamps = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.watch(folders)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that are watched."""
        return self._folders

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch these folders from now on, in place of those before; what they hold now is no change."""
        with self._lock:
            self._folders = tuple(dict.fromkeys(folders))
            self._known = self._look()

    def start(self) -> None:
        """Begin to watch, on a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="netcanvas-plugins", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread. May be called from its own callback."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> PluginWatcher:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def look(self) -> FilesChanged | None:
        """Look now, and return what changed since the last look, or None; for those who have a timer of their own."""
        with self._lock:
            now = self._look()
            before, self._known = self._known, now
        if now == before:
            return None
        return FilesChanged(
            tuple(path for path in now if path in before and now[path] != before[path]),
            tuple(path for path in now if path not in before),
            tuple(path for path in before if path not in now),
        )

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            if not self._differs():
                continue
            self._settle()
            found = self.look()
            if found is None or self._ended.is_set():
                continue
            try:
                self._on_change(found)
            except Exception:
                _log.exception("What was to be done about changed plugins failed.")

    def _differs(self) -> bool:
        with self._lock:
            return self._look() != self._known

    def _settle(self) -> None:
        """Wait until two looks agree, but no longer than a few intervals."""
        last = None
        for _ in range(8):
            with self._lock:
                now = self._look()
            if now == last or self._ended.wait(_SETTLE):
                return
            last = now

    def _look(self) -> _Stamps:
        return {path: file_stamp(path) for folder in self._folders for path in walk_sources(folder, _ENDINGS)}
