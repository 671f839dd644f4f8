"""Rules about a solver and the net that it names: whether they belong together."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from engine.diagnostics.fields import check_fields
from engine.diagnostics.layers import is_data
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.diagnostics.solver_settings import check_solver_settings
from engine.graph import Node, OpGraph
from engine.paths import ResolvedPath, resolve, search_folders
from engine.prototxt import Message, Scalar, parse
from engine.schema import FileKind, guess_dialect, load_schema, sniff

__all__ = ["check_solver", "check_solver_file"]

#: Nets with their layers that read nothing.
Opened = Mapping[Path, Sequence[Node]]

_NONE: Opened = MappingProxyType({})

_TRAIN = ("net", "train_net")
_NETS = (*_TRAIN, "test_net")
# What fixes write where something has to be said: Caffe's own example of LeNet has both.
_USUAL_ITERATIONS, _USUAL_BATCHES = 10_000, 100

# Nets of nearly the wanted name: from which likeness on, and how many files are read to see whether they are nets.
_ALIKE, _MOST_READ, _HEAD_BYTES = 0.5, 8, 65536
_WORD = re.compile(r"[a-z]+|[0-9]+")


def check_solver_file(path: Path, text: bytes | None = None, *, opened: Opened = _NONE) -> list[Diagnostic]:
    """Say what is wrong with a solver's file, and where it does not fit the net that is edited with it.

    Parameters
    ----------
    path : Path
        The solver.
    text : bytes, optional
        What it says while it is edited; what the file says by default.
    opened : mapping of Path to sequence of Node
        As in :func:`check_solver`.

    Returns
    -------
    list of Diagnostic
        With ``file`` set; of a text that cannot be read, no more than that.
    """
    try:
        data = path.read_bytes() if text is None else text
    except OSError as error:
        message = f"Solver: '{path.name}' cannot be read: {error.strerror or error}."
        return [Diagnostic("solver-file", "error", message, next_step="Choose another solver.", file=path)]
    graph = OpGraph.parse(data)
    found = [
        Diagnostic("syntax", "error", f"Solver: {fault.message}", fault.line, fault.column, next_step=fault.hint)
        for fault in graph.tree.problems
    ]
    if not found:
        schema = load_schema(guess_dialect(graph.tree, "SolverParameter").name)
        fields = check_fields(graph, "SolverParameter", schema)
        found = [replace(each, message=f"Solver: {each.message}") for each in fields]
        found += check_solver(data, path, opened, opened=opened)
    return [replace(each, file=path) for each in found]


def check_solver(
    text: bytes | str, path: Path, nets: Iterable[Path] = (), *, opened: Opened = _NONE
) -> list[Diagnostic]:
    """Say where a solver and its net do not fit; net files are read, data is not opened.

    Parameters
    ----------
    text : bytes or str
        The solver, in text that can be read.
    path : Path
        Its file; nets are looked for from its folder.
    nets : iterable of Path
        Nets that are looked at together with it. If there is one beside the solver, the solver should name it.
    opened : mapping of Path to sequence of Node
        Nets that are edited, with their layers that read nothing; of the others, the files count.
    """
    root = parse(text).root
    edited = {net.resolve(): nodes for net, nodes in opened.items()}
    return sorted(_check(root, path, nets, edited), key=lambda each: (each.line, each.column))


def _check(root: Message, path: Path, nets: Iterable[Path], edited: Opened) -> Iterator[Diagnostic]:
    yield from check_solver_settings(root, path)
    for name in _NETS:
        found = _resolved(root, name, path)
        if found is not None and not found.found:
            tried = ", ".join(f"'{each}'" for each in found.tried)
            message = f"Solver: {name} '{found.written}' was not found; tried {tried}."
            fixes = _nets_like(name, found.written, path, edited)
            yield _at(root, name, "solver-net-missing", "error", message, "Correct the path.", fixes)
    named = next((name for name in _TRAIN if root.get(name) is not None), "")
    found = _resolved(root, named, path)
    if found is not None and found.found:
        yield from _check_other(root, named, found.path, path, nets)
        yield from _check_phases(root, named, found.path, edited.get(found.path.resolve()))
    max_iter = _text(root, "max_iter")
    if max_iter is None or max_iter.lstrip("+0") == "" or max_iter.startswith("-"):
        message = f"Solver: expected a max_iter of 1 or more, got {max_iter or 'none'}; it trains nothing."
        step = "Set max_iter to the iterations to train for."
        fix = QuickFix(
            f"Train for {_USUAL_ITERATIONS} iterations",
            lambda target: target.set_field(None, ("max_iter",), str(_USUAL_ITERATIONS)),
        )
        yield _at(root, "max_iter", "solver-max-iter", "warning", message, step, (fix,))
    if root.get("test_interval") is not None and root.get("test_iter") is None:
        message = "Solver: test_interval is set, but no test_iter, so it never tests."
        step = "Set test_iter to the batches of a test pass, or remove test_interval."
        fix = QuickFix(
            f"Test on {_USUAL_BATCHES} batches",
            lambda target: target.set_field(None, ("test_iter",), str(_USUAL_BATCHES)),
        )
        fixes = fix, _without("test_interval")
        yield _at(root, "test_interval", "solver-test-iter", "warning", message, step, fixes)


def _check_other(root: Message, name: str, net: Path, path: Path, nets: Iterable[Path]) -> Iterator[Diagnostic]:
    beside = [each for each in nets if each.resolve().parent == path.resolve().parent]
    if len(beside) == 1 and net.resolve() != beside[0].resolve():
        message = f"Solver: {name} is '{net}', and not '{beside[0].name}' beside it."
        step = f"Set {name} to '{beside[0].name}' if that is the net to train."
        yield _at(root, name, "solver-net-other", "warning", message, step, (_named(name, beside[0].name),))


def _check_phases(root: Message, name: str, net: Path, edited: Sequence[Node] | None) -> Iterator[Diagnostic]:
    nodes = edited
    if nodes is None:
        try:
            nodes = OpGraph.parse(net.read_bytes()).nodes()
        except OSError:
            return  # told by who reads it
    if not any(is_data(node) for node in nodes):
        message = f"Solver: no layer of {name} '{net.name}' gives data in the TRAIN phase."
        yield _at(root, name, "solver-train-phase", "warning", message, "Name a net with a data layer to train from.")
    tested = root.get("test_iter") is not None and root.get("test_net") is None and root.get("test_net_param") is None
    if name == "net" and tested and not any("TEST" in node.phases and not node.bottoms for node in nodes):
        message = f"Solver: test_iter is set, but no layer of '{net.name}' gives data in the TEST phase."
        step = "Add a data layer with include { phase: TEST }, or remove test_iter and test_interval."
        fixes = (_without("test_iter", "test_interval"),)
        yield _at(root, "test_iter", "solver-test-phase", "error", message, step, fixes)


def _resolved(root: Message, name: str, path: Path) -> ResolvedPath | None:
    field = root.get(name) if name else None
    if field is None or not isinstance(field.value, Scalar) or not field.value.as_str():
        return None
    return resolve(field.value.as_str(), search_folders(path.parent))


def _named(field: str, name: str) -> QuickFix:
    return QuickFix(f"Name '{name}'", lambda target: target.set_string(None, (field,), name))


def _without(*fields: str) -> QuickFix:
    def remove(target: OpGraph) -> None:
        for field in fields:
            target.clear_field(None, (field,))

    return QuickFix(f"Remove {' and '.join(fields)}", remove)


def _nets_like(field: str, written: str, path: Path, edited: Mapping[Path, object]) -> tuple[QuickFix, ...]:
    """Return fixes that name a net beside the solver: one that is edited with it, or one of nearly the same name."""
    wanted = Path(written)
    likeness = {each: _likeness(each.stem, wanted) for each in path.parent.glob("*.prototxt") if each.name != path.name}
    nearest = sorted((each for each in likeness if likeness[each] >= _ALIKE), key=lambda each: (-likeness[each], each))
    open_ones = [each.name for each in edited if each.parent == path.resolve().parent]
    alike = [each.name for each in islice(filter(_holds_net, nearest[:_MOST_READ]), 2)]
    return tuple(_named(field, name) for name in dict.fromkeys([*open_ones, *alike]))


def _likeness(stem: str, wanted: Path) -> float:
    """Return how near a file's name is to the wanted one, from 0 to 1: by letters, or by the words that they share.

    The folder of the wanted net may be a part of the name, as of ``fcn8s/train`` and ``fcn8s_train``.
    """
    names = [wanted.stem, f"{wanted.parent.name}_{wanted.stem}"]
    letters = max(difflib.SequenceMatcher(None, stem.lower(), name.lower()).ratio() for name in names)
    found, asked = (set(_WORD.findall(name.lower())) for name in (stem, wanted.stem))
    return max(letters, 2 * len(found & asked) / (len(found) + len(asked) or 1))


def _holds_net(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return sniff(stream.read(_HEAD_BYTES)) is FileKind.NET_TEXT
    except OSError:
        return False


def _at(
    root: Message,
    name: str,
    code: str,
    severity: Severity,
    message: str,
    step: str,
    fixes: Sequence[QuickFix] = (),
) -> Diagnostic:
    field = root.get(name)
    line, column = (field.line, field.column) if field is not None else (1, 1)
    first, more = (fixes[0], tuple(fixes[1:])) if fixes else (None, ())
    return Diagnostic(code, severity, message, line, column, None, (name,), step, first, more_fixes=more)


def _text(root: Message, name: str) -> str | None:
    field = root.get(name)
    return field.value.text if field is not None and isinstance(field.value, Scalar) else None
