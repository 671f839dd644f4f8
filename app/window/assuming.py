"""Asking what is assumed of data or code not on this machine: in a bar when a net is opened, and in a small window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.qt import guard
from app.widgets.sheet import Sheet
from engine.assumed import OWN_BATCH, item_words, parse_item

if TYPE_CHECKING:
    from app.window.bars import InfoBar
    from app.window.page import DocumentPage
    from engine.blob import Shape
    from engine.graph import Node, NodeId
    from engine.shape_guesses import Guess

__all__ = ["AssumeSheet", "Assuming"]

_WIDTH = 380
_MOST_ROWS = 8


class AssumeSheet(Sheet):
    """A field for the shape of each top of a layer, and buttons for what is likely.

    Parameters
    ----------
    page : DocumentPage
        Shows the net; the window stands over it.
    node : Node
        The layer.
    guesses : tuple of Guess
        What is offered.

    Attributes
    ----------
    fields : dict of str to QLineEdit
        By blob. An empty field assumes nothing.
    assumed : Signal()
        What was typed was taken.
    """

    assumed = Signal()

    def __init__(self, page: DocumentPage, node: Node, guesses: tuple[Guess, ...]) -> None:
        super().__init__(f"Assume the shapes of '{node.name}'", page)
        self.setObjectName("window.assume")
        self._page, self._node = page, node.id
        assumed = page.document.assumptions.shapes
        words = QLabel(
            f"Its {'code is' if node.bottoms else 'data are'} not on this machine. What you type counts for shapes and "
            "costs here, stays beside the net's file, and is never used to train. The batch is the layer's own"
            f"{', that of what it reads' if node.bottoms else ''}."
        )
        words.setWordWrap(True)
        words.setProperty("muted", True)
        self.fields: dict[str, QLineEdit] = {}
        self._names: dict[str, QLabel] = {}
        self._whole: set[str] = set()
        rows = QWidget()
        form = QFormLayout(rows)
        form.setContentsMargins(0, 0, 0, 0)
        for place, blob in enumerate(dict.fromkeys(node.tops)):
            field, name = QLineEdit(), QLabel()
            name.setTextFormat(Qt.TextFormat.PlainText)
            field.setObjectName(f"assume.{blob}")
            field.setAccessibleName(f"Shape of one item of {blob}")
            field.setPlaceholderText("channels \u00d7 height \u00d7 width" if place == 0 else "as the layer has it")
            self.fields[blob], self._names[blob] = field, name
            form.addRow(name, field)
            self._fill(blob, assumed.get(blob))
        likely = QHBoxLayout()
        for guess in guesses:
            first = next(iter(guess.shapes.values()))
            button = QPushButton(item_words(first))
            button.setObjectName("assume.guess")
            button.setAutoDefault(False)
            button.setToolTip(guess.why or "A usual size")
            button.clicked.connect(partial(self._take, guess))
            likely.addWidget(button)
        likely.addStretch(1)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(words)
        box.addWidget(rows if len(self.fields) <= _MOST_ROWS else _scrolled(rows), 1)
        box.addLayout(likely)
        box.addWidget(self.buttons)
        self.setMinimumWidth(_WIDTH)
        for field in self.fields.values():
            field.textChanged.connect(self._typed)
        self._typed()

    def shapes(self) -> dict[str, Shape | None] | None:
        """Return what is typed, by blob; None where something is no shape."""
        found: dict[str, Shape | None] = {}
        for blob, field in self.fields.items():
            item = parse_item(field.text()) if field.text().strip() else None
            if item is None and field.text().strip():
                return None
            found[blob] = item if item is None or blob in self._whole else (OWN_BATCH, *item)
        return found

    def _fill(self, blob: str, shape: Shape | None) -> None:
        """Put a shape into a field; one with a batch of its own, as of boxes, stays one while it is edited."""
        whole = shape is not None and shape[0] != OWN_BATCH
        (self._whole.add if whole else self._whole.discard)(blob)
        self._names[blob].setText(f"{blob}, with its batch" if whole else blob)
        self.fields[blob].setText("" if shape is None else item_words(shape))

    @guard
    def _take(self, guess: Guess, _checked: bool = False) -> None:
        for blob in self.fields:
            self._fill(blob, guess.shapes.get(blob))

    @guard
    def _typed(self, _text: str = "") -> None:
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(self.shapes() is not None)
        ok.setToolTip("" if self.shapes() is not None else "A shape is numbers such as 3 \u00d7 224 \u00d7 224")

    @guard
    def accept(self) -> None:
        shapes = self.shapes()
        if shapes is not None:
            self._page.document.assumptions.assume(shapes)
            self.close()
            self.assumed.emit()


def _scrolled(rows: QWidget) -> QScrollArea:
    """Return what shows rows of which there are too many for a window."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(rows)
    return area


class Assuming(QObject):
    """Offers, once for an open net, to assume shapes where its data or its code are not here, and asks for others.

    Attributes
    ----------
    sheet : AssumeSheet or None
        The window that asks, while it is open.
    """

    def __init__(self, page: DocumentPage) -> None:
        super().__init__(page)
        self._page = page
        self._offered: set[str] = set()
        self._bar: InfoBar | None = None
        self.sheet: AssumeSheet | None = None
        page.document.assumptions.asked.connect(self.ask)
        page.document.shapes_changed.connect(self._look)

    @guard
    def ask(self, node: NodeId) -> None:
        """Open the window that asks what to assume of a layer."""
        document = self._page.document
        if node not in document.graph:
            return
        if self.sheet is not None and not self.sheet.is_closed:
            self.sheet.close()
        guesses = document.live.shaping.guesses.get(node, ())
        self.sheet = AssumeSheet(self._page, document.graph.node(node), guesses)
        self.sheet.show()

    @guard
    def _look(self) -> None:
        document = self._page.document
        due = {node: held for node, held in document.live.shaping.guesses.items() if not document.shapes[node].assumed}
        if self._bar is not None and not due:
            bar, self._bar = self._bar, None
            bar.dismiss()
        likely = {document.graph.node(node): held[0] for node, held in due.items() if held}
        for what in ("data", "code"):
            wanted = {node: guess for node, guess in likely.items() if bool(node.bottoms) == (what == "code")}
            if wanted and what not in self._offered and self._bar is None:
                self._offered.add(what)
                self._offer(what, wanted)

    def _offer(self, what: str, likely: Mapping[Node, Guess]) -> None:
        """Offer what is likeliest of layers whose data, or whose code, are not here."""
        document = self._page.document
        shapes: dict[str, Shape | None] = {}
        for guess in likely.values():
            for blob, shape in guess.shapes.items():
                shapes.setdefault(blob, shape)
        names = " and ".join(dict.fromkeys(f"'{node.name}'" for node in likely))
        first = next(iter(likely.values()))
        label = f"Assume {item_words(next(iter(first.shapes.values())))}{f', {first.why}' if what == 'code' else ''}"
        self._bar = self._page.bars.add(
            f"The {what} of {names} {'are' if what == 'data' else 'is'} not on this machine, so shapes and costs are "
            "not known.",
            "info",
            [
                (label, partial(self._answer, document.assumptions.assume, shapes, label)),
                ("Other\u2026", partial(self._answer, self.ask, next(iter(likely)).id)),
            ],
        )
        self._bar.keep()
        self._bar.dismissed.connect(self._closed)

    def _answer(self, act: Callable[..., object], *args: object) -> None:
        """Do what was chosen in the bar, which is gone by now."""
        self._bar = None
        act(*args)

    @guard
    def _closed(self) -> None:
        self._bar = None
