"""Taking very many items out of a scene: they are hidden at once and taken out in slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from app.slices import Slices

if TYPE_CHECKING:
    from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

__all__ = ["Sweeper"]


class Sweeper:
    """Takes items out of a scene, between which the window answers.

    Parameters
    ----------
    scene : QGraphicsScene
    """

    def __init__(self, scene: QGraphicsScene) -> None:
        self._scene = scene
        self._slices = Slices(scene)
        self._waiting: list[QGraphicsItem] = []

    @property
    def active(self) -> bool:
        """Whether there are items to take out yet."""
        return bool(self._waiting)

    def take(self, items: Iterable[QGraphicsItem]) -> None:
        """Hide items now, and take them out of the scene soon."""
        for item in items:
            item.setVisible(False)
            self._waiting.append(item)
        self._slices.start(self._steps())

    def cancel(self) -> None:
        """Leave the rest in the scene."""
        self._slices.cancel()
        self._waiting.clear()

    def _steps(self) -> Iterator[None]:
        while self._waiting:
            self._scene.removeItem(self._waiting.pop())
            yield
