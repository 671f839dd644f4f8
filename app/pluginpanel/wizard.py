"""The wizard for a new Python layer: a few questions, and a folder that works as it is."""

from __future__ import annotations

import ast
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.properties.editors.lists import small_button
from app.properties.editors.number_edit import NumberEdit
from app.qt import guard
from app.theme import GRID
from app.widgets.sheet import Sheet
from engine.plugins import ParamField
from engine.plugins.scaffold import NewLayer, module_name, scaffold_fault

__all__ = ["LayerWizard"]

_KINDS = ("int", "float", "bool", "string", "list")
_DEFAULTS = {"int": "1", "float": "1.0", "bool": "false", "string": "", "list": "[]"}


class _FieldLine(QWidget):
    """Name, type and default of one parameter."""

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = QLineEdit()
        self.name.setPlaceholderText("name")
        self.name.setObjectName("wizard.field.name")
        self.name.setAccessibleName("Parameter name")
        self.kind = QComboBox()
        self.kind.addItems(_KINDS)
        self.kind.setObjectName("wizard.field.kind")
        self.kind.setAccessibleName("Parameter type")
        self.default = QLineEdit(_DEFAULTS["int"])
        self.default.setPlaceholderText("default; empty: required")
        self.default.setObjectName("wizard.field.default")
        self.default.setAccessibleName("Parameter default")
        self.remove = small_button("x", "Remove this parameter", self)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(GRID)
        for widget, stretch in ((self.name, 3), (self.kind, 2), (self.default, 3), (self.remove, 0)):
            line.addWidget(widget, stretch)
        self.name.textChanged.connect(self.changed)
        self.default.textChanged.connect(self.changed)
        self.kind.currentTextChanged.connect(self._kind_changed)

    def _kind_changed(self, kind: str) -> None:
        if self.default.text() in _DEFAULTS.values():
            self.default.setText(_DEFAULTS[kind])
        self.changed.emit()

    @property
    def field(self) -> ParamField:
        """The parameter as it is described now."""
        kind, typed = self.kind.currentText(), self.default.text().strip()
        if not typed and kind != "string":
            return ParamField(self.name.text().strip(), kind, required=True)
        return ParamField(self.name.text().strip(), kind, default=_value(kind, typed))


class LayerWizard(Sheet):
    """Asks what a new Python layer is; it stops nothing, and writes nothing itself.

    Parameters
    ----------
    parent_folder : Path
        Where plugin folders of the project, or of the user, are.

    Attributes
    ----------
    finished_with : Signal(NewLayer)
        The answers fit, and the layer shall be made.
    """

    finished_with = Signal(object)

    def __init__(self, parent_folder: Path, parent: QWidget) -> None:
        super().__init__("New Python layer", parent)
        self.setObjectName("wizard")
        self.setMinimumWidth(520)
        self._folder = parent_folder
        self.name = QLineEdit("MyLayer")
        self.name.setObjectName("wizard.name")
        self.module = QLineEdit()
        self.module.setObjectName("wizard.module")
        self.bottoms, self.tops = NumberEdit("uint32", self), NumberEdit("uint32", self)
        for number in (self.bottoms, self.tops):
            number.setText("1")
            number.setFixedWidth(24 * GRID)
        self.bottoms.setObjectName("wizard.bottoms")
        self.tops.setObjectName("wizard.tops")
        self.bottoms.setToolTip("0: the layer makes data")
        self.params = QCheckBox("It learns: it has a parameter")
        self.params.setObjectName("wizard.params")
        self.backward = QCheckBox("It has a gradient")
        self.backward.setObjectName("wizard.backward")
        self.backward.setChecked(True)
        self.fields: list[_FieldLine] = []
        self._add = QPushButton("Add a parameter of param_str")
        self._add.setObjectName("wizard.add_field")
        self._add.setAutoDefault(False)
        self._message = QLabel()
        self._message.setObjectName("wizard.message")
        self._message.setWordWrap(True)
        self.create_button = QPushButton("Create")
        self.create_button.setObjectName("wizard.create")
        self.create_button.setProperty("primary", True)
        self.create_button.setDefault(True)
        self._cancel = QPushButton("Cancel")
        self._cancel.setAutoDefault(False)
        self._build()
        self._name_typed(self.name.text())
        self.name.textChanged.connect(self._name_typed)
        self.module.textChanged.connect(self._check)
        for number in (self.bottoms, self.tops):
            number.textChanged.connect(self._check)
        self._add.clicked.connect(self._add_field)
        self._cancel.clicked.connect(self.close)
        self.create_button.clicked.connect(self._create)
        self.name.setFocus()
        self.name.selectAll()

    def _build(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(4 * GRID)
        form.setVerticalSpacing(2 * GRID)
        form.addRow("Class", self.name)
        form.addRow("Module", self.module)
        form.addRow("Inputs", self.bottoms)
        form.addRow("Outputs", self.tops)
        form.addRow("", self.params)
        form.addRow("", self.backward)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(GRID)
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * GRID)
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self.create_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(5 * GRID, 4 * GRID, 5 * GRID, 4 * GRID)
        box.setSpacing(3 * GRID)
        box.addLayout(form)
        box.addLayout(self._lines)
        box.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        box.addWidget(self._message)
        box.addStretch(1)
        box.addLayout(buttons)

    @property
    def answers(self) -> NewLayer:
        """What was answered so far."""
        bottoms = _count(self.bottoms.text())
        return NewLayer(
            name=self.name.text().strip(),
            module=self.module.text().strip().removesuffix(".py"),
            bottoms=bottoms,
            tops=_count(self.tops.text()),
            has_params=self.params.isChecked() and bottoms > 0,
            has_backward=self.backward.isChecked() and bottoms > 0,
            fields=tuple(line.field for line in self.fields),
        )

    def _name_typed(self, name: str) -> None:
        self.module.setText(module_name(name.strip()))
        self._check()

    def _add_field(self) -> None:
        line = _FieldLine(self)
        line.changed.connect(self._check)
        line.remove.clicked.connect(lambda: self._remove_field(line))
        self.fields.append(line)
        self._lines.addWidget(line)
        self._check()
        line.show()  # what is not in view yet cannot have the keyboard
        line.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove_field(self, line: _FieldLine) -> None:
        self.fields.remove(line)
        line.hide()
        line.deleteLater()
        self._check()

    @guard
    def _check(self, *_values: object) -> None:
        new = self.answers
        fault = scaffold_fault(new, self._folder)
        self.create_button.setEnabled(not fault)
        self.create_button.setToolTip(fault)
        for box in (self.params, self.backward):
            box.setEnabled(new.bottoms > 0)
        self._message.setProperty("muted", not fault)
        self._message.setText(fault or f"Writes the layer, its schema and its tests into\n{self._folder / new.module}")
        self._message.style().unpolish(self._message)
        self._message.style().polish(self._message)
        self._grow()

    def _grow(self) -> None:
        """Be as high as the answers need; never smaller than the user made it."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _create(self) -> None:
        self.finished_with.emit(self.answers)


def _count(typed: str) -> int:
    """Return the number that was typed, or one that the check refuses."""
    return int(typed) if typed.strip().isdecimal() and len(typed) < 4 else -1


def _value(kind: str, typed: str) -> object:
    """Return the value that was typed, or the text itself, which the check then refuses."""
    if kind == "string":
        return typed
    if kind == "bool" and typed.lower() in ("true", "false"):
        return typed.lower() == "true"
    try:
        return ast.literal_eval(typed)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return typed
