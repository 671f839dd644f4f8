"""An edit of very much, of which the most is found out ahead of it, in a thread: the window need not wait for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject

from app.jobs import Jobs
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["Ahead"]

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Edit:
    read: Callable[[], Any]
    make: Callable[[Any], object]
    failed: Callable[[NetcanvasError], object]
    version: int


class Ahead(QObject):
    """The edit of a document that is being prepared; nothing of it shows before it is made as a whole.

    What was asked for first comes first: whatever edits the document next has it made now, and steps through the
    history wait for it.

    Parameters
    ----------
    document : Document
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._jobs = Jobs(self)
        self._edit: _Edit | None = None
        self._after: list[Callable[[], object]] = []

    @property
    def pending(self) -> bool:
        """Whether an edit is being prepared."""
        return self._edit is not None

    @property
    def busy(self) -> bool:
        """Whether the thread works still, perhaps for an edit that was made meanwhile."""
        return self.pending or self._jobs.busy

    def start(
        self, read: Callable[[], R], make: Callable[[R | None], object], failed: Callable[[NetcanvasError], object]
    ) -> None:
        """Prepare an edit, and make it.

        Parameters
        ----------
        read : callable
            Finds out in a thread what it takes, and changes nothing.
        make : callable
            Makes the edit, with what was found; with None where there is no time to wait for it.
        failed : callable
            Gets the error when the edit is refused; then nothing is changed.
        """
        self._document.settle()
        self._submit(_Edit(read, make, failed, self._document.graph.version))

    def finish(self) -> None:
        """Make the edit now, if one is being prepared."""
        edit = self._edit
        if edit is not None:
            self._jobs.cancel("edit")
            self._make(edit, None)

    def postpone(self, step: Callable[[], object]) -> bool:
        """Take a step through the history once the edit is made; return False where there is none to wait for."""
        if self.pending:
            self._after.append(step)
        return self.pending

    def close(self) -> None:
        """Prepare nothing any more."""
        self._edit = None
        self._after.clear()
        self._jobs.close()

    def _submit(self, edit: _Edit) -> None:
        self._edit = edit
        self._jobs.submit("edit", edit.read, self._found, self._refused)

    def _found(self, found: object) -> None:
        self._make(self._edit, found)

    def _refused(self, error: Exception) -> None:
        edit = self._edit
        if edit is not None and isinstance(error, NetcanvasError) and edit.version == self._document.graph.version:
            self._edit = None
            edit.failed(error)
            self._go_on()
            return
        self._make(edit, None)  # it may be allowed by now; and a fault of ours shows there

    def _make(self, edit: _Edit | None, found: object) -> None:
        self._edit = None
        if edit is None:
            return
        version = self._document.graph.version
        if found is not None and version != edit.version:  # something edited behind our back; it would not fit
            self._submit(_Edit(edit.read, edit.make, edit.failed, version))
            return
        try:
            edit.make(found)
        except NetcanvasError as error:
            edit.failed(error)
        finally:
            self._go_on()

    def _go_on(self) -> None:
        """Take the steps that were asked for meanwhile."""
        after, self._after = self._after, []
        for step in after:
            step()
