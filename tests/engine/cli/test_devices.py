"""What this machine has."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.backends import backend_names
from engine.backends.inventory import Gpu, read_gpus
from engine.backends.threads import default_threads, matrix_threads
from engine.cli import main

SMI = "0, NVIDIA H200, 143771, 550.54.15\n1, Odd, name, [N/A], 1.2\n"


def test_facts_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    with matrix_threads(1):
        assert main(["devices", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in facts["backends"] if each["usable"]] == list(backend_names())
    assert facts["processor"]["cores"] == os.cpu_count() and facts["processor"]["threads"] == default_threads()
    assert 1 <= facts["processor"]["usable_cores"] <= facts["processor"]["cores"]
    assert facts["matrix_libraries"] and facts["matrix_libraries"][0]["threads"] == 1
    assert facts["versions"]["numpy"] == np.__version__
    assert main(["devices"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name}" in text for name in backend_names()) and facts["matrix_libraries"][0]["version"] in text


def test_what_the_driver_says_is_read() -> None:
    assert read_gpus(SMI.splitlines()) == [
        Gpu(0, "NVIDIA H200", 143771 << 20, "550.54.15"),
        Gpu(1, "Odd, name", 0, "1.2"),
    ]
    assert read_gpus(["No devices were found", "", "a, b"]) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for nvidia-smi is a shell script")
@pytest.mark.parametrize(("script", "count"), [(f"printf '{SMI}'", 2), ("exit 9", 0)])
def test_gpus_of_the_driver_are_listed(
    tmp_path: Path, script: str, count: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert main(["devices", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["gpus"]) == count
    assert main(["devices"]) == 0
    assert ("0: NVIDIA H200, 140.4 GiB, driver 550.54.15" in capsys.readouterr().out) == bool(count)
