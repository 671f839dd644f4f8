"""Rules about the plugins that a net's layers come from: what they require, and what cannot be used of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.diagnostics.records import Diagnostic, Severity
from engine.graph import Node, OpGraph
from engine.plugins.failures import source_fault
from engine.prototxt import unquote

if TYPE_CHECKING:
    from engine.plugins import Declarations, PluginFolder

__all__ = ["check_plugins", "python_code"]


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
