"""What holds for every command: help, exit codes, quiet, JSON, progress, errors, interrupts."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.main import main as run_program
from engine.cli import COMMANDS, main
from engine.cli.arguments import ALIASES, build_parser, build_run_parser, spell_modern
from engine.cli.output import error_text
from tests.support import ROOT

MODEL = ["-model", "net.prototxt"]
WEIGHTS = ["-weights", "weights.caffemodel"]
FEATURES = ["weights.caffemodel", "net.prototxt", "ip1", "new_features", "2", "lmdb"]
GOOD: dict[str, list[str]] = {
    "train": ["-solver", "solver.prototxt"],
    "test": [*MODEL, *WEIGHTS, "-iterations", "2"],
    "time": [*MODEL, "-iterations", "2"],
    "check": ["net.prototxt"],
    "show": ["net.prototxt"],
    "set": ["net.prototxt", "ip1", "num_output", "7"],
    "upgrade": ["net.prototxt", "new.prototxt"],
    "diff": ["net.prototxt", "net.prototxt"],
    "draw": ["net.prototxt", "new.svg"],
    "export": ["net.prototxt", "new.py"],
    "convert_imageset": ["images", "images.txt", "new_db"],
    "compute_image_mean": ["images_lmdb", "new.binaryproto"],
    "extract_features": FEATURES,
    "parse_log": ["train.log"],
    "devices": [],
    "gradcheck": ["channel_scale.ChannelScaleLayer", "--bottom", "2,3"],
    "plugins": ["list"],
    "run": ["script.py"],
}
BAD: dict[str, list[list[str]]] = {
    "train": [["-solver", "gone"], ["-solver", "."], ["-solver", "net.prototxt"], [*GOOD["train"], "-gpu", "0"]],
    "test": [["-model", "gone", *WEIGHTS], [*MODEL, "-weights", "gone"], [*MODEL, "-weights", "net.prototxt"]],
    "time": [["-model", "gone"], ["-model", "solver.prototxt"], [*MODEL, "-gpu", "all"]],
    "check": [["gone"], ["."]],
    "show": [["gone"], ["."], ["train.log"]],
    "set": [["gone", "ip1", "num_output", "7"], ["net.prototxt", "ip9", "num_output", "7"]],
    "upgrade": [["gone", "new"], ["train.log", "new"], ["net.prototxt", "gone/new"]],
    "diff": [["gone", "net.prototxt"]],
    "draw": [["gone", "new.svg"], ["net.prototxt", "new.gif"], ["net.prototxt", "gone/new.svg"]],
    "export": [["gone", "new.py"], ["net.prototxt", "new.xyz"]],
    "convert_imageset": [
        ["images", "gone", "db"],
        ["gone", "images.txt", "db"],
        ["images", "images.txt", "images_lmdb"],
    ],
    "compute_image_mean": [["gone"], ["images"], ["images_lmdb", "gone/mean"]],
    "extract_features": [["gone", *FEATURES[1:]], [*FEATURES[:2], "no", *FEATURES[3:]], [*FEATURES, "GPU", "0"]],
    "parse_log": [["gone"], ["net.prototxt"], ["."]],
    "devices": [["-gpu", "0"]],
    "gradcheck": [["gone.Gone", "--bottom", "3"], ["channel_scale.Gone", "--bottom", "3"]],
    "plugins": [["convert", "gone"], ["convert"], ["list", "gone"], ["list", "--write"]],
    "run": [["gone.py"], ["."]],
}
PRINTS_DATA = sorted(set(COMMANDS) - {"set", "upgrade", "draw", "export", "run"})
LONG = ["train", "test", "time", "convert_imageset", "compute_image_mean", "extract_features"]
DIFFERENT = {"diff": 2}  # as the program diff has it


def exit_code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as exit_request:
        assert isinstance(exit_request.code, int)
        return exit_request.code


def parsers() -> dict[str, argparse.ArgumentParser]:
    actions = build_parser()._actions
    (found,) = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]
    return {**found, "run": build_run_parser()}


def test_the_tables_name_every_command() -> None:
    assert set(GOOD) == set(BAD) == set(COMMANDS) == set(parsers())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_can_be_parsed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([command, "--help"]) == exit_code([command, "-h"]) == exit_code(["help", command]) == 0
    text = capsys.readouterr().out
    examples = re.findall(rf"^  netcanvas {command}(?: (.*))?$", text.partition("examples:\n")[2], re.MULTILINE)
    assert examples and "--quiet" in text and ("--json" in text) == (command in PRINTS_DATA)
    for example in examples if command != "run" else ():
        build_parser().parse_args([command, *spell_modern(shlex.split(example))])


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_arguments(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([command, "--no-such-flag"]) == 2
    captured = capsys.readouterr()
    line = captured.err.rstrip("\n")
    assert line.startswith(f"netcanvas {command}: error: ") and line.endswith(f"See 'netcanvas {command} --help'.")
    assert "\n" not in line and captured.out == ""


def bad_cases() -> list[tuple[str, list[str], bool]]:
    """Return command, arguments and whether --json is given too."""
    cases = [(command, arguments, False) for command in BAD for arguments in BAD[command]]
    return cases + [(command, BAD[command][0], True) for command in PRINTS_DATA]


@pytest.mark.parametrize(("command", "arguments", "as_json"), bad_cases())
def test_errors_are_a_sentence_and_the_next_step(
    world: Path, command: str, arguments: list[str], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(world.rglob("*"))
    flags = ["--quiet", *(["--json"] if as_json else [])] if command != "run" else []
    assert exit_code([command, *arguments, *flags]) == DIFFERENT.get(command, 1)
    captured = capsys.readouterr()
    if command == "check":  # whose faults are its result
        assert captured.err == "" and len(json.loads(captured.out) if as_json else captured.out.splitlines()) == 1
        return
    line = captured.err.rstrip("\n")
    assert captured.out == "" and line.startswith("netcanvas: error: ") and "\n" not in line
    assert re.search(r"\. [A-Z].*[.?)]$", line), "a sentence, and a next step after it"
    assert sorted(world.rglob("*")) == before, "a failed command leaves nothing behind"


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_means_results_only(world: Path, command: str, capfd: pytest.CaptureFixture[str]) -> None:
    quiet = ["--quiet", *GOOD[command]] if command == "run" else [*GOOD[command], "--quiet"]
    assert exit_code([command, *quiet]) == 0
    captured = capfd.readouterr()
    assert captured.err == ""
    assert (captured.out != "") == (command not in ("set", "upgrade", "export", "run", "check", "parse_log"))


@pytest.mark.parametrize("command", PRINTS_DATA)
def test_json_is_all_that_is_printed(world: Path, command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code([command, *GOOD[command], "--json"]) == 0
    assert isinstance(json.loads(capfd.readouterr().out), (dict, list))


@pytest.mark.parametrize("command", LONG)
@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_progress_is_shown_on_a_terminal_only(
    world: Path,
    command: str,
    terminal: bool,
    quiet: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert exit_code([command, *GOOD[command], *(["--quiet"] if quiet else [])]) == 0
    captured = capsys.readouterr()
    assert ("100%" in captured.err) == (terminal and not quiet) and "100%|" not in captured.out
    if terminal:
        assert not re.search(r"^[IW]\d{4} ", captured.err, re.MULTILINE)


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"run"}))
def test_interrupts_and_faults_of_ours_print_no_traceback(
    world: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(parsers()[command].get_default("module"))

    def fail(error: BaseException) -> int:
        monkeypatch.setattr(module, "run", lambda options: (_ for _ in ()).throw(error))
        return exit_code([command, *GOOD[command]])

    assert fail(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "netcanvas: error: Interrupted.\n"
    assert fail(ZeroDivisionError("x7")) == 1
    told = capsys.readouterr().err
    assert "ZeroDivisionError: x7" in told and "NETCANVAS_TRACEBACK=1" in told and told.count("\n") == 1
    monkeypatch.setenv("NETCANVAS_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError("x7"))


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"run"}))
def test_flags_work_in_caffes_spelling(command: str) -> None:
    flags = [flag for action in parsers()[command]._actions for flag in action.option_strings if len(flag) > 2]
    for flag in flags:
        bare = flag.removeprefix("--")
        for dashes in ("-", "--"):
            assert spell_modern([dashes + bare.replace("-", "_") + "=a_b"]) == [f"{flag}=a_b"]


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        (["-gray", "a"], ["--gray", "a"]),
        (["-gray=true"], ["--gray"]),
        (["--gray=1"], ["--gray"]),
        (["-gray=false"], ["--no-gray"]),
        (["-nogray"], ["--no-gray"]),
        (["--nocheck_size"], ["--no-check-size"]),
        (["-nosuch"], ["--nosuch"]),
        (["-5", "-.5", "-x", "--", "-", ""], ["-5", "-.5", "-x", "--", "-", ""]),
    ],
)
def test_switches_work_in_caffes_spelling(typed: list[str], spelled: list[str]) -> None:
    assert spell_modern(typed, ("gray", "check-size")) == spelled


def test_caffes_device_query_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["device_query"]) == 0
    assert set(ALIASES.values()) <= set(COMMANDS) and "backends:" in capsys.readouterr().out


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["convert_images"]) == 2
    assert "Did you mean 'convert_imageset'?" in capsys.readouterr().err


def _as_at_a_terminal() -> None:
    """Let SIGINT through: a shell has it ignored by what it starts in the background, as it may have started this."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to another process there")
@pytest.mark.parametrize("command", ["time", "test", "extract_features"])
def test_ctrl_c_ends_a_command_cleanly(world: Path, command: str) -> None:
    many = {"time": ["-iterations", "9999999"], "test": [*WEIGHTS, "-iterations", "9999999"]}
    arguments = [*MODEL, *many[command]] if command in many else [*FEATURES[:4], "9999999", "lmdb"]
    before = sorted(path.name for path in world.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", command, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=_as_at_a_terminal,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:  # up to where the work begins
            if re.search(r"Testing for|Running for|Extracting Features", line):
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and told == "" and "Traceback" not in errors
    assert errors.endswith("netcanvas: error: Interrupted.\n")
    assert sorted(path.name for path in world.iterdir()) == before


def test_ctrl_c_while_modules_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(arguments: list[str]) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.cli.is_command", interrupt)
    assert run_program(["devices"]) == 130


def test_readme_and_guide_name_every_command() -> None:
    readme, guide = (ROOT / "README.md").read_text(), (ROOT / "docs" / "guide.md").read_text()
    for command in COMMANDS:
        assert f"netcanvas {command}" in readme and f"netcanvas {command}" in guide, command


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileNotFoundError(2, "x", "a.txt"), "'a.txt' was not found. Check the path."),
        (IsADirectoryError(21, "x", b"a"), "'a' is a folder. Name a file."),
        (PermissionError(13, "x", Path("a")), "'a' may not be read or written. Check its permissions."),
        (OSError(28, "x", "a"), "'a' cannot be written: the disk is full. Free some space and run again."),
        (OSError(5, "Input/output error"), "The file: Input/output error. Check the file and its disk."),
        (KeyError("q7"), "KeyError: 'q7'"),
    ],
)
def test_errors_of_the_system_say_what_to_do(error: Exception, text: str) -> None:
    assert error_text(error) == text
