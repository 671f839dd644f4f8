"""Asking for the file, the colours and the size of a picture."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSplitter,
    QToolButton,
    QTreeView,
    QWidget,
)

from app.icons import icon
from app.qt import guard

__all__ = ["PictureDialog"]

_FILTERS = ("SVG drawing (*.svg)", "PDF document (*.pdf)", "PNG image (*.png)")
_THEMES = (("paper", "For paper"), ("light", "Light"), ("dark", "Dark"))
_PLACES = 140  # pixels for the list of places at the left
#: Qt's own arrows are black, on dark windows too.
_ICONS = {
    "backButton": "arrow-left",
    "forwardButton": "arrow-right",
    "toParentButton": "arrow-up",
    "newFolderButton": "folder-plus",
    "listModeButton": "grid-four",
    "detailModeButton": "list",
}


class PictureDialog(QFileDialog):
    """A dialog for saving, with two questions more.

    Attributes
    ----------
    picture_asked : Signal(str, str, float)
        File, theme, and scale.
    """

    picture_asked = Signal(str, str, float)

    def __init__(self, start: Path, parent: QWidget) -> None:
        super().__init__(parent, "Export picture", str(start.parent))
        self.setObjectName("window.picture_dialog")
        self.setOption(QFileDialog.Option.DontUseNativeDialog)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setFileMode(QFileDialog.FileMode.AnyFile)
        self.setNameFilters(_FILTERS)
        self.selectFile(start.name)
        self.setDefaultSuffix("svg")
        self.theme = QComboBox()
        self.theme.setObjectName("picture.theme")
        self.theme.setAccessibleName("Colours")
        for name, words in _THEMES:
            self.theme.addItem(words, name)
        self.scale = QDoubleSpinBox()
        self.scale.setObjectName("picture.scale")
        self.scale.setAccessibleName("Size")
        self.scale.setRange(0.1, 20.0)
        self.scale.setSingleStep(0.5)
        self.scale.setValue(1.0)
        self.scale.setSuffix(" \u00d7")
        self._add_questions()
        self.setLabelText(QFileDialog.DialogLabel.LookIn, "Folder:")
        places = self.findChild(QSplitter, "splitter")
        if isinstance(places, QSplitter):
            places.setSizes([_PLACES, 4 * _PLACES])
        for name, symbol in _ICONS.items():
            button = self.findChild(QToolButton, name)
            if isinstance(button, QToolButton):
                button.setIcon(icon(symbol))
        self._fit_columns()
        self.filterSelected.connect(self._use_filter)
        self.accepted.connect(self._accepted)
        self.finished.connect(self.deleteLater)

    def _add_questions(self) -> None:
        row = QHBoxLayout()
        for words, field in (("Colours", self.theme), ("Size", self.scale)):
            label = QLabel(words)
            label.setBuddy(field)
            row.addWidget(label)
            row.addWidget(field)
        row.addStretch(1)
        grid = self.layout()
        if isinstance(grid, QGridLayout):
            grid.addLayout(row, grid.rowCount(), 0, 1, -1)

    def _fit_columns(self) -> None:
        """Give the names of files what sizes and dates leave; what type a file is, its name says."""
        files = self.findChild(QTreeView, "treeView")
        if isinstance(files, QTreeView):
            header = files.header()
            header.setStretchLastSection(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
            files.setColumnHidden(2, True)

    @guard
    def _use_filter(self, chosen: str) -> None:
        suffix = chosen.rsplit("*.", 1)[-1].rstrip(")")
        self.setDefaultSuffix(suffix)
        files = self.selectedFiles()
        if files:
            self.selectFile(Path(files[0]).with_suffix(f".{suffix}").name)

    @guard
    def _accepted(self) -> None:
        self.picture_asked.emit(self.selectedFiles()[0], str(self.theme.currentData()), self.scale.value())
