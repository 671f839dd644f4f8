"""The row of a number field: it computes what is typed, and dragging its name changes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel

from app.properties.editors.scrub import ScrubLabel, scrubbed
from app.properties.expressions import Formula, read_formula, split_formulas
from app.properties.rows.field_row import FieldRow
from engine.errors import CheckError, NetcanvasError

__all__ = ["NumberRow"]


class NumberRow(FieldRow):
    """The row of a number field, repeated or not.

    ``2*64`` and ``=64/2`` are computed; ``+8`` or ``*2`` change what is there, in each of several layers for itself.
    Dragging the name shows new values everywhere, and is one step of the history when it ends.
    """

    def _make_label(self) -> QLabel:
        label = ScrubLabel(self._scrub, self._end_scrub)
        label.setToolTip("Drag sideways to change the value, finely with Shift; Escape takes it back.")
        return label

    # What is typed

    def commit(self, typed: str) -> None:
        """Write what was typed, computed."""
        formula = self._formula(typed)
        if formula is None or not formula.is_relative:
            super().commit(typed)
        else:
            self._change_each(formula)

    def commit_list(self, entries: list[str]) -> None:
        """Write the entries of a repeated field; one that changes what is there changes all entries."""
        formula = self._formula(entries[0]) if len(entries) == 1 else None
        if formula is None or not formula.is_relative:
            super().commit_list(entries)
        else:
            self._change_each(formula)

    def _formula(self, typed: str) -> Formula | None:
        try:
            return read_formula(self.info, typed)
        except CheckError:
            return None  # said where it is turned into text

    def _change_each(self, formula: Formula) -> None:
        def change(before: Sequence[str]) -> list[str]:
            return [self._result(formula, text) for text in before] or [self._result(formula, None)]

        label = f"Change {self.info.name} by {formula.text}"
        if self.attempt(lambda: self.target.rewrite(self.path, change, label)):
            self._settle()
        else:
            self.editor.set_invalid(True)

    def _result(self, formula: Formula, before: str | None) -> str:
        start = self.info.default_text if before is None else before
        if formula.is_relative and not start:
            raise CheckError(f"{self.info.name}: there is no value that {formula.text} could change.")
        return formula.result(self.info, start)

    def _typed_text(self, typed: str, written: str | None) -> str:
        formula = read_formula(self.info, typed)
        return self._to_text(typed, written) if formula is None else self._result(formula, written)

    def _parts(self, typed: str) -> list[str]:
        formulas = split_formulas(self.info, typed) if self.info.repeated else None
        return super()._parts(typed) if formulas is None else formulas

    def _check_typed(self) -> None:
        """Say what is wrong with what is being typed, or what it gives."""
        line = self.line
        if line is None or not line.pending:
            return
        state = self.target.state(self.path)
        written = [entry.text for entry in state.entries] if not state.mixed else []
        parts = self._parts(line.text())
        try:
            formulas = [read_formula(self.info, part) for part in parts]
            if any(formula is not None and formula.is_relative for formula in formulas) and state.mixed:
                self.say("Changes each layer's own value.", quiet=True)
                return
            if len(parts) == 1 and len(written) > 1 and formulas[0] is not None and formulas[0].is_relative:
                texts = [self._typed_text(parts[0], text) for text in written]
            else:
                texts = [
                    self._typed_text(part, written[i] if i < len(written) else None) for i, part in enumerate(parts)
                ]
        except NetcanvasError as error:
            self._refuse(str(error))
            return
        if any(formulas):
            self.say(f"= {', '.join(texts)}", quiet=True)

    # Dragging

    def _scrub(self, steps: int, fine: bool) -> None:
        if self.line is not None:
            self.line.revert()

        def change(before: Sequence[str]) -> list[str]:
            return scrubbed(self.info, before, steps, fine=fine) if steps else list(before)

        try:
            self.target.try_rewrite(self.path, change, f"Drag {self.info.name}")
        except NetcanvasError as error:
            self.say(str(error))

    def _end_scrub(self, keep: bool) -> None:
        self.target.end_trial(keep=keep)
