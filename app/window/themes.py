"""Light, dark, or as the system is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.qt import guard
from app.theme import Theme
from app.window.settings import WindowSettings

__all__ = ["SYSTEM", "ThemeMenu", "theme_name"]

SYSTEM = "system"
_CHOICES = ((SYSTEM, "As the &system"), ("light", "&Light"), ("dark", "&Dark"))


def theme_name(settings: WindowSettings) -> str:
    """Name of the theme to start with: the user's choice, else the system's."""
    if settings.theme in Theme.names():
        return settings.theme
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


class ThemeMenu(QMenu):
    """The choice of a theme; while it is the system's, the window follows when that changes.

    Parameters
    ----------
    settings : WindowSettings
        Where the choice is remembered.
    """

    def __init__(self, settings: WindowSettings, parent: QWidget | None = None) -> None:
        super().__init__("&Theme", parent)
        self.setObjectName("window.menu.theme")
        self._settings = settings
        group = QActionGroup(self)
        for name, text in _CHOICES:
            action = self.addAction(text)
            action.setObjectName(f"window.theme.{name}")
            action.setCheckable(True)
            action.setData(name)
            group.addAction(action)
        self._group = group
        group.triggered.connect(lambda action: self.choose(str(action.data())))
        self.aboutToShow.connect(self.refresh)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)
        self.refresh()

    def choose(self, name: str) -> None:
        """Use a theme from now on: ``light``, ``dark`` or ``system``."""
        self._settings.theme = name
        self._apply()
        self.refresh()

    def toggle(self) -> None:
        """Change between light and dark."""
        self.choose("light" if Theme.current().is_dark else "dark")

    @guard
    def refresh(self) -> None:
        """Mark what is chosen."""
        chosen = self._settings.theme if self._settings.theme in Theme.names() else SYSTEM
        for action in self._group.actions():
            action.setChecked(action.data() == chosen)

    @guard
    def _system_changed(self, _scheme: object = None) -> None:
        if self._settings.theme not in Theme.names():
            self._apply()

    def _apply(self) -> None:
        app, name = QApplication.instance(), theme_name(self._settings)
        if isinstance(app, QApplication) and name != Theme.current().name:
            Theme.load(name).apply(app)
