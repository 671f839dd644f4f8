"""Pictures of the canvas: what is in the files, that they are the same twice, and the command without a screen."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from app.canvas.gestures import annotating
from app.canvas.scene.picture import PictureError, draw_image, save_picture
from app.document import Document
from app.main import main
from app.theme import Theme
from app.window.views.picturedialog import PictureDialog
from engine.graph import OpGraph
from tests.app.canvas.hands import CTRL, RIGHT, Hands
from tests.benchmarks.nets import residual_net

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.mark.parametrize("theme", ["paper", "light", "dark"])
def test_an_svg_holds_the_texts_of_the_cards(canvas, tmp_path, theme):
    path = tmp_path / "net.svg"
    save_picture(canvas.canvas, path, theme=theme)
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    texts = {"".join(each.itertext()).strip() for each in root.iter(TEXT)}
    assert {"conv1", "Convolution", "pool2", "ip1"} <= texts
    assert Theme.load(theme).color("canvas").name() in path.read_text(encoding="utf-8")
    assert canvas.canvas.style_set.theme.name == "light", "the canvas itself stays as it is"


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_a_png_has_the_size_that_is_asked_for(canvas, tmp_path, scale):
    path = tmp_path / "net.png"
    save_picture(canvas.canvas, path, scale=scale)
    image = QImage(str(path))
    wanted = canvas.canvas.content_rect().width() * scale
    assert wanted < image.width() < wanted + 400 * scale
    assert image.pixelColor(0, 0).name() == "#ffffff"


def test_a_pdf_is_one_page_with_texts(canvas, tmp_path):
    path = tmp_path / "net.pdf"
    save_picture(canvas.canvas, path)
    data = path.read_bytes()
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") == 1
    assert b"/Font" in data


def test_the_selection_is_not_in_the_picture(canvas, tmp_path):
    plain = draw_image(canvas.canvas)
    canvas.select_all()
    canvas.document.selection.flush()
    assert draw_image(canvas.canvas) == plain
    assert all(item.marked for item in canvas.canvas.items_shown())


@pytest.mark.parametrize(("theme", "marks"), [("paper", 0), ("light", 1), ("dark", 1)])
def test_marks_of_problems_are_not_for_paper(make_canvas, tmp_path, qtbot, theme, marks):
    document = Document(OpGraph.parse('layer { name: "r" type: "ReLU" bottom: "gone" top: "t" }'))
    area = make_canvas(document)
    try:
        document.live.start()
        (card,) = area.canvas.items_shown()
        qtbot.waitUntil(lambda: bool(card.face.severity))
        path = tmp_path / "net.svg"
        save_picture(area.canvas, path, theme=theme)
        texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(path).iter(TEXT)]
        assert texts.count("!") == marks
    finally:
        document.close()


@pytest.mark.parametrize(
    ("name", "scale", "words"), [("net.gif", 1.0, ".svg, .pdf, .png"), ("net.png", 500.0, "too large")]
)
def test_what_cannot_be_drawn_is_said(canvas, tmp_path, name, scale, words):
    with pytest.raises(PictureError, match=words):
        save_picture(canvas.canvas, tmp_path / name, scale=scale)
    assert not list(tmp_path.glob("net.*"))


def test_an_empty_net_has_no_picture(make_canvas, tmp_path):
    document = Document(OpGraph.parse(b""))
    with pytest.raises(PictureError, match="nothing to draw"):
        save_picture(make_canvas(document).canvas, tmp_path / "net.svg")
    document.close()


def test_the_canvas_is_copied_as_an_image(canvas, qtbot):
    canvas.copy_picture()
    qtbot.waitUntil(lambda: not canvas.is_drawing)
    image = QGuiApplication.clipboard().image()
    assert image.width() > canvas.canvas.content_rect().width()


def test_the_dialog_asks_for_kind_colours_and_size(canvas, tmp_path, qtbot):
    asked: list[tuple] = []
    dialog = PictureDialog(tmp_path / "net.svg", canvas)
    qtbot.addWidget(dialog)
    dialog.picture_asked.connect(lambda *answers: asked.append(answers))
    dialog.selectNameFilter("PNG image (*.png)")
    dialog.filterSelected.emit("PNG image (*.png)")
    dialog.theme.setCurrentIndex(dialog.theme.findData("dark"))
    dialog.scale.setValue(2.5)
    dialog.accepted.emit()
    assert [(Path(name).name, theme, scale) for name, theme, scale in asked] == [("net.png", "dark", 2.5)]
    canvas.draw_to(*asked[0])
    qtbot.waitUntil(lambda: not canvas.is_drawing)
    assert QImage(str(tmp_path / "net.png")).width() > 1000


def test_netcanvas_draw_needs_no_screen_and_leaves_the_net_alone(lenet, tmp_path):
    before = lenet.read_bytes()
    out = tmp_path / "out" / "net.svg"
    out.parent.mkdir()
    no_screen = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "QT_QPA_PLATFORM", "WAYLAND_DISPLAY")
    }
    command = [sys.executable, "-m", "app", "draw", str(lenet), str(out), "--phase", "TEST"]
    done = subprocess.run(command, capture_output=True, text=True, env=no_screen, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "layers" in done.stdout
    texts = {"".join(each.itertext()).strip() for each in ElementTree.parse(out).iter(TEXT)}
    assert {"conv1", "accuracy"} <= texts
    assert lenet.read_bytes() == before
    assert list(out.parent.iterdir()) == [out]
    assert not lenet.with_name(lenet.name + ".canvas.json").exists()


@pytest.fixture
def draw(qapp: QApplication, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """Runs the command in this process; exit status, output and errors."""
    name = qapp.applicationName()

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        try:
            status = main(["draw", *map(str, arguments)])
        except SystemExit as left:
            status = left.code
        return status, *capsys.readouterr()

    yield run
    qapp.setApplicationName(name)


def test_netcanvas_draw_folds(tmp_path, draw):
    net = tmp_path / "net.prototxt"
    net.write_text(residual_net(60))
    status, said, errors = draw(net, tmp_path / "net.svg", "--fold")
    assert status == 0, errors
    assert "residual block" in (tmp_path / "net.svg").read_text(encoding="utf-8")
    assert " on " in said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["net.gif"], 1, "none of the kinds"),
        (["net.svg", "--theme", "pink"], 2, "pink"),
        (["net.svg", "--scale", "0"], 2, "0.01"),
    ],
)
def test_netcanvas_draw_says_what_is_wrong(lenet, tmp_path, draw, arguments, code, words):
    status, _said, errors = draw(lenet, tmp_path / arguments[0], *arguments[1:])
    assert status == code
    assert words in errors


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e-9, 1e300])
@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_scale_that_makes_no_sense_is_refused(canvas, tmp_path, kind, scale):
    with pytest.raises(PictureError, match="from 0.01 to 1000"):
        save_picture(canvas.canvas, tmp_path / f"net.{kind}", scale=scale)
    assert not list(tmp_path.glob("net.*[gf]"))


def test_what_the_pointer_and_the_keys_are_at_is_not_in_the_picture(canvas):
    hands, scene = Hands(canvas), canvas.canvas
    canvas.document.selection.set([hands.node("pool2").node_id])
    annotating.add_frame(canvas)
    canvas.words.commit()
    scene.annotated.choose(set())
    canvas.document.selection.clear()
    canvas.document.selection.flush()
    plain = draw_image(scene)
    scene.annotated.choose(set(scene.annotated.items))
    assert draw_image(scene) == plain, "a frame that is chosen"
    wire = hands.wire("conv1", "pool1")
    scene.select_edge(wire.edge)
    assert draw_image(scene) == plain, "a wire that is chosen"
    for at in (hands.title("conv1"), hands.output("conv1"), hands.on_wire("pool1", "conv2")):
        hands.move(at, Qt.MouseButton.NoButton)
        assert draw_image(scene) == plain, "what is pointed at"
    assert wire.chosen and scene.annotated.chosen


@pytest.mark.parametrize("gesture", ["connect", "lift", "cut"])
def test_the_lines_of_a_gesture_are_not_in_the_picture(canvas, gesture):
    hands, scene = Hands(canvas), canvas.canvas
    plain, items = draw_image(scene), len(scene.items())
    if gesture == "connect":
        hands.carry(hands.output("conv1"), hands.input("ip1"))
    elif gesture == "lift":
        hands.carry(hands.input("pool1"), hands.input("pool1") + QPoint(60, 200))
    else:
        hands.carry(hands.title("conv1") - QPoint(90, 40), hands.title("pool2") + QPoint(60, 200), RIGHT, CTRL)
    assert len(scene.items()) > items, "the gesture shows something of its own"
    shown = [item for item in scene.items() if item.isVisible()]
    meant = [(wire.edge, wire.doomed, wire.lifted) for wire in scene.edges.values()]
    assert draw_image(scene) == plain
    assert [item for item in scene.items() if item.isVisible()] == shown
    assert [(wire.edge, wire.doomed, wire.lifted) for wire in scene.edges.values()] == meant
    canvas.cancel_gesture()


def test_the_image_of_a_big_net_is_drawn_smaller(canvas, monkeypatch):
    monkeypatch.setattr("app.canvas.scene.picture._MOST_PIXELS", 100_000)
    image = draw_image(canvas.canvas)
    assert 50_000 < image.width() * image.height() <= 100_000
