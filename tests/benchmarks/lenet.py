"""How fast LeNet runs at batch 64, forward and backward, layer by layer.

Run as ``python -m tests.benchmarks.lenet``. The solver's update and the data layer are not part of it.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.layer import Phase
from engine.net import Net

#: What a training iteration may take, in milliseconds: 25 iterations a second.
BUDGET = 40.0

TEXT = """
name: "LeNet"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 64 dim: 1 dim: 28 dim: 28 } } }
layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 64 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
        convolution_param { num_output: 20 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2"
        convolution_param { num_output: 50 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1"
        inner_product_param { num_output: 500 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2"
        inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
"""


@dataclass(frozen=True)
class Figures:
    """Median milliseconds."""

    iteration: float
    forward: dict[str, float] = field(default_factory=dict)
    backward: dict[str, float] = field(default_factory=dict)


def lenet(**options: object) -> Net:
    """Return the net with made-up images and labels."""
    net = Net(TEXT, Phase.TRAIN, seed=1, **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    net.blobs["data"].data[...] = rng.random((64, 1, 28, 28))
    net.blobs["label"].data[...] = rng.integers(0, 10, 64)
    return net


def iteration_time(net: Net, iterations: int = 50, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median milliseconds, by a clock, of a forward and a backward pass."""
    times = []
    for _ in range(iterations):
        start = clock()
        net.clear_param_diffs()
        net.forward()
        net.backward()
        times.append(clock() - start)
    return statistics.median(times) * 1e3


def measure(iterations: int = 50) -> Figures:
    """Time whole iterations, then each layer."""
    net = lenet()
    whole = iteration_time(net, iterations)
    forward, backward = defaultdict(list), defaultdict(list)
    for _ in range(iterations):
        for node in net.nodes:
            start = time.perf_counter()
            net.forward(node.name, node.name)
            forward[node.name].append(time.perf_counter() - start)
        for node in reversed(net.nodes):
            start = time.perf_counter()
            net.backward(node.name, node.name)
            backward[node.name].append(time.perf_counter() - start)
    return Figures(
        whole,
        {name: statistics.median(times) * 1e3 for name, times in forward.items()},
        {name: statistics.median(times) * 1e3 for name, times in backward.items()},
    )


def main() -> None:
    """Print a table."""
    figures = measure()
    print(f"forward and backward: {figures.iteration:.2f} ms, {1e3 / figures.iteration:.1f} iterations a second")
    print(f"with a plan:          {iteration_time(lenet(use_plan=True)):.2f} ms")
    for name, forward in figures.forward.items():
        print(f"  {name:8s} forward {forward:7.3f} ms   backward {figures.backward[name]:7.3f} ms")


if __name__ == "__main__":
    main()
