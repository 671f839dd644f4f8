"""Sides that are no sound nets, and nets that end or change while they are compared."""

from __future__ import annotations

import json

import pytest

from engine.sidecar import sidecar_path

SOLVER = b'net: "mine.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 10\n'


@pytest.mark.parametrize(
    ("data", "told"),
    [(SOLVER, "is a solver, not a net"), (bytes(range(256)) * 9, "is a binary file"), (None, "Is a directory")],
)
def test_what_is_no_net_is_told_and_the_canvas_comes_back(window, mine, tmp_path, qtbot, data, told):
    path = tmp_path / "other side"
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    window.comparing.with_path(path)
    qtbot.waitUntil(lambda: window.tabs.current.comparison is None, timeout=10_000)
    assert any(told in bar.text for bar in window.bars), [bar.text for bar in window.bars]


def test_a_broken_side_is_compared_as_far_as_it_goes(window, mine, tmp_path, settled):
    path = tmp_path / "broken.prototxt"
    path.write_bytes(b'layer { name: "data" type: "Input" top: "data" }\nlayer { name: "x" type: {{{\n')
    window.comparing.with_path(path)
    view = window.tabs.current.comparison
    settled(view)
    assert "Its text is broken at line 2." in view.summary.text()
    assert view.comparison.difference.pairs


def test_an_empty_side_has_everything_added(window, mine, tmp_path, settled):
    path = tmp_path / "empty.prototxt"
    path.write_bytes(b"")
    window.comparing.with_path(path)
    view = window.tabs.current.comparison
    settled(view)
    assert {each.kinds for each in view.comparison.changes} == {("added",)}
    assert view.equal.mode == "all"


def test_the_other_tab_may_be_closed_and_the_net_emptied(window, mine, other, qtbot, settled):
    mine_page = window.tabs.current
    assert window.files.open(other)
    window.tabs.show_page(mine_page)
    other_page = next(page for page in window.tabs.pages() if page is not mine_page)
    window.comparing._fill_nets()
    window.comparing.open_nets.actions()[0].trigger()
    window.close_page(other_page)
    view = mine_page.comparison
    settled(view)
    assert view.comparison.changes
    mine_page.document.apply("Empty", lambda graph: graph.replace_text(b""))
    qtbot.waitUntil(lambda: not view.comparison.busy and not view.canvases[1].canvas.nodes, timeout=10_000)
    qtbot.waitUntil(lambda: {each.kinds for each in view.comparison.changes} == {("removed",)}, timeout=10_000)
    mine_page.document.undo_stack.undo()
    qtbot.waitUntil(lambda: len(view.canvases[1].canvas.nodes) == 7, timeout=10_000)


def test_a_row_may_be_chosen_before_the_list_is_anew(window, mine, compared, qtbot):
    """The layers of a side are read again at once, and the list of what differs a moment later."""
    new = compared.comparison.new
    place, gone = next((n, each.new.id) for n, each in enumerate(compared.comparison.changes) if each.new is not None)
    new.graph.remove_nodes([gone])
    compared.list.choose(place)
    compared._chosen(place)
    assert compared.comparison.original(gone) is None


def test_each_side_has_its_own_folder_and_what_is_assumed_of_it(window, tmp_path, qtbot, settled):
    text = b"""layer { name: "d" type: "Data" top: "x" data_param { source: "none" batch_size: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 4 } }"""
    paths = [tmp_path / name / "net.prototxt" for name in ("here", "there")]
    for path, size in zip(paths, (8, 16), strict=True):
        path.parent.mkdir()
        path.write_bytes(text)
        sidecar_path(path).write_text(json.dumps({"version": 1, "nodes": [], "assumed_shapes": {"x": [0, 3, size, 1]}}))
    assert window.files.open(paths[0])
    window.comparing.with_path(paths[1])
    comparison = window.tabs.current.comparison.comparison
    settled(window.tabs.current.comparison)
    assert (comparison.old.path, comparison.new.path) == (paths[1], paths[0])
    assert any(each.kinds == ("reshaped",) for each in comparison.changes)
    window.document.assumptions.assume({"x": (0, 3, 16, 1)})
    qtbot.waitUntil(lambda: not comparison.busy and not comparison.changes, timeout=20_000)
    window.document.undo_stack.undo()
    qtbot.waitUntil(lambda: bool(comparison.changes), timeout=20_000)


def test_closing_a_canvas_twice_does_no_harm(window, recwarn):
    page = window.tabs.current
    page.canvas.close_document()
    page.canvas.close_document()
    assert not [each for each in recwarn if "disconnect" in str(each.message)]
