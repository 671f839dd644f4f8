"""Offering to upgrade a net of an old format."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.errors import NetcanvasError
from engine.graph import is_old, upgraded_text, why_not_upgraded

if TYPE_CHECKING:
    from app.window.page import DocumentPage

__all__ = ["offer_upgrade"]


def offer_upgrade(page: DocumentPage) -> None:
    """Say in a bar that the net of a tab is written in an old format, and offer to upgrade it."""
    graph = page.document.graph
    if graph.problems or not is_old(graph):
        return
    reason = why_not_upgraded(graph)
    if reason:
        page.bars.add(f"This net is written in an old format of Caffe's. {reason}", "warning")
        return
    mixed = any(node.version == 2 and not node.virtual for node in graph.nodes())
    page.bars.add(
        "This net mixes layers of an old and of today's format; it cannot run so."
        if mixed
        else "This net is written in an old format of Caffe's. It runs as it is, and is saved as it is.",
        "warning" if mixed else "info",
        [("Upgrade", partial(_upgrade, page))],
    )


def _upgrade(page: DocumentPage) -> None:
    try:
        page.document.apply("Upgrade to today's format", lambda graph: graph.replace_text(upgraded_text(graph)))
    except NetcanvasError as error:
        page.bars.add(str(error), "error")
