"""The list of plugins: what each offers, whether it may run, and what is wrong with it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.pluginpanel.facts import PluginFacts, all_facts
from app.qt import guard
from app.theme import GRID, monospace_font
from app.widgets.columns import Column, ShedColumns
from app.widgets.flowrow import FlowRow
from app.wording import row_words

if TYPE_CHECKING:
    from app.document import Document
    from app.pluginpanel.serving import PluginService

__all__ = ["PluginsPanel"]

_COLUMNS = ("Plugin", "State", "Version", "Layers")
_ROOM = (Column(128, 2), Column(72, 2), Column(64, 1), Column(120, 8))
_MARKS = {"error": ("warning-circle", "error"), "warning": ("warning", "warning"), "": ("check-circle", "ok")}
_EMPTY = "No plugins yet. Drop a folder with Python layers on the window, or make one: Net, New Python layer."


class PluginsPanel(QWidget):
    """Lists the plugin folders that the shown net may use.

    Attributes
    ----------
    shown : Signal()
        The panel came into view: what it lists shall be looked at.
    counted : Signal(int)
        So many plugins have errors, as far as they were looked at.
    flow : PluginService or None
        Does what the buttons say.
    """

    shown = Signal()
    counted = Signal(int)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plugins.panel")
        self.flow: PluginService | None = None
        self._document = document
        self._facts: list[PluginFacts] = []
        self.list = QTreeWidget(self)
        self._dress_list()
        self.about = QLabel(self)
        self.about.setWordWrap(True)
        self.about.setTextFormat(Qt.TextFormat.RichText)
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.about.setObjectName("plugins.about")
        self.errors = QPlainTextEdit(self)
        self.errors.setObjectName("plugins.errors")
        self.errors.setAccessibleName("What is wrong with the plugin")
        self.errors.setReadOnly(True)
        self.errors.setFont(monospace_font())
        self._buttons: dict[str, QPushButton] = {}
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self.list)
        split.addWidget(self._make_detail())
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([400, 480])
        split.setChildrenCollapsible(False)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(split)
        self.setFocusProxy(self.list)
        self._show_current()

    def _dress_list(self) -> None:
        view = self.list
        view.setObjectName("plugins.list")
        view.setAccessibleName("Plugins")
        view.setHeaderLabels(list(_COLUMNS))
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setAllColumnsShowFocus(True)
        view.setFrameShape(QTreeWidget.Shape.NoFrame)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setTextElideMode(Qt.TextElideMode.ElideRight)
        view.setProperty("flat", True)
        self._columns = ShedColumns(view, _ROOM)
        view.currentItemChanged.connect(self._show_current)

    def _make_detail(self) -> QWidget:
        detail = QWidget(self)
        box = QVBoxLayout(detail)
        box.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        box.setSpacing(2 * GRID)
        scroll = QScrollArea(detail)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setProperty("flat", True)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.about)
        box.addWidget(scroll, 1)
        box.addWidget(self.errors, 2)
        line = FlowRow(2 * GRID)
        for name, text, tip, act in (
            ("trust", "Trust", "Let its code run", self._trust),
            ("reload", "Reload", "Load its files anew", lambda: self._with(lambda flow, _each: flow.reload())),
            ("open", "Open folder", "Show its folder", lambda: self._with(lambda flow, e: flow.open_folder(e.path))),
            ("code", "Code", "Open its code", self._code),
            ("convert", "Convert to Python 3\u2026", "Show what a conversion would change", self._convert),
            ("remove", "Remove", "Forget this folder; its files stay", self._remove),
            (
                "copy",
                "Copy",
                "Copy what is wrong",
                lambda: QGuiApplication.clipboard().setText(self.errors.toPlainText()),
            ),
        ):
            button = QPushButton(text, detail)
            button.setObjectName(f"plugins.{name}")
            button.setToolTip(tip)
            button.clicked.connect(act)
            line.addWidget(button)
            self._buttons[name] = button
        box.addLayout(line)
        return detail

    def set_document(self, document: Document | None) -> None:
        """List the plugins of another document."""
        self._document = document
        self.refresh()

    # Showing

    def refresh(self) -> None:
        """List what there is now; what was chosen stays chosen."""
        if self._document is None or self.flow is None:
            return
        facts = all_facts(self._document, self.flow)
        if facts == self._facts:
            return
        chosen = self.current
        self._facts = facts
        self.counted.emit(sum(each.severity == "error" for each in facts))
        self.list.blockSignals(True)
        self.list.clear()
        for each in facts:
            texts = [each.name, each.state, each.version, ", ".join(each.names)]
            item = QTreeWidgetItem(texts)
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, row_words(texts, ("", "", "version", "layers")))
            mark, role = _MARKS[each.severity]
            item.setIcon(0, icon(mark, role))
            item.setToolTip(0, f"{each.name}: {each.state}\n{each.path}")
            item.setToolTip(3, "\n".join(each.names))
            self.list.addTopLevelItem(item)
            if chosen is not None and each.path == chosen.path:
                self.list.setCurrentItem(item)
        if chosen is None and facts:
            self.choose(facts[0].path)
        self.list.blockSignals(False)
        self._show_current()

    @property
    def current(self) -> PluginFacts | None:
        """The plugin that is chosen."""
        row = self.list.currentIndex().row()
        return self._facts[row] if 0 <= row < len(self._facts) else None

    def choose(self, path: Path) -> None:
        """Choose the plugin in a folder."""
        for row, each in enumerate(self._facts):
            if each.path == path:
                self.list.setCurrentIndex(self.list.model().index(row, 0))

    @guard
    def _show_current(self, *_items: Any) -> None:
        each = self.current
        for button in self._buttons.values():
            button.setVisible(each is not None)
        self.errors.setVisible(each is not None and bool(each.error))
        if each is None:
            self.about.setText(_EMPTY)
            return
        self.about.setText(_about(each))
        if self.errors.toPlainText() != each.error:
            self.errors.setPlainText(each.error)
        self._buttons["trust"].setText("Do not trust" if each.trusted else "Trust")
        self._buttons["trust"].setToolTip("Let its code run no longer" if each.trusted else "Let its code run")
        self._buttons["trust"].setVisible(each.can_trust)
        self._buttons["remove"].setVisible(each.folder.origin == "named")
        self._buttons["convert"].setVisible(each.is_python2)
        self._buttons["copy"].setVisible(bool(each.error))
        self._buttons["code"].setVisible(each.code is not None)

    # Doing

    def _with(self, act: Any) -> None:
        if self.flow is not None and self.current is not None:
            act(self.flow, self.current)

    def _trust(self) -> None:
        self._with(lambda flow, each: flow.set_trusted(each.folder, not each.trusted))

    def _remove(self) -> None:
        self._with(lambda flow, each: flow.remove(each.folder))

    def _convert(self) -> None:
        self._with(lambda flow, each: flow.convert(list(each.sources)))

    def _code(self) -> None:
        self._with(lambda flow, each: flow.show_code(*each.code) if each.code is not None else None)

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()


def _about(each: PluginFacts) -> str:
    """Say what a plugin is, what layers it has, and where it lies."""
    title = f"<b>{escape(each.name)}</b> {escape(each.version)}".rstrip()
    layers = f"Layers: {escape(', '.join(each.names))}" if each.names else ""
    return "<br>".join(filter(None, (title, escape(each.summary), layers, escape(f"{each.whence}: {each.path}"))))
