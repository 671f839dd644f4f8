"""Editors for values out of a few: booleans, enums, and texts with known spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.icons import icon
from app.properties.editors.edits import MIXED, TRAILING_WIDTH, PathEdit, ValueEdit, is_undo_key, set_state
from app.properties.style import chevron_pen
from app.qt import blocked, guard
from app.theme import GRID, Theme
from engine.schema import FieldInfo

__all__ = ["BoolEdit", "EnumEdit", "SingleEdit", "SpellingEdit", "known_spellings"]

_DEFAULT = " (default)"
_BOX = 4 * GRID
_NARROWEST = 16 * GRID  # less than the hint, which would make a narrow panel too wide
_CLEAR_KEYS = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)

#: Texts that Caffe knows where the schema says only ``string``, by message and field.
_SPELLINGS: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("FillerParameter", "type"): (
            "constant",
            "gaussian",
            "uniform",
            "xavier",
            "msra",
            "bilinear",
            "positive_unitball",
        ),
        ("SolverParameter", "lr_policy"): ("fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid"),
        ("SolverParameter", "type"): ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"),
        ("SolverParameter", "regularization_type"): ("L2", "L1"),
    }
)


def known_spellings(message: str, field: str) -> tuple[str, ...]:
    """Return the texts that Caffe knows for a string field; empty where any text goes."""
    return _SPELLINGS.get((message, field), ())


class BoolEdit(QCheckBox):
    """A boolean that may be absent: the default greyed, a set value bold, Delete to clear.

    Emits ``committed("true")``, ``committed("false")``, or ``committed("")`` to clear.
    """

    committed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._effective = False
        self.setMinimumWidth(_NARROWEST)

    @property
    def pending(self) -> bool:
        """A click is committed at once."""
        return False

    def show_value(self, text: str | None, *, default: str = "", mixed: bool = False) -> None:
        """Show what the file says, see :meth:`app.properties.editors.edits.ValueEdit.show_value`."""
        words = {"1": "true", "t": "true", "True": "true", "0": "false", "f": "false", "False": "false"}
        value = default if text is None or mixed else words.get(text, text)
        self._effective = value == "true"
        known = value in ("true", "false") and not mixed
        state = Qt.CheckState.Checked if self._effective else Qt.CheckState.Unchecked
        with blocked(self):
            self.setTristate(not known)
            self.setCheckState(state if known else Qt.CheckState.PartiallyChecked)
        self.setText(MIXED if mixed else value or "not set")
        set_state(self, "mixed" if mixed else "default" if text is None else "set" if known else "invalid")

    def set_invalid(self, invalid: bool) -> None:
        """Mark the value as one that cannot be written."""
        if invalid:
            set_state(self, "invalid")

    @guard
    def nextCheckState(self) -> None:
        self.committed.emit("false" if self._effective else "true")

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _CLEAR_KEYS:
            self.committed.emit("")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.nextCheckState()
        else:
            super().keyPressEvent(event)

    @guard(default=QSize(80, 28))
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        height = max(7 * GRID, metrics.height() + 2 * GRID)
        return QSize(_BOX + 2 * GRID + metrics.horizontalAdvance(self.text()) + 2 * GRID, height)

    @guard(default=True)
    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, state = Theme.current(), self.property("state")
        is_set, checked = state == "set", self.checkState()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0.5, (self.height() - _BOX) / 2 + 0.5, _BOX - 1, _BOX - 1)
        filled = is_set and checked == Qt.CheckState.Checked
        edge = "error" if state == "invalid" else "accent" if filled or self.hasFocus() else "node_hover"
        painter.setPen(QPen(theme.color(edge), 1))
        painter.setBrush(theme.color("accent" if filled else "surface"))
        painter.drawRoundedRect(box, 3, 3)
        ink = theme.color("accent_text" if filled else "text_muted")
        painter.setPen(chevron_pen(ink, 1.8))
        x, y = box.center().x(), box.center().y()
        if checked == Qt.CheckState.Checked:
            painter.drawPolyline(QPolygonF([QPointF(x - 4, y), QPointF(x - 1, y + 3), QPointF(x + 4, y - 3.5)]))
        elif checked == Qt.CheckState.PartiallyChecked:
            painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
        if filled and self.hasFocus():
            painter.setPen(QPen(theme.color("text"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-0.5, -0.5, 0.5, 0.5), 3, 3)
        painter.setFont(self.font())
        painter.setPen(theme.color("error" if state == "invalid" else "text" if is_set else "text_muted"))
        room = self.rect().adjusted(_BOX + 2 * GRID, 0, 0, 0)
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.end()


class _RoomyRows(QStyledItemDelegate):
    """Rows of a list of choices, as high as those of a menu."""

    @guard(default=QSize())
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), max(size.height(), option.fontMetrics.height() + 2 * GRID))


class EnumEdit(QComboBox):
    """A choice out of an enum; the first entry is the default and clears the field.

    Parameters
    ----------
    info : FieldInfo
        The field with its choices.
    """

    committed = Signal(str)

    def __init__(self, info: FieldInfo, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._numbers = {str(choice.number): choice.name for choice in info.choices}
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setMinimumWidth(_NARROWEST)
        self.addItem("", None)
        for choice in info.choices:
            self.addItem(choice.name, choice.name)
            self.setItemData(self.count() - 1, choice.doc, Qt.ItemDataRole.ToolTipRole)
        self._listed = self.count()
        self.activated.connect(self._choose)

    @property
    def pending(self) -> bool:
        """A choice is committed at once."""
        return False

    def show_value(self, text: str | None, *, default: str = "", mixed: bool = False) -> None:
        """Show what the file says, see :meth:`app.properties.editors.edits.ValueEdit.show_value`."""
        with blocked(self):
            while self.count() > self._listed:
                self.removeItem(self.count() - 1)
            self.setItemText(0, MIXED if mixed else f"{default}{_DEFAULT}" if default else "not set")
            index = 0 if text is None or mixed else self.findData(self._numbers.get(text, text))
            if index < 0:
                self.addItem(str(text), text)
                index = self._listed
            self.setCurrentIndex(index)
        state = "mixed" if mixed else "default" if index == 0 else "invalid" if index == self._listed else "set"
        set_state(self, state)

    def set_invalid(self, invalid: bool) -> None:
        """Mark the value as one that cannot be written."""
        if invalid:
            set_state(self, "invalid")

    @guard
    def showPopup(self) -> None:
        if not isinstance(self.itemDelegate(), _RoomyRows):
            self.setItemDelegate(_RoomyRows(self))  # only now: it makes the list, and most are never opened
        super().showPopup()

    def _choose(self, index: int) -> None:
        self.committed.emit(self.itemData(index) or "")

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _CLEAR_KEYS:
            self.committed.emit("")
        elif is_undo_key(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # scrolling the panel must not change a value on the way

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = option.currentText.removesuffix(_DEFAULT)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = Theme.current().color("text_muted" if self.hasFocus() or self.underMouse() else "node_hover")
        painter.setPen(chevron_pen(color))
        x, y = self.width() - TRAILING_WIDTH / 2 - 1, self.height() / 2
        painter.drawPolyline(QPolygonF([QPointF(x - 3, y - 1.5), QPointF(x, y + 1.5), QPointF(x + 3, y - 1.5)]))
        painter.end()


class SpellingEdit(ValueEdit):
    """A text with known spellings, offered as a list when the field gets the focus by key or Down is pressed.

    Parameters
    ----------
    spellings : sequence of str
        What Caffe knows; any other text goes too.
    """

    def __init__(self, spellings: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = QCompleter(list(spellings), self)
        self._list.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self._list.setFilterMode(Qt.MatchFlag.MatchContains)
        self._list.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._list.activated.connect(self._take)
        self.setCompleter(self._list)
        arrow = QToolButton(self)
        arrow.setIcon(icon("caret-down", "text_muted"))
        arrow.setIconSize(QSize(3 * GRID, 3 * GRID))
        arrow.setToolTip("Show what is usual (Down)")
        arrow.setAccessibleName("Show what is usual")
        arrow.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        arrow.clicked.connect(self._open_by_click)
        self.set_trailing(arrow)

    def open_list(self) -> None:
        """Show all known spellings."""
        self._dress_list()
        self._list.setCompletionPrefix("")
        self._list.complete()

    @guard
    def _open_by_click(self) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.open_list()

    @guard
    def focusInEvent(self, event: QFocusEvent) -> None:
        self._dress_list()
        super().focusInEvent(event)

    def _dress_list(self) -> None:
        popup = self._list.popup()
        if popup is not None and not isinstance(popup.itemDelegate(), _RoomyRows):
            popup.setItemDelegate(_RoomyRows(self))

    def _take(self, text: str) -> None:
        self.setText(text)
        self.commit()

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        popup = self._list.popup()
        if event.key() == Qt.Key.Key_Down and not (popup is not None and popup.isVisible()):
            self.open_list()
        else:
            super().keyPressEvent(event)


#: Every editor of one value.
SingleEdit = ValueEdit | PathEdit | BoolEdit | EnumEdit
