"""The menu at a layer's badge: what is wrong in a sentence each, the quick fixes, and the long form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.icons import icon
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from engine.diagnostics import Diagnostic, QuickFix
    from engine.graph import NodeId

__all__ = ["add_fixes", "fix_menu", "problems_at"]

_LONGEST = 96
_MOST = 8
_ICONS = {"error": ("warning-circle", "error"), "warning": ("warning", "warning"), "info": ("info", "accent")}


def problems_at(document: Document, node: NodeId) -> list[Diagnostic]:
    """Return what is wrong or doubtful at a layer, worst first, and what is told and can be changed."""
    found = [each for each in document.diagnostics if each.node == node or node in each.others]
    return [each for each in found if each.severity != "info" or each.fixes]


def fix_menu(
    document: Document, node: NodeId, parent: QWidget, refused: Callable[[str], object], whole: Callable[[], object]
) -> QMenu:
    """Return the menu for a layer.

    Parameters
    ----------
    refused : callable
        Gets the reason when a fix cannot be made.
    whole : callable
        Shows the long form of what is wrong.
    """
    menu = QMenu(parent)
    menu.setObjectName("canvas.fix_menu")
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    problems = problems_at(document, node)
    for each in problems[:_MOST]:
        line = menu.addAction(icon(*_ICONS[str(each.severity)]), _short(each.message))
        line.setToolTip(f"{each.message} {each.next_step}".strip())
        line.triggered.connect(whole)
        for fix in each.fixes:
            _add(menu, document, fix, refused)
    if len(problems) > _MOST:
        menu.addAction(f"{len(problems) - _MOST} more, in the problems list").setEnabled(False)
    if not problems:
        menu.addAction("Nothing is wrong here").setEnabled(False)
        return menu
    menu.addSeparator()
    menu.addAction(icon("info"), "Show the whole text\u2026").triggered.connect(whole)
    text = "\n".join(f"{each.message} {each.next_step}".strip() for each in problems)
    copy = menu.addAction(icon("copy"), "Copy what is wrong")
    copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(text))
    return menu


def add_fixes(menu: QMenu, document: Document, node: NodeId, refused: Callable[[str], object]) -> None:
    """Add the quick fixes of a layer to another menu."""
    for each in problems_at(document, node)[:_MOST]:
        for fix in each.fixes:
            _add(menu, document, fix, refused)


def _add(menu: QMenu, document: Document, fix: QuickFix, refused: Callable[[str], object]) -> None:
    action = QAction(icon("wrench", "accent"), f"Fix: {fix.label}".replace("&", "&&"), menu)
    action.setObjectName("canvas.fix")
    action.triggered.connect(partial(_mend, document, fix, refused))
    menu.addAction(action)


def _mend(document: Document, fix: QuickFix, refused: Callable[[str], object], _checked: bool = False) -> None:
    """Make a fix, as one undoable step."""
    try:
        document.assumptions.mend(fix)
    except NetcanvasError as error:
        refused(str(error))


def _short(message: str) -> str:
    words = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}\u2026"
    return words.replace("&", "&&")
