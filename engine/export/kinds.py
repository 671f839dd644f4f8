"""The kinds of files that a net can be exported to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import prototxt
from engine.assumed import read_assumed
from engine.errors import FileFormatError
from engine.export.deploy import Given, to_deploy
from engine.export.netspec import netspec_source
from engine.files import atomic_write
from engine.graph import DEPLOY, OpGraph, View
from engine.paths import search_folders
from engine.registry import default_registry
from engine.schema import Schema, guess_dialect, load_schema, read_net, to_message, to_text
from engine.schema.upgrade import upgrade_inputs
from engine.schema.upgrade.text import upgraded_net_text
from engine.sidecar import read_dialect

__all__ = ["KINDS", "ExportKind", "export_net", "guess_kind"]


@dataclass(frozen=True, slots=True)
class ExportKind:
    """One kind of file.

    Attributes
    ----------
    name : str
        What ``--to`` calls it.
    endings : tuple of str
        Endings of file names that ask for it, such as ``".py"``.
    summary : str
        What is written, in a few words.
    content : callable
        Takes a NetParameter in today's format and the schema of its dialect; returns the file's content.
    """

    name: str
    endings: tuple[str, ...]
    summary: str
    content: Callable[[Any, Schema], bytes]


KINDS: tuple[ExportKind, ...] = (
    ExportKind(
        "netspec",
        (".py",),
        "a Python program that rebuilds the net with caffe.NetSpec",
        lambda net, schema: _text(netspec_source(net, schema=schema)),
    ),
    ExportKind(
        "prototxt",
        (".prototxt", ".pt"),
        "prototxt in today's format and one layout",
        lambda net, _: _text(to_text(net)),
    ),
)


def guess_kind(path: Path, name: str | None = None) -> ExportKind:
    """Return the kind of a file to write.

    Parameters
    ----------
    path : Path
        The file; the ending of its name tells the kind.
    name : str, optional
        Name of the kind, whatever the ending.

    Raises
    ------
    FileFormatError
        If there is no such kind, or no kind has that ending.
    """
    for kind in KINDS:
        if name == kind.name or (name is None and path.suffix.lower() in kind.endings):
            return kind
    names = ", ".join(kind.name for kind in KINDS)
    if name is not None:
        raise FileFormatError(f"Expected a kind of file to export to, one of {names}, got '{name}'.")
    endings = ", ".join(ending for kind in KINDS for ending in kind.endings)
    raise FileFormatError(
        f"'{path}': expected a name that ends in one of {endings}, got '{path.suffix or path.name}'.",
        next_step=f"Choose the kind with --to, one of {names}.",
    )


def export_net(
    source: Path, target: Path, kind: ExportKind, view: View | None = None, input_shapes: Sequence[Given] = ()
) -> list[str]:
    """Write a net as a file of another kind, and say what was changed in it beside its format, a sentence each.

    Nets of old formats and a net's own ``input`` fields are brought to today's layers first, as Caffe does when it
    reads them. Comments are not kept, but for a deploy net in prototxt: there, all that is not changed keeps its bytes.

    Parameters
    ----------
    source : Path
        Prototxt of the net.
    target : Path
        File to write, wholly or not at all; one that exists is replaced, unless it is ``source``.
    kind : ExportKind
    view : View, optional
        Which net of the file; its layers then need no rules, and have none. Without it, all layers are written. A
        deploy net is made as :func:`engine.export.deploy.to_deploy` says.
    input_shapes : sequence of (blob, shape)
        Of the inputs of a deploy net, where they shall not be those of its data; see there.

    Raises
    ------
    FileFormatError
        If ``target`` is ``source``, or ``source`` is no net.
    PrototxtError, SchemaError
        With the place of what cannot be read: nothing of a net is left out silently.
    """
    if target.exists() and os.path.samefile(source, target):
        raise FileFormatError(
            f"'{target}' is the net to export, which is never overwritten.", next_step="Name another file."
        )
    schema = _schema(source)
    net = read_net(source, schema=schema)
    told: list[str] = []
    if view is not None and view.show == DEPLOY:
        graph = OpGraph.parse(upgraded_net_text(prototxt.parse(source.read_bytes())))
        told = to_deploy(graph, source.parent, view, input_shapes, read_assumed(source))
        if kind.name == "prototxt":
            atomic_write(target, bytes(graph))
            return told
        net = to_message(graph.tree.root, "NetParameter", schema=schema)
    upgrade_inputs(net)
    if view is not None and view.show != DEPLOY:
        _reduce(net, OpGraph.parse(to_text(net)), view)
    atomic_write(target, kind.content(net, schema))
    return told


def _reduce(net: Any, graph: OpGraph, view: View) -> None:
    """Leave only the layers of one view in a net; the graph is that of the same net."""
    look = graph.look(view)
    kept = {graph.ordinal(node) for node in look.node_ids()}
    for index in reversed(range(len(net.layer))):
        if index not in kept:
            del net.layer[index]
        else:
            for rules in ("include", "exclude"):
                net.layer[index].ClearField(rules)
    net.ClearField("state")


def _schema(source: Path) -> Schema:
    """Return the schema of the dialect that a net is written in, with what its plugins add."""
    try:
        data = source.read_bytes()
    except OSError:
        return load_schema()  # whoever reads it next says so
    fragments = default_registry(search_folders(source.parent), trusted=False).fragments
    name = read_dialect(source) or guess_dialect(prototxt.parse(data), "NetParameter").name
    return load_schema(name, fragments)


def _text(text: str) -> bytes:
    return text.encode("utf-8")
