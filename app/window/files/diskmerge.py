"""What another program wrote into the file of an open net: noticed, and merged or taken over by choice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.document.netfile import read_net_file
from app.qt import guard
from engine.errors import NetcanvasError
from engine.graph import OpGraph
from engine.graph.merging import Merge, merge

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["DiskMerge"]

_MOST_NAMED = 3

#: What the file holds now, merged with what is here: once for each side that may be preferred.
_Found = tuple[bytes, Merge, Merge]


class DiskMerge(QObject):
    """Asks about a file that changed under an open net.

    Parameters
    ----------
    window : MainWindow
        Where it is asked.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._asked: set[str] = set()

    def look(self, document: Document) -> None:
        """Notice a file that another program changed, once a change."""
        if not document.changed_on_disk():
            self._asked.discard(document.identity)
        elif document.identity not in self._asked:
            self._asked.add(document.identity)
            self.ask(document)

    def has_asked(self, document: Document) -> bool:
        """Whether a change of the file was told, and it was not seen since that it is taken back."""
        return document.identity in self._asked

    def forget(self, document: Document) -> None:
        """The document is saved, or gone: the next change is news."""
        self._asked.discard(document.identity)

    def ask(self, document: Document) -> None:
        """Say that the file changed; offer to merge where something was changed here too."""
        base = document.disk.text
        if not document.modified or base is None or document.path is None:
            self._say(document, f"'{document.title}' was changed by another program.", [])
            return
        path, mine, schema = document.path, bytes(document.graph), document.schema

        def work() -> _Found:
            theirs = read_net_file(path)
            graphs = [OpGraph.parse(data) for data in (base, mine, theirs)]
            if any(graph.problems for graph in graphs):
                raise ValueError("a text that is broken is not merged")
            base_graph, mine_graph, their_graph = graphs
            both = [
                merge(base_graph, mine_graph, their_graph, prefer="mine", schema=schema),
                merge(base_graph, mine_graph, their_graph, prefer="theirs", schema=schema),
            ]
            return theirs, both[0], both[1]

        text = f"'{document.title}' was changed by another program, and here too."
        document.jobs.submit(
            "merge", work, partial(self._offer, document, mine), lambda _error: self._say(document, text, [])
        )

    @guard
    def _offer(self, document: Document, mine: bytes, found: _Found) -> None:
        theirs, with_mine, with_theirs = found
        text = f"'{document.title}' was changed by another program, and here too."
        if not with_mine.conflicts:
            text += " The changes do not overlap."
            self._say(document, text, [("Merge", partial(self._take, document, mine, theirs, with_mine))])
            return
        named = "; ".join(str(each) for each in with_mine.conflicts[:_MOST_NAMED])
        more = len(with_mine.conflicts) - _MOST_NAMED
        text += f" Both changed: {named}{f'; and {more} more' if more > 0 else ''}."
        self._say(
            document,
            text,
            [
                ("Merge, mine first", partial(self._take, document, mine, theirs, with_mine)),
                ("Merge, theirs first", partial(self._take, document, mine, theirs, with_theirs)),
            ],
        )

    def _say(self, document: Document, text: str, actions: list[tuple[str, partial[None]]]) -> None:
        page, saving = self._window.tabs.page_of(document), self._window.files.saving
        if page is not None:
            choices: list[tuple[str, Callable[[], object]]] = [*actions, ("Reload", partial(self.reload, document))]
            if document.modified:
                choices += [("Overwrite", saving.overwrite), ("Save as\u2026", saving.save_as)]
            page.bars.add(text, "warning", [*choices, ("Compare", partial(self._compare, document))])

    def _compare(self, document: Document) -> None:
        """Show what differs; the question comes again when the window is left and come back to."""
        self._asked.discard(document.identity)
        self._window.comparing.with_file_of(document)

    def _take(self, document: Document, mine: bytes, theirs: bytes, merged: Merge) -> None:
        """Make the merged text the document's, as a step that can be undone; saving it then asks no more."""
        self._window.commit_edits()
        if bytes(document.graph) != mine:  # something was done since the bar came up
            self.ask(document)
            return
        document.take_merge(merged.text, theirs)
        self._asked.discard(document.identity)
        self._window.status.showMessage("Merged; Undo brings back what was here", 5000)

    def reload(self, document: Document) -> None:
        """Read the file again, as a step that can be undone."""
        if document.path is None:
            return
        self._window.commit_edits()
        try:
            document.reload()
        except (NetcanvasError, OSError) as error:
            self._window.notify(f"'{document.path.name}' cannot be read again: {error}", "error")
            return
        self._asked.discard(document.identity)
        self._window.status.showMessage("Reloaded; Undo brings back what was here", 5000)
