"""Sizes and the stylesheet of the panel, all in one place."""

from __future__ import annotations

from string import Template

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QLabel, QWidget

from app.stylesheet import in_palette_roles
from app.theme import GRID, Theme
from app.widgets.letters import letter_scale

__all__ = [
    "GAP",
    "GUTTER",
    "INDENT",
    "RESET_WIDTH",
    "TEXT_INSET",
    "chevron_pen",
    "dress_names",
    "editor_left",
    "is_stacked",
    "muted_html",
    "panel_stylesheet",
    "show_name",
]

GAP = 2 * GRID
#: Room at the left of a form for the arrows that fold.
GUTTER = 4 * GRID
INDENT = GUTTER
#: How far the text of an editor stands from its edge.
TEXT_INSET = 7
RESET_WIDTH = 5 * GRID
_NAMED = "name and unit"
_LABEL_SHARE, _LARGE_LABEL_SHARE = 0.40, 0.46
_NARROWEST_LABEL, _WIDEST_LABEL = 24 * GRID, 48 * GRID
#: Where a form is less wide than so many pixels in such letters, names stand above their editors.
_LEAST_BESIDE = 235

_TEMPLATE = Template("""
#properties-body, #properties-scroll, #properties-scroll > QWidget { background: $window; }
QLineEdit, QComboBox { min-height: 20px; }
QComboBox::down-arrow { border: none; }
QCheckBox { min-height: 28px; spacing: 8px; }
QLineEdit[state="set"], QComboBox[state="set"], QCheckBox[state="set"] { font-weight: 600; }
QCheckBox[state="default"], QComboBox[state="default"], QCheckBox[state="mixed"], QComboBox[state="mixed"] {
  color: $text_muted; }
QLineEdit[state="mixed"] { font-style: italic; }
QLineEdit[state="invalid"], QComboBox[state="invalid"] { border-color: $error; }
QCheckBox[state="invalid"] { color: $error; }
QLineEdit[flat="true"] { background: transparent; border-color: transparent; font-weight: 600; padding: 2px 0; }
QLineEdit[flat="true"]:hover { border-color: $border; }
QLineEdit[flat="true"]:focus { background: $surface; border-color: $accent; }
QLabel[problem="true"] { color: $error; }
QLabel[hint="true"] { color: $warning; }
QLabel[chip="true"] { background: $surface_alt; border: 1px solid $border; border-radius: 8px; padding: 0 8px;
  color: $text_muted; }
QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 1px; background: transparent; }
QToolButton:hover { background: $surface; border-color: $border; }
QToolButton:focus { border-color: $accent; }
QToolButton:checked { background: $surface; border-color: $accent; }
QToolButton[popupMode="2"] { padding-right: 1px; }
QToolButton::menu-indicator { image: none; width: 0; border: none; }
""")


def panel_stylesheet() -> str:
    """Return what the panel adds to the application's stylesheet, in every theme."""
    return in_palette_roles(_TEMPLATE)


def is_stacked(widget: QWidget, depth: int) -> bool:
    """Whether letters are so large that a row has no room for the name of a field beside its editor."""
    letters = letter_scale(widget)
    return letters > 1.0 and widget.width() + depth * INDENT < _LEAST_BESIDE * letters


def editor_left(widget: QWidget, depth: int) -> int:
    """Return where editors begin, in a row's coordinates: one column for the panel, however deep the row is nested."""
    indent = depth * INDENT
    letters = letter_scale(widget)  # with large ones, names need more room
    column = round((widget.width() + indent) * (_LABEL_SHARE if letters == 1.0 else _LARGE_LABEL_SHARE))
    column = round(min(max(column, _NARROWEST_LABEL * letters), _WIDEST_LABEL * letters)) + GUTTER
    return max(column - indent, 14 * GRID)


def chevron_pen(color: QColor, width: float = 1.4) -> QPen:
    """Return the pen that small arrows and check marks are drawn with."""
    return QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def muted_html(name: str, unit: str) -> str:
    """Return a field's name, broken at underscores where it must, and its unit in a quieter colour."""
    shown = name.replace("_", "_\u200b")
    if not unit:
        return shown
    return f'{shown} <span style="color:{Theme.current().color("text_muted").name()}">{unit}</span>'


def show_name(label: QLabel, name: str, unit: str) -> None:
    """Show a field's name with its unit, which :func:`dress_names` finds again."""
    label.setText(muted_html(name, unit))
    label.setAccessibleName(f"{name} {unit}".strip())  # without the places where it may break
    if unit:
        label.setProperty(_NAMED, (name, unit))


def dress_names(panel: QWidget) -> None:
    """Show all units in a panel in the colour of the theme that is in use now."""
    for label in panel.findChildren(QLabel):
        named = label.property(_NAMED)
        if named:
            label.setText(muted_html(*named))
