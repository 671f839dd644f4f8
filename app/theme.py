"""Colours by role, the Fusion palette and the small stylesheet made from them.

A theme is a TOML file in ``resources/themes``. Nothing else in the application names a colour.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from app.dressing import Dressing
from app.stylesheet import stylesheet
from engine.resources import resource_path

__all__ = ["GRID", "Theme", "ThemeNotifier", "monospace_font"]

#: All paddings, gaps and node sizes are multiples of this many pixels.
GRID = 4

_CATEGORY_WORDS = {
    "input": "data",
    "convolution": "vision",
    "pooling": "vision",
    "inner": "dense",
    "linear": "dense",
    "common": "dense",
    "neuron": "activation",
    "norm": "normalization",
    "regular": "normalization",
    "sequence": "recurrent",
    "metric": "loss",
    "util": "shape",
    "tensor": "shape",
    "plugin": "python",
    "custom": "python",
}


class ThemeNotifier(QObject):
    """Holds the theme of the running application and tells when it changed.

    Attributes
    ----------
    changed : Signal(Theme)
        Another theme is in use; those who paint themselves follow it.
    dressing : Dressing
        Dresses the widgets in it.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("theme.notifier")
        self.theme = Theme.load("light")
        self.dressing = Dressing(self)


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours.

    Attributes
    ----------
    name : str
        ``light`` or ``dark``.
    tokens : mapping of str to QColor
        Colour by role: ``window``, ``surface``, ``text``, ``accent`` and so on.
    categories : mapping of str to QColor
        Colour by category of layers; never the only carrier of a meaning.
    """

    name: str
    tokens: Mapping[str, QColor]
    categories: Mapping[str, QColor]

    @staticmethod
    def names() -> tuple[str, ...]:
        """Names of the themes for the window; there is one more, ``paper``, for pictures."""
        return tuple(sorted(path.stem for path in resource_path("themes").glob("*.toml") if path.stem != "paper"))

    @staticmethod
    @lru_cache(maxsize=8)
    def load(name: str) -> Theme:
        """Read the theme of that name.

        Raises
        ------
        FileNotFoundError
            When ``resources/themes`` has no such file.
        """
        data = tomllib.loads(resource_path(f"themes/{name}.toml").read_text(encoding="utf-8"))
        return Theme(
            data["name"],
            MappingProxyType({role: QColor(value) for role, value in data["colors"].items()}),
            MappingProxyType({role: QColor(value) for role, value in data["categories"].items()}),
        )

    @staticmethod
    def notifier() -> ThemeNotifier:
        """Return the application's notifier; connect to its ``changed`` to follow the theme."""
        app = QApplication.instance()
        if app is None:
            raise RuntimeError("Theme.notifier() needs a QApplication. Make one first.")
        return app.findChild(ThemeNotifier, "theme.notifier") or ThemeNotifier(app)

    @staticmethod
    def current() -> Theme:
        """Return the theme in use."""
        return Theme.notifier().theme

    @property
    def is_dark(self) -> bool:
        """Whether text is lighter than its background."""
        return self.tokens["text"].lightness() > self.tokens["window"].lightness()

    def color(self, role: str) -> QColor:
        """Colour of a role; KeyError names a role that does not exist."""
        return self.tokens[role]

    def category_key(self, category: str) -> str:
        """Map the category of a layer, in any spelling, to one that has a colour and an icon."""
        word = category.strip().lower()
        if word in self.categories:
            return word
        for part, key in _CATEGORY_WORDS.items():
            if part in word:
                return key
        return next((key for key in self.categories if key[:5] in word), "other")

    def category(self, category: str) -> QColor:
        """Colour of a category of layers."""
        return self.categories[self.category_key(category)]

    def mix(self, role: str, base: str, share: float) -> QColor:
        """Blend ``share`` (0 to 1) of one role over another, both opaque."""
        return blend(self.tokens[role], self.tokens[base], share)

    def apply(self, app: QApplication) -> None:
        """Dress the whole application in this theme and tell those who paint themselves."""
        notifier = Theme.notifier()
        if app.styleSheet():
            notifier.dressing.hold()
            app.setPalette(self.palette())
            notifier.dressing.start()
        else:
            app.setStyle("Fusion")
            app.setPalette(self.palette())
            app.setStyleSheet(stylesheet())
        notifier.theme = self
        notifier.changed.emit(self)

    def palette(self) -> QPalette:
        """Return the palette that Fusion paints with."""
        roles = QPalette.ColorRole
        names = {
            roles.Window: "window",
            roles.WindowText: "text",
            roles.Base: "surface",
            roles.AlternateBase: "surface_alt",
            roles.Text: "text",
            roles.Button: "surface_alt",
            roles.ButtonText: "text",
            roles.BrightText: "error",
            roles.Highlight: "selection",
            roles.HighlightedText: "selection_text",
            roles.ToolTipBase: "surface_alt",
            roles.ToolTipText: "text",
            roles.PlaceholderText: "text_muted",
            roles.Link: "accent",
            roles.LinkVisited: "text_disabled",  # for stylesheets, as the next: no link here is ever visited
            roles.NoRole: "warning",  # and with this no style paints
            roles.Accent: "accent",
            roles.Mid: "border",
            roles.Dark: "border",
            roles.Light: "surface_alt",
            roles.Midlight: "node_hover",
            roles.Shadow: "shadow",
        }
        palette = QPalette()
        for role, token in names.items():
            palette.setColor(role, self.tokens[token])
        for role in (roles.WindowText, roles.Text, roles.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.tokens["text_disabled"])
        palette.setColor(QPalette.ColorGroup.Disabled, roles.Highlight, self.tokens["border"])
        return palette


def blend(top: QColor, base: QColor, share: float) -> QColor:
    """Mix two opaque colours; ``share`` is the part of ``top``, 0 to 1."""
    rest = 1.0 - share
    return QColor.fromRgbF(
        top.redF() * share + base.redF() * rest,
        top.greenF() * share + base.greenF() * rest,
        top.blueF() * share + base.blueF() * rest,
    )


def monospace_font(point_size: float = 0.0) -> QFont:
    """Return the system's fixed-pitch font, in the application's size unless told otherwise."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(point_size or QApplication.font().pointSizeF())
    return font
