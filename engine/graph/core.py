"""Changes of the graph: how they are made, taken back, made again and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.errors import GraphError
from engine.graph.change import Account, Change
from engine.graph.foresight import Foresight
from engine.graph.records import Events
from engine.graph.state import GraphState, is_broken
from engine.prototxt import EditLog, Field, Style, Tree, all_told, misread, style_of

__all__ = ["GraphCore"]


class GraphCore(GraphState):
    """A document that changes in steps which can be taken back; :class:`engine.graph.OpGraph` is the public face."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._style_cache: Style | None = None
        self._log: EditLog | None = None
        self._change: Change | None = None
        self._stamp = object()
        self._subscribers: list[Callable[[Events], None]] = []
        self._telling = False
        self._made: set[Field] = set()

    # Changes

    @contextmanager
    def change(self, text: str = "") -> Iterator[Change]:
        """Group edits into one change that can be undone; take all of them back if an exception comes through.

        A change inside of a change joins it.

        Parameters
        ----------
        text : str
            What the change does, as an undo menu shows it.

        Raises
        ------
        GraphError
            Where one that is being told of a change would make another: the history would not know their order.
        """
        if self._log is not None and self._change is not None:
            mark = len(self._log)
            try:
                yield self._change
                self._sync()
            except BaseException:
                self._log.roll_back(mark)
                self._sync()
                raise
            return
        self._check_told(text)
        log = EditLog(self._touched)
        all_known = not self._may_be_broken or all_told(self._tree.root.items)
        change = Change(self, text, log, self._stamp)
        self._log, self._change, self._account = log, change, Account()
        try:
            yield change
            self._sync()
            self._check_reading(all_known)
        except BaseException:
            log.roll_back(0)
            self._sync()
            raise
        finally:
            self._log = self._change = None
            self._foreseen = Foresight()
        if len(log):
            self._stamp = change._seal(object(), self._account)
            self._emit(change.events)

    def subscribe(self, callback: Callable[[Events], None]) -> Callable[[], None]:
        """Have ``callback`` called with the :class:`Events` after each change, undo and redo.

        Returns
        -------
        callable
            Ends the subscription.
        """
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def _replay(self, change: Change, account: Account, expected: object, stamp: object, *, back: bool) -> Events:
        """Take a change back, or make it again: ``account`` tells what that does to what the graph knows."""
        if self._log is not None:
            raise GraphError(f"'{change.text}' cannot be undone or redone inside of another change.")
        self._check_told(change.text)
        if self._stamp is not expected:
            raise GraphError(
                f"'{change.text}' is not the change that was made last.", next_step="Undo and redo changes in order."
            )
        self._account = Account()
        log = change._log
        if back:
            log.undo()
        else:
            log.redo()
        if account.is_whole:
            self._retrace(account, back=back)
            events = change._told.reversed() if back else change._told
        else:
            self._sync()
            events = self._account.events()
        self._account = Account()
        self._stamp = stamp
        if events.text_changed:
            self._emit(events)
        return events

    def _check_told(self, text: str) -> None:
        if self._telling:
            raise GraphError(
                f"'{text}' was asked for while another change of the net was being shown.", next_step="Do it again."
            )

    def _emit(self, events: Events) -> None:
        errors = []
        self._telling = True
        for callback in tuple(self._subscribers):
            try:
                callback(events)
            except Exception as error:  # the others must hear of it all the same
                errors.append(error)
        self._telling = False
        if errors:
            raise errors[0]

    def _check_reading(self, all_known: bool) -> None:
        """Refuse edits of broken text after which it would be read in another way than the graph has it."""
        if not self._may_be_broken:
            return
        log = self._editing
        item, corrections = misread(self._tree, log.doubtful, whole=not all_known) if len(log) else (None, [])
        for corrected, faults in corrections:
            log.correct(corrected, faults)
        if item is not None:
            raise GraphError(
                f"The text is broken around line {self._tree.start_line(item)}; it would be read in another way then.",
                next_step="Mend the text there first.",
            )
        self._may_be_broken = any(map(is_broken, self._tree.root.items))

    @property
    def _editing(self) -> EditLog:
        assert self._log is not None, "edits are made inside of a change"
        return self._log

    @property
    def _style(self) -> Style:
        if self._style_cache is None:
            self._style_cache = style_of(self._tree)
        return self._style_cache
