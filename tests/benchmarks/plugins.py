"""What calling a Python layer costs over its own work: ``python -m tests.benchmarks.plugins``.

A net of many layers that do nothing is passed through; the time of a method is the pass's, divided by the layers, less
what the method itself takes when it is called directly. Thread time, the best of several passes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.layer import Phase
from engine.net import Net
from engine.net.nodes import NetNode
from engine.plugins.functions import FunctionLayer
from engine.plugins.tensors import GradientTensor, InputTensor, OutputTensor

__all__ = ["METHODS", "call_costs"]

METHODS = ("reshape", "forward", "backward")

_LAYERS = 100
_CODE = """
import caffe


class Nothing(caffe.Layer):
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): pass
    def forward(self, bottom, top): pass
    def backward(self, top, propagate_down, bottom): pass


class Copies(Nothing):
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].data.shape)
    def forward(self, bottom, top): top[0].data[...] = bottom[0].data
    def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff


def same(inputs, outputs): outputs[0].feed(inputs[0].data)


def grad_same(inputs, outputs): outputs[0].feed(inputs[2].data)
"""


def call_costs(code: str, *, backend: str = "numpy", use_plan: bool = False, passes: int = 20) -> dict[str, float]:
    """Return the cost of each method in microseconds.

    Parameters
    ----------
    code : str
        ``Nothing``, ``Copies`` or ``same``.
    backend : str
        Where the net computes.
    use_plan : bool
        Whether it runs by a plan.
    passes : int
        How many are timed; the best counts.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "called.py").write_text(_CODE)
        net = Net(_text(code), Phase.TRAIN, base_dirs=(folder,), backend=backend, use_plan=use_plan)
        net.forward()
        whole = {
            "reshape": _best(net.reshape, passes),
            "forward": _best(net.forward, passes),
            "backward": _best(net.backward, passes),
        }
        own = {method: _best(lambda method=method: _direct(net, method), passes) for method in METHODS}
        reshaped = 0.0 if use_plan else whole["reshape"]
        over = {
            "reshape": whole["reshape"] - own["reshape"],
            "forward": whole["forward"] - reshaped - own["forward"],
            "backward": whole["backward"] - own["backward"],
        }
        return {method: max(0.0, seconds) / _LAYERS * 1e6 for method, seconds in over.items()}


def _text(code: str) -> str:
    layers = "".join(
        f'layer {{ name: "p{index}" type: "Python" bottom: "x{index}" top: "x{index + 1}" '
        f"{'loss_weight: 1' if index == _LAYERS - 1 else ''} "
        f'python_param {{ module: "called" layer: "{code}" }} }}\n'
        for index in range(_LAYERS)
    )
    shape = "input_param { shape { dim: 1 } }"
    return f'force_backward: true layer {{ name: "x" type: "Input" top: "x0" {shape} }}\n{layers}'


def _direct(net: Net, method: str) -> None:
    """Call a method of every layer and nothing else."""
    for node in net.nodes[1:]:
        layer: Any = node.layer
        if isinstance(layer, FunctionLayer):
            if method != "reshape":
                _direct_function(layer, node, method)
        elif method == "backward":
            layer.backward(node.top_views, node.propagate_down, node.bottom_views)
        else:
            getattr(layer, method)(node.bottom_views, node.top_views)


def _direct_function(layer: FunctionLayer, node: NetNode, method: str) -> None:
    """Call the function, with the tensors of the first call."""
    kept = layer.__dict__.setdefault("_benchmark", {})
    if method not in kept:
        data = [InputTensor(blob.data) for blob in (*node.bottoms, *node.tops)]
        if method == "forward":
            top = node.tops[0]
            kept[method] = data[:1], [OutputTensor(top, 0, top.dtype, shaped=True, settled=True)]
        else:
            kept[method] = [*data, InputTensor(node.tops[0].diff)], [GradientTensor(node.bottoms[0].diff, 0)]
    function = layer.function if method == "forward" else layer.function.__globals__["grad_same"]  # type: ignore[attr-defined]
    function(*kept[method])


def _best(run: Callable[[], object], passes: int) -> float:
    found = []
    for _ in range(passes):
        start = time.thread_time()
        run()
        found.append(time.thread_time() - start)
    return min(found)


def _main() -> None:
    for code in ("Nothing", "Copies", "same"):
        for backend in ("numpy", "strict"):
            costs = call_costs(code, backend=backend)
            print(f"{code:8} {backend:7}", "  ".join(f"{method} {cost:5.2f} us" for method, cost in costs.items()))


if __name__ == "__main__":
    _main()
