"""The promises of the set-up: two commands, folders, what a wheel carries."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support import ROOT

FOLDERS = {"app", "engine", "nodes", "plugins", "tests", "resources", "docs"}


def test_make_has_the_two_commands_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text()
    readme_first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])
    for command in ("run", "test"):
        assert f"\n{command}:" in makefile
        assert f"make {command}" in readme_first_screen


def test_ci_runs_exactly_make_test() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[-1] == "exec make test"


def test_top_level_folders_are_the_fixed_ones() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    folders = {name.split("/")[0] for name in listed if "/" in name and not name.startswith(".")}
    assert folders == FOLDERS


def test_every_test_folder_is_a_package() -> None:
    missing = [
        str(folder.relative_to(ROOT))
        for folder in [ROOT / "tests", *(path for path in (ROOT / "tests").rglob("*") if path.is_dir())]
        if folder.name != "__pycache__" and list(folder.glob("*.py")) and not (folder / "__init__.py").exists()
    ]
    assert missing == []


def test_no_dependency_is_unused() -> None:
    """Each runtime dependency is imported somewhere in our packages."""
    imports = {"PySide6-Essentials": "PySide6", "fast-sugiyama": "fast_sugiyama", "protobuf": "google.protobuf"}
    imports |= {"QtAwesome": "qtawesome", "Pillow": "PIL"}
    source = "\n".join(path.read_text() for room in ("app", "engine", "nodes") for path in (ROOT / room).rglob("*.py"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = requirement.split(">")[0].split(";")[0].strip()
        module = imports.get(name, name)
        ways = (f"import {module}", f"from {module}", f'find_spec("{module}")')
        assert any(way in source for way in ways), f"{name} is never imported"


@pytest.mark.slow
def test_a_wheel_carries_packages_resources_and_plugins(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    roots = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert roots == {"app", "engine", "nodes"}
    for wanted in ("app/resources/schema/caffe.desc", "app/resources/examples/lenet/lenet_train_test.prototxt"):
        assert wanted in names
    shipped = {name.split("/")[2] for name in names if name.startswith("app/plugins/")}
    assert shipped == {each.name for each in (ROOT / "plugins").iterdir() if each.name != "__pycache__"}
