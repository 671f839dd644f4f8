from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.cli import COMMANDS, is_command, main, train_in_terminal
from engine.cli.output import Output
from engine.solvers import Solver
from tests.engine.solvers.nets import SOLVER, write_project
from tests.support import ROOT

SETTINGS = "test_iter: 2 test_interval: 5 display: 5 max_iter: 10\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path)
    (tmp_path / "solver.prototxt").write_text(SOLVER + SETTINGS)
    elsewhere = tmp_path / "work"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return tmp_path


@pytest.mark.parametrize(
    "flags",
    [
        ["--solver", "FILE"],
        ["-solver", "FILE"],
        ["-solver=FILE"],
        ["--solver=FILE", "-sigint_effect", "none", "--sighup_effect=stop", "-stage=a,b", "-level", "1"],
    ],
)
def test_train_writes_where_caffe_would(project: Path, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", *(flag.replace("FILE", str(project / "solver.prototxt")) for flag in flags)]) == 0
    assert (project / "work" / "snap_iter_10.solverstate").exists()
    captured = capsys.readouterr()
    assert re.search(r"Done at iteration 10: 10 iterations in .* s \(.* it/s\)", captured.out)
    assert re.search(r"Test at iteration 10: accuracy = [0-9.]+", captured.out)
    assert re.search(r"^I\d{4} .*\] Iteration 5 \(.*\), loss = ", captured.err, re.MULTILINE)


def test_train_json_and_quiet(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--solver", str(project / "solver.prototxt"), "--json", "--quiet", "--seed", "5"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert (result["iteration"], result["seed"], captured.err) == (10, 5, "")
    assert 0 <= result["tests"][0]["outputs"]["accuracy"] <= 1 and result["snapshot"][1].endswith(".solverstate")


def test_train_goes_on_from_a_snapshot_and_from_weights(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = str(project / "solver.prototxt")
    (project / "solver.prototxt").write_text(SOLVER + "max_iter: 4\n")
    assert main(["train", "--solver", solver]) == 0
    (project / "solver.prototxt").write_text(SOLVER + "max_iter: 6\n")
    assert main(["train", "-solver", solver, "-snapshot", "snap_iter_4.solverstate"]) == 0
    assert "Done at iteration 6: 2 iterations in" in capsys.readouterr().out
    assert main(["train", "-solver", solver, "-weights=snap_iter_4.caffemodel,snap_iter_6.caffemodel"]) == 0
    assert "Done at iteration 6: 6 iterations in" in capsys.readouterr().out
    assert main(["train", "-solver", solver, "-snapshot", "snap_iter_6.solverstate"]) == 1
    assert "expected a max_iter above the 6 iterations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "--solver", "gone.prototxt"], 1, "gone.prototxt"),
        (["train", "--solver", "S", "--gpu", "0"], 1, "--gpu 0"),
        (["train", "--solver", "S", "--snapshot", "N"], 1, "Expected a solver state"),
        (["train", "--solver", "S", "--snapshot", "a", "--weights", "b"], 2, "not allowed with"),
        (["train"], 2, "--solver"),
        (["test", "--model", "N", "--weights", "S"], 1, "Expected a weights file"),
        (["nonsense"], 2, "'nonsense' is no command; expected one of train,"),
        (["-solver", "S"], 2, "'--solver' is no command"),
        ([], 2, ""),
        (["run", "gone.py"], 1, "'gone.py' was not found"),
        (["run", "."], 1, "'.' is a folder"),
        (["run"], 2, "required: SCRIPT"),
        (["train", "--solver", "N"], 1, "whose 'net' field names this net"),
        (["train", "--solver", "S", "--threads", "0"], 2, "1 or more, got '0'"),
        (["train", "--solver", "S", "--seed", "99999999999999999999"], 2, "from 0 to 9223372036854775807"),
        (["train", "--solver", "S", "--weights", ""], 2, "one or more .caffemodel files"),
        (["test", "--model", "N", "--weights", "S", "--iterations", "-5"], 2, "1 or more, got '-5'"),
        (["test", "--model", "E", "--weights", "S"], 1, "nothing to run"),
    ],
)
def test_errors(
    project: Path, arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "empty.prototxt").write_text('name: "nothing"\n')
    names = {name[0].upper(): str(project / f"{name}.prototxt") for name in ("solver", "net", "empty")}
    try:
        got = main([names.get(argument, argument) for argument in arguments])
    except SystemExit as exit_request:
        got = exit_request.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    assert got == code and message.lower() in captured.err.lower() and "Traceback" not in captured.err


@pytest.mark.parametrize("as_json", [False, True])
def test_test_prints_scores(project: Path, as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "--solver", str(project / "solver.prototxt"), "--quiet", "--json"])
    trained = json.loads(capsys.readouterr().out)["tests"][0]["outputs"]
    arguments = [
        "test",
        "-model",
        str(project / "net.prototxt"),
        "-weights",
        "snap_iter_10.caffemodel",
        "-iterations",
        "13",
    ]
    assert main([*arguments, "--json"] if as_json else arguments) == 0
    text = capsys.readouterr().out
    if as_json:
        result = json.loads(text)
        assert result["batches"] == 13 and set(result["outputs"]) == set(trained) == {"accuracy", "loss"}
    else:
        assert re.search(r"^Loss: ([0-9.]+)\naccuracy = [0-9.]+\nloss = \1 \(\* 1 = \1 loss\)$", text, re.MULTILINE)


class SendSignal:
    def __init__(self, number: int, at: int) -> None:
        self._number, self._at = number, at

    def on_iteration(self, report: Any) -> None:
        if report.iteration == self._at:
            os.kill(os.getpid(), self._number)


@pytest.mark.parametrize(
    ("number", "flags", "last", "snapshots"),
    [
        (signal.SIGINT, [], 3, [3]),
        (signal.SIGHUP, [], 10, [3, 10]),
        (signal.SIGINT, ["--sigint-effect", "none"], 10, [10]),
        (signal.SIGHUP, ["-sighup_effect=stop"], 3, [3]),
    ],
)
def test_signals(
    project: Path, number: int, flags: list[str], last: int, snapshots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Solver.create

    def with_signal(*args: Any, **kwargs: Any) -> Solver:
        solver = create(*args, **kwargs)
        solver.listeners.append(SendSignal(number, 2))
        return solver

    monkeypatch.setattr(Solver, "create", with_signal)
    before = signal.getsignal(number)
    assert main(["train", "--solver", str(project / "solver.prototxt"), *flags]) == 0
    assert signal.getsignal(number) is before
    found = sorted(int(path.stem.rpartition("_")[2]) for path in Path().glob("*.solverstate"))
    assert found == snapshots and max(found) == last


def test_second_interrupt_ends_at_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = Solver.create

    def impatient(*args: Any, **kwargs: Any) -> Solver:
        solver = create(*args, **kwargs)
        solver.listeners += [SendSignal(signal.SIGINT, 2), SendSignal(signal.SIGINT, 2)]
        return solver

    monkeypatch.setattr(Solver, "create", impatient)
    assert main(["train", "--solver", str(project / "solver.prototxt")]) == 130
    assert not list(Path().glob("snap*"))


def test_run_gives_scripts_our_caffe(project: Path) -> None:
    (project / "helper.py").write_text("VALUE = 5\n")
    (project / "script.py").write_text(
        "import sys, caffe, helper\n"
        "print(__name__, sys.argv[1:], caffe.TEST, helper.VALUE, caffe.__name__)\n"
        "sys.exit(3)\n"
    )
    command = [sys.executable, "-m", "engine.cli", "run", str(project / "script.py"), "-solver", "--x=1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout.split(" engine")[0]) == (3, "__main__ ['-solver', '--x=1'] TEST 5"), (
        done.stderr
    )


@pytest.mark.parametrize(
    ("text", "code", "lines", "last"),
    [
        ("def f():\n    raise KeyError('q7')\nf()\n", 1, [3, 2], "KeyError: 'q7'"),
        ("def f(:\n", 1, [1], "SyntaxError: invalid syntax"),
        ("raise KeyboardInterrupt\n", 130, [1], "KeyboardInterrupt"),
        ("import sys\nsys.exit('enough')\n", 1, [], "enough"),
        ("import pickle, sys\nclass A: pass\npickle.dumps(A())\nassert sys.argv[0] == '../script.py'\n", 0, [], ""),
        ("import app, os\nos.chdir('/')\nassert app.MINE and os.path.exists(__file__)\n", 0, [], ""),
    ],
)
def test_a_script_ends_as_it_would_in_python(
    project: Path, text: str, code: int, lines: list[int], last: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "app.py").write_text("MINE = True\n")
    script = project / "script.py"
    script.write_text(text)
    entry = "import sys; from app.main import main; sys.exit(main())"
    command = [sys.executable, "-c", entry, "run", os.path.relpath(script)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, env=environment, check=False).returncode == code
    told = capfd.readouterr().err.strip()
    assert [int(line) for line in re.findall(r"line (\d+)", told)] == lines
    assert told.count("File ") == told.count(f'File "{script}"') == len(lines) and told.endswith(last)


def test_training_without_a_display(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train_in_terminal(project / "solver.prototxt") == 0
    captured = capsys.readouterr()
    assert "100%" in captured.err and "10/10" in captured.err and "Iteration" not in captured.err
    assert "accuracy = " in captured.out


def test_which_arguments_are_commands() -> None:
    assert all(is_command([word]) for word in ("train", "--help", "--version", "-version", "trian", "device_query"))
    assert not any(is_command(arguments) for arguments in ([], ["net.prototxt"], ["./train"], ["net.v2"]))


def test_a_file_may_be_called_like_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_command(["mynet"])
    (tmp_path / "mynet").touch()
    assert not is_command(["mynet"])


def test_json_holds_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).result([], {"loss": float("nan"), "outputs": {"a": [1.0, float("inf")]}})
    assert json.loads(capsys.readouterr().out) == {"loss": None, "outputs": {"a": [1.0, None]}}


def test_help_names_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_request:
        main(["--help"])
    assert exit_request.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)


def test_a_crash_in_native_code_tells_the_line_of_the_plugin(project: Path) -> None:
    Path("crash.py").write_text("import ctypes\n\n\ndef crash(inputs, outputs):\n    ctypes.string_at(0)\n")
    Path("crash.prototxt").write_text(
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }\n'
        'layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "crash" layer: "crash" } }\n'
    )
    command = [sys.executable, "-m", "engine.cli", "time", "--model", "crash.prototxt", "--iterations", "1"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode and 'crash.py", line 5 in crash' in done.stderr
