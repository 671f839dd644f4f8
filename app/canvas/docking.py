"""In-place layers that hang under the node they work on.

Hanging is a matter of place: an in-place layer whose place is right under its host hangs there, and is carried along.
Dragged elsewhere it is a node like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas.face import DOCK_GAP

if TYPE_CHECKING:
    from app.canvas.nodeitem import NodeItem

__all__ = ["dock_point", "find_docked", "followers", "host_of", "root_of", "update_docked"]

_REACH = 10.0


def host_of(item: NodeItem) -> NodeItem | None:
    """The node that an in-place layer works on, or None."""
    if not item.face.chip:
        return None
    return next((edge.source for edge in item.edges if edge.target is item and edge.edge.bottom == 0), None)


def root_of(item: NodeItem) -> NodeItem:
    """The node at the top of the chain under which something hangs; the node itself when it hangs nowhere."""
    seen = {item}
    while item.docked:
        host = host_of(item)
        if host is None or host in seen:
            break
        seen.add(host)
        item = host
    return item


def followers(item: NodeItem) -> list[NodeItem]:
    """All that hangs under a node, directly or in a chain, from top to bottom."""
    found: list[NodeItem] = []
    waiting = [item]
    while waiting:
        host = waiting.pop()
        for edge in host.edges:
            below = edge.target
            if edge.source is host and below.docked and edge.docked and below not in found:
                found.append(below)
                waiting.append(below)
    return found


def dock_point(host: NodeItem) -> QPointF:
    """Where an in-place layer hangs under the node it works on."""
    return QPointF(host.pos().x(), host.scene_body().bottom() + DOCK_GAP)


def update_docked(moved: Iterable[NodeItem]) -> None:
    """Find out which of some nodes, and of what reads from them, hang under their host; lead their wires anew."""
    near: dict[NodeItem, None] = {}
    for item in moved:
        near[item] = None
        near.update((edge.target, None) for edge in item.edges)
    for item in near:
        if find_docked(item):
            for edge in item.edges:
                edge.update_path()


def find_docked(item: NodeItem) -> bool:
    """Find out whether a node hangs under its host; return whether that is new."""
    host = host_of(item)
    docked = host is not None and _hangs(item, host)
    if docked == item.docked:
        return False
    item.docked = docked
    item.update()
    return True


def _hangs(item: NodeItem, host: NodeItem) -> bool:
    gap = item.pos().y() - host.pos().y() - host.face.height
    return abs(item.pos().x() - host.pos().x()) < 1.0 and -1.0 <= gap <= _REACH
