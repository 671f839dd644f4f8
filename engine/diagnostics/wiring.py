"""Rules about who makes a blob and who reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.diagnostics.learning import loss_weights
from engine.diagnostics.reading_fixes import misspelt_fixes, wiring_fixes
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.graph import UNWIRED, Node, OpGraph, phase_words

__all__ = ["check_wiring"]

# Types whose tops are results in themselves.
_RESULTS = ("Accuracy", "Loss", "Softmax", "Silence", "Output")


def check_wiring(graph: OpGraph, node: Node, fed: frozenset[str]) -> Iterator[Diagnostic]:
    """Find bottoms without a writer, tops with two writers, and tops without a reader.

    ``fed`` are the phases that the net is meant for; where there is none, it is judged in both.
    """
    for bottom, name in enumerate(node.bottoms):
        yield from _check_bottom(graph, node, bottom, name, fed)
    yield from _check_tops(graph, node)


def _check_bottom(graph: OpGraph, node: Node, bottom: int, name: str, fed: frozenset[str]) -> Iterator[Diagnostic]:
    title = node.heading
    if name == UNWIRED:
        yield _at(
            graph,
            node,
            ("bottom", bottom),
            "bottom-unwired",
            f"{title}: bottom {bottom} is not connected.",
            next_step="Connect it to the top of another layer.",
            fixes=wiring_fixes(graph, node, bottom),
        )
        return
    phases = graph.unresolved(node.id, bottom)
    phases = phases & fed if fed else phases
    if not phases:
        return
    writers = [graph.node(writer) for writer in graph.writers(name) if writer != node.id]
    below = [w for w in writers if w.ordinal > node.ordinal and graph.together(w.id, node.id) & phases]
    if below:
        yield _forward(graph, node, bottom, name, below[0])
    elif writers:
        writer = writers[0]
        yield _at(
            graph,
            node,
            ("bottom", bottom),
            "bottom-other-phase",
            f"{title}: bottom '{name}' does not exist in {phase_words(phases)}; {writer.title} (line {writer.line}) "
            f"makes it only in {phase_words(writer.phases)}.",
            next_step="Give the two layers the same include rule, or add a layer that makes the blob.",
            fixes=[_restriction(graph, node, node.phases - phases)],
        )
    else:
        yield _unknown(graph, node, bottom, name)


def _restriction(graph: OpGraph, node: Node, left: frozenset[str]) -> QuickFix | None:
    """Return a fix that has a layer take part only in the phase that is left, if it has no rules yet."""
    if len(left) != 1 or graph.count(node.id, ("include",)) or graph.count(node.id, ("exclude",)):
        return None
    (phase,) = left

    def restrict(target: OpGraph) -> None:
        target.set_field(node.id, ("include",), f"{{ phase: {phase} }}")

    return QuickFix(f"Use the layer in {phase} only", restrict)


def _forward(graph: OpGraph, node: Node, bottom: int, name: str, writer: Node) -> Diagnostic:
    title = node.heading
    top = writer.tops.index(name)

    def cut(target: OpGraph) -> None:
        target.disconnect(node.id, bottom)

    if not graph.can_connect(writer.id, top, node.id, bottom):
        return _at(
            graph,
            node,
            ("bottom", bottom),
            "cycle",
            f"{title}: bottom '{name}' is made by {writer.title} (line {writer.line}), which depends on this layer: "
            f"a cycle.",
            next_step="Connect the bottom to a layer that does not depend on this one.",
            fixes=[QuickFix("Disconnect the bottom", cut)],
        )

    def move(target: OpGraph) -> None:
        target.connect(writer.id, top, node.id, bottom)

    return _at(
        graph,
        node,
        ("bottom", bottom),
        "forward-reference",
        f"{title}: bottom '{name}' is made further down, by {writer.title} (line {writer.line}).",
        next_step="A layer must stand below those that it reads.",
        fixes=[QuickFix("Move the layer below the one that it reads", move)],
    )


def _unknown(graph: OpGraph, node: Node, bottom: int, name: str) -> Diagnostic:
    fixes = misspelt_fixes(graph, node, bottom, name)
    return _at(
        graph,
        node,
        ("bottom", bottom),
        "bottom-unknown",
        f"{node.heading}: no layer makes bottom '{name}'.",
        next_step="Connect it to the top of another layer." if not fixes else f"{fixes[0].label}?",
        fixes=fixes or wiring_fixes(graph, node, bottom)[:1],
    )


def _check_tops(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    read = {edge.top for edge in graph.edges_out(node.id)}
    for top, name in enumerate(node.tops):
        if node.in_place[top]:
            yield from _check_sole_reader(graph, node, top)
        else:
            yield from _check_writers(graph, node, top, name)
        if top not in read and not node.virtual and not node.type.endswith(_RESULTS) and not _is_loss(graph, node, top):
            yield _unused(graph, node, top, name)


def _check_sole_reader(graph: OpGraph, node: Node, top: int) -> Iterator[Diagnostic]:
    """Find a layer in place on what others read too.

    Caffe's ``InsertSplits`` hands it a copy to read, so that its top is a second blob of the name.
    """
    for edge in graph.edges_in(node.id):
        if edge.bottom != top:
            continue
        for other in graph.edges_out(edge.source):
            if other.top != edge.top or (other.target, other.bottom) == (node.id, top):
                continue
            if graph.hold_together(edge, other):
                reader = graph.node(other.target)
                why = "which it reads twice"
                if reader.id != node.id:
                    why = f"which {reader.title} (line {reader.line}) reads too"
                yield _not_alone(graph, node, top, why)
                return
        source = graph.node(edge.source)
        if _is_loss(graph, source, edge.top):
            yield _not_alone(graph, node, top, f"which is a loss of {source.title} (line {source.line})")
            return


def _not_alone(graph: OpGraph, node: Node, top: int, why: str) -> Diagnostic:
    return _at(
        graph,
        node,
        ("top", top),
        "in-place-shared",
        f"{node.heading}: works in place on '{node.tops[top]}', {why}.",
        next_step="Give the top a name of its own.",
        fixes=[_own_name(node, top)],
    )


def _own_name(node: Node, top: int) -> QuickFix:
    def detach(target: OpGraph) -> None:
        target.detach(node.id, top)

    return QuickFix("Give the top a name of its own", detach)


def _is_loss(graph: OpGraph, node: Node, top: int) -> bool:
    weights = loss_weights(graph, node.id)
    return top < len(weights) and weights[top] != 0


def _unused(graph: OpGraph, node: Node, top: int, name: str) -> Diagnostic:
    def silence(target: OpGraph) -> None:
        rules = [field.text.strip() for field in target.message(node.id) if field.name in ("include", "exclude")]
        target.add_node("Silence", bottoms=[name], tops=0, fields="\n".join(rules))

    return _at(
        graph,
        node,
        ("top", top),
        "top-unused",
        f"{node.heading}: no layer reads top '{name}'; it is an output of the net.",
        severity="info",
        next_step="Connect it, or have a Silence layer read it if it is not wanted.",
        fixes=[QuickFix("Have a Silence layer read it", silence)],
    )


def _check_writers(graph: OpGraph, node: Node, top: int, name: str) -> Iterator[Diagnostic]:
    if name in node.tops[:top]:
        yield _two(graph, node, top, name, node, node.phases)
        return
    for writer in graph.writers(name):
        if writer == node.id:
            return
        phases = graph.together(writer, node.id)
        if phases:
            yield _two(graph, node, top, name, graph.node(writer), phases)
            return


def _two(graph: OpGraph, node: Node, top: int, name: str, other: Node, phases: frozenset[str]) -> Diagnostic:
    return _at(
        graph,
        node,
        ("top", top),
        "top-duplicate",
        f"{node.heading}: top '{name}' is made by {other.title} (line {other.line}) too, in {phase_words(phases)}.",
        next_step="Rename one of the two.",
        fixes=[_own_name(node, top)],
    )


def _at(
    graph: OpGraph,
    node: Node,
    path: tuple[str | int, ...],
    code: str,
    message: str,
    *,
    severity: Severity = "error",
    next_step: str = "",
    fixes: Sequence[QuickFix | None] = (),
) -> Diagnostic:
    place = graph.place(node.id, path)
    given = tuple(fix for fix in fixes if fix is not None)
    first = given[0] if given else None
    return Diagnostic(code, severity, message, *place, node.id, path, next_step, first, more_fixes=given[1:])
