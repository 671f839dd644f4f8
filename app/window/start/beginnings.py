"""Ways to begin: the welcome page, examples, templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.document import Document
from app.qt import guard
from app.window.start.examples import ExampleOpener
from app.window.start.models import EXAMPLES, templates
from app.window.start.welcome import WelcomePage
from engine.graph import OpGraph
from engine.resources import user_data_path

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["Beginnings"]


class Beginnings(QObject):
    """Opens what a user may begin with.

    Parameters
    ----------
    window : MainWindow
        Where it is shown.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._openers: list[ExampleOpener] = []

    def at_start(self) -> None:
        """Show the example at the first start, and later on the welcome page."""
        own = user_data_path() / "examples"
        if any(own not in path.parents for path in self._window.settings.recent_files):
            self.welcome()
        else:
            self.open_example("lenet")

    def welcome(self) -> None:
        """Show the welcome page in a tab of its own, or in that of an empty net which nobody touched."""
        window = self._window
        if not window.document.is_untouched:
            window.show_document(Document.new())
        page = window.tabs.current
        welcome = WelcomePage(window.settings.recent_files, templates(), page)
        welcome.new_asked.connect(window.files.new)
        welcome.open_asked.connect(window.files.open_dialog)
        welcome.tour_asked.connect(window.tour.start)
        welcome.file_chosen.connect(window.files.open)
        welcome.example_chosen.connect(self.open_example)
        welcome.template_chosen.connect(self.new_from_template)
        page.show_welcome(welcome)
        page.setFocus()

    @guard
    def open_example(self, name: str) -> None:
        """Open an example; its data are written in the background when this is the first time."""
        opener = ExampleOpener(self._window, name)
        self._openers.append(opener)
        opener.open_when_ready()

    def wait(self) -> None:
        """Wait for data that are being written."""
        for opener in self._openers:
            opener.wait()

    @guard
    def new_from_template(self, name: str) -> None:
        """Begin an untitled net with a template."""
        model = next(each for each in templates() if each.name == name)
        document = Document(OpGraph.parse(model.template.read_bytes()))
        document.label = model.title
        self._window.show_document(document)

    def fill_menu(self, menu: QMenu) -> None:
        """List examples and templates."""
        menu.setToolTipsVisible(True)
        for models, kind, choose in (
            (EXAMPLES, "example", self.open_example),
            (templates(), "template", self.new_from_template),
        ):
            menu.addSection("Examples" if kind == "example" else "Templates")
            for model in models:
                action = menu.addAction(model.title)
                action.setObjectName(f"window.{kind}.{model.name}")
                action.setToolTip(model.summary)
                action.triggered.connect(lambda _checked=False, name=model.name, choose=choose: choose(name))
