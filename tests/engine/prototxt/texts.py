"""Texts in every form that the format allows."""

from __future__ import annotations

from hypothesis import strategies as st

PLAIN = """\
name: "n"
layer {
  name: "c"
  type: "Convolution"
  bottom: "data"
  top: "c"
  convolution_param {
    kernel_size: 3
    kernel_size: 5
    bias_term: false
  }
}
"""
EXOTIC = """\
# a net
name : 'n' ;
layer: <
  name: "c"; type: 'Convo' # in pieces
    "lution"
  bottom: "\\144ata", top: "\\x63"
  convolution_param: { kernel_size: [3, 5] bias_term: false, };
>
"""
FIVE = "".join(
    f'layer {{\n  name: "l{i}"\n  type: "ReLU"\n  bottom: "b{i}"\n  top: "b{i + 1}"\n}}\n' for i in range(1, 6)
)
# Pieces of the format, so that random texts reach into every rule.
SIGNS = (*"{}<>[]:=,;\"'\\#-+1", "\n", "\r\n", " ", "\t", "\ufeff", "\x00", "“", "é", chr(0xDCFF))
WORDS = ("layer", "layers", "name", "x", "0x1F", "1e-3", ".5", "inf", '"a"', "'b\\n'", "[a.b/c.d]", "# note\n\n")
PIECES = st.sampled_from((*SIGNS, *WORDS, "layer { name: 'a' }\n", "type: MAX ", "dim: [1, 2]"))
