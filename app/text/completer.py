"""Completion: what could be typed at the cursor, opened while typing and by Ctrl+Space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from app.text.candidates import Candidate, Source, candidates, field_at, ranked
from app.text.context import Context, read_context
from app.text.popup import CompletionPopup
from app.text.snippets import Snippets

if TYPE_CHECKING:
    from app.text.edit import NumberedEdit
    from engine.registry import LayerRegistry

__all__ = ["Completer"]

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -9, Qt.Key.Key_PageDown: 9}
_ACCEPT = (Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_OPENING = '":'


class Completer(QObject):
    """Knows what fits at the cursor of an editor, shows it, and writes what is chosen.

    Attributes
    ----------
    source : Source or None
        What is edited; None for nothing, then nothing is offered.
    root : str
        Type of the whole text: ``NetParameter`` or ``SolverParameter``.
    snippets : Snippets
        What is being filled in.
    """

    def __init__(self, edit: NumberedEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self.source: Source | None = None
        self.root = "NetParameter"
        self.snippets = Snippets(edit, edit.indent)
        self._popup: CompletionPopup | None = None
        self._found: Sequence[Candidate] = ()
        self._place: tuple[object, ...] = ()

    # What there is

    @property
    def popup(self) -> CompletionPopup:
        """The list; made when it is first asked for."""
        if self._popup is None:
            self._popup = CompletionPopup(self._edit)
            self._popup.accepted.connect(self.accept)
        return self._popup

    @property
    def is_open(self) -> bool:
        """Whether the list is shown."""
        return self._popup is not None and self._popup.isVisible()

    def _line(self, number: int) -> str | None:
        block = self._edit.document().findBlockByNumber(number)
        return block.text() if block.isValid() else None

    def context(self, cursor: QTextCursor | None = None) -> Context | None:
        """Return what is around a cursor, the editor's own by default."""
        cursor = cursor or self._edit.textCursor()
        return read_context(self._line, cursor.blockNumber(), cursor.positionInBlock())

    def found(self, context: Context | None) -> Sequence[Candidate]:
        """Return what fits, best first."""
        if context is None or self.source is None:
            return ()
        line = self._edit.line_of_cursor()
        place: tuple[object, ...] = (line, context.path, context.field, context.quote, context.given)
        if context.field == "bottom":  # of many blobs only those that fit are gathered
            place = (*place, context.prefix)
        if place != self._place or not self.is_open:
            registry: LayerRegistry | None = getattr(self.source, "registry", None)
            self._found = candidates(context, self.source, self.root, registry, line + 1)
            self._place = place
        return ranked(self._found, context.prefix)

    def doc_at(self, cursor: QTextCursor) -> str:
        """Return what the field under a cursor means; empty for anything else."""
        if self.source is None:
            return ""
        word = QTextCursor(cursor)
        word.select(QTextCursor.SelectionType.WordUnderCursor)
        name = word.selectedText()
        cursor.setPosition(word.selectionStart())
        context = self.context(cursor)
        if not name.isidentifier() or context is None or context.field:
            return ""
        field = field_at(context, name, self.source.schema, self.root)
        return field.doc if field is not None else ""

    # Opening and closing

    def open(self) -> None:
        """Show what fits at the cursor; write it where only one thing does."""
        found = self.found(self.context())
        if len(found) == 1:
            self._write(found[0])
        else:
            self._show(found)

    def close(self) -> None:
        """Hide the list."""
        if self._popup is not None:
            self._popup.hide()

    def _show(self, found: Sequence[Candidate]) -> None:
        if not found:
            self.close()
            return
        edit = self._edit
        rect = edit.cursorRect()
        corner = edit.viewport().mapToGlobal(QPoint(rect.left(), rect.top()))
        self.popup.show_found(found, QRect(corner, rect.size()))

    # Keys

    def wants(self, event: QKeyEvent) -> bool:
        """Whether a key belongs to the list or the snippet, whatever it does elsewhere."""
        if event.modifiers() not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
            return False
        key = Qt.Key(event.key())
        if self.is_open:
            return key in _STEPS or key in _ACCEPT or key == Qt.Key.Key_Escape
        return self.snippets.active and key in (Qt.Key.Key_Tab, Qt.Key.Key_Escape)

    def key(self, event: QKeyEvent) -> bool:
        """Do what a key does in the list or the snippet; return whether it does anything there."""
        if not self.wants(event):
            return False
        key = Qt.Key(event.key())
        if not self.is_open:
            if key == Qt.Key.Key_Tab:
                self.snippets.go_on()
            else:
                self.snippets.end()
        elif key in _STEPS:
            self.popup.move_choice(_STEPS[key])
        elif key in _ACCEPT:
            self.accept()
        else:
            self.close()
        return True

    def typed(self, event: QKeyEvent) -> None:
        """Open the list, narrow or close it after a key has been typed."""
        text = event.text()
        plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        is_word = plain and len(text) == 1 and (text.isalnum() or text == "_" or (self.is_open and text in "-./ "))
        deletes = self.is_open and event.key() == Qt.Key.Key_Backspace
        opens = plain and len(text) == 1 and text in _OPENING
        if event.key() in (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt):
            return
        if not (is_word or deletes or opens):
            self.close()
            return
        context = self.context()
        found = self.found(context)
        whole = context is not None and len(found) == 1 and found[0].text == context.prefix
        usual = context is not None and (context.prefix or context.field)
        if context is None or whole or not usual or (context.prefix[:1].isdigit() and not deletes):
            self.close()
        else:
            self._show(found)

    # Writing

    def accept(self) -> None:
        """Write the chosen entry in the place of what is typed of it."""
        chosen = self.popup.current
        self.close()
        if chosen is not None:
            self._write(chosen)

    def _write(self, chosen: Candidate) -> None:
        context = self.context()
        if context is None:
            return
        cursor = self._edit.textCursor()
        text = cursor.block().text()
        column = cursor.positionInBlock()
        end = column
        while end < len(text) and (text[end].isalnum() or text[end] == "_" or (context.quote and text[end] in "-./")):
            end += 1
        insert = chosen.insert if isinstance(chosen.insert, str) else chosen.insert()
        rest = text[end:]
        if context.quote and rest[:1] != context.quote:
            insert += context.quote
        elif context.quote:
            end += 1
            insert += context.quote
        elif not context.field and rest.lstrip()[:1] in (":", "{") and rest.strip():
            insert = chosen.text
        base = cursor.block().position()
        cursor.setPosition(base + column - len(context.prefix))
        cursor.setPosition(base + end, QTextCursor.MoveMode.KeepAnchor)
        if context.field and not context.quote and text[: column - len(context.prefix)].endswith(":"):
            insert = f" {insert}"
        cursor.beginEditBlock()
        self.snippets.insert(cursor, insert)
        cursor.endEditBlock()
        after = self.context()
        if not context.field and after is not None and after.field and not after.prefix:
            self._show(self.found(after))
