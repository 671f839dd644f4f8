"""Rules of layers, and the state of a net, as the text has them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.prototxt import Message, Scalar
from engine.rules import PHASES, NetState, Rule, Rules, states_for

__all__ = ["PHASES", "NetState", "Rule", "Rules", "read_rule", "read_state", "states_for"]

_PHASE_WORDS = {"TRAIN": "TRAIN", "TEST": "TEST", "0": "TRAIN", "1": "TEST"}


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


def read_state(root: Message) -> tuple[int, frozenset[str]]:
    """Read level and stages of a net's own ``state``; its phase is the caller's to choose, as in Caffe."""
    level, stages = 0, frozenset[str]()
    for field in root.fields("state"):
        if field.message is not None:
            level = _integer(field.message.text_of("level")) or level
            stages |= frozenset(_strings(field.message, "stage"))
    return level, stages


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
