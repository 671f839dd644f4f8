"""The words for what is wrong with a text."""

from __future__ import annotations

from engine.prototxt.parts import Container, Element, Field, Message
from engine.prototxt.scalars import SMART_QUOTES

__all__ = ["LAYER_NAMES", "bad_value", "chain", "equals_sign", "holds_no_layer", "indent", "is_layer", "junk"]
__all__ += ["may_hold_layer", "misindented", "title", "unclosed"]

#: Fields that hold a layer.
LAYER_NAMES = ("layer", "layers")

# The ends of the names of fields that hold a net.
_NETS = ("net", "net_param")
_QUOTES = 'Typographic quotes: use straight ones, ".'


def equals_sign(name: str) -> tuple[str, str]:
    """Return message and hint for ``=`` in place of ``:``."""
    return f"Expected ':' after '{name}', found '='.", "Use ':' in place of '='."


def bad_value(name: str, value: str) -> tuple[str, str]:
    """Return message and hint for a value that cannot be read."""
    if value[0] in SMART_QUOTES:
        hint = _QUOTES
    elif value[0] in "\"'":
        hint = r"The string is not closed on its line; write line breaks in it as \n."
    elif value[0] == "+":
        hint = "Numbers carry no plus sign."
    else:
        hint = "Put quotes around it if it is a text."
    return f"Expected a value for '{name}', found '{_short(value)}'.", hint


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def chain(here: Container) -> list[Field]:
    """Return the fields that are open around ``here``, the innermost first."""
    found = []
    container: Container | None = here
    while container is not None:
        owner = container.owner
        if isinstance(owner, Field):
            found.append(owner)
            container = owner.parent
        elif isinstance(owner, Element):
            container = owner.parent
        else:
            container = None
    return found


def title(field: Field, *, capital: bool = True) -> str:
    """Return what messages call a field: a layer by its name."""
    if field.name in LAYER_NAMES and field.message is not None:
        name = field.message.text_of("name")
        words = f"layer '{name}'" if name else "a layer without a name"
    else:
        words = f"'{field.name}'" if field.name else "a message without a name"
    return words[:1].upper() + words[1:] if capital else words


def may_hold_layer(message: Message) -> bool:
    """Whether a message may be the outer half of a layer in the oldest format, whose inner half is yet to come."""
    return not any(field.name in LAYER_NAMES for field in message)


def holds_no_layer(here: Container, root: Message) -> Field | None:
    """Return the outermost open field that has no business with layers: in the file, or in a net inside of a solver."""
    top = root.items[-1] if here is not root else None
    if isinstance(top, Field) and not top.name.endswith(_NETS):
        return top  # only the last one can be open
    found = None
    for field in chain(here):
        if field.name.endswith(_NETS):
            break
        found = field
    return found


def is_layer(message: Message) -> bool:
    """Whether a message is a layer itself: it has what in the oldest format stands in the inner half only."""
    return any(field.name not in ("bottom", "top") for field in message)


def indent(lead: str) -> int:
    """Return the number of characters before a field on its line."""
    return len(lead) - lead.rfind("\n") - 1


def misindented(message: Message) -> str:
    """Name the message field whose closing bracket stands further left than the field: its own is likely missing."""
    for field in message:
        inner = field.message
        if inner is not None and inner.close and "\n" in inner.text and indent(inner.close_lead) < indent(field.lead):
            return field.name
    return ""


def junk(shown: str) -> tuple[str, str]:
    """Say what to do about text that is no field; returns a message and a hint."""
    message = f"Expected a field, found '{_short(shown)}'."
    if any(char in SMART_QUOTES for char in shown):
        return message, _QUOTES
    if shown.startswith(("//", "/*")):
        return message, "Comments begin with '#'."
    word = shown.partition(" ")[0].rstrip("([:")
    if word in LAYER_NAMES:
        return (
            f"Expected '{{' after '{word}', found '{_short(shown)}'.",
            "A layer is opened with '{' and closed with '}'.",
        )
    if shown[:1] in "\"'":
        return message, "A quote before it may be missing or too many."
    return message, "Remove it, or make it 'name: value'; comments begin with '#'."


def unclosed(owner: Field, before: str) -> tuple[str, str]:
    """Say that a layer is left open before something else begins."""
    inside = owner.message
    suspect = misindented(inside) if inside is not None else None
    what = f"'{suspect}' in " if suspect else ""
    return (
        f"{title(owner)} is not closed before {before}.",
        f"A '}}' is missing here or before: close {what}{title(owner, capital=False)}.",
    )
