"""Which fork of Caffe a document was written for.

The forks' fields have names of their own, so the names that a document uses tell. What counts is what BVLC's Caffe
does not know: fields, words of enums, layer types. The dialect that explains most of it, and unlearns least, is it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine import prototxt
from engine.schema.catalogue import Schema, load_schema
from engine.schema.dialects import BVLC, dialect_names, find_dialect
from engine.schema.info import FieldInfo

__all__ = ["DialectGuess", "guess_dialect"]

_Path = tuple[str, ...]
_LAYERS = ("layer", "layers")
#: Messages of no schema nest as deep; what lies deeper in a broken text is of no use and would fill the memory.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class DialectGuess:
    """The dialect that explains a document best.

    Attributes
    ----------
    name : str
        Name of the dialect; ``bvlc`` where nothing speaks for another.
    score : float
        Part of what BVLC's Caffe does not know that the dialect explains: 1 explains all, or there is nothing to
        explain; 0 explains nothing.
    explained : tuple of str
        What the dialect knows and BVLC's Caffe does not: fields by their path, ``layer.permute_param``, enum words as
        ``layer.pooling_param.pool=AVE_EXC_PAD``, layer types as ``type=Permute``.
    left : tuple of str
        Fields and enum words that the dialect does not know either.
    """

    name: str
    score: float
    explained: tuple[str, ...]
    left: tuple[str, ...]


def guess_dialect(tree: prototxt.Tree | prototxt.Message, type_name: str = "") -> DialectGuess:
    """Return the dialect that a net or solver is most likely written in.

    Parameters
    ----------
    tree : engine.prototxt.Tree or engine.prototxt.Message
        The document, or its root.
    type_name : str
        ``"NetParameter"`` or ``"SolverParameter"``; by the fields at the top when left out.
    """
    root = tree.root if isinstance(tree, prototxt.Tree) else tree
    usage = _Usage(root)
    message_type = type_name or usage.message_type()
    puzzles = usage.unknown(load_schema(), message_type)
    guess = DialectGuess(BVLC, 0.0 if puzzles else 1.0, (), tuple(puzzles))
    best = 0
    for name in dialect_names():
        types = [f"type={each}" for each in usage.layer_types if each in find_dialect(name).layer_types]
        if not puzzles and not types:
            continue
        left = usage.unknown(load_schema(name), message_type)
        explained = [*(each for each in puzzles if each not in left), *types]
        # Left are also what BVLC's Caffe knows and the dialect does not, and what only the dialect lets one look into.
        gain = len(explained) - sum(each not in puzzles for each in left)
        if gain > best:
            best = gain
            score = len(explained) / (len(explained) + len(left))
            guess = DialectGuess(name, score, tuple(explained), tuple(left))
    return guess


class _Usage:
    """The different field paths, words and layer types of a document: few, however long it is."""

    def __init__(self, root: prototxt.Message) -> None:
        self.fields: dict[_Path, None] = {}
        self.words: dict[tuple[_Path, str], None] = {}
        self.layer_types: dict[str, None] = {}
        work: list[tuple[prototxt.Message, _Path]] = [(root, ())]
        while work:
            message, path = work.pop()
            for field in message:
                here = (*path, field.name)
                self.fields[here] = None
                for value in _values(field):
                    if isinstance(value, prototxt.Message):
                        if len(here) < _DEEPEST:
                            work.append((value, here))
                    elif value.kind == "identifier":
                        self.words[here, value.text] = None
                    elif value.kind == "string" and here[-1] == "type" and path and path[-1] in _LAYERS:
                        self.layer_types[value.as_str()] = None

    def message_type(self) -> str:
        """Return whether the document is a net or a solver."""
        names = [path[0] for path in self.fields if len(path) == 1]
        net, solver = (
            sum(load_schema().find_field(each, (name,)) is not None for name in names)
            for each in ("NetParameter", "SolverParameter")
        )
        return "SolverParameter" if solver > net else "NetParameter"

    def unknown(self, schema: Schema, message_type: str) -> dict[str, None]:
        """Return the paths and words that a schema does not know, in a stable order; not what lies below one."""
        known: dict[_Path, FieldInfo | None] = {}
        found: dict[str, None] = {}
        for path in sorted(self.fields, key=len):
            parent = known.get(path[:-1]) if len(path) > 1 else None
            holder = message_type if len(path) == 1 else parent.message_type if parent is not None else None
            known[path] = info = schema.find_field(holder, path[-1:]) if holder is not None else None
            if info is None and (holder is not None or parent is not None):
                found[".".join(path)] = None
        for path, word in self.words:
            field = known.get(path)
            if field is not None and field.kind == "enum" and word not in field.enum_values:
                found[f"{'.'.join(path)}={word}"] = None
        return found


def _values(field: prototxt.Field) -> Iterator[prototxt.Scalar | prototxt.Message]:
    if isinstance(field.value, prototxt.ListValue):
        for element in field.value.elements:
            yield element.value
    else:
        yield field.value
