"""The room in which the fields of a form stand, one below the other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.theme import GRID

__all__ = ["FormArea"]


class FormArea(QScrollArea):
    """Scrolls up and down, never sideways: fields are as wide as the panel.

    Parameters
    ----------
    top : int
        Room above the first field, in pixels.

    Attributes
    ----------
    body : QWidget
        Parent of what is shown.
    forms : QVBoxLayout
        Its layout.
    """

    def __init__(self, parent: QWidget, top: int = 0) -> None:
        super().__init__(parent)
        self.setObjectName("properties-scroll")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.body = QWidget(self)
        self.body.setObjectName("properties-body")
        # Names are as wide as the form was before; the least width of that must not keep it from becoming narrower.
        self.body.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.forms = QVBoxLayout(self.body)
        self.forms.setContentsMargins(3 * GRID, top, 2 * GRID, 2 * GRID)
        self.forms.setSpacing(0)
        self.setWidget(self.body)
