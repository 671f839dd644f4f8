"""A plugin with a layer type of its own, as its author would write it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.engine.plugins.helpers import write

BOMB = "raise SystemExit('code of a plugin ran')\n"
TIMES = """
    from engine.api import Layer


    class Times(Layer):
        def setup(self, bottom, top):
            self.factor = self.layer_param.times_param.factor

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            top[0].data[...] = bottom[0].data * self.factor

        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = top[0].diff * self.factor
"""
MANIFEST = """
    [plugin]
    name = "timing"
    version = "1.2"
    summary = "Multiplies."
    schema = "times.proto"
    category = "Arithmetic"
    icon = "times.svg"

    [types.Times]
    module = "inside.times"
    class = "Times"
    summary = "Multiplies by a number."
    bottoms = ["x"]
    tops = ["y"]

    [layers."more.Extra"]
    summary = "An extra."
    tops = ["out", "more?"]
    [layers."more.Extra".param_str.size]
    type = "int"
    default = 3
    min = 1
"""
PROTO = """
    message LayerParameter { optional TimesParameter times_param = 4711; }
    // Settings of a Times layer.
    message TimesParameter { optional float factor = 1 [default = 2]; optional string note; }
"""


def plugin(folder: Path, manifest: str = MANIFEST, proto: str = PROTO, **modules: str) -> Path:
    """Write the plugin ``timing``; ``modules`` replace its own."""
    write(
        folder, **({"inside__times": TIMES, "more": BOMB + "import caffe\nclass Extra(caffe.Layer): pass\n"} | modules)
    )
    (folder / "plugin.toml").write_text(textwrap.dedent(manifest), "utf-8")
    (folder / "times.proto").write_text(textwrap.dedent(proto), "utf-8")
    return folder
