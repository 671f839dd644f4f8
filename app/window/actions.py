"""The actions of the window: one table, from which menus, toolbar and shortcuts are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.icons import icon

__all__ = ["ActionSpec", "make_actions"]


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes
    ----------
    name : str
        Object name below ``window.action.``.
    keys : sequence of str
        Shortcuts in portable notation; the first is shown in the tooltip.
    """

    name: str
    text: str
    icon: str = ""
    keys: Sequence[str] = ()
    tip: str = ""
    checkable: bool = False


def make_actions(
    owner: QWidget, specs: Sequence[ActionSpec], handlers: dict[str, Callable[[], object]]
) -> dict[str, QAction]:
    """Make the actions and connect them.

    Raises
    ------
    KeyError
        When an action has no handler.
    """
    actions: dict[str, QAction] = {}
    for spec in specs:
        action = QAction(spec.text, owner)
        action.setObjectName(f"window.action.{spec.name}")
        if spec.icon:
            action.setIcon(icon(spec.icon))
        if spec.keys:
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
        plain = spec.tip or spec.text.replace("&", "").rstrip("\u2026")
        shown = QKeySequence(spec.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if spec.keys else ""
        action.setToolTip(f"{plain} ({shown})" if shown else plain)
        action.setCheckable(spec.checkable)
        handler = handlers[spec.name]
        action.triggered.connect(lambda _checked=False, handler=handler: handler())
        actions[spec.name] = action
    return actions
