"""What is equal in two long nets is folded: one card for each stretch, at the same place on both sides."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from app.compare.equal import equal_stretches
from app.compare.sources import file_of
from app.compare.view import CompareView
from app.document import Document
from app.theme import Theme
from engine.graph import OpGraph
from tests.app.compare.conftest import settle

COUNT, WIDER, NEW = 60, 20, 41


def chain(width: int, *, extra: bool) -> str:
    """A chain of convolutions, one of them so wide; with one layer more if asked for."""
    lines = ['layer { name: "d" type: "Input" top: "b0" input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } } }']
    bottom = "b0"
    for number in range(COUNT):
        if extra and number == NEW:
            lines.append(f'layer {{ name: "new" type: "LRN" bottom: "{bottom}" top: "new" }}')
            bottom = "new"
        outputs = width if number == WIDER else 4
        lines.append(
            f'layer {{ name: "c{number}" type: "Convolution" bottom: "{bottom}" top: "c{number}" '
            f"convolution_param {{ num_output: {outputs} kernel_size: 1 }} }}"
        )
        bottom = f"c{number}"
    return "\n".join(lines)


@pytest.fixture
def view(tmp_path, qtbot):
    """A net with a wider layer and a new one, beside what it was."""
    path = tmp_path / "old.prototxt"
    path.write_text(chain(4, extra=False))
    document = Document(OpGraph.parse(chain(6, extra=True)))
    made = CompareView(document, file_of(path))
    qtbot.addWidget(made)
    made.resize(1400, 800)
    made.show()
    settle(qtbot, made)
    wait(made, qtbot)
    yield made
    made.close_comparison()
    document.close()


def wait(view, qtbot) -> None:
    qtbot.waitUntil(lambda: view.canvases[0].is_placed and not view.together.busy, timeout=20_000)


def titles(canvas) -> list[str]:
    cards = sorted(canvas.canvas.items_shown(), key=lambda item: item.ids)
    return [card.face.title for card in cards]


def card(canvas, title):
    return next(each for each in canvas.canvas.items_shown() if each.face.title == title)


def test_a_long_net_shows_at_first_what_differs_between_cards_of_what_is_equal(view):
    old, new = view.canvases
    assert view.equal.mode == "fold"
    assert titles(old) == ["21 equal layers", "c20", "20 equal layers", "c41", "18 equal layers"]
    assert sorted(titles(new)) == sorted([*titles(old), "new"])
    for title in titles(old):
        assert card(old, title).pos() == card(new, title).pos()
    assert card(old, "21 equal layers").face.type == "d \u2013 c19"
    assert "new" not in titles(old)


def test_a_double_click_unfolds_one_stretch_on_both_sides(view, qtbot):
    old, new = view.canvases
    at = old.mapFromScene(card(old, "20 equal layers").scene_body().center())
    QTest.mouseDClick(old.viewport(), Qt.MouseButton.LeftButton, pos=at)
    wait(view, qtbot)
    for canvas in (old, new):
        shown = titles(canvas)
        assert "c21" in shown and "c40" in shown and "20 equal layers" not in shown
        assert "21 equal layers" in shown
    assert card(old, "c25").pos() == card(new, "c25").pos()


def test_the_keyboard_unfolds_too(view, qtbot):
    new = view.canvases[1]
    new.document.selection.set(card(new, "18 equal layers").ids[:1])
    new.document.selection.flush()
    qtbot.keyClick(new, Qt.Key.Key_Return)
    wait(view, qtbot)
    assert "c50" in titles(new)


def test_a_key_goes_through_all_folded_and_hidden(view, qtbot):
    new = view.canvases[1]
    modes, counts = [], []
    for _press in range(3):
        qtbot.keyClick(view, Qt.Key.Key_H)
        wait(view, qtbot)
        modes.append(view.equal.mode)
        counts.append(len(new.canvas.items_shown()))
        painted = [item for item in (*new.canvas.nodes.values(), *new.hiding.cards.values()) if item.isVisible()]
        assert set(painted) == set(new.canvas.items_shown()), view.equal.mode
        chosen = [name for name in ("all", "fold", "hide") if button(view, name).isChecked()]
        assert chosen == modes[-1:]
    assert modes == ["hide", "all", "fold"]
    assert counts[0] < 6 and counts[1] == COUNT + 2 and counts[2] == 6


def button(view, name) -> QToolButton:
    return view.findChild(QToolButton, f"compare.{name}_button")


def test_what_is_edited_meanwhile_comes_out_of_its_fold(view, qtbot):
    document = view.comparison.document
    node = document.graph.named("c30")[0].id
    document.apply("Pad", lambda graph: graph.set_field(node, ("convolution_param", "pad"), "1"))
    settle(qtbot, view)
    wait(view, qtbot)
    assert "c30" in titles(view.canvases[0]) and "c30" in titles(view.canvases[1])
    assert "9 equal layers" in titles(view.canvases[0])
    document.undo_stack.undo()
    settle(qtbot, view)
    wait(view, qtbot)
    assert "20 equal layers" in titles(view.canvases[1])


def test_a_choice_of_the_user_stays(view, qtbot):
    view.equal.choose("all")
    document = view.comparison.document
    node = document.graph.named("c30")[0].id
    document.apply("Pad", lambda graph: graph.set_field(node, ("convolution_param", "pad"), "1"))
    settle(qtbot, view)
    wait(view, qtbot)
    assert view.equal.mode == "all" and len(view.canvases[1].canvas.items_shown()) == COUNT + 2


def test_what_only_follows_from_a_change_is_folded_and_its_card_says_so(view):
    _old, new = view.canvases
    reshaped = [each for each in view.comparison.changes if each.kinds == ("reshaped",)]
    assert reshaped, "c21 has another cost"
    marked = {item.face.title: kind.sign for item, kind in new.marked_cards().items()}
    assert marked["20 equal layers"] == "\u25a1" and marked["c20"] == "\u2260" and marked["new"] == "+"
    assert "21 equal layers" not in marked


def test_stretches_have_nothing_in_between_on_either_side(view):
    found = equal_stretches(view.comparison.difference, view.comparison.changes)
    for each in found:
        assert len(each.old) == len(each.new)
        for document, nodes in ((view.comparison.old, each.old), (view.comparison.new, each.new)):
            ordinals = [document.graph.ordinal(node) for node in nodes]
            assert ordinals == list(range(ordinals[0], ordinals[0] + len(nodes)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_folded_cards_are_painted_in_both_themes(view, qapp, theme):
    Theme.load(theme).apply(qapp)
    picture = view.canvases[1].grab().toImage()
    body = view.canvases[1].mapFromScene(card(view.canvases[1], "21 equal layers").scene_body().center())
    assert picture.pixelColor(body) != Theme.current().color("canvas")
    Theme.load("light").apply(qapp)
