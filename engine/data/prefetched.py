"""Sources whose batches a background thread makes ahead."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

from engine.data.batches import Batch
from engine.data.prefetch import Prefetcher
from engine.errors import DataError

__all__ = ["BatchMaker", "PrefetchedSource"]


class BatchMaker(Protocol):
    """Makes batches one after another; it runs in the background thread and must not know of its source."""

    def look_at_first(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of a batch of records like the next one, without moving."""

    def make(self, used: Batch | None) -> Batch:
        """Make the next batch, in the memory of a used one if it fits."""

    def position(self) -> dict[str, Any]:
        """Return where the next batch begins."""

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Go where a batch began."""

    def close(self) -> None:
        """Let go of files."""


class PrefetchedSource:
    """A :class:`~engine.data.batches.BatchSource` over a maker; its thread starts with the first batch.

    Parameters
    ----------
    maker : BatchMaker
    depth : int
        Number of batches that may wait; at least one does.
    owner : str
        Name of the thread, such as ``Layer 'mnist' (Data)``.

    Raises
    ------
    DataError
        If the first record cannot be had.
    """

    def __init__(self, maker: BatchMaker, depth: int, owner: str) -> None:
        self._maker = maker
        self._depth, self._owner = depth, owner
        self._prefetcher: Prefetcher | None = None
        try:
            self._shapes = maker.look_at_first()
        except BaseException:
            maker.close()
            raise
        self._state = maker.position()

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of the images and, where there are any, labels: of the last batch, or as the first record has it."""
        return self._shapes

    def next(self) -> Batch:
        """Return the next batch, starting over after the last record.

        After an error the same batch is tried again.
        """
        if self._prefetcher is None:
            self._prefetcher = Prefetcher(self._maker.make, self._depth, self._owner)
        try:
            batch = self._prefetcher.next()
        except BaseException:
            self._stop()
            with contextlib.suppress(DataError):
                self._maker.go_to(self._state)
            raise
        self._state = dict(batch.state)
        self._shapes = tuple(array.shape for array in batch.arrays)
        return batch

    def get_state(self) -> dict[str, Any]:
        """Return the position after the last batch that was handed out."""
        return dict(self._state)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a position that :meth:`get_state` returned."""
        self._stop()
        self._maker.go_to(state)
        self._state = self._maker.position()

    def close(self) -> None:
        """End the thread and let go of files."""
        self._stop()
        self._maker.close()

    def _stop(self) -> None:
        if self._prefetcher is not None:
            self._prefetcher.close()
            self._prefetcher = None
