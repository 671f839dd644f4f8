"""When a layer takes part: include and exclude rules against the state of a net.

The semantics are Caffe's (``Net::StateMeetsRule`` and ``Net::FilterNet``): all fields of a rule must match; one
matching include rule is enough; one matching exclude rule is too much. Text and messages are both read into these
values, so that what the editor shows is what a run filters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["PHASES", "NetState", "Rule", "Rules", "states_for"]

PHASES = ("TRAIN", "TEST")

#: A level and stages that a rule asks for.
Ask = tuple[int, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NetState:
    """A phase, a level and a set of stages, in which a net is built."""

    phase: str
    level: int = 0
    stages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """One include or exclude rule; a field that is not written matches anything."""

    phase: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    stages: frozenset[str] = frozenset()
    not_stages: frozenset[str] = frozenset()

    def matches(self, state: NetState) -> bool:
        """Whether the rule's every field matches ``state``."""
        return (
            (self.phase is None or self.phase == state.phase)
            and (self.min_level is None or state.level >= self.min_level)
            and (self.max_level is None or state.level <= self.max_level)
            and self.stages <= state.stages
            and not self.not_stages & state.stages
        )

    @property
    def asks(self) -> frozenset[Ask]:
        """The plainest level and stages that match, and each stage alone; nothing where a bare phase will do."""
        level = max(0, self.min_level or 0)
        if self.max_level is not None and self.max_level < level:
            level = self.max_level
        alone = {(0, frozenset({stage})) for stage in self.stages | self.not_stages}
        return frozenset({(level, self.stages), *alone} - {(0, frozenset[str]())})

    @property
    def levels(self) -> frozenset[int]:
        """The levels at which the rule begins to match, matches last, and no longer matches."""
        begins = set() if self.min_level is None else {self.min_level}
        ends = set() if self.max_level is None else {self.max_level, self.max_level + 1}
        return frozenset(begins | ends)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one layer."""

    include: tuple[Rule, ...] = ()
    exclude: tuple[Rule, ...] = ()

    def active(self, state: NetState) -> bool:
        """Whether a layer with these rules takes part in ``state``."""
        if self.include:
            return any(rule.matches(state) for rule in self.include)
        return not any(rule.matches(state) for rule in self.exclude)

    @property
    def stages(self) -> frozenset[str]:
        """All stages that the rules speak of."""
        return frozenset().union(*(rule.stages | rule.not_stages for rule in self.include + self.exclude))

    @property
    def levels(self) -> frozenset[int]:
        """All levels at which the rules begin or cease to match."""
        return frozenset().union(*(rule.levels for rule in self.include + self.exclude))

    @property
    def asks(self) -> frozenset[Ask]:
        """All levels and stages that the rules ask for."""
        return frozenset().union(*(rule.asks for rule in self.include + self.exclude))


def states_for(asks: Iterable[Ask], own: Ask = (0, frozenset())) -> tuple[NetState, ...]:
    """Return the states that a document is looked at in: each phase alone, and with all that its rules ask for.

    Parameters
    ----------
    asks : iterable of (int, frozenset of str)
        Levels and stages; see :attr:`Rules.asks`.
    own : (int, frozenset of str)
        Level and stages that the net's own ``state`` sets, to which the others are added.
    """
    level, stages = own
    pairs = sorted({(asked or level, stages | more) for asked, more in asks} - {own}, key=_order)
    return tuple(NetState(phase, *pair) for pair in [own, *pairs] for phase in PHASES)


def _order(ask: Ask) -> tuple[int, list[str]]:
    return ask[0], sorted(ask[1])
