"""The top of the panel: who the layer is, what goes in and out, and how many parameters it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.layerpicture import layer_mark
from app.properties.editors.edits import NameEdit
from app.properties.facts import cost_rows, param_text, port_rows
from app.qt import guard, key_text
from app.theme import GRID, Theme, blend
from app.widgets.elidedlabel import ElidedLabel
from app.widgets.letters import letter_scale
from app.wording import breakable

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture
    from engine.graph import Node
    from engine.registry import LayerInfo
    from engine.shapes import NodeShapes

__all__ = ["CategoryMark", "LayerHeader"]

_MOST_PORTS = 12
_LONGEST = 200


class CategoryMark(QWidget):
    """The icon of a category in its colour, or the picture of a plugin's layer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._category = ""
        self._picture: LayerPicture | None = None
        side = round(7 * GRID * letter_scale(self))
        self.setFixedSize(QSize(side, side))

    def show_category(self, category: str, picture: LayerPicture | None = None) -> None:
        """Show the mark of this category, or a picture in its place."""
        self._category, self._picture = category, picture
        self.setToolTip(category)
        self.update()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = Theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = theme.category(self._category)
        painter.setPen(Qt.PenStyle.NoPen)
        faint = color.toRgb()
        faint.setAlpha(44)
        painter.setBrush(faint)
        painter.drawRoundedRect(self.rect(), 4, 4)
        ground = blend(color, theme.color("window"), faint.alphaF())
        side, inset = self.width() * 5 // 7, self.width() // 7
        pixmap = layer_mark(self._picture, self._category, side, self.devicePixelRatioF(), color, ground)
        painter.drawPixmap(inset, inset, pixmap)
        painter.end()


class LayerHeader(QWidget):
    """Name, type, phases, help, ports with shapes, and the count of parameters.

    Attributes
    ----------
    renamed : Signal(str)
        A new name was committed.
    """

    renamed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mark = CategoryMark(self)
        self.name = NameEdit(self)
        self.name.setObjectName("properties.name")
        self.name.setAccessibleName("Name")
        self.name.setProperty("flat", True)
        self.name.committed.connect(self.renamed)
        self.type = ElidedLabel("", self)
        self.type.setObjectName("properties.type")
        self.type.setProperty("muted", True)
        self.phase = QLabel(self)
        self.phase.setProperty("chip", True)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setProperty("problem", True)
        self.diagnosis = QLabel(self)
        self.diagnosis.setObjectName("properties.diagnosis")
        self.diagnosis.setWordWrap(True)
        self.diagnosis.hide()
        self.say_name_key(QKeySequence())
        self.help = QLabel(self)
        self.help.setObjectName("properties.help")
        self.help.setWordWrap(True)
        self._ports = QWidget(self)
        self._grid = QGridLayout(self._ports)
        self._grid.setContentsMargins(0, GRID, 0, 0)
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._cells: list[tuple[QLabel, ElidedLabel, ElidedLabel]] = []
        self._build()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(2 * GRID)
        top.addWidget(self.mark)
        top.addWidget(self.name, 1)
        second = QHBoxLayout()
        second.setSpacing(2 * GRID)
        second.addWidget(self.type, 1)
        second.addWidget(self.phase)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 3 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addWidget(self.problem)
        layout.addLayout(second)
        layout.addWidget(self.help)
        layout.addWidget(self._ports)
        layout.addWidget(self.diagnosis)

    def say_name_key(self, key: QKeySequence) -> None:
        """Say by which key the name is changed."""
        shown = key_text(key)
        self.name.setToolTip(f"Name of the layer ({shown})" if shown else "Name of the layer")

    def show_node(self, node: Node, info: LayerInfo | None, picture: LayerPicture | None = None) -> None:
        """Show what the text says about a layer, with the picture that its plugin has for it."""
        self.name.show_value(node.name or None, default="no name")
        self.name.setReadOnly(node.virtual)
        self.mark.show_category(info.category if info is not None else "other", picture)
        kind = node.type or "no type"
        category = info.category.lower() if info is not None else ""
        self.type.setText(f"{kind} · {category}" if category not in ("", kind.lower()) else kind)
        self.phase.setText(" ".join(sorted(node.phases, reverse=True)) if len(node.phases) < 2 else "TRAIN + TEST")
        self.phase.setVisible(bool(node.phases))
        if node.virtual:
            self.help.setText("The net's own inputs. Edit their names and sizes in the text pane.")
        elif info is not None:
            self.help.setText(info.summary)
        else:
            self.help.setText("No layer of this type is known. Its fields are kept and saved as they are.")
        self.help.setVisible(bool(self.help.text()))
        if not self.name.pending:
            self.say("")

    def show_group(self, nodes: list[Node], info: LayerInfo | None) -> None:
        """Show that several layers of one type are edited at once."""
        self.name.show_value(f"{len(nodes)} layers")
        self.name.setReadOnly(True)
        self.mark.show_category(info.category if info is not None else "other")
        types = list(dict.fromkeys(node.type or "no type" for node in nodes))
        kind = types[0] if len(types) == 1 else f"{len(types)} types, what they share"
        self.type.setText(f"{kind} · edited together")
        self.phase.hide()
        names = ", ".join(node.name for node in nodes[:6]) + (", …" if len(nodes) > 6 else "")
        self.help.setText(names)
        self.help.show()
        self.show_rows([])
        self.say("")

    def show_shapes(self, node: Node, shapes: NodeShapes | None) -> None:
        """Show the ports with their shapes and the parameters, as far as they are known."""
        rows = port_rows(node.bottoms, node.tops, shapes)
        if len(rows) > _MOST_PORTS:
            hidden = len(rows) - _MOST_PORTS
            rows = [*rows[:_MOST_PORTS], ("", f"and {hidden} more", "")]
        params = param_text(shapes)
        if params and params != "none":
            count, _, parts = params.partition("  ")
            rows.append(("params", parts.strip("()"), count))
        rows += cost_rows(node, shapes)
        reason = shapes.reason if shapes is not None else ""
        self.show_rows(rows, reason)

    def show_rows(self, rows: list[tuple[str, str, str]], reason: str = "") -> None:
        """Fill the table; ``reason`` says why a shape is not known."""
        while len(self._cells) < len(rows):
            self._add_cells()
        for index, cells in enumerate(self._cells):
            shown = index < len(rows)
            for column, label in enumerate(cells):
                label.setVisible(shown)
                if shown:
                    label.setText(rows[index][column])
            if shown:
                unknown = rows[index][0] in ("in", "out") and not rows[index][2]
                cells[2].setText("unknown" if unknown else rows[index][2])
                cells[2].setToolTip(reason if unknown else "")
        self._ports.setVisible(bool(rows))

    def diagnose(self, text: str, is_error: bool) -> None:
        """Show what is wrong with the layer as a whole; nothing for an empty text."""
        self.diagnosis.setText(breakable(_shortened(text)))
        self.diagnosis.setToolTip(text)
        self.diagnosis.setProperty("problem", is_error)
        self.diagnosis.setProperty("hint", not is_error)
        self.diagnosis.style().unpolish(self.diagnosis)
        self.diagnosis.style().polish(self.diagnosis)
        self.diagnosis.setVisible(bool(text))

    def say(self, problem: str) -> None:
        """Say what is wrong with the name; nothing for an empty text."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.name.set_invalid(bool(problem))

    def _add_cells(self) -> None:
        row = len(self._cells)
        cells = (QLabel(self._ports), ElidedLabel("", self._ports), ElidedLabel("", self._ports))
        cells[0].setProperty("muted", True)
        cells[1].setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # a shape is cut last
        cells[1].setMinimumWidth(cells[1].minimumSizeHint().width())
        for column, label in enumerate(cells):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            align = Qt.AlignmentFlag.AlignRight if column == 2 else Qt.AlignmentFlag.AlignLeft
            self._grid.addWidget(label, row, column, align if column == 2 else Qt.AlignmentFlag(0))
        self._cells.append(cells)


def _shortened(text: str) -> str:
    """Leave out what is in the middle of a long text: its end says what to do."""
    if len(text) <= _LONGEST:
        return text
    end = text[-_LONGEST // 2 :]
    end = end.partition(". ")[2] or end.partition(" ")[2] or end
    return f"{text[: _LONGEST - 3 - len(end)].rstrip()} … {end}"
