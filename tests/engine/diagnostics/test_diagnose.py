"""What is wrong is said where it is, and fixes mend it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.diagnostics import SchemaMemo, diagnose
from engine.errors import DataError, LayerError, NetcanvasError
from engine.graph import OpGraph
from engine.node_shapes import NodeShapes
from tests.engine.diagnostics.support import Types
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent, layer, node
from tests.support import SHARED

TRAIN, TEST = "include { phase: TRAIN }", "include { phase: TEST }"


def found(text: str, code: str, **options):
    """The graph and the diagnostics of one code."""
    graph = OpGraph.parse(text)
    return graph, [each for each in diagnose(graph, **options) if each.code == code]


def only(text: str, code: str, **options):
    graph, diagnostics = found(text, code, **options)
    assert len(diagnostics) == 1, diagnostics
    return graph, diagnostics[0]


def mend(graph: OpGraph, diagnostic) -> list[str]:
    """Apply the fix, undo it, apply it again; return the codes that are left."""
    before = graph.text
    with graph.change(diagnostic.fix.label) as change:
        diagnostic.fix.apply(graph)
    after = graph.text
    assert_consistent(graph)
    change.undo()
    assert graph.text == before
    change.redo()
    assert graph.text == after
    return [each.code for each in diagnose(graph, registry=Types()) if each.severity == "error"]


def test_a_sound_net_has_nothing_to_tell():
    assert [each for each in diagnose(OpGraph.parse(LENET)) if each.severity != "info"] == []


def test_text_that_cannot_be_read_is_told_with_layer_line_and_hint():
    text = LENET.replace("kernel_size: 5", "kernel_size = 5")
    graph, diagnostic = only(text, "syntax")
    assert (diagnostic.severity, diagnostic.line) == ("error", text.splitlines().index("    kernel_size = 5") + 1)
    assert diagnostic.node == node(graph, "conv1")
    assert "'conv1'" in diagnostic.message and "':'" in diagnostic.next_step


def test_a_bottom_of_the_other_phase_names_its_writer():
    """B11."""
    text = layer("t", "", "data label", more=TRAIN) + layer("e", "", "data", more=TEST)
    graph, diagnostic = only(text + layer("acc", "data label", "a", more=TEST), "bottom-other-phase")
    assert diagnostic.node == node(graph, "acc") and diagnostic.field == ("bottom", 1)
    assert (diagnostic.line, diagnostic.severity) == (3, "error")
    assert all(word in diagnostic.message for word in ("'label'", "TEST", "'t'", "only in TRAIN", "line 1"))


def test_a_net_without_data_in_a_phase_is_not_blamed_for_it():
    _, diagnostics = found(layer("d", "", "x", more=TRAIN) + layer("a", "x", "y"), "bottom-other-phase")
    assert not diagnostics


def test_an_unknown_bottom_gets_the_closest_name():
    graph, diagnostic = only(layer("d", "", "data") + layer("a", "date", "y"), "bottom-unknown")
    assert "'date'" in diagnostic.message and "'data'" in diagnostic.next_step
    assert mend(graph, diagnostic) == []


def test_an_unwired_bottom_is_told():
    graph, diagnostic = only(layer("a", "?", "y"), "bottom-unwired")
    assert (diagnostic.severity, diagnostic.node, diagnostic.field) == ("error", node(graph, "a"), ("bottom", 0))


def test_a_forward_reference_opens_marked_and_is_mended_by_moving():
    text = layer("one", "", "a") + layer("two", "d", "b") + layer("three", "b", "c") + layer("four", "a", "d")
    graph, diagnostic = only(text, "forward-reference")
    assert diagnostic.node == node(graph, "two") and "'four' (line 4)" in diagnostic.message
    assert mend(graph, diagnostic) == []
    assert [n.name for n in graph.nodes()] == ["one", "four", "two", "three"]


def test_a_cycle_is_called_one():
    _, diagnostic = only(layer("a", "c", "b") + layer("x", "b", "c"), "cycle")
    assert "'a'" in diagnostic.message and "'x'" in diagnostic.message


def test_two_writers_of_a_top_are_an_error_in_one_phase_only():
    """B19."""
    graph, diagnostic = only(layer("a", "", "c") + layer("b", "", "c"), "top-duplicate")
    assert "'a'" in diagnostic.message and "'b'" in diagnostic.message
    assert mend(graph, diagnostic) == []
    assert not found(layer("a", "", "c", more=TRAIN) + layer("b", "", "c", more=TEST), "top-duplicate")[1]
    assert not found(layer("d", "", "data") + CHAIN, "top-duplicate")[1]
    assert found(layer("a", "", "c c"), "top-duplicate")[1]


def test_tops_that_nobody_reads_are_mentioned():
    text = layer("d", "", "x y") + layer("loss", "x", "l", kind="EuclideanLoss")
    _, diagnostic = only(text, "top-unused")
    assert (diagnostic.severity, diagnostic.field) == ("info", ("top", 1))


@pytest.mark.parametrize(
    ("written", "closest"), [("SoftMaxWithLoss", "SoftmaxWithLoss"), ("convolution", "Convolution"), ("RelU", "ReLU")]
)
def test_an_unknown_type_gets_the_closest_known(written, closest):
    """B27."""
    graph, diagnostic = only(layer("a", "", "x", kind=written), "type-unknown", registry=Types())
    assert written in diagnostic.message and closest in diagnostic.next_step
    diagnostic.fix.apply(graph)
    assert graph.nodes()[0].type == closest


def test_a_foreign_type_without_a_look_alike_has_no_fix():
    _, diagnostic = only(layer("a", "", "x", kind="Zzz"), "type-unknown", registry=Types())
    assert diagnostic.fix is None and "plugin" in diagnostic.next_step


def test_the_number_of_bottoms_is_checked():
    _, diagnostic = only(layer("a", "x", "l", kind="SoftmaxWithLoss"), "bottoms-count", registry=Types())
    assert "2 to 3 bottoms, has 1" in diagnostic.message


@pytest.mark.parametrize(
    ("more", "code", "severity", "path", "word"),
    [
        (
            "convolution_param { num_outputs: 3 }",
            "field-unknown",
            "warning",
            ("convolution_param", "num_outputs"),
            "num_output",
        ),
        (
            'convolution_param { num_output: "3" }',
            "field-value",
            "error",
            ("convolution_param", "num_output"),
            "quotes",
        ),
        ("pooling_param { pool: MAXX }", "word-unknown", "warning", ("pooling_param", "pool"), "MAXX"),
        ("param { } param { lr_mult: x }", "field-value", "error", ("param", 1, "lr_mult"), "lr_mult"),
        ("dropout_param { dropout_ratio: 1 dropout_ratio: 2 }", "field-repeated", "error", None, "dropout_ratio"),
    ],
)
def test_fields_are_held_against_the_schema(more, code, severity, path, word):
    graph, diagnostic = only(layer("first", "", "y") + layer("a", "", "x", more=more), code)
    assert (diagnostic.severity, diagnostic.line, diagnostic.node) == (severity, 2, node(graph, "a"))
    assert path is None or diagnostic.field == path
    assert "'a'" in diagnostic.message and word in diagnostic.message + diagnostic.next_step


def test_the_nets_own_fields_are_checked_too():
    _, diagnostic = only('nam: "x"\n' + layer("a", "", "x"), "field-unknown")
    assert (diagnostic.node, diagnostic.line, diagnostic.field) == (None, 1, ("nam",))


def test_a_memo_follows_edits_and_moved_lines():
    graph = OpGraph.parse(layer("a", "", "x") + layer("b", "", "y", more="pooling_param { pool: MAXX }"))
    memo = SchemaMemo()

    def lines():
        return [each.line for each in diagnose(graph, memo=memo) if each.code == "word-unknown"]

    assert lines() == lines() == [2]
    graph.add_node("ReLU", after=node(graph, "a"))
    assert lines() == [3]
    graph.set_field(node(graph, "b"), ("pooling_param", "pool"), "MAX")
    assert lines() == []


def test_old_and_new_layers_in_one_file_are_both_named():
    old = 'layers { name: "o" type: RELU bottom: "x" top: "y" }\n'
    _, diagnostic = only(layer("n", "", "x") + old, "format-mixed")
    assert diagnostic.severity == "error" and "line 1" in diagnostic.message and "line 2" in diagnostic.message
    _, alone = only(old + old.replace("o", "p"), "format-old")
    assert (alone.severity, alone.line) == ("info", 1)


@pytest.mark.parametrize(("reader", "count"), [("conv", 0), ("pool", 0), ("relu", 1)])
def test_padding_layers_stand_before_what_can_pad(reader, count):
    text = 'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "y" }\n'
    text += f'layers {{ layer {{ name: "r" type: "{reader}" }} bottom: "y" top: "z" }}\n'
    graph, diagnostics = found(text, "padding-misplaced", registry=Types())
    assert len(diagnostics) == count
    assert not any(each.node == node(graph, "p") for each in diagnose(graph) if each.code == "type-unknown")


def test_a_loss_needs_no_top():
    top = layer("a", "x", "y", kind="InnerProduct", more="inner_product_param { num_output: 2 }")
    _, diagnostics = found(top + layer("l", "x y", "", kind="SoftmaxWithLoss"), "tops-count", registry=Types())
    assert not diagnostics


def test_a_type_of_caffe_that_is_not_offered_is_no_slip():
    _, diagnostic = only(layer("a", "", "x", kind="Deconvolution"), "type-not-offered", registry=Types())
    assert "Caffe's layer type 'Deconvolution'" in diagnostic.message


def test_training_without_a_loss_is_doubtful():
    data = layer("d", "", "x", kind="Data")
    _, diagnostic = only(data, "loss-missing")
    assert diagnostic.severity == "warning"
    for more in (
        layer("l", "x", "l", kind="SoftmaxWithLoss"),
        layer("l", "x", "l", kind="Python", more="loss_weight: 1"),
    ):
        assert not found(data + more, "loss-missing")[1]
    assert found(data + layer("l", "x", "l", more="loss_weight: 0"), "loss-missing")[1]
    assert not found(layer("d", "", "x", kind="Input"), "loss-missing")[1]


def test_one_name_for_two_layers_of_a_phase_is_doubtful():
    graph, diagnostic = only(
        layer("a", "", "x", kind="Convolution") + layer("a", "", "y", kind="Convolution"), "name-duplicate"
    )
    assert diagnostic.severity == "warning"
    assert mend(graph, diagnostic) == []
    assert graph.nodes()[1].name == "conv1"
    assert not found(LENET, "name-duplicate")[1]


@pytest.mark.parametrize(
    ("first", "second", "doubtful"),
    [
        ("Power", "Power", False),
        ("Convolution", "Power", False),
        ("Pooling", "InnerProduct", False),
        ("Python", "InnerProduct", True),
        ("Foreign", "Foreign", True),
    ],
)
def test_one_name_matters_only_where_both_may_have_weights(first, second, doubtful):
    text = layer("a", "", "x", kind=first) + layer("a", "", "y", kind=second)
    assert bool(found(text, "name-duplicate")[1]) == doubtful


@pytest.mark.parametrize(
    ("net", "more", "told"),
    [
        ("input: 'x' input_dim: [1, 2, 3, 4]\n", "", False),
        (layer("x", "", "x", kind="Input"), "", False),
        (layer("x", "", "x", kind="Input"), layer("l", "x", "l", kind="EuclideanLoss"), True),
        (layer("x", "", "x", kind="DummyData"), "", True),
    ],
)
def test_a_net_that_cannot_train_is_not_judged_in_training(net, more, told):
    text = net + layer("r", "x", "y", more=TEST) + layer("a", "y", "z") + more
    assert bool(found(text, "bottom-other-phase")[1]) == told


def test_that_judgement_follows_edits():
    """B11."""
    text = layer("x", "", "x", kind="Input") + layer("r", "x", "y", more=TEST) + layer("a", "y", "z")
    graph, memo = OpGraph.parse(text), SchemaMemo()
    assert not [each for each in diagnose(graph, memo=memo) if each.severity == "error"]
    with graph.change() as change:
        graph.set_field(node(graph, "a"), ("type",), '"EuclideanLoss"')
    assert next(each.code for each in diagnose(graph, memo=memo)) == "bottom-other-phase"
    change.undo()
    assert not [each for each in diagnose(graph, memo=memo) if each.severity == "error"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the corpus is not beside this checkout")
def test_a_public_deploy_net_has_no_false_alarm():
    path = next((SHARED / "corpus/prototxt/intel").glob("*LRCN*__deploy_lstm.prototxt"))
    assert not [each for each in diagnose(OpGraph.parse(path.read_bytes())) if each.code == "bottom-other-phase"]


def test_types_that_are_not_offered_are_told_once_and_mark_all_their_layers():
    text = "".join(layer(f"n{place}", "", f"x{place}", kind="LRN") for place in range(5))
    graph, diagnostics = found(text + layer("e", "", "y", kind="MVN"), "type-not-offered", registry=Types())
    many, single = diagnostics
    assert "'LRN', which 5 layers have" in many.message and "'n0' (line 1)" in many.message
    assert "'n2' (line 3) and 2 more." in many.message
    assert (many.node, many.others) == (node(graph, "n0"), tuple(node(graph, f"n{place}") for place in range(1, 5)))
    assert "'e'" in single.message and not single.others


@pytest.mark.parametrize("more", ["", layer("n", "x", "y")])
def test_an_old_file_is_upgraded_by_a_fix(more):
    """B5, B6."""
    text = "layers { name: 'd' type: DATA top: 'x' }\n" + more
    graph, diagnostic = only(text, "format-mixed" if more else "format-old")
    with graph.change():
        diagnostic.fix.apply(graph)
    assert [each.version for each in graph.nodes()] == [2] * len(graph)
    assert not [each for each in diagnose(graph) if each.code.startswith("format-")]


def test_include_and_exclude_rules_exclude_each_other():
    _, diagnostic = only(layer("a", "", "x", more=TRAIN + " exclude { phase: TEST }"), "rule-both")
    assert diagnostic.severity == "error"


def test_missing_files_are_told_by_path_without_opening(tmp_path):
    (tmp_path / "there").mkdir()
    text = layer("a", "", "x", kind="Data", more='data_param { source: "there" }')
    text += layer("b", "", "y", kind="Data", more='data_param { source: "gone" } transform_param { mean_file: "m" }')
    graph, diagnostics = found(text, "file-missing", folder=tmp_path)
    assert [each.field for each in diagnostics] == [("data_param", "source"), ("transform_param", "mean_file")]
    assert all(each.node == node(graph, "b") and each.severity == "warning" for each in diagnostics)
    assert "'gone'" in diagnostics[0].message and str(tmp_path) not in diagnostics[0].message.split("tried")[0]
    assert not found(text, "file-missing")[1]


def test_errors_of_the_shape_service_are_passed_on():
    graph = OpGraph.parse(LENET)
    error = LayerError("ip", "InnerProduct", "expected 2-D", port="bottom 0", next_step="Flatten it.")
    shapes = {node(graph, "ip"): SimpleNamespace(error=error), node(graph, "loss"): SimpleNamespace(error=None)}
    (diagnostic,) = [each for each in diagnose(graph, shapes=shapes) if each.code == "shape"]
    assert diagnostic.node == node(graph, "ip") and "expected 2-D" in diagnostic.message
    assert diagnostic.next_step == "Flatten it."


def test_the_worst_comes_first():
    text = layer("d", "", "x y z", kind="Data") + layer("a", "?", "q", more="bogus: 1")
    severities = [each.severity for each in diagnose(OpGraph.parse(text))]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert {"error", "warning", "info"} == set(severities)


@pytest.mark.parametrize("name", ["bvlc/examples__mnist__lenet_train_test", "bvlc/models__bvlc_googlenet__train_val"])
def test_caffes_own_nets_are_clean(name):
    path = SHARED / f"corpus/prototxt/{name}.prototxt"
    if not path.exists():
        pytest.skip("reference files are not beside this checkout")
    assert [each for each in diagnose(OpGraph.parse(path.read_bytes())) if each.severity != "info"] == []


@pytest.mark.parametrize("missing", [True, False])
def test_missing_data_is_told_once_and_is_no_fault_of_the_net(tmp_path, missing):
    graph = OpGraph.parse(b'layer { name: "d" type: "Data" top: "d" data_param { source: "nowhere" } }')
    error = DataError("'nowhere' was not found.") if missing else NetcanvasError("Something else.")
    shapes = {id: NodeShapes((), (None,), state="unknown", error=error) for id in graph.node_ids()}
    told = [each.code for each in diagnose(graph, folder=tmp_path, shapes=shapes)]
    assert [code for code in told if code in ("shape", "file-missing")] == ["shape"] * (not missing) + ["file-missing"]


@pytest.mark.parametrize(("missing", "asked", "told"), [("m", False, True), ("m", True, False), ("n", False, False)])
def test_a_module_that_is_nowhere_is_told_unless_its_layer_did(missing, asked, told):
    text = 'layer { name: "p" type: "Python" python_param { module: "m" layer: "L" } }'
    error = NetcanvasError("No module 'm'.") if asked else None
    shapes = {id: NodeShapes((), (), state="unknown", error=error) for id in OpGraph.parse(text).node_ids()}
    _graph, each = found(text, "module-missing", missing=frozenset({missing}), shapes=shapes)
    assert [one.field for one in each] == [("python_param", "module")] * told
