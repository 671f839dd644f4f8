"""A search in very many entries shows the best of them and says how many more there are."""

from __future__ import annotations

from PySide6.QtCore import QPoint

from app.canvas.find import Found
from app.palette.model import MOST_ROWS
from app.palette.search import SearchPopup


def test_the_best_of_very_many_are_shown_and_the_rest_is_counted(qtbot):
    popup = SearchPopup()
    qtbot.addWidget(popup)
    names = [f"conv{number}" for number in range(MOST_ROWS + 50)]
    popup.ask([Found(place, name, "Vision", "Convolution", (), ()) for place, name in enumerate(names)], QPoint(), "?")
    assert popup.model.rowCount() == MOST_ROWS and popup.note.text().startswith("50 more")
    qtbot.keyClicks(popup.search, names[-1])
    assert popup.model.rowCount() >= 1 and popup.model.index(0, 0).data() == names[-1]
    assert "more" not in popup.note.text()
    popup.hide()
