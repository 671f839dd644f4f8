"""Texts of old formats become texts of today, with all that a person wrote."""

from __future__ import annotations

import pytest

from engine import prototxt
from engine.errors import PrototxtError, SchemaError
from engine.schema import to_message
from engine.schema.upgrade import upgrade_net
from engine.schema.upgrade.text import upgraded_net_text, upgraded_solver_text
from tests.support import SHARED, shared_files

REFERENCES = shared_files("corpus/upgraded_reference/*")
PUBLIC = shared_files("corpus/prototxt/*/*.prototxt")

V1 = """\
name: "n"  # the net
# first
layers {
    # what it is
    name: "c"  type: CONVOLUTION  # a convolution
    bottom: "x"
    top: "y"
    blobs_lr: 1.0
    blobs_lr: 2 # twice
    weight_decay: 1e0
    weight_decay: 0
    param: ["w", "b"]
    convolution_param { num_output: 0x10 fancy: 7 weight_filler < type: 'xavier' > }
}

# last words
"""
TODAY = """\
name: "n"  # the net
# first
layer {
  # what it is
  name: "c"
  type: "Convolution"  # a convolution
  bottom: "x"
  top: "y"
  param {
    lr_mult: 1.0
    decay_mult: 1e0
    name: "w"
  }
  param {
    lr_mult: 2  # twice
    decay_mult: 0
    name: "b"
  }
  convolution_param {
    num_output: 0x10
    fancy: 7
    weight_filler {
      type: 'xavier'
    }
  }
}

# last words
"""
V0 = """\
layers { layer { name: "d" type: "data" source: "s" batchsize: 2 scale: .5 cropsize: 4 } top: "data" top: "label" }
# room at the sides
layers { layer { name: "p" type: "padding" pad: 1 } bottom: "data" top: "padded" }
# the filter
layers { layer { name: "c" type: "conv" num_output: 3 kernelsize: 3 shuffle_images: true blobs_lr: 1 }
  bottom: "padded" top: "c" }
"""
V0_TODAY = """\
layer {
  name: "d"
  type: "Data"
  top: "data"
  top: "label"
  data_param {
    source: "s"
    batch_size: 2
  }
  transform_param {
    scale: .5
    crop_size: 4
  }
}
# room at the sides
# the filter
layer {
  name: "c"
  type: "Convolution"
  bottom: "data"
  top: "c"
  convolution_param {
    num_output: 3
    kernel_size: 3
    pad: 1
  }
  # shuffle_images: true (means nothing in a layer of this type)
  param {
    lr_mult: 1
  }
}
"""


def net_text(text: str) -> str:
    return upgraded_net_text(prototxt.parse(text))


def message(text: str | bytes, kind: str = "NetParameter"):
    return to_message(prototxt.parse(text).root, kind)


@pytest.mark.skipif(not REFERENCES, reason="reference files are not beside this checkout")
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda path: path.stem)
def test_public_files_become_what_caffe_makes_of_them(reference):
    source = SHARED / "corpus/prototxt" / reference.name.replace("~", "/", 1).replace("~", "__")
    tree = prototxt.parse(source.read_bytes())
    if "solver" in reference.name:
        assert message(upgraded_solver_text(tree), "SolverParameter") == message(
            reference.read_bytes(), "SolverParameter"
        )
        return
    text = upgraded_net_text(tree)
    assert message(text) == message(reference.read_bytes())
    assert net_text(text) == text


@pytest.mark.parametrize(("old", "new"), [(V1, TODAY), (V0, V0_TODAY)], ids=["V1 B6", "V0 B7"])
def test_comments_spelling_and_unknown_fields_stay(old, new):
    """B6, B7."""
    assert net_text(old) == new
    assert net_text(old.replace("\n", "\r\n")) == new.replace("\n", "\r\n")
    assert net_text(new) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "# a deploy net\ninput: 'a' # in\ninput: 'b'\ninput_dim: [1, 2, 3, 4, 5, 6, 7, 8]\nlayer { name: 'r' }\n",
            '# a deploy net\n# in\nlayer {\n  name: "input"\n  type: "Input"\n  top: "a"\n  top: "b"\n'
            "  input_param {\n    shape { dim: 1 dim: 2 dim: 3 dim: 4 }\n    shape { dim: 5 dim: 6 dim: 7 dim: 8 }\n"
            "  }\n}\nlayer { name: 'r' }\n",
        ),
        ("input: 'a'\nlayer { name: 'r' }\n", None),
    ],
)
def test_inputs_become_a_layer(old, new):
    """B8."""
    assert net_text(old) == (new or old)


def test_inputs_after_layers_come_first():
    """B8."""
    text = net_text("layer { name: 'r' type: 'ReLU' }\ninput: 'a'\ninput_shape { dim: 5 }\n")
    assert [layer.type for layer in message(text).layer] == ["Input", "ReLU"]


def test_mixed_layers_stay_in_their_order():
    """B5."""
    text = net_text(
        "layers { name: 'a' type: RELU }\nlayer { name: 'b' type: 'ReLU' }\nlayers { name: 'c' type: DATA }\n"
    )
    assert [(layer.name, layer.type) for layer in message(text).layer] == [("a", "ReLU"), ("b", "ReLU"), ("c", "Data")]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("layers { type: RELU\nlayers { type: RELU }", PrototxtError, "not closed"),
        ("input: 'a' input_dim: 1", SchemaError, "4 input_dim"),
        (
            "layers { layer { type: 'padding' name: 'p' } bottom: 'x' top: 'y' }\n"
            "layers { layer { type: 'relu' } bottom: 'y' }",
            SchemaError,
            "conv or pool",
        ),
        (
            "layers { layer { type: 'padding' name: 'p' } bottom: 'x' top: 'y' }\nlayer { type: 'ReLU' }",
            SchemaError,
            "mixes",
        ),
    ],
)
def test_what_cannot_be_upgraded_is_refused(text, error, words):
    with pytest.raises(error, match=words):
        net_text(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("base_lr: 1\n# how\nsolver_type: ADAM # fast\n", 'base_lr: 1\n# how\ntype: "Adam" # fast\n'),
        ("net: 'n'\n", "net: 'n'\n"),
        (
            "net_param {\n  layers { name: 'a' type: RELU }\n}\n",
            "net_param {\n  layer {\n    name: 'a'\n    type: \"ReLU\"\n  }\n}\n",
        ),
    ],
)
def test_solvers(old, new):
    assert upgraded_solver_text(prototxt.parse(old)) == new


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_every_public_net_is_upgraded_or_refused_with_a_reason(path):
    tree = prototxt.parse(path.read_bytes())
    try:
        text = upgraded_net_text(tree)
    except PrototxtError:
        return
    before, after = message(path.read_bytes()), message(text)
    assert not after.layers
    if not (before.layers and before.layer):
        upgrade_net(before)
        upgrade_net(after)
        for old, new in zip(before.layer, after.layer, strict=True):
            new.type = new.type if old.type else ""  # a fork's word, which messages cannot hold
        assert [layer.SerializeToString() for layer in before.layer if layer.type] == [
            layer.SerializeToString() for layer in after.layer if layer.type
        ]


def test_a_word_of_a_fork_is_kept():
    text = "layers { name: 'a' type: CROP }\nlayers { name: 'b' type: ROI_POOLING }\n"
    assert [layer.type for layer in message(net_text(text)).layer] == ["Crop", "ROI_POOLING"]


def test_names_that_are_not_utf8_are_upgraded():
    """Fuzzing: bottoms of such names looked as if a padding layer stood above."""
    data = b'layers { name: "c" type: RELU bottom: "\xe9" top: "y" }\n'
    old = prototxt.parse(data)
    assert 'bottom: "\udce9"' in upgraded_net_text(old)
