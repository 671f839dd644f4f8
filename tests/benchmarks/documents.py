"""How long a document of 10,000 layers takes to open, and one edit in it.

Run as ``python -m tests.benchmarks.documents``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf import text_format

from engine.diagnostics import SchemaMemo, diagnose
from engine.graph import OpGraph
from engine.prototxt import parse
from engine.schema import load_schema

#: What the project promises, in seconds.
OPEN_BUDGET = 1.5
EDIT_BUDGET = 0.005
#: For the worst case of a check while dragging: a cycle through the whole chain.
CHECK_BUDGET = 0.02

#: For text that was typed, sound or broken, and for the diagnosis after an edit.
TYPING_BUDGET = 0.02
DIAGNOSIS_BUDGET = 0.02

#: Parsing and building the graph, in times of what protobuf's own reader takes for the same file.
MOST_TIMES = 3.0

LAYERS = 10_000


@dataclass(frozen=True)
class Figures:
    """Seconds of processor time; the best of a few tries each."""

    parse: float
    open: float
    official: float
    check: float
    typing: float
    diagnosis: float
    edits: dict[str, float]

    @property
    def times_official(self) -> float:
        """Parsing and building the graph, in times of protobuf's ``text_format.Parse``."""
        return self.open / self.official


def chain(layers: int = LAYERS) -> str:
    """A chain of convolutions and in-place ReLUs."""
    pieces = ['name: "chain"\nlayer {\n  name: "data"\n  type: "Input"\n  top: "b0"\n}\n']
    for number in range(1, layers // 2):
        pieces.append(
            f'layer {{\n  name: "conv{number}"\n  type: "Convolution"\n  bottom: "b{number - 1}"\n  top: "b{number}"\n'
            "  param {\n    lr_mult: 1\n  }\n  convolution_param {\n    num_output: 20\n    kernel_size: 5\n"
            '    weight_filler {\n      type: "xavier"\n    }\n  }\n}\n'
            f'layer {{\n  name: "relu{number}"\n  type: "ReLU"\n  bottom: "b{number}"\n  top: "b{number}"\n}}\n'
        )
    pieces.append(f'layer {{\n  name: "end"\n  type: "Silence"\n  bottom: "b{layers // 2 - 1}"\n}}\n')
    return "".join(pieces)


def best(action: Callable[[], object], tries: int = 3) -> float:
    """Seconds of processor time that the fastest of some tries took; what else the machine does is not counted."""
    times = []
    for _ in range(tries):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def measure(layers: int = LAYERS, tries: int = 3) -> Figures:
    """Measure opening and the edits that an editor makes all the time."""
    data = chain(layers).encode()
    parsing = best(lambda: parse(data), tries)
    opening = best(lambda: OpGraph.parse(data), tries)
    net_class = load_schema().message("NetParameter")
    official = best(lambda: text_format.Parse(data, net_class()), tries)
    graph = OpGraph.parse(data)
    ids = graph.node_ids()
    middle = ids[len(ids) // 2 | 1]
    numbers = iter(range(1000, 2000))
    made: list[object] = []

    def add() -> None:
        with graph.change() as change:
            graph.add_node("ReLU", bottoms=[graph.node(middle).tops[0]], after=middle)
        made.append(change)

    below = ids[ids.index(middle) + 1]
    loose = graph.add_node("Power", bottoms=["?"], after=ids[5])
    piece = graph.copy_fragment([middle])
    edits = {
        "set a field": lambda: graph.set_field(middle, ("convolution_param", "num_output"), str(next(numbers))),
        "add a value": lambda: graph.append_field(middle, ("param",), "{ lr_mult: 2 }"),
        "move a value": lambda: graph.move_field(middle, ("param", 0), 1),
        "clear a value": lambda: graph.clear_field(middle, ("param", 1)),
        "rename a layer": lambda: graph.rename_node(middle, f"layer{next(numbers)}"),
        "rename a blob": lambda: graph.rename_blob(middle, 0, f"blob{next(numbers)}"),
        "detach": lambda: graph.detach(below, 0),
        "disconnect": lambda: graph.disconnect(ids[next(numbers) + 3000], 0),
        "connect": lambda: graph.connect(ids[next(numbers) % 9], 0, ids[-1], 1),
        "add a layer": add,
        "undo": lambda: made.pop().undo(),  # type: ignore[attr-defined]
        "add a layer anywhere": lambda: graph.add_node("ReLU", bottoms=[graph.node(middle).tops[0]]),
        "paste a layer": lambda: graph.paste_fragment(piece),
        "move a layer": lambda: graph.move_node(below, after=ids[next(numbers) + 6000]),
        "connect and move": lambda: graph.connect(ids[next(numbers) + 8000], 0, loose, 0),
        "remove a layer": lambda: graph.remove_nodes([graph.node_ids()[len(graph) // 3]]),
        "ask for a node": lambda: graph.node(middle),
    }
    typing, diagnosis = _measure_typing(graph, tries)
    checking = best(lambda: graph.can_connect(ids[-2], 0, ids[0], 0), tries)
    return Figures(
        parsing,
        opening,
        official,
        checking,
        typing,
        diagnosis,
        {name: best(action, tries) for name, action in edits.items()},
    )


def _measure_typing(graph: OpGraph, tries: int) -> tuple[float, float]:
    """Seconds for a new text with one more character, which breaks or mends it, and for the diagnosis after it."""
    memo = SchemaMemo()
    diagnose(graph, memo=memo)
    texts = [graph.text]
    for typed in ("{", '"', "1"):
        place = texts[0].index("kernel_size", len(texts[0]) // 2)
        texts += [texts[0][:place] + typed + texts[0][place:], texts[0]]
    slowest, slowest_diagnosis = 0.0, 0.0
    for text in texts[1:]:
        before = graph.text
        times = []
        for _ in range(tries):
            graph.replace_text(before)
            times.append(best(lambda text=text: graph.replace_text(text), 1))  # type: ignore[misc]
        slowest = max(slowest, min(times))
        times = []
        for each in [before, text] * tries:
            graph.replace_text(each)
            times.append(best(lambda: diagnose(graph, memo=memo), 1))
        slowest_diagnosis = max(slowest_diagnosis, min(times))
    return slowest, slowest_diagnosis


def main() -> None:
    """Print the figures."""
    figures = measure()
    print(f"parse {LAYERS} layers           {figures.parse:8.3f} s")
    print(f"parse and build the graph    {figures.open:8.3f} s   (budget {OPEN_BUDGET} s)")
    print(f"protobuf's text_format.Parse {figures.official:8.3f} s")
    print(f"ratio of the two             {figures.times_official:8.2f}     (target: at most {MOST_TIMES:.0f})")
    print(f"find a cycle through all      {figures.check * 1000:7.2f} ms  (budget {CHECK_BUDGET * 1000:.0f} ms)")
    print(f"take one typed character      {figures.typing * 1000:7.2f} ms  (budget {TYPING_BUDGET * 1000:.0f} ms)")
    print(
        f"diagnosis after it            {figures.diagnosis * 1000:7.2f} ms  (budget {DIAGNOSIS_BUDGET * 1000:.0f} ms)"
    )
    for name, seconds in figures.edits.items():
        print(f"{name:28} {seconds * 1000:8.2f} ms  (budget {EDIT_BUDGET * 1000:.0f} ms)")


if __name__ == "__main__":
    main()
