"""Going about in the text, and renaming: to who makes a blob, through its readers, to a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor

from app.qt import guard
from app.text.askbar import AskBar
from app.text.naming import Named, named_at, places_of, producer_of
from app.wording import counted
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from app.text.prototxt_edit import PrototxtEdit
    from engine.graph import NodeId, Path

__all__ = ["Mover"]


class Mover(QObject):
    """What F12, Shift+F12, F2 and Ctrl+G do in the pane.

    Parameters
    ----------
    edit : PrototxtEdit
        The text.
    bar : AskBar
        Where questions are asked.
    say : callable
        Shows a sentence in the pane.
    """

    def __init__(self, edit: PrototxtEdit, bar: AskBar, say: Callable[[str], None]) -> None:
        super().__init__(edit)
        self._edit = edit
        self._bar = bar
        self._say = say
        self.document: Document | None = None
        edit.add_command("producer", "Go to what makes the blob", ("F12",), self.to_producer)
        edit.add_command("readers", "Next place of the blob", ("Shift+F12",), self.to_next_place)
        edit.add_command("rename", "Rename blob or layer\u2026", ("F2",), self.rename)
        edit.add_command("line", "Go to line\u2026", ("Ctrl+G",), self.ask_line)
        edit.producer_asked.connect(self.to_producer)

    def _named(self) -> Named | None:
        """Return the name at the cursor, after what is typed has become part of the graph."""
        self._edit.leaving.emit()
        self._say("")
        if self.document is None:
            return None
        cursor = self._edit.textCursor()
        text, column = cursor.block().text(), cursor.positionInBlock()
        return named_at(self.document.graph, text, cursor.blockNumber() + 1, column)

    def _blob(self) -> tuple[NodeId, int] | None:
        """Return the top that makes the blob at the cursor, or say why there is none."""
        named, document = self._named(), self.document
        if document is None:
            return None
        if named is None or named.kind == "name":
            self._say("No blob is named here. Put the cursor on a bottom or a top.")
            return None
        made = producer_of(document.graph, named)
        if made is None:
            self._say(f"No layer makes the blob '{named.text}'.")
        return made

    @guard
    def to_producer(self) -> None:
        """Go to the top that makes the blob at the cursor."""
        made = self._blob()
        if made is not None and self.document is not None:
            self._go(*self.document.graph.place(made[0], _top_path(*made)))

    @guard
    def to_next_place(self) -> None:
        """Go to the next place that names the blob at the cursor, and mark all of them."""
        made = self._blob()
        if made is None or self.document is None:
            return
        graph = self.document.graph
        places = places_of(graph, *made)
        cursor = self._edit.textCursor()
        here = cursor.blockNumber() + 1, cursor.positionInBlock() + 1
        later = [place for place in places if place > here and place[0] != here[0]]
        self._go(*(later or places)[0])
        self._edit.set_searched(graph.node(made[0]).tops[made[1]])
        self._say(f"'{graph.node(made[0]).tops[made[1]]}' is named in {counted(len(places), 'place')}.")

    def _go(self, line: int, column: int) -> None:
        block = self._edit.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        self._edit.folding.reveal(block)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(max(column - 1, 0), max(block.length() - 1, 0)))
        self._edit.setTextCursor(cursor)
        self._edit.centerCursor()

    # Questions

    @guard
    def ask_line(self) -> None:
        """Ask for a line and go there."""
        last = self._edit.blockCount()

        def answer(text: str) -> str:
            if not text.isdigit() or not 1 <= int(text) <= last:
                return f"Type a number from 1 to {last}."
            self._go(int(text), 1)
            return ""

        self._bar.ask(f"Line (1 to {last})", str(self._edit.line_of_cursor() + 1), answer)

    @guard
    def rename(self) -> None:
        """Ask for a new name of the blob or the layer at the cursor; what reads a blob follows."""
        named, document = self._named(), self.document
        if document is None:
            return
        if named is None:
            self._say("Nothing is named here. Put the cursor on a name, a bottom or a top.")
            return
        if named.kind == "name":
            self._bar.ask("Rename the layer to", named.text, lambda name: self._rename_node(named, name))
            return
        made = producer_of(document.graph, named)
        if made is None:
            self._say(f"No layer makes the blob '{named.text}', so it cannot be renamed as one.")
            return
        self._bar.ask("Rename the blob to", named.text, lambda name: self._rename_blob(made, named.text, name))

    def _rename_node(self, named: Named, name: str) -> str:
        return self._apply(
            f"Rename layer {named.text} to {name}", lambda document: document.graph.rename_node(named.node, name)
        )

    def _rename_blob(self, made: tuple[NodeId, int], old: str, name: str) -> str:
        text = f"Rename blob {old} to {name}"
        return self._try(lambda document: document.assumptions.rename_blob(*made, name, text))

    def _apply(self, text: str, edit: Callable[[Document], None]) -> str:
        return self._try(lambda document: document.apply(text, lambda _graph: edit(document)))

    def _try(self, act: Callable[[Document], None]) -> str:
        """Do something with the document; return why not, or nothing."""
        if self.document is None:
            return ""
        try:
            act(self.document)
        except NetcanvasError as error:
            return str(error)
        return ""


def _top_path(_node: NodeId, top: int) -> Path:
    return ("top", top)
