"""Files of before: gone and back, of odd names, and many of them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from app.window.start.welcome import Card


def test_what_is_gone_is_left_out_and_not_forgotten(settings: WindowSettings, tmp_path: Path) -> None:
    paths = [tmp_path / f"n{number}.prototxt" for number in range(200)]
    for path in paths:
        path.touch()
        settings.add_recent(path)
    newest = paths[::-1]
    assert settings.recent_files == newest[:10]
    for path in newest[:8]:
        path.rename(path.with_suffix(".away"))
    assert settings.recent_files == newest[8:18]
    settings.add_recent(newest[20])
    for path in newest[:8]:
        path.with_suffix(".away").rename(path)
    assert settings.recent_files == [newest[20], *newest[:9]]


def test_odd_names_are_shown_as_they_are(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "a & b.prototxt"
    path.touch()
    window.settings.add_recent(path)
    window.recent_menu.aboutToShow.emit()
    assert window.recent_menu.actions()[0].text() == "&1  a && b.prototxt"


def test_a_card_of_a_file_that_went_away_meanwhile_says_where_it_was(window: MainWindow, tmp_path: Path, qtbot) -> None:
    deep = tmp_path / ("a_folder_without_any_space" * 4) / "\u30cb\u30e5\u30fc\u30e9\u30eb"
    deep.mkdir(parents=True)
    path = deep / "net.prototxt"
    path.touch()
    window.settings.add_recent(path)
    window.beginnings.welcome()
    card = window.tabs.current.findChild(QWidget, "window.welcome.file")
    assert isinstance(card, Card) and card.toolTip() == str(path)
    card.grab()
    path.unlink()
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    (bar,) = window.bars
    assert bar.text == f"'net.prototxt' is not there in '{deep}'. Open it from where it is now."
    assert window.document.is_untouched
