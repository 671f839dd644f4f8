"""Groups of fields below each other, each under a header that folds it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.properties.forms import FIRST_ROWS, MessageForm
from app.properties.groups import FieldGroup
from app.properties.messages import Diagnoses, field_matches
from app.properties.section import Section
from app.properties.target import Target
from app.qt import Debounce
from app.theme import GRID

__all__ = ["FieldGroups"]

_UNKNOWN_IN = "More"


class FieldGroups(QWidget):
    """The fields of one message, or of several edited at once, in groups.

    Parameters
    ----------
    target : Target
        What is edited.
    groups : sequence of FieldGroup
        What is shown; the one called "More" also lists the fields that the schema does not know.
    folds : dict of str to bool
        Which groups the user opened and closed, by title; kept up to date.
    unknown : collection of str
        Names of fields that the schema does not know.
    """

    def __init__(
        self,
        target: Target,
        groups: Sequence[FieldGroup],
        folds: dict[str, bool],
        unknown: Collection[str] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.groups = tuple(groups)
        self.sections: list[Section] = []
        self._target = target
        self._folds = folds
        self._unknown = frozenset(unknown)
        self._found: Diagnoses = {}
        self._forms_due = Debounce(self._diagnose, 0, self)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        # Of a new page, the rows of the first open group are there at once; those below it follow.
        self._building, self._has_first = True, False
        for group in self.groups:
            self._add(group)
        self._building = self._has_first = False
        self._layout.addSpacing(4 * GRID)

    def _add(self, group: FieldGroup) -> None:
        def form() -> MessageForm:
            unknown = bool(group.base) or group.title == _UNKNOWN_IN
            at_once = 0 if self._has_first else FIRST_ROWS
            self._has_first = self._building
            made = MessageForm(
                self._target, group.message, group.fields, group.base, show_unknown=unknown, at_once=at_once
            )
            self._forms_due.trigger()
            return made

        has_unknown = group.title == _UNKNOWN_IN and bool(self._unknown)
        is_open = self._folds.get(group.title, group.is_open or has_unknown)
        section = Section(group.title, form, is_open=is_open, parent=self)
        section.header.describe(group.note, is_set=False)
        section.header.setObjectName(f"properties.group.{group.title}")
        section.toggled.connect(lambda opened, title=group.title: self._folds.__setitem__(title, opened))
        self.sections.append(section)
        self._layout.addWidget(section)

    def forms(self) -> list[MessageForm]:
        """Return the forms that are made."""
        return [section.body for section in self.sections if isinstance(section.body, MessageForm)]

    def complete(self) -> None:
        """Make all rows of the open groups now rather than in slices."""
        for form in self.forms():
            form.complete()

    def bind(self, target: Target) -> None:
        """Edit another target that has the same groups."""
        self._target = target
        for form in self.forms():
            form.bind(target)

    def refresh(self) -> None:
        """Show what the file says now."""
        for form in self.forms():
            form.refresh()

    def show_shapes(self) -> None:
        """Show what depends on shapes, which have changed."""
        for form in self.forms():
            form.show_shapes()

    def diagnose(self, found: Diagnoses) -> None:
        """Show what the diagnosis says about each field, by path."""
        self._found = found
        self._diagnose()

    def _diagnose(self) -> None:
        for group, section in zip(self.groups, self.sections, strict=True):
            names = [group.base] if group.base else [(info.name,) for info in group.fields]
            inside = [hit for path, hit in self._found.items() if path[:1] in names]
            section.header.warn(*next(iter(sorted(inside, key=lambda hit: not hit[1])), ("", False)))
            if isinstance(section.body, MessageForm):
                section.body.diagnose(self._found)

    def search(self, words: str) -> bool:
        """Show only fields that match; return whether there is one. Everything for empty words."""
        found = False
        for group, section in zip(self.groups, self.sections, strict=True):
            hit = not words or any(field_matches(self._target.schema, info, words) for info in group.fields)
            unknown = group.title == _UNKNOWN_IN and any(words in name.lower() for name in self._unknown)
            section.setVisible(hit or unknown)
            if hit or unknown:
                section.force_open(bool(words))
                if isinstance(section.body, MessageForm):
                    section.body.search(words)
            found |= hit or unknown
        return found
