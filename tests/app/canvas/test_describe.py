"""What cards say of layers of the old formats: their settings, under the names of today."""

from __future__ import annotations

import pytest

from app.canvas.scene.describe import count_text, key_params
from app.document import Document
from engine.graph import OpGraph

V0 = b"""
layers { layer { name: "pad" type: "padding" pad: 2 } bottom: "x" top: "p" }
layers { layer { name: "c" type: "conv" num_output: 20 kernelsize: 5 stride: 2 } bottom: "p" top: "y" }
layers { layer { name: "pool" type: "pool" pool: MAX kernelsize: 3 } bottom: "y" top: "z" }
layers { layer { name: "n" type: "lrn" local_size: 5 alpha: 0.5 } bottom: "z" top: "q" }
layers { layer { name: "r" type: "relu" } bottom: "q" top: "q" }
"""
V1 = b"""
layers { name: "c" type: CONVOLUTION bottom: "x" top: "y" convolution_param { num_output: 20 kernel_size: 5 } }
layers { name: "r" type: RELU bottom: "y" top: "y" }
"""


@pytest.mark.parametrize(
    ("text", "name", "rows"),
    [
        (V0, "c", {"num_output": "20", "pad": "2", "kernel_size": "5"}),
        (V0, "pool", {"pool": "MAX", "kernel_size": "3"}),
        (V0, "n", {"local_size": "5", "alpha": "0.5"}),
        (V0, "r", {}),
        (V1, "c", {"num_output": "20", "kernel_size": "5"}),
        (V1, "r", {}),
        (V0.replace(b"num_output: 20", b"num_output: many"), "c", {"pad": "2", "kernel_size": "5", "stride": "2"}),
    ],
)
def test_a_card_of_an_old_format(text: bytes, name: str, rows: dict[str, str], qapp) -> None:
    document = Document(OpGraph.parse(b'input: "x" input_dim: [1, 1, 9, 9]\n' + text))
    node = document.graph.named(name)[0]
    assert dict(key_params(document, node, document.registry.info(node.type))) == rows
    document.close()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (9_999, "9 999"),
        (25_050, "25.1 k"),
        (999_600, "1 M"),
        (999_600_000, "1 G"),
        (2.79e12, "2.79 T"),
        (4e15, "4e+03 T"),
    ],
)
def test_a_large_count_is_told_in_three_figures(count: int, text: str) -> None:
    assert count_text(int(count)).replace("\u202f", " ") == text
