"""Plugins that are edited while a training runs: it goes on with the code that it started with, and that is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.jobs import Jobs
from app.qt import guard
from app.training.model import Notice

if TYPE_CHECKING:
    from app.training.panel import TrainingPanel
    from engine.worker import RunFolder

__all__ = ["OldCode"]

_MOST_NAMES, _MOST_LOGGED = 3, 50


class OldCode(QObject):
    """Compares the plugin sources of runs with what they are now; the run in view is started again with these.

    Parameters
    ----------
    panel : TrainingPanel
        Shows the run.
    """

    def __init__(self, panel: TrainingPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self._jobs: Jobs | None = None
        self._said: tuple[RunFolder, Notice] | None = None
        self._logged: list[tuple[RunFolder, Notice]] = []
        self._said_unseen: dict[RunFolder, Notice] = {}
        self._restarted: RunFolder | None = None
        panel.state_changed.connect(self._state_changed)

    def look(self, *, anew: bool = False) -> None:
        """Compare now, in a thread; nothing where no run is under way, in view or not.

        Parameters
        ----------
        anew : bool
            Another run came into view: what was said of it before is no longer to be seen.
        """
        run = self._panel.run
        if anew:
            self._said = None
        if run is not None and self._panel.model.live:
            self._compare(run, partial(self._tell, run))
        unseen = self._panel.unseen_runs()
        for title, each in unseen:
            self._compare(each, partial(self._tell_unseen, title, each))
        runs = {each for _title, each in unseen}
        self._said_unseen = {each: notice for each, notice in self._said_unseen.items() if each in runs}

    def _compare(self, run: RunFolder, tell: Callable[[Sequence[Path]], object]) -> None:
        def work() -> tuple[Path, ...]:
            from engine.worker.plugin_copies import changed_plugins

            return tuple(map(Path, changed_plugins(run.environment().get("plugin_sources", []))))

        self._jobs = self._jobs or Jobs(self)
        self._jobs.submit(f"old code {run.path}", work, tell, lambda _error: None)

    def _tell_unseen(self, title: str, run: RunFolder, files: Sequence[Path]) -> None:
        """Say in the window that the training of another tab does not use what was edited."""
        said = self._said_unseen.pop(run, None)
        if files:
            self._said_unseen[run] = notice = _notice(files, title)
            if notice != said:
                self._panel.tell_window(notice)

    def _tell(self, run: RunFolder, files: Sequence[Path]) -> None:
        panel = self._panel
        if run != panel.run or not panel.model.live:
            return
        said, self._said = self._said, (run, _notice(files)) if files else None
        if self._said is None:
            if said is not None and panel.strip.notice is said[1]:  # the files are again what they were
                panel.strip.show_notice(None)
        elif self._said != said:
            panel.say(self._said[1], [("Restart from a snapshot", self.restart)])
            if self._said not in self._logged:
                self._logged = [*self._logged, self._said][-_MOST_LOGGED:]
                panel.log.add(f"{self._said[1].text}\n")

    def restart(self) -> None:
        """End the run in view with a snapshot, and go on from that with plugins as they are now."""
        if self._panel.model.live:
            self._restarted = self._panel.run
            self._panel.take_snapshot()
            self._panel.stop()

    @guard
    def _state_changed(self, state: str) -> None:
        if self._panel.model.live:
            return
        run, self._restarted, self._said = self._restarted, None, None
        if run is not None and run == self._panel.run and state == "stopped":
            QTimer.singleShot(0, self, lambda: self._panel.resume_run(run))

    def close(self) -> None:
        """End the thread."""
        if self._jobs is not None:
            self._jobs.close()


def _notice(files: Sequence[Path], title: str = "") -> Notice:
    names = ", ".join(f"'{file.name}'" for file in files[:_MOST_NAMES]) + (
        ", \u2026" if len(files) > _MOST_NAMES else ""
    )
    was = "was" if len(files) == 1 else "were"
    training = f"the training of '{title}'" if title else "this training"
    return Notice(
        "warning",
        f"{names} {was} edited: {training} goes on with the code it started with. Restart it to use the new code.",
    )
