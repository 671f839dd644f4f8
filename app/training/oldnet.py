"""A net that is edited while it trains: the run goes on with the net that it started with, and that is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.qt import Debounce, guard
from app.training.model import Notice

if TYPE_CHECKING:
    from app.document import Document
    from app.training.panel import TrainingPanel
    from engine.worker import RunFolder

__all__ = ["OldNet"]

_WAIT = 300  # milliseconds after an edit
_LONGEST = 4 * 2**20  # bytes; longer nets have their weights as text, and are not read for this
_TEXT = "The net was edited: this training goes on with the net it started with. Train anew to use the edited net."


class OldNet(QObject):
    """Compares the document with the net of the run in view, which may be ended and begun anew with it.

    Parameters
    ----------
    panel : TrainingPanel
        Shows the run.
    """

    def __init__(self, panel: TrainingPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self._document: Document | None = None
        self._frozen: tuple[RunFolder, bytes] | None = None
        self._said: Notice | None = None
        self._anew: Document | None = None
        self._due = Debounce(self._compare, _WAIT, self)
        panel.state_changed.connect(self._state_changed)

    def look(self, document: Document | None, *, anew: bool = False) -> None:
        """Compare before long; nothing where no run is under way.

        Parameters
        ----------
        document : Document, optional
            Whose run is in view.
        anew : bool
            Another run came into view: what was said of it before is no longer to be seen.
        """
        if anew:
            self._said = None
        self._document = document
        if document is not None and self._panel.model.live:
            self._due.trigger()

    def close(self) -> None:
        """Compare nothing any more."""
        self._due.cancel()

    @guard
    def _compare(self) -> None:
        panel, document = self._panel, self._document
        if document is None or not panel.model.live or panel.run is None:
            return
        frozen = self._net_of(panel.run, document)
        if not frozen or bytes(document.graph) == frozen:
            if self._said is not None and panel.strip.notice is self._said:  # the net is again what it was
                panel.strip.show_notice(None)
            self._said = None
        elif self._said is None:
            self._said = Notice("warning", _TEXT)
            panel.say(self._said, [("Stop, and train the edited net", self.restart)])

    def _net_of(self, run: RunFolder, document: Document) -> bytes:
        """Return the net of a run; nothing where it is none of this document's, or too long."""
        if self._frozen is None or self._frozen[0] != run:
            path = run.environment().get("net_path", "")
            own = path == str(document.path or "") or (path and document.path == Path(path))
            short = own and run.net_file.stat().st_size <= _LONGEST
            self._frozen = (run, run.net_file.read_bytes() if short else b"")
        return self._frozen[1]

    def restart(self) -> None:
        """End the run in view, and train the document as it is now."""
        if self._panel.model.live:
            self._anew = self._document
            self._panel.stop()

    @guard
    def _state_changed(self, state: str) -> None:
        if self._panel.model.live:
            self._due.trigger()  # a run that is resumed may have begun before the edits
            return
        document, self._anew, self._said = self._anew, None, None
        if document is not None and document is self._document and state == "stopped":
            QTimer.singleShot(0, self, self._panel.train)
