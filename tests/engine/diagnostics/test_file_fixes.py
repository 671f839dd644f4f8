"""A path that leads nowhere is mended by what is called alike beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.diagnostics import check_files
from engine.graph import OpGraph

DATA = 'layer { name: "d" type: "Data" top: "x" data_param { source: "%s" batch_size: 1 } }\n'
LIST = 'layer { name: "d" type: "ImageData" top: "x" image_data_param { source: "%s" } }\n'


def fixed(text: str, folder: Path) -> list[tuple[str, str]]:
    """What the fixes are called, and the paths that stand in the net after each."""
    found = []
    for place in range(5):
        graph = OpGraph.parse(text.encode())
        nodes = [node.id for node in graph.nodes()]
        (told,) = check_files(graph, nodes, folder)
        if place >= len(told.fixes):
            break
        with graph.change("x"):
            told.fixes[place].apply(graph)
        found.append((told.fixes[place].label, graph.text.split('source: "')[1].split('"')[0]))
        assert not list(check_files(graph, nodes, folder)), "what a fix names is there"
    return found


@pytest.mark.parametrize(
    ("net", "there", "wanted"),
    [
        (DATA % "mnist_train_lmdb", ["mnist_test_lmdb/", "other/", "mnist_train_lmdb.txt"], ["mnist_test_lmdb"]),
        (DATA % "examples/mnist/mnist_train_lmdb", ["mnist_train_lmdb/"], ["mnist_train_lmdb"]),
        (DATA % "data/train_lmdb", ["data/Train_LMDB/", "data/val_lmdb/"], ["data/Train_LMDB"]),
        (
            LIST % "lists/train.txt",
            ["lists/trian.txt", "lists/train.txt.d/", "train.tx"],
            ["train.tx", "lists/trian.txt"],
        ),
        (LIST % "train.txt", ["quite-another.bin"], []),
        (LIST % "a\\000b", [], []),
    ],
)
def test_what_is_called_alike_is_offered_the_most_alike_first(tmp_path, net, there, wanted):
    for name in there:
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    assert fixed(net, tmp_path) == [(f"Use '{each}'", each) for each in wanted]


def test_an_absolute_path_stays_one(tmp_path):
    (tmp_path / "far" / "train_lmdb_1").mkdir(parents=True)
    there = (tmp_path / "far" / "train_lmdb_1").as_posix()
    (tmp_path / "near").mkdir()
    assert fixed(DATA % (tmp_path / "far" / "train_lmdb").as_posix(), tmp_path / "near") == [(f"Use '{there}'", there)]
