"""The properties panel: the fields of what is selected, made from the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.properties.editors.edits import ValueEdit
from app.properties.editors.textbox import TextBox
from app.properties.formarea import FormArea
from app.properties.pages.coststrip import CostStrip
from app.properties.pages.layer_page import LayerPage, page_key
from app.properties.pages.many_page import MOST_LAYERS, ManyPage
from app.properties.pages.net_page import NetPage
from app.properties.rows.row import asks_for_help
from app.properties.style import dress_names, panel_stylesheet
from app.properties.target import LayerTarget
from app.qt import Debounce, guard, tab_order_after
from app.theme import GRID, Theme
from app.widgets.searchline import search_line
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import SignalInstance

    from app.document import Document
    from engine.graph import Events, NodeId

__all__ = ["PropertiesPanel"]

_KEPT_PAGES = 8
_NET_PAUSE_MS = 60


class PropertiesPanel(QWidget):
    """Shows and edits the selected layers; with nothing selected, the net.

    Every edit is one undoable command of the document. The panel follows the graph: it updates in place and keeps
    focus, scroll position and what is typed.

    Parameters
    ----------
    document : Document, optional
        What to edit; see :meth:`set_document`.
    """

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("properties.panel")
        self.document: Document | None = None
        self.page: QWidget | None = None
        self._folds: dict[str, bool] = {}
        self._kept: dict[object, LayerPage] = {}
        self._net_due = Debounce(self._show_net, _NET_PAUSE_MS, self)
        self._build()
        Theme.notifier().changed.connect(self._dress)
        self.setStyleSheet(panel_stylesheet())
        self.set_document(document)

    def _build(self) -> None:
        self.search_line = search_line("properties.search", "Search fields", self, glass=True)
        self.search_line.textChanged.connect(self._search)
        self._nothing = QLabel("No field matches.", self)
        self._nothing.setProperty("muted", True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._nothing.hide()
        self.area = FormArea(self, top=GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        top = QVBoxLayout()
        top.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 0)
        top.addWidget(self.search_line)
        top.addWidget(self._nothing)
        layout.addLayout(top)
        layout.addWidget(self.area, 1)
        self.costs = CostStrip(self)
        layout.addWidget(self.costs)
        self.setMinimumWidth(65 * GRID)
        self.setFocusProxy(self.search_line)
        self._name_action = self._action("name", "Change the name of the layer", ("F2",), self.edit_name)
        find = [key.toString() for key in QKeySequence.keyBindings(QKeySequence.StandardKey.Find)]
        self._action("find", "Search in the properties", find, self.focus_search)
        self._name_action.changed.connect(self._say_keys)

    def _action(self, name: str, text: str, keys: Sequence[str], slot: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"properties.{name}")
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _checked=False: slot())
        self.addAction(action)
        return action

    @guard
    def _say_keys(self) -> None:
        if isinstance(self.page, LayerPage):
            self.page.header.say_name_key(self._name_action.shortcut())

    def set_document(self, document: Document | None) -> None:
        """Show another document, or none."""
        if self.document is not None:
            for signal, slot in self._heard(self.document):
                signal.disconnect(slot)
        self.document = document
        self._net_due.cancel()
        self._replace_page(None)
        self._forget_pages()
        if document is not None:
            for signal, slot in self._heard(document):
                signal.connect(slot)
            self._selection_changed()
        self.costs.set_document(document)
        self.search_line.setEnabled(document is not None)

    def _heard(self, document: Document) -> tuple[tuple[SignalInstance, Callable[..., object]], ...]:
        """Return what is heard of a document, and what is done then."""
        return (
            (document.selection.changed, self._selection_changed),
            (document.changed, self._graph_changed),
            (document.shapes_changed, self._facts_changed),
            (document.live.costs.changed, self._net_due.trigger),
            (document.diagnostics_changed, self._diagnoses_changed),
            (document.dialect_changed, self._dialect_changed),
            (document.plugins_changed, self._plugins_changed),
        )

    # What happens elsewhere

    @guard
    def _selection_changed(self) -> None:
        if self.document is None:
            return
        self.commit()
        ids = self._editable_ids()
        page = self.page
        if ids and isinstance(page, LayerPage):
            if page.target.ids == ids:
                return
            if page.try_bind(ids):
                self._search(self.search_line.text())
                return
        if not self.document.selection.node_ids and isinstance(page, NetPage):
            page.show_net(self.document)
            return
        if len(self.document.selection) > 1 and not ids and isinstance(page, ManyPage):
            page.show_layers(self.document, self.document.selection.node_ids)
            return
        self._replace_page(self._page_for(ids))

    @guard
    def _graph_changed(self, events: Events) -> None:
        typed = self._typed_into()
        if typed is not None:
            typed.held = True
        try:
            self._follow(events)
        finally:
            if typed is not None and isValid(typed):
                typed.held = False

    def _typed_into(self) -> ValueEdit | TextBox | None:
        """Return the editor that has the focus and something that is not committed, if one has."""
        focused = QApplication.focusWidget()
        if isinstance(focused, ValueEdit | TextBox) and self.isAncestorOf(focused) and focused.pending:
            return focused
        return None

    def _follow(self, events: Events) -> None:
        page = self.page
        if self.document is None:
            return
        if isinstance(page, NetPage | ManyPage):
            self._net_due.trigger()
        elif isinstance(page, LayerPage):
            if page.is_gone:
                return  # the selection follows
            if not events.changed & set(page.target.ids):
                page.refresh_facts()
            elif not page.refresh():
                self._replace_page(self._page_for(page.target.ids), keep_place=True)

    @guard
    def _plugins_changed(self) -> None:
        if isinstance(self.page, LayerPage) and not self.page.is_gone:
            self.page.refresh_forms()
            self.page.refresh_facts()

    @guard
    def _facts_changed(self) -> None:
        if isinstance(self.page, LayerPage):
            if not self.page.is_gone:  # or the selection follows in a moment
                self.page.refresh_facts()
        elif isinstance(self.page, NetPage | ManyPage):
            self._net_due.trigger()

    def _show_net(self) -> None:
        if isinstance(self.page, NetPage) and self.document is not None:
            self.page.show_net(self.document)
        elif isinstance(self.page, ManyPage) and self.document is not None:
            self.page.show_layers(self.document, self.document.selection.node_ids)

    @guard
    def _diagnoses_changed(self) -> None:
        if isinstance(self.page, LayerPage):
            self.page.refresh_diagnoses()

    @guard
    def _dialect_changed(self) -> None:
        if isinstance(self.page, NetPage):
            self._forget_pages()
            self._net_due.trigger()
        else:
            self.commit()
            self._make_anew()

    @guard
    def _dress(self, _theme: Theme) -> None:
        dress_names(self)

    def _make_anew(self) -> None:
        self._forget_pages()
        if self.document is not None:
            shown = self.page.target.ids if isinstance(self.page, LayerPage) else ()
            ids = tuple(node for node in shown if node in self.document.graph)
            self._replace_page(self._page_for(ids), keep_place=True)
            self._forget_pages()

    # Pages

    def _editable_ids(self) -> tuple[NodeId, ...]:
        """Return the selected layers if they can be edited together: written in one format, and not too many."""
        assert self.document is not None
        graph = self.document.graph
        ids = tuple(node for node in self.document.selection.node_ids if node in graph)
        if len(ids) > MOST_LAYERS:
            return ()
        kinds = {(node.version, node.virtual) for node in map(graph.node, ids)}
        return ids if len(kinds) == 1 else ()

    def _page_for(self, ids: tuple[NodeId, ...]) -> QWidget:
        assert self.document is not None
        if ids:
            target = LayerTarget(self.document, ids)
            kept = self._kept.pop(page_key(target), None)
            if kept is not None and kept.try_bind(ids):
                return kept
            return LayerPage(target, self._folds, self.area.body)
        if len(self.document.selection) > 1:
            many = ManyPage(self.area.body)
            many.asked.connect(self.document.selection.set)
            many.show_layers(self.document, self.document.selection.node_ids)
            return many
        page = NetPage(self.area.body)
        page.renamed.connect(self._rename_net)
        page.show_net(self.document)
        return page

    def _replace_page(self, page: QWidget | None, *, keep_place: bool = False) -> None:
        place = self.area.verticalScrollBar().value()
        focused = QApplication.focusWidget()
        name = focused.objectName() if focused is not None and self.isAncestorOf(focused) else ""
        typed_into = self._typed_into()
        typed = typed_into.put_down() if typed_into is not None else None
        if self.page is not None:
            self.page.hide()
            self.area.forms.removeWidget(self.page)
            self._keep(self.page)
        self.page = page
        if page is None:
            return
        self._say_keys()
        self.area.forms.addWidget(page)
        page.show()
        tab_order_after(self.search_line, page)
        self._search(self.search_line.text())
        if keep_place:
            if isinstance(page, LayerPage):
                page.fields.complete()
            self.area.body.adjustSize()
            self.area.verticalScrollBar().setValue(place)
            again = page.findChild(type(typed_into) if typed_into is not None else QWidget, name) if name else None
            if again is not None:
                again.setFocus(Qt.FocusReason.OtherFocusReason)
            if typed is not None and isinstance(again, ValueEdit | TextBox):
                again.take_up(*typed)
        else:
            self.area.verticalScrollBar().setValue(0)

    def _keep(self, page: QWidget) -> None:
        """Keep the page of a type of layers for the next one of that type; the oldest goes."""
        if not isinstance(page, LayerPage) or page.key in self._kept:
            page.deleteLater()
            return
        self._kept[page.key] = page
        if len(self._kept) > _KEPT_PAGES:
            self._kept.pop(next(iter(self._kept))).deleteLater()

    def _forget_pages(self) -> None:
        for page in self._kept.values():
            page.deleteLater()
        self._kept.clear()

    # What the user does

    def edit_name(self) -> None:
        """Put the cursor into the name."""
        if isinstance(self.page, LayerPage):
            line = self.page.header.name
        elif isinstance(self.page, NetPage):
            line = self.page.name
        else:
            return
        self.area.ensureWidgetVisible(line)
        line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        line.selectAll()

    def focus_search(self) -> None:
        """Put the cursor into the search line."""
        self.search_line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_line.selectAll()

    def commit(self) -> None:
        """Write what is typed into the focused field and not committed yet; call it before saving or training."""
        focused = QApplication.focusWidget()
        if isinstance(focused, ValueEdit | TextBox) and self.page is not None and self.page.isAncestorOf(focused):
            focused.commit()

    def _search(self, text: str) -> None:
        found = True
        if isinstance(self.page, LayerPage):
            found = self.page.search(text.strip().lower())
        self._nothing.setVisible(not found)

    def _rename_net(self, name: str) -> None:
        page, document = self.page, self.document
        if document is None or not isinstance(page, NetPage):
            return
        try:
            document.apply(f"Rename net to {name}", lambda graph: graph.set_string(None, ("name",), name))
        except NetcanvasError as error:
            page.say(str(error))
            return
        page.say("")

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return asks_for_help(self, event) or super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.search_line.text():
            self.search_line.clear()
        elif self.document is not None and event.matches(QKeySequence.StandardKey.Undo):
            self.document.undo_stack.undo()
        elif self.document is not None and event.matches(QKeySequence.StandardKey.Redo):
            self.document.undo_stack.redo()
        else:
            super().keyPressEvent(event)
