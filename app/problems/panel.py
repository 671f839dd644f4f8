"""The problems list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMenu,
    QStackedLayout,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.problems.delegate import FixDelegate
from app.problems.fitting import RowFitting
from app.problems.model import Column, ProblemsModel, counts
from app.qt import guard
from app.theme import GRID, Theme
from app.wording import problem_words
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from pathlib import Path

    from app.document import Document
    from engine.diagnostics import Diagnostic, QuickFix

__all__ = ["ProblemsPanel"]

_MOST_ROWS = 2000


class ProblemsPanel(QWidget):
    """Lists the diagnostics of a document; a click selects the layer and goes to the line.

    Parameters
    ----------
    document : Document, optional
        Whose diagnostics; see :meth:`set_document`.

    Attributes
    ----------
    count_changed : Signal(int, int)
        New numbers of errors and warnings.
    title_changed : Signal(str)
        A new title with the counts, for the dock.
    line_activated : Signal(int, int)
        A 1-based line and column to show in the text pane.
    """

    count_changed = Signal(int, int)
    title_changed = Signal(str)
    line_activated = Signal(int, int)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("problems.panel")
        self.document: Document | None = None
        self._counts = (0, 0)
        self.model = ProblemsModel(self)
        self.view = QTreeView(self)
        self._dress_view()
        self._fitting = RowFitting(self.view)
        self.empty = QLabel("No problems", self)
        self.empty.setObjectName("problems.empty")
        self._empty_page = self._make_empty_page()
        self._message = QLabel(self)
        self._message.setProperty("muted", True)
        self._message.setContentsMargins(3 * GRID, GRID, 3 * GRID, GRID)
        self._message.setWordWrap(True)
        self._message.hide()
        pages = QWidget(self)
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self._empty_page)
        self._pages.addWidget(self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(pages, 1)
        layout.addWidget(self._message)
        self.setFocusProxy(self.view)
        self._add_actions()
        self.set_document(document)

    def _dress_view(self) -> None:
        view = self.view
        view.setObjectName("problems.list")
        view.setAccessibleName("Problems")
        view.setModel(self.model)
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setAllColumnsShowFocus(True)
        view.setIconSize(QSize(16, 16))
        view.setFrameShape(QTreeView.Shape.NoFrame)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setTextElideMode(Qt.TextElideMode.ElideRight)
        view.setMouseTracking(True)
        view.setItemDelegateForColumn(Column.FIX, FixDelegate(view))
        view.setProperty("flat", True)
        header = view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(Column.MESSAGE, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(0)
        header.setResizeContentsPrecision(60)
        view.clicked.connect(self._clicked)
        view.activated.connect(self._go)

    def _make_empty_page(self) -> QWidget:
        page = QWidget(self)
        mark = QLabel(page)
        self._mark = mark
        Theme.notifier().changed.connect(self._dress_mark)
        self._dress_mark()
        mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("muted", True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(page)
        layout.addStretch(1)
        layout.addWidget(mark)
        layout.addWidget(self.empty)
        layout.addStretch(2)
        return page

    @guard
    def _dress_mark(self, _theme: object = None) -> None:
        self._mark.setPixmap(_pixmap("check-circle", "ok"))

    def _add_actions(self) -> None:
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        for name, text, keys, slot in (
            ("go", "Go to the layer", "", lambda: self._go(self.view.currentIndex())),
            ("fix", "Apply quick fix", "Ctrl+.", lambda: self.apply_fix(self.view.currentIndex().row())),
            ("", "Copy message", QKeySequence.StandardKey.Copy, self._copy),
        ):
            action = QAction(text, self.view)
            if name:  # to copy has the same key everywhere
                action.setObjectName(f"problems.{name}")
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self.view.addAction(action)
        fix = next(each for each in self.view.actions() if each.objectName() == "problems.fix")
        fix.changed.connect(lambda: self.model.say_fix_key(fix.shortcut()))
        self.model.say_fix_key(fix.shortcut())

    def set_document(self, document: Document | None) -> None:
        """List the diagnostics of another document, or of none."""
        if self.document is not None:
            self.document.diagnostics_changed.disconnect(self._show)
        self.document = document
        if document is not None:
            document.diagnostics_changed.connect(self._show)
        self._show()

    @property
    def title(self) -> str:
        """``Problems`` with the counts."""
        words = problem_words(*self._counts)
        return f"Problems · {words}" if words else "Problems"

    @guard
    def _show(self) -> None:
        document = self.document
        found: Sequence[Diagnostic] = document.diagnostics if document is not None else ()
        current = self.view.currentIndex().row()
        kept = self.model.rows[current] if 0 <= current < len(self.model.rows) else None
        shown = list(found[:_MOST_ROWS])
        if shown != list(self.model.rows):
            self.model.show(shown, [self._layer_of(each) for each in shown])
            self._fitting.fit()
            if kept in self.model.rows:
                self.view.setCurrentIndex(self.model.index(self.model.rows.index(kept), 0))
        self._pages.setCurrentIndex(1 if shown else 0)
        hidden = len(found) - len(shown)
        self._message.setText(f"{hidden} more are not listed." if hidden else "")
        self._message.setVisible(bool(hidden))
        new = counts(found)
        if new != self._counts:
            self._counts = new
            self.count_changed.emit(*new)
            self.title_changed.emit(self.title)

    def _layer_of(self, diagnostic: Diagnostic) -> str:
        document, node = self.document, diagnostic.node
        if diagnostic.file is not None:
            return diagnostic.file.name
        if document is None or node is None or node not in document.graph:
            return ""
        return document.graph.node(node).name

    def _clicked(self, index: QModelIndex) -> None:
        if index.column() == Column.FIX and index.data():
            self.apply_fix(index.row())
        else:
            self._go(index)

    def _go(self, index: QModelIndex) -> None:
        document = self.document
        if document is None or not index.isValid():
            return
        each = self.model.rows[index.row()]
        if each.node is not None and each.node in document.graph:
            document.selection.set([each.node])
            document.selection.flush()
        if each.line and each.file is None:
            self.line_activated.emit(each.line, each.column or 1)

    def apply_fix(self, row: int) -> None:
        """Apply the quick fix of a row, as one undoable command, or ask which; does nothing where there is none."""
        if not 0 <= row < len(self.model.rows):
            return
        file, fixes = self.model.rows[row].file, self.model.rows[row].fixes
        if len(fixes) == 1:
            self._mend(fixes[0], file)
        elif fixes:
            menu = QMenu(self)
            menu.setObjectName("problems.fixes")
            menu.aboutToHide.connect(menu.deleteLater)
            for fix in fixes:
                menu.addAction(fix.label.replace("&", "&&")).triggered.connect(partial(self._mend, fix, file))
            cell = self.view.visualRect(self.model.index(row, Column.FIX))
            menu.popup(self.view.viewport().mapToGlobal(cell.bottomLeft()))

    @guard
    def _mend(self, fix: QuickFix, file: Path | None, _checked: bool = False) -> None:
        """Make a fix in the net, or in the solver of which it was told."""
        document = self.document
        if document is None:
            return
        try:
            if file is None:
                document.assumptions.mend(fix)
            elif (solver := document.solver.open()) is not None:
                solver.apply(fix.label, fix.apply)
        except NetcanvasError as error:
            self._message.setText(str(error))
            self._message.show()

    def _copy(self) -> None:
        index = self.view.currentIndex()
        if index.isValid():
            each = self.model.rows[index.row()]
            name = f"{each.file.name}, " if each.file is not None else ""
            place = f"{name}line {each.line}: " if each.line else ""
            QGuiApplication.clipboard().setText(f"{place}{each.message} [{each.code}]")


def _pixmap(name: str, role: str) -> QPixmap:
    return icon(name, role).pixmap(QSize(24, 24))
