"""The net that predicts, made of the net in view and opened beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.document import Document
from engine.errors import NetcanvasError
from engine.graph import DEPLOY, OpGraph, View, upgraded_text

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow
    from app.window.page import DocumentPage

__all__ = ["make_deploy_net"]

_MOST_SAID = 3


def make_deploy_net(window: MainWindow) -> None:
    """Make a net that predicts of the net in view, as ``netcanvas export --phase deploy`` does, in a tab of its own.

    The net in view stays as it is. What was changed is said in a bar of the new tab; where the shape of an input is not
    known, it can be assumed.
    """
    page = window.tabs.current
    document = page.document
    document.settle()
    if not len(document.graph):
        page.bars.add("The net is empty. Add layers first (Tab).", "warning")
        return
    data, path = bytes(document.graph), document.path
    seen = document.view
    view = seen if seen.show == DEPLOY else View(DEPLOY, seen.level, seen.stages)
    assumed = document.assumptions.shapes
    title = path.stem if path is not None else document.label

    def work() -> tuple[bytes, list[str]]:
        from engine.export.deploy import to_deploy

        graph = OpGraph.parse(data)
        graph = OpGraph.parse(upgraded_text(graph))
        told = to_deploy(graph, path.parent if path is not None else Path(), view, assumed=assumed)
        return bytes(graph), told

    def done(made: tuple[bytes, list[str]]) -> None:
        text, told = made
        new = Document(OpGraph.parse(text))
        new.label = f"{title} (deploy)"
        new.undo_stack.resetClean()  # it is nowhere on disk yet
        window.show_document(new)
        window.tabs.current.bars.add(_summary(told), "info", [("Save as\u2026", window.files.save_as)]).keep()

    document.jobs.submit("deploy", work, done, partial(_failed, page))


def _summary(told: list[str]) -> str:
    """Say what was changed; what is gone in a number where it is much."""
    gone = [sentence for sentence in told if sentence.endswith(" is gone.")]
    said = [sentence for sentence in told if sentence not in gone]
    if len(gone) > _MOST_SAID:
        gone = [f"{len(gone)} layers for training are gone."]
    return " ".join(["This is the net that predicts.", *said, *gone])


def _failed(page: DocumentPage, error: Exception) -> None:
    from engine.export.deploy import UnknownInputError

    if not isinstance(error, NetcanvasError):
        raise error
    document = page.document
    nodes = document.graph.named(error.layer) if isinstance(error, UnknownInputError) else ()
    if not isinstance(error, UnknownInputError) or not nodes:
        page.bars.add(f"No deploy net was made. {error}", "error")
        return
    ask = partial(document.assumptions.asked.emit, nodes[-1].id)
    page.bars.add(f"No deploy net was made. {error.message}", "warning", [("Assume a shape\u2026", ask)])
