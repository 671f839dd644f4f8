"""The actions of the window: one table, from which menus, toolbar and shortcuts are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.icons import icon
from app.qt import key_text

__all__ = ["TIP", "ActionSpec", "enable", "make_actions", "say_key"]

#: Property of an action: its tooltip while it is enabled.
TIP = "netcanvas.tip"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes
    ----------
    name : str
        Object name below ``window.action.``.
    keys : sequence of str
        Shortcuts in portable notation; the first is shown in the tooltip.
    hint : str
        A key that does it on the canvas only, and so is no shortcut of the window.
    """

    name: str
    text: str
    icon: str = ""
    keys: Sequence[str] = ()
    tip: str = ""
    checkable: bool = False
    hint: str = ""


def enable(action: QAction, reason: str) -> None:
    """Enable an action, or say in its tooltip why it cannot be done; an empty reason enables it."""
    action.setEnabled(not reason)
    action.setToolTip(reason or str(action.property(TIP)))


def say_key(action: QAction, key: str, old: str = "") -> None:
    """Have the tooltips of an action end with its key, also the one that it has while it is enabled.

    Parameters
    ----------
    key : str
        As the system writes it; empty where it has none.
    old : str
        The key that the tooltips end with now.
    """
    tip = _with_key(str(action.property(TIP) or ""), key, old)
    if action.isEnabled():
        action.setToolTip(_with_key(action.toolTip(), key, old))
    if action.property(TIP):
        action.setProperty(TIP, tip)


def _with_key(tip: str, key: str, old: str) -> str:
    bare = tip.removesuffix(f" ({old})") if old else tip
    return f"{bare} ({key})" if key and not bare.endswith(f"({key})") else bare


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
        action = QAction(f"{spec.text}\t{spec.hint}" if spec.hint else spec.text, owner)
        action.setObjectName(f"window.action.{spec.name}")
        if spec.icon:
            action.setIcon(icon(spec.icon))
        if spec.keys:
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
        plain = spec.tip or spec.text.replace("&", "").rstrip("\u2026")
        shown = key_text(spec.keys[0]) if spec.keys else ""
        shown = shown or spec.hint
        action.setToolTip(f"{plain} ({shown})" if shown else plain)
        action.setProperty(TIP, action.toolTip())
        action.setCheckable(spec.checkable)
        handler = handlers[spec.name]
        action.triggered.connect(lambda _checked=False, handler=handler: handler())
        actions[spec.name] = action
    return actions
