"""Quick fixes in the text: what is wrong on a line is mended by a key, or by a click beside the line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMenu

from app.qt import guard
from app.text.mistakes import fixes_on
from app.text.solver_text import SolverText
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from app.text.prototxt_edit import PrototxtEdit
    from engine.diagnostics import QuickFix

__all__ = ["Mender"]


class Mender(QObject):
    """Applies the quick fixes of the mistakes that an editor shows.

    Parameters
    ----------
    edit : PrototxtEdit
        It gets the command.
    commit : callable
        Gives what is typed to the document.
    say : callable
        Shows a sentence; takes it away when it is empty.

    Attributes
    ----------
    document : Document or SolverText, optional
        What is mended.
    """

    def __init__(self, edit: PrototxtEdit, commit: Callable[[], object], say: Callable[[str], object]) -> None:
        super().__init__(edit)
        self._edit, self._commit, self._say = edit, commit, say
        self.document: Document | SolverText | None = None
        edit.gutter.mistake_clicked.connect(self.mend)
        edit.add_command("fix", "Apply quick fix", ("Alt+Return", "Alt+Enter", "Ctrl+."), self.mend)

    @guard
    def mend(self, line: int | None = None) -> None:
        """Apply the quick fix of the cursor's line, or of another, 0-based; where there are several, ask which."""
        self._commit()
        line = self._edit.line_of_cursor() if line is None else line
        fixes = fixes_on(self._edit.mistakes_on(line))
        if len(fixes) == 1:
            self._apply(fixes[0])
        elif fixes:
            self._choose(fixes, line)
        else:
            self._say("There is no quick fix on this line.")

    def _choose(self, fixes: list[QuickFix], line: int) -> None:
        edit = self._edit
        menu = QMenu(edit)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for fix in fixes:
            menu.addAction(fix.label).triggered.connect(partial(self._apply, fix))
        place = edit.cursorRect(QTextCursor(edit.document().findBlockByNumber(line))).bottomLeft()
        menu.popup(edit.viewport().mapToGlobal(place))

    def _apply(self, fix: QuickFix, _checked: bool = False) -> None:
        shown = self.document
        if shown is None:
            return
        try:
            if isinstance(shown, SolverText):
                shown.apply(fix.label, fix.apply)
            else:
                shown.assumptions.mend(fix)
        except NetcanvasError as error:
            self._say(str(error))
            return
        self._say("")
