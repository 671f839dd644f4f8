"""Rules about the plugins that a net's layers come from: what they require, and what cannot be used of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.diagnostics.records import Diagnostic, Severity
from engine.graph import Node, NodeId, OpGraph
from engine.plugins.failures import source_fault
from engine.prototxt import unquote

if TYPE_CHECKING:
    from engine.plugins import Declarations, PluginFolder

__all__ = ["check_modules", "check_plugins", "python_code"]

_MODULE = ("python_param", "module")


def python_code(graph: OpGraph, node: Node) -> tuple[str, str]:
    """Return module and class or function that a Python layer names; empty texts for what it does not."""
    module, name = (unquote(graph.value(node.id, ("python_param", each)) or '""') for each in ("module", "layer"))
    return module, name


def check_plugins(graph: OpGraph, declared: Declarations) -> Iterator[Diagnostic]:
    """Find what is wrong with the plugins that a net uses: packages, manifests, and code that is no Python 3.

    None of their code runs for it, and each fault is told once, at the first layer that it concerns.
    """
    yield from _check_folders(graph, declared)
    yield from _check_sources(graph, declared)


def check_modules(graph: OpGraph, missing: Set[str], shapes: Mapping[NodeId, Any]) -> Iterator[Diagnostic]:
    """Find Python layers whose module is nowhere, where no layer has said so itself.

    Parameters
    ----------
    missing : set of str
        Modules that were looked for and not found; see :func:`engine.plugins.provenance.is_missing`.
    shapes : mapping of NodeId to NodeShapes
        A layer that has an error there was asked, and told what it lacks.
    """
    for node in graph.nodes() if missing else ():
        if node.type != "Python" or node.virtual or getattr(shapes.get(node.id), "error", None) is not None:
            continue
        module = python_code(graph, node)[0]
        if module in missing:
            message = f"{node.heading}: module '{module}' was not found."
            step = f"Put {module.replace('.', '/')}.py beside the net or into a folder of plugins."
            place = graph.place(node.id, _MODULE)
            yield Diagnostic("module-missing", "warning", message, *place, node.id, _MODULE, step)


def _check_folders(graph: OpGraph, declared: Declarations) -> Iterator[Diagnostic]:
    users: dict[Path, tuple[PluginFolder, list[Node]]] = {}
    for node in graph.nodes():
        if not node.virtual:
            module = python_code(graph, node)[0] if node.type == "Python" else ""
            folder = declared.plugin_of(node.type, module)
            if folder is not None:
                users.setdefault(folder.path, (folder, []))[1].append(node)
    for folder, nodes in users.values():
        faults = {"plugin-requires": folder.requirement_fault(), "plugin-refused": folder.error}
        for code, fault in faults.items():
            if fault is not None:
                yield _at(nodes, code, "warning", fault.message, fault.next_step)


def _check_sources(graph: OpGraph, declared: Declarations) -> Iterator[Diagnostic]:
    users: dict[Path, list[Node]] = {}
    for node in graph.nodes():
        if node.type == "Python" and not node.virtual:
            file = declared.file_of(python_code(graph, node)[0])
            if file is not None and file.suffix == ".py":
                users.setdefault(file, []).append(node)
    for file, nodes in users.items():
        fault = source_fault(file)
        if fault is not None:
            yield _at(nodes, "plugin-syntax", "error", fault.message, fault.next_step)


def _at(nodes: Sequence[Node], code: str, severity: Severity, message: str, step: str) -> Diagnostic:
    """Tell something of several layers at the first of them."""
    first, *others = nodes
    more = f" and {len(others)} more" if others else ""
    text = f"{first.heading}{more}: {message[:1].lower()}{message[1:]}"
    return Diagnostic(
        code, severity, text, first.line, 1, first.id, next_step=step, others=tuple(node.id for node in others)
    )
