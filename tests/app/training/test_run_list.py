"""The list of runs: numbers are read whole, and what is done already is not resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.training.runlist import RunList
from engine.worker import RunFolder

STATUS = {"state": "finished", "iteration": 1000, "max_iter": 1000, "loss": 0.02134, "outputs": {"accuracy": 0.9861}}


@pytest.fixture
def listed(qtbot: QtBot, tmp_path: Path) -> Iterator[RunList]:
    shown = RunList()
    qtbot.addWidget(shown)
    shown.resize(320, 160)
    shown.show()
    yield shown
    shown.close()


def add_run(runs: Path, name: str, snapshot: int = 0, **status: object) -> RunFolder:
    run = RunFolder(runs / name)
    run.snapshots.mkdir(parents=True)
    run.net_file.write_text("")
    (run.path / "status.json").write_text(json.dumps({**STATUS, **status}))
    if snapshot:
        (run.snapshots / f"net_iter_{snapshot}.solverstate").write_bytes(b"")
    return run


@pytest.mark.parametrize("width", [200, 240, 320, 420, 600])
def test_all_but_names_is_read_whole_or_not_there(listed: RunList, tmp_path: Path, width: int) -> None:
    add_run(tmp_path, "20261130-a-long-name-of-a-run")
    add_run(tmp_path, "b", state="stopped", iteration=1_250_000, max_iter=4_500_000, loss=-1.234e-05)
    listed.set_parents([tmp_path])
    listed.resize(width, 160)
    table = listed.table
    shown = [column for column in range(1, table.columnCount()) if not table.isColumnHidden(column)]
    for row in range(table.topLevelItemCount()):
        for column in shown:
            index = table.model().index(row, column)
            assert table.columnWidth(column) >= table.sizeHintForIndex(index).width(), index.data()
    assert shown or width < 320
    assert len(shown) == 4 or width < 600


@pytest.mark.parametrize(
    ("snapshot", "status", "reason"),
    [
        (1000, {}, "All its 1\u202f000 iterations are done."),
        (500, {"iteration": 500, "state": "stopped"}, ""),
        (500, {"iteration": 700}, ""),  # stopped early
        (0, {"iteration": 500, "state": "stopped"}, "It has no snapshot."),
    ],
)
def test_a_run_with_nothing_left_to_do_is_not_resumed(
    listed: RunList, tmp_path: Path, snapshot: int, status: dict[str, object], reason: str
) -> None:
    add_run(tmp_path, "one", snapshot, **status)
    listed.set_parents([tmp_path])
    listed.table.setCurrentItem(listed.table.topLevelItem(0))
    button = listed.resume_button
    assert button.isEnabled() == (not reason)
    assert button.toolTip().startswith(reason or "Go on from the last snapshot, iteration 500")
