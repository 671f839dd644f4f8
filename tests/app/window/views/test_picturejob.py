"""Pictures that are drawn while the window answers: what is in them, and what leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication, QImage

from app.canvas.edits import edits, foldedits
from app.canvas.scene.picture import draw_image, save_picture
from app.canvas.scene.portrait import Portrait
from app.document import Document
from app.document.placement import Point
from app.window.bars import InfoArea
from app.window.views.picturejob import PictureJob, PictureNote
from engine.graph import OpGraph
from tests.benchmarks.nets import residual_net
from tests.benchmarks.stalls import StallWatch

LAYERS = 400
#: Milliseconds that the design allows on the window's thread, and how many times as much a loaded machine is given.
BUDGET, ROOM = 50.0, 3


@pytest.fixture
def long_canvas(make_canvas):
    document = Document(OpGraph.parse(residual_net(LAYERS).encode()))
    canvas = make_canvas(document)
    if foldedits.is_folded(document):
        foldedits.fold_repeats(canvas)
    yield canvas
    document.close()


@pytest.fixture
def placed(long_canvas, qtbot):
    qtbot.waitUntil(lambda: long_canvas.is_placed and not long_canvas.document.jobs.busy)
    long_canvas.canvas.finish_leading()
    return long_canvas


def job_of(canvas, path: Path | None) -> PictureJob:
    return PictureJob(canvas.canvas, path, scale=0.5, theme="dark", parent=canvas)


def run(job: PictureJob, qtbot) -> list[str]:
    told: list[str] = []
    job.ended.connect(lambda text, _kind: told.append(text))
    job.start()
    qtbot.waitUntil(lambda: not job.is_running, timeout=60_000)
    return told


def disturb(canvas) -> None:
    """Edit, move, select and point while a picture is drawn."""
    document, scene = canvas.document, canvas.canvas
    ids = document.graph.node_ids()
    document.move_nodes({node: Point(40_000.0, 40_000.0) for node in ids[-20:]})
    document.selection.set(ids[100:120])
    edits.delete_selected(scene)
    document.selection.set(ids[200:300])
    document.selection.flush()
    scene.nodes[ids[-1]].hovered = True


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_what_is_edited_meanwhile_is_not_in_the_picture(placed, tmp_path, kind, qtbot):
    whole, sliced = tmp_path / f"whole.{kind}", tmp_path / f"sliced.{kind}"
    save_picture(placed.canvas, whole, scale=0.5, theme="dark")
    job = job_of(placed, sliced)
    done: list[int] = []
    job.progressed.connect(done.append)
    job.progressed.connect(lambda percent: disturb(placed) if percent == done[0] else None)
    assert run(job, qtbot) == ["The picture is in 'sliced." + kind + "'."]
    assert sliced.read_bytes() == whole.read_bytes()
    assert len(placed.document.graph) == LAYERS - 20, "it was edited"
    assert done == sorted(set(done)) and done[0] < 50 and done[-1] == 100
    assert Portrait(placed.canvas, "dark").area.contains(QPoint(40_000, 40_000)), "and things were moved"


def test_the_clipboard_gets_the_same_image(placed, qtbot):
    placed.copy_picture()
    assert placed.is_drawing
    qtbot.waitUntil(lambda: not placed.is_drawing, timeout=60_000)
    assert QGuiApplication.clipboard().image() == draw_image(placed.canvas)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_cancelling_leaves_the_file_as_it_was(placed, tmp_path, kind, qtbot, qtlog):
    path = tmp_path / f"net.{kind}"
    path.write_bytes(b"what was there")
    bars = InfoArea(placed)
    job = job_of(placed, path)
    job.took_long.connect(lambda: PictureNote.show(bars, job))
    job.progressed.connect(lambda percent: percent >= 10 and job.cancel())
    job.took_long.emit()
    (bar,) = bars.bars()
    assert f"net.{kind}" in bar.text
    assert run(job, qtbot) == [""]
    assert path.read_bytes() == b"what was there"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert not bars.bars()
    assert not [each.message for each in qtlog.records if "QPainter" in each.message]


def test_closing_the_document_ends_it(placed, tmp_path):
    placed.draw_to(str(tmp_path / "net.pdf"), "paper", 1.0)
    assert placed.is_drawing
    placed.close_document()
    assert not placed.is_drawing
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_drawn_or_written_is_said(placed, tmp_path, qtbot):
    refused: list[str] = []
    placed.refused.connect(refused.append)
    placed.draw_to(str(tmp_path / "net.gif"), "paper", 1.0)
    placed.draw_to(str(tmp_path / "net.png"), "paper", 500.0)
    placed.draw_to(str(tmp_path / "nowhere" / "net.svg"), "paper", 1.0)
    qtbot.waitUntil(lambda: not placed.is_drawing, timeout=60_000)
    assert [".svg" in refused[0], "too large" in refused[1], "nowhere" in refused[2]] == [True, True, True]


def test_the_window_answers_meanwhile(placed, tmp_path):
    """The best of three looks: another program may take the machine."""
    looks = []
    for kind in ("svg", "png", "svg"):
        watch = StallWatch()
        watch.run(
            lambda kind=kind: placed.draw_to(str(tmp_path / f"net.{kind}"), "paper", 1.0), lambda: not placed.is_drawing
        )
        looks.append(watch.longest.busy)
    assert min(looks) < ROOM * BUDGET
    assert not QImage(str(tmp_path / "net.png")).isNull()


def test_a_portrait_stays_as_it_was(placed):
    portrait = Portrait(placed.canvas, "light")
    area, count = portrait.area, len(portrait)
    disturb(placed)
    assert portrait.area == area
    assert len(portrait) == count
    assert Portrait(placed.canvas, "light").area.contains(QPoint(40_000, 40_000))
