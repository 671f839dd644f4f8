"""The stylesheet over Fusion: only what a palette cannot say, and in colours of the palette."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

__all__ = ["in_palette_roles", "stylesheet"]

#: Colours of a theme by the roles of the palette that hold them; see :meth:`app.theme.Theme.palette`.
_ROLES: Mapping[str, str] = {
    "accent": "accent",
    "accent_text": "highlighted-text",
    "border": "mid",
    "error": "bright-text",
    "node_hover": "midlight",
    "selection": "highlight",
    "selection_text": "highlighted-text",
    "surface": "base",
    "surface_alt": "alternate-base",
    "text": "window-text",
    "text_disabled": "link-visited",
    "text_muted": "placeholder-text",
    "warning": "no-role",
    "window": "window",
}

_TEMPLATE = Template("""
QToolTip { color: $text; background: $surface_alt; border: 1px solid $border; padding: 4px 6px; }
QMainWindow::separator { background: $window; width: 4px; height: 4px; }
QMainWindow::separator:hover { background: $accent; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget::title { background: $window; padding: 6px 8px; text-align: left; }
QToolBar { background: $window; border: none; border-bottom: 1px solid $border; spacing: 2px; padding: 4px 8px; }
QToolBar::separator { background: $border; width: 1px; margin: 4px 6px; }
QToolBar QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px; margin: 0; }
QToolBar QToolButton:hover { background: $surface_alt; border-color: $border; }
QToolBar QToolButton:pressed { background: $border; }
QToolBar QToolButton:checked { background: $surface_alt; border-color: $accent; color: $accent; }
QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; border: none; }
QToolButton:focus { border-color: $accent; }
QToolButton[popupMode="2"] { padding-right: 18px; }
QToolButton[popupMode="2"]::menu-indicator { image: none; width: 0; height: 0; subcontrol-origin: padding;
  subcontrol-position: center right; right: 6px; border-left: 4px solid $window; border-right: 4px solid $window;
  border-top: 5px solid $text_muted; }
QToolButton[toggle="true"] { color: $text_muted; border: 1px solid $border; border-radius: 4px; padding: 1px 6px; }
QToolButton[toggle="true"][popupMode="2"] { padding-right: 18px; }
QToolButton[toggle="true"]:hover { border-color: $node_hover; }
QToolButton[toggle="true"]:checked { color: $accent; border-color: $accent; background: $surface_alt; }
QToolButton[toggle="true"]:disabled { color: $text_disabled; border-color: $border; }
QStatusBar { background: $window; border-top: 1px solid $border; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $text_muted; padding: 0 8px; }
QMenuBar { background: $window; padding: 2px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; }
QMenuBar::item:selected { background: $surface_alt; }
QMenu { background: $surface; border: 1px solid $border; padding: 4px; }
ChoicePopup { background: $surface; border: 1px solid $node_hover; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $selection_text; }
QMenu::item:disabled { color: $text_disabled; background: transparent; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
  background: $surface; color: $text; border: 1px solid $border; border-radius: 4px; padding: 3px 6px;
  selection-background-color: $selection; selection-color: $selection_text; }
QPlainTextEdit, QTextEdit { border-radius: 0; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { border-bottom-color: $node_hover; }
QLineEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover { border-color: $node_hover; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: $text_disabled; background: $surface_alt; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow, QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: none; width: 0; height: 0;
  border-left: 4px solid $surface; border-right: 4px solid $surface; border-top: 5px solid $text_muted; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: none; width: 0; height: 0;
  border-left: 4px solid $surface; border-right: 4px solid $surface; border-bottom: 5px solid $text_muted; }
QComboBox::down-arrow:hover, QSpinBox::down-arrow:hover, QDoubleSpinBox::down-arrow:hover { border-top-color: $text; }
QSpinBox::up-arrow:hover, QDoubleSpinBox::up-arrow:hover { border-bottom-color: $text; }
QComboBox::down-arrow:disabled, QSpinBox::down-arrow:disabled, QSpinBox::down-arrow:off,
QDoubleSpinBox::down-arrow:disabled, QDoubleSpinBox::down-arrow:off { border-top-color: $text_disabled; }
QComboBox::down-arrow:disabled { border-left-color: $surface_alt; border-right-color: $surface_alt; }
QSpinBox::up-arrow:disabled, QSpinBox::up-arrow:off, QDoubleSpinBox::up-arrow:disabled,
QDoubleSpinBox::up-arrow:off { border-bottom-color: $text_disabled; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right;
  width: 20px; border: none; border-left: 1px solid $border; border-top-right-radius: 3px; margin: 1px 1px 0 0; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right;
  width: 20px; border: none; border-left: 1px solid $border; border-bottom-right-radius: 3px; margin: 0 1px 1px 0; }
QAbstractItemView { background: $surface; alternate-background-color: $surface_alt; border: 1px solid $border;
  outline: 0; selection-background-color: $selection; selection-color: $selection_text; }
QAbstractItemView[flat="true"] { background: transparent; border: none; }
QTreeView::item, QTableView::item { padding: 2px 4px; }
QHeaderView::section { background: $surface_alt; color: $text_muted; border: none; border-bottom: 1px solid $border;
  padding: 4px 8px 4px 6px; }
QTabWidget::pane { border: none; border-top: 1px solid $border; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $text_muted; padding: 6px 12px; border: none;
  border-bottom: 2px solid transparent; }
QMainWindow > QTabBar::tab { padding: 6px; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QDialog, QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton { background: $surface_alt; color: $text; border: 1px solid $border; border-radius: 4px;
  padding: 5px 12px; }
QPushButton:hover { border-color: $node_hover; }
QPushButton:focus { border-color: $accent; }
QPushButton:pressed { background: $border; }
QPushButton:disabled { color: $text_disabled; }
QPushButton[primary="true"] { background: $accent; color: $accent_text; border-color: $accent; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: $surface_alt; color: $text_disabled; border-color: $border; }
QProgressBar { background: $surface_alt; border: 1px solid $border; border-radius: 4px; text-align: center;
  max-height: 16px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QScrollBar { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { width: 12px; margin: 0; }
QScrollBar:horizontal { height: 12px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: $node_hover; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: $border; }
*[muted="true"] { color: $text_muted; }
*[heading="true"] { font-weight: 600; }
""")


def in_palette_roles(template: Template) -> str:
    """Fill a stylesheet with roles of the palette for the colours that it names, so that it holds in every theme.

    Raises
    ------
    KeyError
        When it names a colour that no role of the palette holds.
    """
    return template.substitute({name: f"palette({role})" for name, role in _ROLES.items()})


def stylesheet() -> str:
    """Return the application's stylesheet, which is the same in every theme."""
    return in_palette_roles(_TEMPLATE)
