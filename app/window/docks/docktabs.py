"""The tabs that Qt puts over docks which share a place."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QTabBar

__all__ = ["dock_tabs", "front_title"]


def dock_tabs(window: QMainWindow) -> list[QTabBar]:
    """Return the rows of such tabs that are in view."""
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [bar for bar in bars if bar.isVisible()]


def front_title(tabs: QTabBar) -> str:
    """Return the title of the dock in front."""
    return tabs.tabText(tabs.currentIndex())
