"""``netcanvas draw``: a picture of a net, without a screen."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from app.wording import counted
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.canvas.view import CanvasView
    from app.document import Document
    from engine.graph import View

__all__ = ["draw"]

_PATIENCE = 120_000
_POLL = 5


def draw(options: Namespace, view: View) -> str:
    """Draw a net to a file.

    Parameters
    ----------
    options : argparse.Namespace
        ``file``, ``output``, ``theme``, ``scale``, ``fold`` (yes, no, or None to fold what is long), ``assumed`` (pairs
        of blob and shape) and ``trust``.
    view : View
        Which net of the document is drawn; what takes no part in it is dimmed.

    Returns
    -------
    str
        What was drawn, in a sentence.
    """
    from PySide6.QtCore import QCoreApplication

    if QCoreApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"  # this command shows nothing
    from app.document import Document
    from app.start import make_application
    from app.theme import Theme

    app = make_application()
    Theme.load("light" if options.theme == "paper" else options.theme).apply(app)
    document = Document.open(options.file)
    try:
        document.live.trusted = bool(options.trust)
        document.assumptions.assume(dict(options.assumed))
        document.set_view(view)
        return _draw(document, options)
    finally:
        document.close()


def _draw(document: Document, options: Namespace) -> str:
    from app.canvas.edits.foldedits import fold_at_start, is_folded
    from app.canvas.scene.picture import save_picture
    from app.canvas.view import CanvasView

    canvas = CanvasView(document)
    try:
        new = not any(node in document.positions for node in canvas.canvas.nodes)
        _learn(document)
        canvas.canvas.faces.refresh()
        _arrange(canvas, new=new)
        blocks = document.positions.blocks
        if options.fold is False and is_folded(document):
            blocks.replace(list(blocks), ())
            _arrange(canvas, new=True)
        elif options.fold and not is_folded(document):
            if not fold_at_start(canvas, least=0):
                raise NetcanvasError("No part of this net is repeated.", next_step="Leave --fold out.")
        elif options.fold is None and new:
            fold_at_start(canvas)
        scene = canvas.canvas
        save_picture(scene, Path(options.output), scale=options.scale, theme=options.theme)
        shown, layers = len(scene.items_shown()), len(scene.nodes)
        words = f" on {counted(shown, 'card')}" if shown != layers else ""
        return f"{options.output}: {counted(layers, 'layer')}{words}"
    finally:
        canvas.close_document()
        canvas.deleteLater()


def _learn(document: Document) -> None:
    """Wait for shapes and problems, as the window shows them."""
    from PySide6.QtCore import QDeadlineTimer, QEventLoop
    from PySide6.QtWidgets import QApplication

    patience = QDeadlineTimer(_PATIENCE)
    document.live.start()
    while document.live.busy and not patience.hasExpired():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, _POLL)
        time.sleep(_POLL / 1e3)


def _arrange(canvas: CanvasView, *, new: bool) -> None:
    from app.canvas.edits.arrange import arranged_places, place_new

    scene, positions = canvas.canvas, canvas.document.positions
    if not new:
        place_new(scene)
        return
    places, routes = arranged_places(canvas)
    positions.routes = positions.routes | routes
    scene.show_routes(moving=True)
    positions.move(places, by_user=False)
