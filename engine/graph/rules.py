"""When a layer takes part: include and exclude rules against the state of a net.

The semantics are Caffe's (``Net::StateMeetsRule``): all fields of a rule must match; one matching include rule is
enough; one matching exclude rule is too much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.prototxt import Message, Scalar

__all__ = ["PHASES", "NetState", "Rule", "Rules", "read_rule", "states_for"]

PHASES = ("TRAIN", "TEST")
_PHASE_WORDS = {"TRAIN": "TRAIN", "TEST": "TEST", "0": "TRAIN", "1": "TEST"}


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


def read_rule(message: Message) -> Rule:
    """Read a ``NetStateRule`` from the tree; what cannot be understood matches anything."""
    phase = message.text_of("phase")
    return Rule(
        phase=_PHASE_WORDS.get(phase, phase) if phase is not None else None,
        min_level=_integer(message.text_of("min_level")),
        max_level=_integer(message.text_of("max_level")),
        stages=frozenset(_strings(message, "stage")),
        not_stages=frozenset(_strings(message, "not_stage")),
    )


def states_for(stages: Iterable[str]) -> tuple[NetState, ...]:
    """Return the states that a document is looked at in: each phase alone, and with each stage that its rules name."""
    alone = tuple(NetState(phase) for phase in PHASES)
    staged = tuple(NetState(phase, 0, frozenset({stage})) for stage in sorted(stages) for phase in PHASES)
    return alone + staged


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None


def _strings(message: Message, name: str) -> Sequence[str]:
    found = []
    for field in message.fields(name):
        value = field.value
        if isinstance(value, Scalar):
            found.append(value.as_str())
        elif not isinstance(value, Message):
            found += [element.value.as_str() for element in value.elements if isinstance(element.value, Scalar)]
    return found
