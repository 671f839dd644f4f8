"""A net that stands in its solver: put into a file of its own, so that it can be seen and edited."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from engine.prototxt import Message

if TYPE_CHECKING:
    from app.document import Document
    from app.solver.document import SolverDocument
    from engine.graph import OpGraph

__all__ = ["inline_field", "take_net_out"]

#: Fields that hold a net, and those that name one in their place.
_FIELDS = {"net_param": "net", "train_net_param": "train_net"}


def inline_field(solver: SolverDocument) -> str | None:
    """Return the field in which a solver holds the net that it trains; None where there is none."""
    root = solver.graph.tree.root
    for name in _FIELDS:
        field = root.get(name)
        if field is not None and isinstance(field.value, Message):
            return name
    return None


def take_net_out(document: Document, solver: SolverDocument) -> Path:
    """Give an empty document the net of its solver, save it beside that, and have the solver name the file.

    Each is a step that can be undone; the solver is not saved.

    Returns
    -------
    Path
        The new file, under a name that was free.

    Raises
    ------
    OSError
        When the file cannot be written; then nothing is changed in the solver.
    ValueError
        When the solver holds no net.
    """
    name = inline_field(solver)
    field = solver.graph.tree.root.get(name) if name is not None else None
    if name is None or field is None or not isinstance(field.value, Message):
        raise ValueError(f"'{solver.path.name}' holds no net")
    body = field.value.text.strip()[1:-1]  # without its brackets
    text = textwrap.dedent(body.lstrip(" \t").lstrip("\n")).rstrip() + "\n"
    path = _free_name(solver.path)
    document.apply(f"Take the net out of {solver.path.name}", lambda graph: graph.replace_text(text))
    document.save(path)

    def edit(graph: OpGraph) -> None:
        graph.clear_field(None, (name,))
        graph.set_string(None, (_FIELDS[name],), path.name)

    solver.apply(f"Name {path.name}", edit)
    return path


def _free_name(solver: Path) -> Path:
    stem = solver.stem.removesuffix("solver").rstrip("_-.") or "net"
    number = 1
    while (path := solver.with_name(f"{stem}_net{number if number > 1 else ''}.prototxt")).exists():
        number += 1
    return path
