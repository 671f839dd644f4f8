"""What is done to the picture of a net: folding, frames, the heat-map, export, and blocks that are kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.canvas.edits import foldedits
from app.canvas.edits.clipboard import copy_text
from app.canvas.gestures import annotating
from app.canvas.scene.heat import MEASURES, TIME, UPDATES
from app.qt import guard
from app.window.adding import AddingCanvas
from app.window.views.picturedialog import PictureDialog
from app.window.views.picturejob import PictureJob
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.document import Document

__all__ = ["ViewingCanvas"]

#: How many pixels an image for the clipboard has for one on the screen at 100 %.
_SHARP = 2.0


class ViewingCanvas(AddingCanvas):
    """A canvas whose picture is folded, framed, measured and exported.

    Attributes
    ----------
    told : Signal(str, str)
        Something to say, and whether it is ``info``, a ``warning`` or an ``error``.
    drawing : Signal(app.window.views.picturejob.PictureJob)
        A picture is being drawn that takes some time.
    measuring : Signal()
        Times are being measured, to be shown on the layers.
    templates_changed : Signal()
        Another block is kept.
    """

    told = Signal(str, str)
    drawing = Signal(object)
    measuring = Signal()
    templates_changed = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent, slowly=slowly)
        self._wants_times = False
        self._wants_updates = True
        self._pictures: list[PictureJob] = []
        document.live.timings.changed.connect(self._times_changed)
        document.live.updates.changed.connect(self._updates_changed)

    # Folding

    def fold_repeats(self) -> None:
        """Fold what is repeated, or unfold it again."""
        self._attempt(lambda: foldedits.fold_repeats(self))

    def fold_selection(self) -> None:
        """Fold the selection to a block, or unfold the block that is selected."""
        self._attempt(lambda: foldedits.collapse(self))

    # Frames

    def add_frame(self) -> None:
        """Put a frame around the selection."""
        annotating.add_frame(self)

    # The heat-map

    def show_heat(self, name: str) -> None:
        """Show what layers cost, by the name of a measure; an empty name shows it no more."""
        measure = next((each for each in MEASURES if each.name == name), None)
        if measure is TIME and not self.canvas.heat.has_times:
            self.measure_times()
            return
        self._wants_times = False
        if UPDATES in (measure, self.canvas.heat.measure):
            self._wants_updates = measure is not None
        self.canvas.heat.set_measure(measure)

    def measure_times(self) -> None:
        """Measure how long the layers take, and show it on them when that is known."""
        timings = self.document.live.timings
        if not timings.is_running:
            timings.measure(self.told.emit)
        self._wants_times = timings.is_running
        if timings.is_running:
            self.measuring.emit()

    @guard
    def _times_changed(self) -> None:
        timings = self.document.live.timings
        seconds = {node: (each.forward.median + each.backward.median) / 1e3 for node, each in timings.times.items()}
        self.canvas.heat.set_times(seconds, is_stale=timings.is_stale)
        if self._wants_times and not timings.is_running:
            self._wants_times = False
            if seconds and not timings.is_stale:
                self.canvas.heat.set_measure(TIME)

    @guard
    def _updates_changed(self) -> None:
        """Show how large updates are, from the first ones of a run on; not where something else was chosen."""
        updates, heat = self.document.live.updates, self.canvas.heat
        had_some = heat.has_updates
        heat.set_updates(updates.by_node(), updates.iteration, is_stale=not updates.is_running)
        begins = updates.is_running and heat.has_updates and not had_some
        if begins and heat.measure is None and self._wants_updates and not self._wants_times:
            heat.set_measure(UPDATES)
        elif not updates.is_running and not heat.has_updates and heat.measure is UPDATES:
            heat.set_measure(None)

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
        """Draw the net, as it is now, to a file; a long one while the window answers."""
        self._attempt(lambda: self._draw(Path(name), theme, scale))

    @guard
    def copy_picture(self) -> None:
        """Put an image of the net, as it is now, on the clipboard."""
        self._attempt(lambda: self._draw(None, self.canvas.style_set.theme.name, _SHARP))

    @property
    def is_drawing(self) -> bool:
        """Whether a picture is being drawn."""
        return bool(self._pictures)

    def _draw(self, path: Path | None, theme: str, scale: float) -> None:
        job = PictureJob(self.canvas, path, scale=scale, theme=theme, parent=self)
        self._pictures.append(job)
        job.took_long.connect(partial(self.drawing.emit, job))
        job.ended.connect(partial(self._drawn, job))
        job.start()

    @guard
    def _drawn(self, job: PictureJob, text: str, kind: str) -> None:
        self._pictures.remove(job)
        job.deleteLater()
        if kind == "warning":
            self.refused.emit(text)
        elif text:
            self.told.emit(text, kind)

    def close_document(self) -> None:
        for job in tuple(self._pictures):
            job.close()
        super().close_document()

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
        name = card.face.title if card is not None else foldedits.name_of(self.document.graph, nodes)

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
