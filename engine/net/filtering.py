"""Which layers of a file belong to a net: include and exclude rules by phase, level and stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.errors import LayerError
from engine.layer import Phase

__all__ = ["NetState", "filter_net", "layer_included", "rule_meets"]


@dataclass(frozen=True, slots=True)
class NetState:
    """What rules are tested against.

    Attributes
    ----------
    phase : Phase
        Training or testing.
    level : int
        Compared with ``min_level`` and ``max_level``.
    stages : frozenset of str
        Names that ``stage`` asks for and ``not_stage`` forbids.
    """

    phase: Phase
    level: int = 0
    stages: frozenset[str] = frozenset()

    @classmethod
    def of(cls, param: Any, phase: Phase, level: int, stages: tuple[str, ...]) -> NetState:
        """Return the state of a net: the file's own ``state``, with what the caller adds to it."""
        return cls(Phase(phase), level or param.state.level, frozenset(param.state.stage) | frozenset(stages))


def rule_meets(rule: Any, state: NetState) -> bool:
    """Whether a state meets all that one ``NetStateRule`` asks for (Caffe's ``Net::StateMeetsRule``)."""
    if rule.HasField("phase") and rule.phase != state.phase:
        return False
    if rule.HasField("min_level") and state.level < rule.min_level:
        return False
    if rule.HasField("max_level") and state.level > rule.max_level:
        return False
    return state.stages.issuperset(rule.stage) and state.stages.isdisjoint(rule.not_stage)


def layer_included(layer_param: Any, state: NetState) -> bool:
    """Whether a layer belongs to a net of the given state.

    Without rules it does; with ``include`` rules when any is met; with ``exclude`` rules when none is.

    Raises
    ------
    engine.errors.LayerError
        If the layer has both kinds.
    """
    if layer_param.include and layer_param.exclude:
        raise LayerError(
            layer_param.name,
            layer_param.type,
            "expected include rules or exclude rules, got both.",
            next_step="Keep one kind.",
        )
    if layer_param.include:
        return any(rule_meets(rule, state) for rule in layer_param.include)
    return not any(rule_meets(rule, state) for rule in layer_param.exclude)


def filter_net(param: Any, state: NetState) -> Any:
    """Return a copy of a net's message with only the layers that belong to a state.

    Parameters
    ----------
    param : NetParameter
        The whole file.
    state : NetState
        The net to be built.
    """
    filtered = type(param)()
    filtered.CopyFrom(param)
    for index in reversed(range(len(filtered.layer))):
        if not layer_included(filtered.layer[index], state):
            del filtered.layer[index]
    filtered.state.phase = int(state.phase)
    filtered.state.level = state.level
    del filtered.state.stage[:]
    filtered.state.stage.extend(sorted(state.stages))
    return filtered
