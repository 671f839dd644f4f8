"""With the large letters that a system may ask for, nothing in the panels is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from app.properties.editors.edits import NameEdit
from app.properties.rows.row import Row
from app.properties.section import Section, SectionHeader
from app.window.keys.shortcutpage import ShortcutPage
from app.window.mainwindow import MainWindow

DOCKS = ("palette", "outline", "history", "properties", "solver", "training", "problems", "costs", "plugins")


@pytest.fixture(params=[14.0, 18.0], autouse=True)
def large_letters(request, dressed_app: QApplication) -> Iterator[float]:
    """Before the window is made, as at its start."""
    plain = QApplication.font()
    large = QApplication.font()
    large.setPointSizeF(request.param)
    QApplication.setFont(large)
    yield request.param
    QApplication.setFont(plain)


def cut_in(root: QWidget) -> Iterator[str]:
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or not widget.visibleRegion().boundingRect().isValid():
            continue
        name, wanted = widget.objectName() or type(widget).__name__, widget.sizeHint()
        line = QFontMetrics(widget.font()).height()
        if isinstance(widget, QPushButton | QCheckBox) and widget.text() and widget.width() < wanted.width() - 2:
            yield f"{name} '{widget.text()}' is {widget.width()} wide, and needs {wanted.width()}"
        if isinstance(widget, QLineEdit | QComboBox | SectionHeader | QPushButton | QToolButton | QLabel):
            text = getattr(widget, "text", getattr(widget, "currentText", str))()
            if text and widget.height() < line - 1 and widget.parentWidget().objectName()[-7:] != ".search":
                yield f"{name} '{text}' is {widget.height()} high, and a line {line}"
        if isinstance(widget, QAbstractItemView) and widget.model() is not None and widget.model().rowCount():
            height = widget.visualRect(widget.model().index(0, 0)).height()
            if 0 < height < line - 1:
                yield f"rows of {name} are {height} high, and a line {line}"


def test_nothing_is_cut(window: MainWindow, lenet, qtbot):
    assert window.files.open(lenet)
    window.document.selection.set([window.document.graph.named("conv1")[0].id])
    window.document.selection.flush()
    window.notify("Something was done.", "warning", [("Take it back", lambda: None)])
    window.canvas.show_heat("parameters")
    for dock in DOCKS:
        window.show_panel(dock)
        qtbot.wait(5)
        faults = sorted(set(cut_in(window._docks.docks[dock])))
        assert not faults, "\n".join([dock, *faults])
    faults = sorted(set(cut_in(window.tabs)))
    assert not faults, "\n".join(faults)
    legend = window.canvas.legend
    assert legend.width() >= QFontMetrics(legend.font()).horizontalAdvance("".join(legend.texts[:2])) + 24


def test_forms_are_as_wide_as_their_panels_and_names_are_whole(window: MainWindow, lenet, qtbot):
    """Also when a panel becomes narrower; where there is no room beside them, names stand above their editors."""
    assert window.files.open(lenet)
    window.document.selection.set([window.document.graph.named("loss")[0].id])
    window.document.selection.flush()
    for panel in ("properties", "solver"):
        form, dock = window.panels[panel], window._docks.docks[panel]
        dock.setFloating(True)  # so that its width is what it is given
        window.show_panel(panel)
        for section in form.findChildren(Section):
            section.set_open(True)
        for width in (600, 480, 340, 260):
            dock.resize(width, 700)
            qtbot.waitUntil(lambda form=form, width=width: abs(form.width() - width) <= 8, timeout=5000)
            rows = [each for each in form.findChildren(Row) if each.isVisible()]
            assert len(rows) > 3
            qtbot.waitUntil(lambda rows=rows: not list(faults_of_rows(rows)), timeout=5000)
            assert form.area.widget().width() == form.area.viewport().width()
        dock.setFloating(False)


def faults_of_rows(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        for part in row.findChildren(QWidget):
            right = part.mapTo(row, part.rect().topRight()).x()
            if part.isVisible() and not part.isWindow() and right >= row.width():
                yield f"{part.objectName()} of {row.path} ends at {right} of {row.width()}"
        name = row.label.accessibleName().replace("_", "_ ").split()
        widest = max((row.label.fontMetrics().horizontalAdvance(word) for word in name), default=0)
        if widest > row.label.width():
            yield f"the name of {row.path} needs {widest} and has {row.label.width()}"


def test_names_are_larger_than_other_letters_by_as_much_as_ever(window: MainWindow, lenet, large_letters):
    assert window.files.open(lenet)
    (name,) = (each for each in window.panels["properties"].findChildren(NameEdit) if each.isVisibleTo(window))
    assert name.font().pointSizeF() == pytest.approx(1.5 * large_letters, abs=0.6)


def test_buttons_of_the_tour_and_of_messages_are_whole(window: MainWindow, lenet, qtbot):
    assert window.files.open(lenet)
    window.tour.start()
    answers = [("Take it back again", lambda: None)]
    bar = window.notify("Something was done that takes a whole line to say.", "warning", answers)
    qtbot.waitUntil(lambda: bar.isVisible() and bar.height() > 0)
    qtbot.wait(50)
    faults = [*cut_in(window.findChild(QWidget, "window.tour")), *cut_in(bar)]
    assert not faults, "\n".join(faults)
    text = bar.findChild(QLabel, "window.bar.text")
    assert text.width() >= 20 * text.fontMetrics().averageCharWidth()
    window.tour.stop()


def test_keyboard_shortcuts_show_what_each_does(window: MainWindow, qtbot):
    window.keys.open_page()
    page = window.findChild(ShortcutPage)
    qtbot.wait(20)
    table = page.table
    widths = [table.columnWidth(column) for column in range(3)]
    assert widths[0] >= 0.4 * table.viewport().width() and min(widths) > 60
    assert sum(widths) <= table.viewport().width()
    page.close()
