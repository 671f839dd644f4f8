"""Choosing the solver that trains the document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from app.qt import blocked, guard
from app.training.launch import solver_choices

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["SolverBox"]

_CHOOSE = "choose"


class SolverBox(QComboBox):
    """The solver files beside the net, settings of our own, and a way to any other file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.solver")
        self.setAccessibleName("Solver")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(14)
        self._document: Document | None = None
        self.activated.connect(self._activated)

    def set_document(self, document: Document | None) -> None:
        """Offer the solvers of a document."""
        self._document = document
        self.refresh()

    @guard
    def refresh(self) -> None:
        """Look again at what lies beside the net."""
        with blocked(self):
            self.clear()
            if self._document is None:
                return
            chosen = self._document.solver_path
            for path in solver_choices(self._document.path, chosen):
                self.addItem(path.name, path)
                self.setItemData(self.count() - 1, str(path), 3)
            self.addItem("Default settings", None)
            self.setItemData(self.count() - 1, "SGD, base_lr 0.01, momentum 0.9, 1,000 iterations", 3)
            self.insertSeparator(self.count())
            self.addItem("Choose a file…", _CHOOSE)
            self._show_chosen()
        text = "Default settings, for there is no solver file" if chosen is None else str(chosen)
        self.setToolTip(f"Solver: {text}")

    def _show_chosen(self) -> None:
        chosen = self._document.solver_path if self._document else None
        for index in range(self.count()):
            if self.itemData(index) == chosen and self.itemText(index):
                self.setCurrentIndex(index)
                return

    def _activated(self, index: int) -> None:
        value = self.itemData(index)
        if self._document is None:
            return
        if value == _CHOOSE:
            with blocked(self):
                self._show_chosen()
            self._choose_file()
        else:
            self._document.set_solver(value)
            self.refresh()

    def _choose_file(self) -> None:
        document = self._document
        folder = str(document.path.parent) if document is not None and document.path else ""
        dialog = QFileDialog(self, "Choose a solver", folder, "Solvers (*.prototxt);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._file_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _file_chosen(self, name: str) -> None:
        if self._document is not None:
            self._document.set_solver(Path(name))
            self.refresh()
