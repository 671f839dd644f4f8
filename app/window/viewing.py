"""What is done to the picture of a net: folding, frames, the heat-map, export, and blocks that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication

from app.canvas import annotating, foldedits
from app.canvas.clipboard import copy_text
from app.canvas.heat import MEASURES, TIME
from app.canvas.picture import draw_image, save_picture
from app.qt import guard
from app.window.adding import AddingCanvas
from app.window.picturedialog import PictureDialog
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ViewingCanvas"]


class ViewingCanvas(AddingCanvas):
    """A canvas whose picture is folded, framed, measured and exported.

    Attributes
    ----------
    told : Signal(str, str)
        Something to say, and whether it is ``info``, a ``warning`` or an ``error``.
    templates_changed : Signal()
        Another block is kept.
    """

    told = Signal(str, str)
    templates_changed = Signal()

    # Folding

    def fold_repeats(self) -> None:
        """Fold what is repeated, or unfold it again."""
        self._attempt(lambda: foldedits.fold_repeats(self))

    def fold_selection(self) -> None:
        """Fold the selection to a block, or unfold the block that is selected."""
        self._attempt(lambda: foldedits.collapse(self))

    def fold_at_start(self) -> None:
        """Fold a long net that is shown for the first time; a corner of the canvas says so."""
        if len(self.canvas.nodes) < foldedits.FOLDED_LATER_FROM:
            foldedits.fold_at_start(self)
        else:
            foldedits.fold_soon(self)

    # Frames

    def add_frame(self) -> None:
        """Put a frame around the selection."""
        annotating.add_frame(self)

    # The heat-map

    def show_heat(self, name: str) -> None:
        """Show what layers cost, by the name of a measure; an empty name shows it no more."""
        measure = next((each for each in MEASURES if each.name == name), None)
        if measure is TIME and not self.canvas.heat.has_times:
            self.told.emit("No times were measured yet.", "warning")
            return
        self.canvas.heat.set_measure(measure)

    # Pictures

    @guard
    def export_picture(self) -> None:
        """Ask for a file, colours and size, and draw the net there."""
        path = self.document.path
        start = path.with_suffix(".svg") if path is not None else Path("net.svg")
        dialog = PictureDialog(start, self)
        dialog.picture_asked.connect(self.draw_to)
        dialog.open()

    @guard
    def draw_to(self, name: str, theme: str, scale: float) -> None:
        """Draw the net to a file."""

        def draw() -> None:
            save_picture(self.canvas, Path(name), scale=scale, theme=theme)
            self.told.emit(f"The picture is in '{Path(name).name}'.", "info")

        self._attempt(draw)

    def copy_picture(self) -> None:
        """Put an image of the net on the clipboard."""
        theme = self.canvas.style_set.theme.name
        self._attempt(lambda: QGuiApplication.clipboard().setImage(draw_image(self.canvas, theme=theme)))

    # Blocks that are kept

    def keep_block(self) -> None:
        """Keep the selected layers as a block in the palette."""
        from app.palette.templates import save_template

        text = copy_text(self.canvas)
        if not text:
            self.refused.emit("Nothing is selected. Select the layers to keep.")
            return
        card = foldedits.chosen_block(self.canvas)
        nodes = self.document.selection.node_ids
        name = card.face.title if card is not None else foldedits.name_of(self.document, nodes)

        def keep() -> None:
            kept = save_template(name, text)
            self.templates_changed.emit()
            self.told.emit(f"Kept as '{kept}'. It is in the palette under My blocks.", "info")

        self._attempt(keep)

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except (NetcanvasError, OSError) as error:
            self.refused.emit(str(error))
