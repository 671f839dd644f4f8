"""Faults that real users met with documents: what the tests of single modules leave out."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from engine.diagnostics import diagnose
from engine.errors import NetcanvasError
from engine.graph import OpGraph
from engine.registry import default_registry
from engine.schema import read_net, read_solver
from tests.engine.graph.nets import layer, node, wires

FLOATS = [("0.1", "0.1"), ("0.0005", "0.0005"), ("0.00392156862745", "0.003921569"), ("1e-10", "1e-10"), ("1", "1")]
BIG_MIB = 96
LOAD = """
import resource, sys
import numpy as np
from engine.files import load_weights, read_stored_layers
from engine.net import Net
from engine.layer import Phase
import engine.registry

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

path, rows = sys.argv[1], int(sys.argv[2])
engine.registry.default_registry().types()
shape = "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 1024 } } }"
ip = "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' "
ip += "inner_product_param { num_output: %d bias_term: false } }"
small = Net(shape + ip % 1, Phase.TEST)
before = peak()
net = Net(shape + ip % rows, Phase.TEST)
load_weights(net, path)
assert net.params["ip"][0].data[-1, -1] == 7
print(peak() - before)
"""


def test_a_file_with_bom_and_crlf_opens(tmp_path):
    """B3."""
    data = b"\xef\xbb\xbf" + layer("r", "x", "y", kind="ReLU").replace("\n", "\r\n").encode()
    path = tmp_path / "net.prototxt"
    path.write_bytes(data)
    assert [each.name for each in read_net(path).layer] == ["r"]
    graph = OpGraph.parse(data)
    assert not graph.problems and bytes(graph) == data


def test_a_mixed_file_opens_whole_and_is_refused_to_run():
    """B5."""
    text = "".join(layer(f"n{i}", "x", "x", kind="ReLU") for i in range(3)) + "layers { name: 'o' type: RELU }\n" * 2
    graph = OpGraph.parse(text)
    assert len(graph) == 5
    (mixed,) = [each for each in diagnose(graph) if each.code == "format-mixed"]
    assert "'layers' (line 4)" in mixed.message and "'layer' (line 1)" in mixed.message
    with pytest.raises(NetcanvasError, match="mixes"):
        read_net(text)


def test_a_new_layer_in_an_in_place_chain_gets_between():
    """B13."""
    chain = [
        layer(name, "c", "c", kind=kind) for name, kind in (("bn", "BatchNorm"), ("scale", "Scale"), ("r", "ReLU"))
    ]
    graph = OpGraph.parse(layer("conv", "", "c") + "".join(chain) + layer("pool", "c", "p", kind="Pooling"))
    with graph.change():
        graph.add_node("Dropout", name="drop", bottoms=("c",), tops=("c",), after=node(graph, "scale"))
    assert wires(graph) == {"conv.0>bn.0", "bn.0>scale.0", "scale.0>drop.0", "drop.0>r.0", "r.0>pool.0"}
    again = OpGraph.parse(bytes(graph))
    assert [each.name for each in again.nodes()] == ["conv", "bn", "scale", "drop", "r", "pool"]
    assert wires(again) == wires(graph)


def test_layers_without_names_are_saved_without_and_new_names_are_unique():
    """B20."""
    text = 'layer { type: "ReLU" bottom: "a" top: "b" }\nlayer { type: "ReLU" bottom: "b" top: "c" }\n'
    graph = OpGraph.parse(text)
    assert len(graph) == 2 and graph.text == text
    with graph.change():
        for _ in range(3):
            graph.add_node("ReLU")
    names = [each.name for each in graph.nodes() if each.name]
    assert len(names) == len(set(names)) == 3 and graph.text.count("name:") == 3


@pytest.mark.parametrize(("typed", "bits"), FLOATS)
def test_floats_are_saved_as_typed(typed, bits):
    """B21."""
    graph = OpGraph.parse("base: 1e-3\n" + layer("p", "x", "y", more="power_param { scale: 0.00392156862745 }"))
    with graph.change():
        graph.set_field(node(graph, "p"), ("power_param", "shift"), typed)
    assert f"shift: {typed}" in graph.text
    assert "base: 1e-3\n" in graph.text and "scale: 0.00392156862745" in graph.text
    own = graph.layer_message(node(graph, "p")).power_param
    assert np.float32(own.shift) == np.float32(float(typed)) == np.float32(float(bits))


def test_a_solvers_spelling_of_a_rate_is_its_value():
    """B21."""
    assert np.float32(read_solver("base_lr: 1e-3").base_lr) == np.float32(0.001)


def test_a_comment_stays_by_its_layer_when_others_go_or_move():
    """B22."""
    text = "".join(
        f"# about {name}\n" + layer(name, bottom, top)
        for name, bottom, top in (("a", "", "x"), ("b", "x", "y"), ("c", "x", "z"))
    )
    graph = OpGraph.parse(text)
    with graph.change():
        graph.remove_nodes([node(graph, "b")])
    assert graph.text == text.replace("# about b\n" + layer("b", "x", "y"), "")


def test_a_big_weights_file_needs_little_more_memory_than_twice_its_size(tmp_path):
    """B23."""
    from engine.schema import load_schema
    from engine.schema.wire import encode_length

    rows = BIG_MIB * 1024 // 4
    path = tmp_path / "big.caffemodel"
    head = load_schema().message("LayerParameter")(name="ip", type="InnerProduct").SerializeToString()
    values = np.zeros(rows * 1024, np.float32)
    values[-1] = 7
    shape = load_schema().message("BlobShape")(dim=[rows, 1024]).SerializeToString()
    blob_head = encode_length(7, len(shape)) + shape + encode_length(5, values.nbytes)
    layer_head = head + encode_length(7, len(blob_head) + values.nbytes)
    with path.open("wb") as file:
        file.write(encode_length(100, len(layer_head) + len(blob_head) + values.nbytes) + layer_head + blob_head)
        file.write(values.data)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path), str(rows)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2.5 * BIG_MIB


@pytest.mark.parametrize(
    ("written", "meant"), [("SoftMaxWithLoss", "SoftmaxWithLoss"), ("convolution", "Convolution"), ("RelU", "ReLU")]
)
def test_a_misspelt_type_gets_the_right_hint(written, meant):
    """B27."""
    found = diagnose(OpGraph.parse(layer("a", "", "x", kind=written)), registry=default_registry())
    (unknown,) = [each for each in found if each.code == "type-unknown"]
    assert meant in unknown.next_step
