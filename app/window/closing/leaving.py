"""Pages that were closed: out of sight at once, and ended a moment later where that takes its time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.qt import Debounce
from app.window.closing.remains import Dismantling, Remains
from app.window.page import DocumentPage

__all__ = ["LeavingPages"]

#: A net of that many layers is ended only when what takes its place is seen.
_BIG = 300
#: By then what took its place is painted, its map too.
_LATER_MS = 400


class LeavingPages(QObject):
    """Ends pages that are no longer in a tab.

    Parameters
    ----------
    before : callable
        Called before pages are ended, when nothing may refer to their documents any more.
    ended : callable
        Called with each page that was ended.
    """

    def __init__(
        self, before: Callable[[], object], ended: Callable[[DocumentPage], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._before = before
        self._ended = ended
        self._pages: list[DocumentPage] = []
        self._later = Debounce(self.finish, _LATER_MS, self)
        self._dismantling = Dismantling(self)

    @property
    def busy(self) -> bool:
        """Whether pages wait to be ended, or to be taken apart after that."""
        return bool(self._pages) or self._dismantling.busy

    def take(self, page: DocumentPage) -> None:
        """End a page; that of a big net a moment later."""
        page.hide()
        self._pages.append(page)
        if len(page.document.graph) < _BIG:
            self.finish()
        else:
            self._later.trigger()

    def finish(self) -> None:
        """End those that wait for it now."""
        self._later.cancel()
        pages, self._pages = self._pages, []
        if pages:
            self._before()
        for page in pages:
            remains = Remains(page) if len(page.document.graph) else None  # an empty net leaves next to nothing
            page.close_document()
            page.deleteLater()
            if remains is not None:
                self._dismantling.take(remains)
            self._ended(page)

    def close(self) -> None:
        """End those that wait for it now; there is no time to take them apart."""
        self.finish()
        self._dismantling.close()
