"""What is left of a closed document, taken apart bit by bit.

A document, its canvas and what is computed of it refer to each other in circles, and so do a field of its text and the
value of that. Left to the cycle collector, a net of 5,000 layers is some 330,000 objects, and finding them among all
others holds the window up for 0.3 s. Taken apart, they go with their last reference, a few at a time. So do the cards
and wires: a scene that is cleared in one go takes some 25 ms for so many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer
from shiboken6 import delete, isValid

from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.nodeitem import NodeItem
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from app.jobs import Jobs
from app.qt import guard
from app.slices import Slices

__all__ = ["Dismantling", "Remains"]


class Remains:
    """Knows what a widget with documents and canvases is made of; ask before these are closed.

    Parameters
    ----------
    root : QObject
        The widget that is about to be deleted, with all that is in it.
    """

    def __init__(self, root: QObject) -> None:
        scenes, documents = root.findChildren(CanvasScene), root.findChildren(Document)
        self._scenes = scenes
        self._cards = [card for each in scenes for card in (*each.nodes.values(), *each.folding.cards.values())]
        self._wires = [wire for each in scenes for wire in each.edges.values()]
        for each in scenes:
            each.leaves_items = True
        self._graphs = [each.graph for each in documents]
        # A thread that is in the middle of something finds out from its jobs that nobody waits for that.
        self._objects = [each for each in (root, *root.findChildren(QObject)) if not isinstance(each, Jobs)]

    def taken_apart(self) -> Iterator[None]:
        """Take everything apart, a little at each step; what is still alive for Qt is left as it is."""
        while self._wires:
            wire = self._wires.pop()
            if _is_left(wire):
                del wire.source, wire.target, wire.tail, wire.head
            yield
        while self._cards:
            card = self._cards.pop()
            if _is_left(card):
                vars(card).clear()
            yield
        while self._scenes:
            scene = self._scenes.pop()
            if isValid(scene) and scene.is_closed:
                views = scene.views()
                if views:  # Qt has not come to delete them yet
                    scene.setParent(views[0])
                else:
                    delete(scene)
            yield
        while self._objects:
            each = self._objects.pop()
            if not isValid(each):
                getattr(each, "__dict__", {}).clear()
            yield
        while self._graphs:
            yield from self._graphs.pop().taken_apart()


def _is_left(item: NodeItem | EdgeItem) -> bool:
    """Whether nobody shows a card or a wire any more; it is taken out of a scene that is closed."""
    if not isValid(item):
        return True
    scene = item.scene()
    if not isinstance(scene, CanvasScene) or not scene.is_closed:
        return False
    scene.removeItem(item)
    return True


class Dismantling(QObject):
    """Takes apart what was left, one after the other, when the window has nothing else to do.

    Parameters
    ----------
    parent : QObject, optional
        Owner; what is not done when it dies is left to the cycle collector.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._remains: deque[Remains] = deque()
        self._slices = Slices(self)

    @property
    def busy(self) -> bool:
        """Whether something is still to be taken apart."""
        return bool(self._remains) or self._slices.active

    def take(self, remains: Remains) -> None:
        """Take these apart, once Qt has deleted what it was asked to delete in this event."""
        self._remains.append(remains)
        QTimer.singleShot(0, self, self._begin)

    def close(self) -> None:
        """Leave the rest as it is; what is taken later is taken apart all the same."""
        self._slices.cancel()
        self._remains.clear()

    @guard
    def _begin(self) -> None:
        if self._remains and not self._slices.active:
            self._slices.start(self._taken_apart())

    def _taken_apart(self) -> Iterator[None]:
        while self._remains:
            yield from self._remains.popleft().taken_apart()
