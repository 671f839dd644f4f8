"""Modules of functions that tests of functions as nodes write."""

from __future__ import annotations

from pathlib import Path

from tests.engine.plugins.helpers import write

DOUBLE = """
    import numpy as np

    def double(inputs, outputs):
        outputs[0].reshape(inputs[0].shape)
        outputs[0].data[...] = inputs[0].data * 2

    def grad_double(inputs, outputs):
        grad_output = inputs[2]
        outputs[0].reshape(grad_output.shape)
        outputs[0].data[...] = grad_output.data * 2

    def feed(inputs, outputs):
        outputs[0].feed(2 * inputs[0].data)

    def same(inputs, outputs):
        outputs[0].feed(inputs[0].data)
"""
IP = (
    'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 '
    'weight_filler { type: "constant" value: 1 } } }\n'
)


def functions(folder: Path, text: str) -> None:
    write(folder, mod="import numpy as np\nfrom engine.api import gradient_of, operator\n" + text)
