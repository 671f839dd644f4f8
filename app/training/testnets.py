"""The nets that a solver tests with, where they are open in the window: a run takes them as they are edited there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.document.netfile import is_same_file
from engine.paths import resolve, search_folders
from engine.prototxt import ListValue, Scalar, parse

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["edited_test_nets", "trained_in_its_place"]


def edited_test_nets(document: Document, others: Iterable[Document]) -> dict[str, tuple[str, Path]]:
    """Return the test nets of a net's solver that have changes which are not saved.

    Parameters
    ----------
    document : Document
        The net.
    others : iterable of Document
        The other nets that are open.

    Returns
    -------
    dict of str to (str, Path)
        By what the solver writes: the text as it is edited, and the file.
    """
    solver = document.solver_path
    found: dict[str, tuple[str, Path]] = {}
    for written, path in _named(document, "test_net"):
        net = next((each for each in (document, *others) if each.path and is_same_file(each.path, path)), None)
        if net is not None and net.modified and solver is not None:
            net.settle()
            found[written] = bytes(net.graph).decode("utf-8", "surrogateescape"), path
    return found


def trained_in_its_place(document: Document) -> Path | None:
    """Return the net that a net's solver trains, where that is another and it only tests with this one."""
    if document.path is None:
        return None
    own = document.path
    tests = any(is_same_file(own, path) for _written, path in _named(document, "test_net"))
    trained = [path for field in ("net", "train_net") for _written, path in _named(document, field)]
    return trained[0] if tests and trained and not any(is_same_file(own, path) for path in trained) else None


def _named(document: Document, field: str) -> Iterator[tuple[str, Path]]:
    """Return the files that a field of a net's solver names, if they are there: as it writes them, and where."""
    solver, text = document.solver_path, document.solver_text
    if solver is None or text is None:
        return
    for entry in parse(text.encode("utf-8", "surrogateescape")).root.fields(field):
        for slot in entry.value.elements if isinstance(entry.value, ListValue) else (entry,):
            written = slot.value.as_str() if isinstance(slot.value, Scalar) else ""
            found = resolve(written, search_folders(solver.parent)) if written else None
            if found is not None and found.found:
                yield written, found.path
