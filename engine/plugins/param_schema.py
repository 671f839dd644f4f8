"""What the ``param_str`` of a Python layer may hold, as its plugin's manifest declares it.

Each parameter is a table of its own::

    [layers."rpn.anchors.AnchorLayer".param_str.feat_stride]
    type = "int"            # int, float, bool, string, or list
    default = 16            # what the layer takes where param_str says nothing
    summary = "Pixels of the image to a cell of the features."
    unit = "pixels"
    min = 1
    max = 64
    choices = [8, 16, 32]
    required = false
    items = "float"         # of a list: the type of its items
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ParamField", "ParamStrSchema", "read_param_schema"]

_KINDS = ("int", "float", "bool", "string", "list")


@dataclass(frozen=True, slots=True)
class ParamField:
    """One parameter.

    Attributes
    ----------
    name : str
    kind : str
        ``int``, ``float``, ``bool``, ``string`` or ``list``.
    summary, unit : str
    default : object
        None where there is none.
    minimum, maximum : float or None
        Least and greatest value, of a list's items too.
    choices : tuple
        The values that it may have; empty for any.
    required : bool
    items : str
        Kind of the items of a list; empty for any.
    """

    name: str
    kind: str
    summary: str = ""
    unit: str = ""
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Any, ...] = ()
    required: bool = False
    items: str = ""

    def fault(self, value: Any) -> str:
        """Return what is wrong with a value in one sentence, or an empty text."""
        if not _is_a(value, self.kind):
            return f"'{self.name}': expected {_article(self.kind)}, got {value!r}."
        for item in value if self.kind == "list" else (value,):
            if self.kind == "list" and self.items and not _is_a(item, self.items):
                return f"'{self.name}': expected a list of {self.items} values, got {item!r} in it."
            if self.choices and item not in self.choices:
                offered = ", ".join(map(repr, self.choices))
                return f"'{self.name}': expected one of {offered}, got {item!r}."
            if self.minimum is not None and item < self.minimum:
                return f"'{self.name}': expected {self.minimum:g} or more, got {item!r}."
            if self.maximum is not None and item > self.maximum:
                return f"'{self.name}': expected {self.maximum:g} or less, got {item!r}."
        return ""


@dataclass(frozen=True, slots=True)
class ParamStrSchema:
    """The parameters of a layer, in the order to show them in."""

    fields: tuple[ParamField, ...]

    def field(self, name: str) -> ParamField | None:
        """Return the parameter of that name, or None."""
        return next((field for field in self.fields if field.name == name), None)

    def faults(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what is wrong with the values of a ``param_str``, a sentence each; nothing is run.

        Parameters
        ----------
        values : mapping of str to object
            As :func:`engine.param_str.parse_param_str` reads them.
        """
        found = []
        names = [field.name for field in self.fields]
        for name, value in values.items():
            field = self.field(name)
            if field is None:
                near = difflib.get_close_matches(name, names, n=1)
                found.append(
                    f"The layer has no parameter '{name}'."
                    + (f" Did you mean '{near[0]}'?" if near else f" It has {', '.join(names)}.")
                )
            elif fault := field.fault(value):
                found.append(fault)
        missing = [each.name for each in self.fields if each.required and each.name not in values]
        return (*found, *(f"Parameter '{name}' is missing." for name in missing))


def read_param_schema(table: Mapping[str, Any]) -> ParamStrSchema:
    """Read the declaration of a layer's parameters.

    Parameters
    ----------
    table : mapping
        Name of each parameter with what is said of it.

    Raises
    ------
    ValueError
        With one sentence on what was expected and what was found.
    """
    return ParamStrSchema(tuple(_field(name, facts) for name, facts in table.items()))


def _field(name: str, facts: Any) -> ParamField:
    if not isinstance(facts, dict):
        raise ValueError(f"{name}: expected a table, got {facts!r}")
    keys = {"type", "summary", "unit", "default", "min", "max", "choices", "required", "items"}
    for key in facts:
        if key not in keys:
            raise ValueError(f"{name}: expected one of {', '.join(sorted(keys))}, got '{key}'")
    kind, items = facts.get("type"), facts.get("items", "")
    if kind not in _KINDS or (items and items not in _KINDS):
        got = items or kind
        raise ValueError(f"{name}: expected type to be one of {', '.join(_KINDS)}, got {got!r}")
    number_of = items if kind == "list" else kind
    for key in ("min", "max"):
        if key in facts and (number_of not in ("int", "float") or not _is_a(facts[key], "float")):
            raise ValueError(f"{name}: expected {key} to be a number, of a parameter that is one, got {facts[key]!r}")
    if not isinstance(facts.get("choices", []), list):
        raise ValueError(f"{name}: expected choices to be a list, got {facts['choices']!r}")
    field = ParamField(
        name=name,
        kind=kind,
        summary=str(facts.get("summary", "")),
        unit=str(facts.get("unit", "")),
        default=facts.get("default"),
        minimum=facts.get("min"),
        maximum=facts.get("max"),
        choices=tuple(facts.get("choices", ())),
        required=bool(facts.get("required", False)),
        items=items,
    )
    if field.default is not None and (fault := field.fault(field.default)):
        raise ValueError(f"default of {fault.removesuffix('.')}")
    return field


def _is_a(value: Any, kind: str) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "list":
        return isinstance(value, list | tuple)
    return isinstance(value, int if kind == "int" else int | float) and not isinstance(value, bool)


def _article(kind: str) -> str:
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    return words.get(kind, f"a {kind}")
