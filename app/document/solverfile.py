"""Finding the solver that trains a net, and the net that a solver names."""

from __future__ import annotations

from pathlib import Path

from engine.paths import resolve, search_folders
from engine.prototxt import Message, Scalar, parse
from engine.schema import FileKind, sniff

__all__ = ["find_solver", "is_solver", "names_net", "net_of_solver"]

_NET_FIELDS = ("net", "train_net")
_BIGGEST_SOLVER = 2**20


def is_solver(path: Path) -> bool:
    """Whether a file is a solver, be it that it names its net, holds it, or says nothing of it."""
    root = _read(path)
    if root is None or root.get("layer") or root.get("layers"):
        return False
    return any(_text(root, field) for field in _NET_FIELDS) or sniff(path.read_bytes()) is FileKind.SOLVER_TEXT


def names_net(path: Path) -> bool:
    """Whether a solver names its net by a path."""
    root = _read(path)
    return root is not None and any(_text(root, field) for field in _NET_FIELDS)


def net_of_solver(path: Path) -> Path | None:
    """Return the net that a solver file names, where both exist; None when the file is no solver."""
    root = _read(path)
    if root is None or root.get("layer") or root.get("layers"):
        return None
    for field in _NET_FIELDS:
        written = _text(root, field)
        if written:
            found = resolve(written, search_folders(path.parent))
            return found.path if found.found else _beside(written, path)
    return None


def find_solver(net: Path) -> Path | None:
    """Look beside a net for the solver that names it.

    A solver whose ``net`` leads to this very file wins over one that only names a file of the same name.
    """
    named: Path | None = None
    for candidate in sorted(net.parent.glob("*solver*.prototxt"), key=lambda path: (len(path.name), path.name)):
        if candidate == net or candidate.stat().st_size > _BIGGEST_SOLVER:
            continue
        target = net_of_solver(candidate)
        if target is not None and target.resolve() == net.resolve():
            return candidate
        root = _read(candidate)
        if named is None and root is not None and any(Path(_text(root, f) or "").name == net.name for f in _NET_FIELDS):
            named = candidate
    return named


def _read(path: Path) -> Message | None:
    try:
        if path.stat().st_size > _BIGGEST_SOLVER:
            return None
        data = path.read_bytes()
        return None if sniff(data) is FileKind.NET_TEXT else parse(data).root
    except OSError:
        return None


def _text(root: Message, name: str) -> str | None:
    field = root.get(name)
    return field.value.as_str() if field is not None and isinstance(field.value, Scalar) else None


def _beside(written: str, solver: Path) -> Path | None:
    candidate = solver.parent / Path(written).name
    return candidate if candidate.is_file() else None
