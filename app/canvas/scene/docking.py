"""In-place layers that hang under the node they work on.

Hanging is a matter of place: an in-place layer whose place is right under its host hangs there, and is carried along.
Dragged elsewhere it is a node like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas.scene.face import DOCK_GAP

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem

__all__ = ["dock_point", "find_docked", "followers", "host_of", "hosts_of", "root_of", "update_docked"]

_REACH = 10.0


def host_of(item: NodeItem) -> NodeItem | None:
    """The node that an in-place layer works on, or None.

    Of several, one for each net of the document, it is the one under which the layer hangs, or the one made first.
    """
    if not item.face.chip:
        return None
    hosts = [edge.source for edge in item.edges if edge.target is item and edge.edge.bottom == 0]
    return min(hosts, key=lambda host: (not _hangs(item, host), host.node_id), default=None)


def root_of(item: NodeItem) -> NodeItem:
    """The node at the top of the chain under which something hangs; the node itself when it hangs nowhere."""
    return (item, *hosts_of(item))[-1]


def hosts_of(item: NodeItem) -> list[NodeItem]:
    """The nodes under which something hangs, directly or in a chain, from the nearest up."""
    found: list[NodeItem] = []
    while item.docked and item.hangs_under is not None and item.hangs_under not in found:
        item = item.hangs_under
        found.append(item)
    return found


def followers(item: NodeItem) -> list[NodeItem]:
    """All that hangs under a node, directly or in a chain, from top to bottom."""
    found: list[NodeItem] = []
    waiting = [item]
    while waiting:
        host = waiting.pop()
        for edge in host.edges:
            below = edge.target
            if edge.source is host and edge.docked and below not in found:
                found.append(below)
                waiting.append(below)
    return found


def dock_point(host: NodeItem) -> QPointF:
    """Where an in-place layer hangs under the node it works on."""
    return QPointF(host.pos().x(), host.scene_body().bottom() + DOCK_GAP)


def update_docked(moved: Iterable[NodeItem]) -> Iterable[NodeItem]:
    """Find out which of some nodes, and of what reads from them, hang under their host; lead their wires anew.

    Returns
    -------
    iterable of NodeItem
        What was looked at.
    """
    near: dict[NodeItem, None] = {}
    for item in moved:
        near[item] = None
        for edge in item.edges:
            if edge.target.face.chip or edge.target.hangs_under is not None:
                near[edge.target] = None
    for item in near:
        if find_docked(item):
            for edge in item.edges:
                edge.update_path()
    return near


def find_docked(item: NodeItem) -> bool:
    """Find out whether a node hangs under its host; return whether that is new."""
    if not item.face.chip and item.hangs_under is None:  # as most are
        return False
    host = host_of(item)
    if host is not None and not _hangs(item, host):
        host = None
    if host is item.hangs_under:
        return False
    item.hangs_under = host
    item.update()
    return True


def _hangs(item: NodeItem, host: NodeItem) -> bool:
    return abs(item.x() - host.x()) < 1.0 and -1.0 <= item.y() - host.y() - host.height <= _REACH
