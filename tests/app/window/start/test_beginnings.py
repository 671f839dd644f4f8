"""Never an empty window: welcome page, templates, examples, the tour, the themes and the history."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app.theme import Theme
from app.window.start.models import templates
from app.window.start.welcome import Card, WelcomePage
from app.window.themes import theme_name


@pytest.fixture
def data_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def card(window, name: str) -> Card:
    return window.tabs.current.welcome.findChild(Card, f"window.welcome.{name}")


def click(widget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_the_welcome_page_offers_files_of_before_examples_and_templates(window, lenet):
    window.files.open(lenet)
    window.actions_by_name["welcome"].trigger()
    welcome = window.tabs.current.welcome
    assert isinstance(welcome, WelcomePage)
    assert len(window.tabs.pages()) == 2
    assert card(window, "file").text() == lenet.name
    assert {card(window, f"template.{model.name}").text() for model in templates()} == {
        model.title for model in templates()
    }
    window.actions_by_name["welcome"].trigger()
    assert len(window.tabs.pages()) == 2, "one welcome page is enough"


def test_messages_do_not_cover_the_welcome_page(window, qtbot):
    window.beginnings.welcome()
    headline = window.tabs.current.welcome.findChild(QLabel)
    bar = window.notify("'net.prototxt' cannot be read.", "error")
    bottom = lambda widget: widget.mapToGlobal(QPoint(0, widget.height())).y()  # noqa: E731
    qtbot.waitUntil(lambda: bottom(bar) < headline.mapToGlobal(QPoint()).y())
    place = bottom(headline)
    bar.dismiss()
    qtbot.waitUntil(lambda: bottom(headline) < place)


def test_an_empty_net_is_one_click_away(window):
    window.beginnings.welcome()
    click(card(window, "new"))
    assert window.tabs.current.welcome is None
    assert window.focusWidget() is window.canvas


def test_the_welcome_page_goes_when_a_layer_is_added_from_the_palette(window, qtbot):
    window.beginnings.welcome()
    qtbot.keyClicks(window.palette_panel.search, "input")
    qtbot.keyClick(window.palette_panel.search, Qt.Key.Key_Return)
    assert window.tabs.current.welcome is None
    assert len(window.document.graph) == 1


def test_a_recent_file_opens_in_the_place_of_the_welcome_page(window, lenet):
    window.settings.add_recent(lenet)
    window.beginnings.welcome()
    click(card(window, "file"))
    assert window.document.path == lenet
    assert len(window.tabs.pages()) == 1


@pytest.mark.parametrize("name", [model.name for model in templates()])
def test_a_template_becomes_an_untitled_net(window, name):
    window.beginnings.welcome()
    click(card(window, f"template.{name}"))
    document = window.document
    assert bytes(document.graph)
    assert document.path is None
    assert document.title == next(model.title for model in templates() if model.name == name)
    assert not document.modified
    assert window.actions_by_name["save"].isEnabled()


def test_two_nets_of_one_template_have_names_of_their_own(window):
    for _time in range(2):
        window.beginnings.new_from_template("lenet")
    assert [page.document.title for page in window.tabs.pages()] == ["LeNet", "LeNet 2"]


def test_an_example_opens_with_its_data(window, qtbot, data_home):
    window.beginnings.welcome()
    click(card(window, "example.autoencoder"))
    qtbot.waitUntil(lambda: window.document.path is not None, timeout=20_000)
    window.beginnings.wait()
    qtbot.waitUntil(lambda: not window.document.waits_for, timeout=20_000)
    assert window.document.path.name == "autoencoder_train_test.prototxt"


def test_the_first_start_shows_the_example_and_later_ones_what_was_open_before(window, qtbot, data_home, lenet):
    window.settings.add_recent(lenet)
    window.beginnings.at_start()
    assert isinstance(window.tabs.current.welcome, WelcomePage)
    window.settings.clear_recent()
    window.beginnings.at_start()
    qtbot.waitUntil(lambda: window.document.path is not None, timeout=20_000)
    window.beginnings.wait()
    qtbot.waitUntil(lambda: not window.document.waits_for, timeout=20_000)
    assert window.document.path.parent == data_home / "netcanvas" / "examples" / "lenet"


@pytest.mark.parametrize("width", [520, 900, 1440])
def test_the_cards_of_the_welcome_page_fit(window, width, qtbot):
    window.beginnings.welcome()
    welcome = window.tabs.current.welcome
    welcome.setParent(None)
    qtbot.addWidget(welcome)
    welcome.resize(width, 600)
    welcome.show()
    qtbot.wait(5)
    for each in welcome.findChildren(Card):
        left = each.mapTo(welcome.widget(), QPoint(0, 0)).x()
        assert left >= 0 and left + each.width() <= welcome.viewport().width()
    window.tabs.current.welcome = None


# The tour


@pytest.fixture
def tour(window, lenet):
    window.files.open(lenet)
    window.activateWindow()
    window.tour.start()
    return window.tour


def button(window, name: str) -> QPushButton:
    return window.findChild(QPushButton, f"window.tour.{name}")


def test_the_tour_goes_on_when_a_layer_was_really_added(window, tour, qtbot):
    assert tour.step == 0
    click(button(window, "act"))
    popup = window.canvas.popup
    assert popup.isVisible()
    qtbot.keyClicks(popup.search, "dropout")
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert len(window.document.graph) == 12
    qtbot.waitUntil(lambda: tour.step == 1, timeout=5000)
    click(button(window, "next"))
    assert tour.step == 2
    click(button(window, "act"))
    assert window.document.selection.last == window.document.graph.named("conv1")[0].id
    click(button(window, "next"))
    assert tour.step == -1
    assert button(window, "next") is None or not button(window, "next").isVisible()
    assert window.settings.tour_step == 0


def test_escape_leaves_the_tour_and_it_is_taken_up_again(window, tour, qtbot):
    click(button(window, "next"))
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert tour.step == -1
    tour.start()
    assert tour.step == 1
    click(button(window, "skip"))
    assert tour.step == -1


def test_the_note_of_the_tour_stays_inside_a_small_window(window, tour, qtbot):
    window.resize(900, 600)
    qtbot.wait(5)
    for _step in range(3):
        note = button(window, "next").parentWidget()
        assert window.rect().contains(note.geometry())
        click(button(window, "next"))


# Theme and history


def test_the_theme_follows_the_system_unless_one_is_chosen(window, monkeypatch):
    menu, hints = window.themes, QGuiApplication.styleHints()
    system = {"scheme": Qt.ColorScheme.Light}
    monkeypatch.setattr(type(hints), "colorScheme", lambda _self: system["scheme"])
    menu.choose("system")
    assert not Theme.current().is_dark
    system["scheme"] = Qt.ColorScheme.Dark
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert Theme.current().is_dark
    menu.choose("light")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not Theme.current().is_dark
    assert theme_name(window.settings) == "light"
    menu.refresh()
    assert [action.data() for action in menu.actions() if action.isChecked()] == ["light"]


def test_a_click_in_the_history_goes_to_that_state(window, lenet, qtbot):
    window.files.open(lenet)
    before = bytes(window.document.graph)
    for name in ("conv1", "conv2"):
        node = window.document.graph.named(name)[0].id
        window.document.apply(f"Rename {name}", lambda graph, node=node: graph.rename_node(node, "x" + str(node)))
    after = bytes(window.document.graph)
    panel = window.panels["history"]
    window.show_panel("history")
    view = panel.view
    assert [view.model().index(row, 0).data() for row in range(3)] == ["Opened", "Rename conv1", "Rename conv2"]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(0, 0)).center())
    assert bytes(window.document.graph) == before
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(2, 0)).center())
    assert bytes(window.document.graph) == after
