"""Fields with thousands of entries: pages open at once, more is made as it is looked at, edits go where they belong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from app.properties.editors.lists import ListEdit
from app.properties.forms import RepeatedMessages
from app.properties.growing import FIRST_LINES
from tests.app.properties.nets import LONGEST

Make = Callable[[str], Any]
MANY = 2000
NET = (
    'layer { name: "c" type: "Convolution" bottom: "d" top: "c" '
    + " ".join(f"param {{ lr_mult: {index} }}" for index in range(MANY))
    + " convolution_param { num_output: 1 } }\n"
    'layer { name: "few" type: "Convolution" bottom: "d" top: "f" param { lr_mult: 1 } param { decay_mult: 2 } }\n'
    'layer { name: "s" type: "Slice" bottom: "d" top: "s" slice_param { '
    + " ".join(f"slice_point: {index}" for index in range(MANY))
    + " } }\n"
)


def _entries(net: Any) -> RepeatedMessages:
    found: RepeatedMessages = next(
        part for part in net.panel.page.findChildren(RepeatedMessages) if part.info.name == "param"
    )
    return found


def _list(net: Any) -> ListEdit:
    edit: ListEdit = next(each for each in net.panel.page.findChildren(ListEdit) if len(each._entries) == MANY)
    return edit


def test_a_layer_with_thousands_of_entries_opens_at_once(bench: Make) -> None:
    looks = []
    for _look in range(3):
        net = bench(NET)
        net.select("few")
        net.open("Learning")
        begin = time.thread_time()
        net.document.selection.set(net.ids("c"))
        net.document.selection.flush()
        looks.append(time.thread_time() - begin)
        assert len(_entries(net).sections) == FIRST_LINES
    assert min(looks) < LONGEST, f"{min(looks) * 1e3:.0f} ms at once"


def test_more_is_made_when_the_end_comes_into_view(bench: Make) -> None:
    net = bench(NET)
    net.select("c")
    net.open("Learning")
    entries = _entries(net)
    more = entries.findChild(QPushButton, "properties.param.more")
    assert isinstance(more, QPushButton)
    assert more.text() == f"{MANY - FIRST_LINES:,} more"
    QApplication.processEvents()
    made = len(entries.sections)

    def more_at_the_end() -> bool:
        net.panel.area.ensureWidgetVisible(more)
        return len(entries.sections) > made

    net.qtbot.waitUntil(more_at_the_end)
    assert [section.header.summary for section in entries.sections] == [
        f"lr_mult {index}" for index in range(len(entries.sections))
    ]
    assert len(entries.sections) < MANY
    net.select("few")
    assert [section.header.summary for section in _entries(net).sections] == ["lr_mult 1", "decay_mult 2"]
    assert _entries(net).findChild(QPushButton, "properties.param.more").isHidden()


def test_an_entry_that_is_added_is_shown_though_it_is_the_last(bench: Make) -> None:
    net = bench(NET.replace(" ".join(f"param {{ lr_mult: {index} }}" for index in range(100, MANY)), ""))
    net.select("c")
    net.open("Learning")
    entries = _entries(net)
    entries.add.click()
    net.qtbot.waitUntil(lambda: len(entries.sections) == 101, timeout=20_000)
    net.qtbot.waitUntil(lambda: entries.sections[-1].is_open)
    assert not any(section.is_open for section in entries.sections[:-1])
    net.document.undo_stack.undo()
    assert len(entries.sections) == 100
    net.document.undo_stack.redo()
    assert len(entries.sections) == 101


def test_an_entry_is_removed_where_more_follow(bench: Make) -> None:
    net = bench(NET)
    net.select("c")
    net.open("Learning")
    entries = _entries(net)
    entries.sections[3].findChild(QToolButton, "properties.param.3.remove").click()
    assert [section.header.summary for section in entries.sections[2:5]] == ["lr_mult 2", "lr_mult 4", "lr_mult 5"]
    net.check_undo_redo()


def test_a_search_opens_the_first_entries(bench: Make) -> None:
    net = bench(NET)
    net.select("c")
    net.panel.search_line.setText("lr_mult")
    assert 0 < len([section for section in _entries(net).sections if section.is_open]) < FIRST_LINES


def test_a_list_unfolds_at_once_and_takes_another_entry_at_its_end(bench: Make) -> None:
    net = bench(NET)
    net.select("s")
    net.panel.page.fields.complete()
    edit = _list(net)
    looks = []
    for _look in range(3):
        begin = time.thread_time()
        edit._toggle.setChecked(True)
        looks.append(time.thread_time() - begin)
        assert len(edit.entry_editors) < MANY
        edit._toggle.setChecked(False)
    assert min(looks) < LONGEST, f"{min(looks) * 1e3:.0f} ms at once"
    edit._toggle.setChecked(True)
    editor = edit.entry_editors[2]
    editor.setText("77")
    editor.commit()
    assert "slice_point: 1 slice_point: 77 slice_point: 3" in net.text
    net.check_undo_redo()
