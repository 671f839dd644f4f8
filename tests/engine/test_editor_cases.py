"""Faults that users of other editors met with documents, tried by the command line and the graph."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engine.cli.commands import main
from engine.diagnostics import diagnose
from engine.graph import OpGraph
from engine.prototxt import parse
from engine.registry import default_registry
from engine.schema import convert, guess_dialect, load_schema, to_text
from tests.engine.graph.nets import layer, node
from tests.support import shared_files

CORPUS = shared_files("corpus/prototxt/*/*.prototxt")
INPUT = layer("x", "", "x", "Input", "input_param { shape { dim: 2 dim: 3 } }")
#: Layer 2 reads what layer 4 makes; the second time, in a circle.
FORWARD = INPUT + layer("two", "d", "b") + layer("three", "x", "c") + layer("four", "c", "d")
CIRCLE = INPUT + layer("two", "d", "b") + layer("three", "b", "c") + layer("four", "c", "d")


def checked(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, object]]]:
    """What ``netcanvas check`` says of a file."""
    code = main(["check", str(path), "--json"])
    report = json.loads(capsys.readouterr().out)
    return code, report["diagnostics"] if isinstance(report, dict) else report


@pytest.mark.parametrize(("text", "code"), [(FORWARD, "forward-reference"), (CIRCLE, "cycle")])
def test_a_forward_reference_opens_marked_and_a_run_is_refused(tmp_path, capsys, text: str, code: str) -> None:
    """F11."""
    path, solver = tmp_path / "net.prototxt", tmp_path / "solver.prototxt"
    path.write_text(text)
    solver.write_text('net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 1')
    graph = OpGraph.parse(text)
    assert len(graph) == 4 and graph.text == text
    exit_code, found = checked(path, capsys)
    assert exit_code == 1
    (told,) = [each for each in found if each["code"] == code]
    assert "'two'" in str(told["message"]) and "'four' (line 4)" in str(told["message"])
    assert main(["train", "--solver", str(solver), "--quiet"]) == 1
    error = capsys.readouterr().err
    assert "'d'" in error and "four" in error


def test_a_circle_is_refused_when_it_would_be_closed_and_in_place_is_none() -> None:
    """F11."""
    graph = OpGraph.parse(INPUT + layer("two", "x", "b") + layer("three", "b", "c") + layer("r", "c", "c", "ReLU"))
    assert not graph.can_connect(node(graph, "r"), 0, node(graph, "two"), 0)
    assert graph.can_connect(node(graph, "two"), 0, node(graph, "r"), 0)


@pytest.mark.skipif(not CORPUS, reason="reference files are not here")
def test_published_nets_are_saved_untouched_and_mean_the_same_when_printed_anew() -> None:
    """F12."""
    for path in CORPUS:
        data = path.read_bytes()
        tree = parse(data)
        assert bytes(tree) == data and bytes(OpGraph.parse(data)) == data
        name = "SolverParameter" if "solver" in path.name else "NetParameter"
        schema = load_schema(guess_dialect(tree).name)
        message = convert(tree.root, name, schema=schema).message
        again = convert(parse(to_text(message)).root, name, schema=schema)
        assert not again.problems
        assert again.message.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
    assert len(CORPUS) > 40


def test_defaults_are_not_written_unless_set(tmp_path) -> None:
    """F12."""
    text = INPUT + layer("c", "x", "y", "InnerProduct", "inner_product_param { num_output: 3 }")
    path = tmp_path / "net.prototxt"
    path.write_text(text)
    assert main(["set", str(path), "c", "inner_product_param.num_output", "5"]) == 0
    assert path.read_text() == text.replace("num_output: 3", "num_output: 5")
    assert main(["set", str(path), "c", "inner_product_param.bias_term", "true"]) == 0
    assert path.read_text().count("bias_term") == 1


def test_a_net_whose_data_is_away_opens_at_once_and_is_flagged(tmp_path, capsys) -> None:
    """F15."""
    source = layer("d", "", "x l", "Data", 'data_param { source: "no/where_lmdb" batch_size: 2 backend: LMDB }')
    path, solver = tmp_path / "net.prototxt", tmp_path / "solver.prototxt"
    path.write_text(source + layer("s", "x", "") + layer("loss", "x l", "loss", "SoftmaxWithLoss"))
    solver.write_text('net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 1')
    start = time.thread_time()
    graph = OpGraph.parse(path.read_bytes())
    found = diagnose(graph, registry=default_registry(), folder=tmp_path)
    assert time.thread_time() - start < 1
    (told,) = [each for each in found if each.code == "file-missing"]
    assert told.node == node(graph, "d") and told.field == ("data_param", "source")
    assert "no/where_lmdb' is not there; tried /" in told.message
    assert main(["train", "--solver", str(solver), "--quiet"]) == 1
    assert "no/where_lmdb" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.caffemodel", b"\x0a\x05LeNet\xa2\x06\x08\x0a\x02ip\x12\x02IP", "weights"),
        ("page.prototxt", b"<!DOCTYPE html>\n<html><body>404</body></html>", "HTML"),
        ("solver.prototxt", b'net: "n.prototxt"\nbase_lr: 0.1\nmax_iter: 10\n', "solver"),
        ("empty.prototxt", b"", "empty"),
        ("page.json", b'{"net": {"layer": []}}', ""),
        ("script.prototxt", b"import caffe\nnet = caffe.Net('a')\n", ""),
        ("picture.prototxt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ""),
        ("archive.prototxt", b"\x1f\x8b\x08\0\0\0\0\0", ""),
        ("git.prototxt", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", ""),
    ],
)
def test_what_is_no_net_says_what_it_looks_like(tmp_path, capsys, name: str, content: bytes, words: str) -> None:
    """B3."""
    path = tmp_path / name
    path.write_bytes(content)
    # Weights hold their net, which show takes; a check asks for the text.
    assert main(["check" if words == "weights" else "show", str(path)]) == 1
    error = "".join(capsys.readouterr())
    assert words in error and name in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (lambda lines: [each for place, each in enumerate(lines) if place != 17], 17, ("layer 'l3'", "}")),
        (lambda lines: [each.replace('"l3"', "“l3”") for each in lines], 14, ("“l3”", "quotes")),
        (lambda lines: [*lines[:15], "  num_output 10", *lines[15:]], 16, ("num_output", "colon")),
        (lambda lines: [*lines[:15], "  num_output = 10", *lines[15:]], 16, ("'='", "':'")),
        (lambda lines: [*lines[:15], "  // a note", *lines[15:]], 16, ("//", "#")),
        (lambda lines: [*lines[:18], "}", *lines[18:]], 19, ("'}'", "too many")),
        (lambda lines: [each.replace('"l3"', '"l3') for each in lines], 14, ("l3", "not closed")),
        (lambda lines: [*lines[:15], "  loss_weight: +1", *lines[15:]], 16, ("+1", "plus")),
    ],
    ids=["brace", "smart quote", "no colon", "equals", "slashes", "brace too many", "open quote", "plus"],
)
def test_a_mistake_is_told_by_file_line_column_and_layer(tmp_path, capsys, change, line: int, words) -> None:
    """B2, with more of its kind."""
    sound = "".join(f'layer {{\n  name: "l{i}"\n  type: "ReLU"\n  bottom: "b"\n  top: "b"\n}}\n' for i in range(1, 6))
    path = tmp_path / "net.prototxt"
    path.write_text('input: "b" ' + "\n".join(change(sound.split("\n"))), encoding="utf-8")
    assert main(["check", str(path)]) == 1
    first = next(each for each in capsys.readouterr().out.splitlines() if "[syntax]" in each)
    place, column = first.removeprefix(f"{path}:").split(":")[:2]
    assert abs(int(place) - line) <= 1 and int(column) >= 1
    assert all(word in first for word in words)
