"""Logs as tables.

The expected tables of ``LOG`` were written by the ``parse_log.py`` of BVLC Caffe, byte for byte.
"""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import pytest

from engine.cli import main
from engine.cli.training_log import columns, read_training_log

LOG = """\
I1231 23:59:50.100000  4711 caffe.cpp:219] Starting Optimization
I1231 23:59:51.250000  4711 solver.cpp:279] Solving digits
I1231 23:59:51.260000  4711 solver.cpp:280] Learning Rate Policy: step
I1231 23:59:51.300000  4711 solver.cpp:337] Iteration 0, Testing net (#0)
I1231 23:59:52.000000  4711 solver.cpp:404]     Test net output #0: accuracy = 0.1031
I1231 23:59:52.000100  4711 solver.cpp:404]     Test net output #1: loss = 2.36 (* 1 = 2.36 loss)
I1231 23:59:53.500000  4711 solver.cpp:228] Iteration 0, loss = 2.401
I1231 23:59:53.500200  4711 solver.cpp:244]     Train net output #0: loss = 2.401 (* 1 = 2.401 loss)
I1231 23:59:53.500300  4711 solver.cpp:244]     Train net output #1: aux = 1.5e-05 (* 0.3 = 4.5e-06 loss)
I1231 23:59:53.500400  4711 sgd_solver.cpp:106] Iteration 0, lr = 0.01
I0101 00:00:03.750000  4711 solver.cpp:228] Iteration 100 (9.75 iter/s, 10.25s/100 iters), loss = 0.8
I0101 00:00:03.750100  4711 solver.cpp:244]     Train net output #0: loss = 0.8 (* 1 = 0.8 loss)
I0101 00:00:03.750200  4711 solver.cpp:244]     Train net output #1: aux = -2 (* 0.3 = -0.6 loss)
I0101 00:00:03.750300  4711 sgd_solver.cpp:106] Iteration 100, lr = 1e-05
a plugin printed this line
I0101 00:00:04.000000  4711 solver.cpp:454] Snapshotting to binary proto file digits_iter_200.caffemodel
I0101 00:00:14.000000  4711 solver.cpp:337] Iteration 200, Testing net (#0)
I0101 00:00:15.000000  4711 solver.cpp:404]     Test net output #0: accuracy = 0.93
I0101 00:00:15.000100  4711 solver.cpp:404]     Test net output #1: loss = 0.21 (* 1 = 0.21 loss)
I0101 00:00:16.000000  4711 solver.cpp:228] Iteration 200 (8 iter/s, 12.5s/100 iters), loss = 0.3
I0101 00:00:16.000100  4711 solver.cpp:244]     Train net output #0: loss = 0.3 (* 1 = 0.3 loss)
"""
TRAIN = b"NumIters,Seconds,LearningRate,loss,aux\r\n0.0,2.2502,0.01,2.401,1.5e-05\r\n100.0,12.5001,0.01,0.8,-2.0\r\n"
TEST = b"NumIters,Seconds,LearningRate,accuracy,loss\r\n0.0,0.75,1e-05,0.1031,2.36\r\n200.0,23.75,1e-05,0.93,0.21\r\n"


def line(stamp: str, text: str) -> str:
    return f"I{stamp} 9 solver.cpp:1] {text}\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("caffe.INFO").write_text(LOG)
    return Path("caffe.INFO")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_tables_are_those_of_caffes_own_script(log: Path, ends: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_bytes(LOG.replace("\n", ends).encode())
    assert main(["parse_log", "caffe.INFO", "new/tables"]) == 0
    assert Path("new/tables/caffe.INFO.train").read_bytes() == TRAIN
    assert Path("new/tables/caffe.INFO.test").read_bytes() == TEST
    captured = capsys.readouterr()
    assert captured.out == "" and "Wrote new/tables/caffe.INFO.test: 2 rows\n" in captured.err


@pytest.mark.parametrize(("typed", "character"), [(";", ";"), ("\\t", "\t"), ("\t", "\t")])
def test_delimiter_and_verbose(log: Path, typed: str, character: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text("\n".join(each for each in LOG.splitlines() if "Test net" not in each))
    assert main(["parse_log", "caffe.INFO", "--delimiter", typed, "--verbose"]) == 0
    assert Path("caffe.INFO.train").read_bytes() == TRAIN.replace(b",", character.encode())
    told = capsys.readouterr().err
    assert "columns: NumIters, Seconds, LearningRate, loss, aux" in told
    assert "Not writing caffe.INFO.test; no lines to write" in told and not Path("caffe.INFO.test").exists()


def test_json_writes_files_only_where_a_folder_is_named(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse_log", "caffe.INFO", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["files"] == [] and os.listdir() == ["caffe.INFO"]
    assert result["test"][1] == {
        "NumIters": 200,
        "Seconds": 23.75,
        "LearningRate": 1e-05,
        "accuracy": 0.93,
        "loss": 0.21,
    }
    assert main(["parse_log", "caffe.INFO", ".", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["files"] == ["caffe.INFO.train", "caffe.INFO.test"] and captured.err == ""


def test_logs_of_our_own_trainings(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "-solver", "solver.prototxt"]) == 0
    Path("ours.log").write_text(capsys.readouterr().err)
    assert main(["parse_log", "ours.log", "--quiet"]) == 0
    with Path("ours.log.train").open(newline="") as file:
        train = list(csv.DictReader(file))
    with Path("ours.log.test").open(newline="") as file:
        test = list(csv.DictReader(file))
    assert [row["NumIters"] for row in train] == ["0.0", "5.0"]
    assert [row["NumIters"] for row in test] == ["0.0", "5.0", "10.0"]
    assert all(row["LearningRate"] == "0.1" and 0 <= float(row["Seconds"]) < 60 for row in [*train, *test])
    assert list(train[0]) == ["NumIters", "Seconds", "LearningRate", "loss"]
    assert list(test[0]) == ["NumIters", "Seconds", "LearningRate", "accuracy", "loss"]


def test_values_that_are_no_numbers_are_kept() -> None:
    text = "".join(
        line(f"0102 03:04:0{second}.5", text)
        for second, text in enumerate(
            ["Iteration 1, loss = nan", "Train net output #0: loss = nan", "Train net output #1: b c = -inf"]
        )
    )
    (row,) = read_training_log(text, 2020).train
    assert math.isnan(row["loss"]) and math.isnan(row["LearningRate"]) and row["b c"] == -math.inf


def test_two_test_nets_and_a_resumed_training_have_rows_of_their_own() -> None:
    passes = [(0, 0.1), (0, 0.2), (5, 0.3), (5, 0.4), (5, 0.5)]
    text = "".join(
        line("0102 03:04:05.5", f"Iteration {iteration}, Testing net")
        + line("0102 03:04:06.5", f"Test net output #0: accuracy = {score}")
        + line("0102 03:04:06.5", f"Test net output #1: loss = {score}")
        for iteration, score in passes
    )
    rows = read_training_log(text, 2020).test
    assert [(row["NumIters"], row["accuracy"], row["loss"]) for row in rows] == [(i, s, s) for i, s in passes]


def test_a_row_that_was_cut_off_is_left_out_unless_it_is_the_only_one() -> None:
    whole = line("0102 03:04:05.5", "Iteration 0, loss = 1") + "".join(
        line("0102 03:04:05.5", f"Train net output #{number}: {name} = 1") for number, name in enumerate("ab")
    )
    cut = line("0102 03:04:05.5", "Iteration 9, loss = 1") + line("0102 03:04:05.5", "Train net output #0: a = 2")
    assert [row["NumIters"] for row in read_training_log(whole + cut, 2020).train] == [0]
    assert columns(read_training_log(cut, 2020).train) == ["NumIters", "Seconds", "LearningRate", "a"]


@pytest.mark.parametrize(
    ("stamps", "seconds"),
    [
        (("0228 23:59:59.0", "0301 00:00:01.0"), 2),  # in a year without 29 February
        (("0229 23:59:59.0", "0301 00:00:01.0"), 2),
        (("1231 23:00:00.0", "0101 01:00:00.25"), 7200.25),
        (("20230714 10:00:00.000001", "20230714 10:00:01.000002"), 1.000001),  # glog from 0.6 on
    ],
)
def test_time_stamps(stamps: tuple[str, str], seconds: float) -> None:
    text = line(stamps[0], "Solving net") + line(stamps[1], "Iteration 3, loss = 2")
    text += line(stamps[1], "Train net output #0: loss = 2")
    assert read_training_log(text, 2023).train[0]["Seconds"] == pytest.approx(seconds, abs=1e-9)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "got an empty file without them"),
        (b"hello\nworld\n", "got a text file without them"),
        (b'layer { name: "a" type: "ReLU" }', "got a net in prototxt without them"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "got an image without them"),
        (
            line("0102 03:04:05.5", "Iteration 0, lr = 1").encode(),
            "'Train net output #0: loss = 0.2' with a time stamp",
        ),
    ],
)
def test_files_that_hold_no_training(log: Path, data: bytes, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_bytes(data)
    assert main(["parse_log", "caffe.INFO"]) == 1
    assert words in capsys.readouterr().err and os.listdir() == ["caffe.INFO"]


@pytest.mark.parametrize("character", ["", ";;", "\n", '"'])
def test_delimiters_that_are_none(log: Path, character: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["parse_log", "caffe.INFO", "--delimiter", character])
