"""Our canvas beside other node editors for Python, in one run: the same graphs, the same steps, the same machine.

See :mod:`tests.benchmarks.peers` for what a step is. ``python -m tests.benchmarks.canvas --peers [NODES ...]`` runs it.
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.canvas.edits.arrange import layout_inputs
from app.canvas.layout.layout import lay_out
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from engine.graph import OpGraph
from tests.benchmarks.editors import EDITORS, Graph
from tests.benchmarks.nets import residual_net
from tests.benchmarks.peers import FIGURES

__all__ = ["compare"]

#: Seconds after which a run of an editor is cut.
PATIENCE = 120.0
OURS = "netcanvas"


def graph_of(count: int, net: Path) -> Graph:
    """Return nodes, wires and places of a net of about ``count`` layers, which is also written to a file."""
    net.write_text(residual_net(count))
    document = Document(OpGraph.parse(net.read_text()))
    scene = CanvasScene(document)
    places = lay_out(*layout_inputs(scene)).places
    nodes = document.graph.nodes()
    number = {node.id: index for index, node in enumerate(nodes)}
    edges = document.graph.edges()
    middle = max(nodes[len(nodes) // 3 :], key=lambda node: min(4, len(scene.nodes[node.id].edges)))
    graph: Graph = {
        "net": str(net),
        "nodes": [[node.name, len(node.bottoms), len(node.tops)] for node in nodes],
        "places": [places[node.id] for node in nodes],
        "edges": [[number[edge.source], edge.top, number[edge.target], edge.bottom] for edge in edges],
        "middle": number[middle.id],
    }
    scene.close()
    document.close()
    return graph


def measured(name: str, graph: Path, python: str) -> dict[str, float | str]:
    """Run one editor; return its figures, ``version`` and, where it did not finish, ``cut`` or ``failed``."""
    command = [python, "-m", "tests.benchmarks.peers", name, str(graph)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
        return _read(out.decode() if isinstance(out, bytes) else out) | {"cut": PATIENCE}
    found = _read(done.stdout)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.strip() and "propagateSizeHints" not in line]
        found["failed"] = told[-1] if told else f"it ended with status {done.returncode}"
    return found


def _read(out: str) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for line in out.splitlines():
        if line.startswith("["):
            name, value = json.loads(line)
            found[name] = value
    return found


def compare(counts: Sequence[int], python: str = sys.executable) -> int:
    """Measure all editors on all sizes, print a table a size, and return 1 where another one is ahead of ours.

    Parameters
    ----------
    counts : sequence of int
        Layers of the nets.
    python : str
        The interpreter for the other editors, where they are not installed beside ours.
    """
    ahead: list[str] = []
    print(f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}, offscreen, 1600 x 900\n")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.json"
            graph = graph_of(count, Path(folder) / "net.prototxt")
            graph["small"] = graph_of(60, Path(folder) / "small.prototxt")
            path.write_text(json.dumps(graph))
            found = {}
            for name in EDITORS:
                found[name] = measured(name, path, sys.executable if name == OURS else python)
        for line in table(count, found):
            print(line, flush=True)
        ahead += [f"{name} at {count:,}: {figure}" for name, figure in _ahead(found)]
    for each in ahead:
        print(f"ahead of ours: {each}")
    return int(bool(ahead))


def table(count: int, found: dict[str, dict[str, float | str]]) -> Iterator[str]:
    """Write the figures of one size as lines of Markdown, those of others with how many times ours that is."""
    yield f"| {count:,} layers | " + " | ".join(f"{name} {found[name].get('version', '')}" for name in found) + " |"
    yield "|---" * (len(found) + 1) + "|"
    ours = found[OURS]
    for figure in FIGURES:
        cells = []
        for name, figures in found.items():
            value = figures.get(figure)
            if isinstance(value, float | int):
                base = ours.get(figure)
                known = name != OURS and isinstance(base, float | int) and base > 0
                cells.append(f"{value:,.1f} ({value / base:.1f}x)" if known else f"{value:,.1f}")
            elif "cut" in figures:
                cells.append(f"cut after {figures['cut']:.0f} s")
            elif "failed" in figures:
                cells.append("failed")
            else:
                cells.append("has none")
        yield f"| {figure} | " + " | ".join(cells) + " |"
    yield ""
    for name, figures in found.items():
        if "failed" in figures:
            yield f"{name} failed: {figures['failed']}\n"


def _ahead(found: dict[str, dict[str, float | str]]) -> Iterator[tuple[str, str]]:
    """Return who does what faster than ours, beyond a tenth and half a millisecond."""
    ours = found[OURS]
    for name, figures in found.items():
        for figure in FIGURES:
            value, base = figures.get(figure), ours.get(figure)
            known = name != OURS and isinstance(value, float | int) and isinstance(base, float | int)
            if known and value < 0.9 * base and base - value > 0.5:
                yield name, figure
