"""Which layers of a file belong to a net: include and exclude rules by phase, level and stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine import rules
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

    @property
    def plain(self) -> rules.NetState:
        """The same as rules are matched against."""
        return rules.NetState(self.phase.name, self.level, self.stages)


def rule_meets(rule: Any, state: NetState) -> bool:
    """Whether a state meets all that one ``NetStateRule`` asks for (Caffe's ``Net::StateMeetsRule``)."""
    return _read(rule).matches(state.plain)


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
    if not layer_param.include and not layer_param.exclude:
        return True
    read = rules.Rules(tuple(map(_read, layer_param.include)), tuple(map(_read, layer_param.exclude)))
    return read.active(state.plain)


def _read(rule: Any) -> rules.Rule:
    """Read a ``NetStateRule``; a field that is not set matches anything."""
    return rules.Rule(
        phase=Phase(rule.phase).name if rule.HasField("phase") else None,
        min_level=rule.min_level if rule.HasField("min_level") else None,
        max_level=rule.max_level if rule.HasField("max_level") else None,
        stages=frozenset(rule.stage),
        not_stages=frozenset(rule.not_stage),
    )


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
