"""What a net can be compared with: its saved file, another net, a revision, a run's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.compare.revisions import Revision, read_revision
from app.document.netfile import read_net_file
from engine.assumed import read_assumed

if TYPE_CHECKING:
    from app.document import Document
    from engine.assumed import Assumed
    from engine.worker import RunFolder

__all__ = ["Other", "file_of", "open_net", "revision_of", "run_of", "saved_file"]


@dataclass(frozen=True, slots=True)
class Other:
    """The other side of a comparison.

    Attributes
    ----------
    title : str
        What it is, in few words.
    detail : str
        More about it, for a tooltip.
    read : callable
        Returns its text; called off the window's thread. Raises NetcanvasError or OSError.
    folder : Path or None
        Against which the paths in the net are read; None for that of the net here.
    assumed : mapping of blob to shape, optional
        See :mod:`engine.assumed`; what is assumed of the net here, where it is left out.
    """

    title: str
    detail: str
    read: Callable[[], bytes]
    folder: Path | None = None
    assumed: Assumed | None = None


def file_of(path: Path) -> Other:
    """Another file."""
    return Other(path.name, str(path), lambda: read_net_file(path), path.parent, read_assumed(path))


def saved_file(document: Document) -> Other:
    """The file of a net, as it was last saved; ValueError where it has none."""
    path = document.path
    if path is None:
        raise ValueError("the net has no file yet")
    return Other(f"{path.name} as saved", str(path), lambda: read_net_file(path), path.parent)


def open_net(document: Document) -> Other:
    """Another net that is open, as it is now."""
    data = bytes(document.graph)
    folder = document.path.parent if document.path is not None else None
    return Other(
        document.title, str(document.path or "Not saved yet"), lambda: data, folder, document.assumptions.shapes
    )


def run_of(run: RunFolder) -> Other:
    """The net that a run was started with."""
    return Other(f"Run {run.name}", str(run.net_file), lambda: read_net_file(run.net_file))


def revision_of(path: Path, revision: Revision) -> Other:
    """A revision of a file."""
    detail = f"{revision.commit[:12]}, {revision.author}, {revision.date}\n{revision.subject}"
    title = f"{path.name} at {revision.commit[:7]}"
    return Other(title, detail, lambda: read_revision(path, revision), path.parent)
