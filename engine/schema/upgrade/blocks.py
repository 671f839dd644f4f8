"""The text of one old layer as text of today; the meaning is that of :func:`engine.schema.upgrade.upgrade_layer`."""

from __future__ import annotations

from dataclasses import replace

from engine.schema.layer_fields import is_caffe_type
from engine.schema.text import quote
from engine.schema.upgrade.entries import Entry, comments
from engine.schema.upgrade.old import TRANSFORM_FIELDS, TRANSFORMERS
from engine.schema.upgrade.oldest import FIELDS
from engine.schema.upgrade.types import V0_TYPES, V1_WORDS, type_of_word

__all__ = ["input_layer", "still_statistics", "upgrade_entries"]

# Lists of an old layer with the field of ``param`` that each of their values is today.
_LEARNING = {"param": "name", "blobs_lr": "lr_mult", "weight_decay": "decay_mult", "blob_share_mode": "share_mode"}
_TRANSFORM = "transform_param"


def upgrade_entries(entries: list[Entry], word: str, oldest: str = "") -> list[Entry]:
    """Return the fields of an old layer as those of a layer of today.

    Parameters
    ----------
    entries : list of Entry
        As the file has them.
    word : str
        Word of the type in the enum of the old format.
    oldest : str
        Type as the oldest format names it, where the layer is in that.
    """
    if any(entry.name == "layer" for entry in entries):
        entries = _unpack(entries, oldest)
        word = V1_WORDS.get(V0_TYPES.get(oldest, ""), oldest)
    today: list[Entry] = []
    params: list[Entry] = []
    moved: list[Entry] = []
    counts = dict.fromkeys(_LEARNING, 0)
    for entry in entries:
        if entry.name == "type":
            today.append(replace(entry, value=quote(type_of_word(word) or _guessed_type(word))))
        elif entry.name in _LEARNING:
            place = counts[entry.name]
            counts[entry.name] += 1
            if not params:
                today.append(Entry("param", []))  # all of them come to stand here
            params += [Entry("param", []) for _ in range(place + 1 - len(params))]
            params[place].entries.append(replace(entry, name=_LEARNING[entry.name]))
        elif entry.name == TRANSFORMERS.get(word) and isinstance(entry.value, list):
            kept = [inner for inner in entry.entries if inner.name not in TRANSFORM_FIELDS]
            moved += [inner for inner in entry.entries if inner.name in TRANSFORM_FIELDS]
            today.append(replace(entry, value=kept))
        elif entry.name == _TRANSFORM and isinstance(entry.value, list):
            _message(today, _TRANSFORM).entries.extend(entry.value)
        else:
            today.append(entry)
    if moved:
        names = {entry.name for entry in moved}
        transform = _message(today, _TRANSFORM)
        transform.value = [entry for entry in transform.entries if entry.name not in names] + moved
    for place, entry in enumerate(today):
        if entry.name == "param":
            today[place : place + 1] = params
            break
    return today


def _guessed_type(word: str) -> str:
    """Return today's type for a word that only a fork's old format had: ``CROP`` was ``Crop``."""
    guess = word.title().replace("_", "")
    return guess if is_caffe_type(guess) else word


def input_layer(names: list[str], shapes: list[list[int]], above: list[str]) -> Entry:
    """Return the layer that stands for a net's own inputs.

    Parameters
    ----------
    names : list of str
        Blob names.
    shapes : list of list of int
        One for each.
    above : list of str
        Comments of the fields that the layer stands for.
    """
    sizes = [Entry("shape", f"{{ {' '.join(f'dim: {size}' for size in shape)} }}") for shape in shapes]
    tops = [Entry("top", quote(name)) for name in names]
    head = [Entry("name", quote("input")), Entry("type", quote("Input"))]
    return Entry("layer", [*head, *tops, Entry("input_param", sizes)], above)


def still_statistics(entries: list[Entry]) -> list[Entry]:
    """Return the fields of a BatchNorm layer so that its statistics do not learn."""
    factors = ("lr_mult", "decay_mult")
    for entry in entries:
        if entry.name == "param":
            kept = [inner for inner in entry.entries if inner.name not in factors]
            entry.value = [*kept, *(Entry(name, "0") for name in factors)]
    return entries


def _message(entries: list[Entry], name: str) -> Entry:
    """Return the message of a name, appended where there is none."""
    found = next((entry for entry in entries if entry.name == name and isinstance(entry.value, list)), None)
    if found is None:
        found = Entry(name, [])
        entries.append(found)
    return found


def _unpack(entries: list[Entry], kind: str) -> list[Entry]:
    """Take the inner layer of the oldest format apart: name and type first, then the outer fields, then settings."""
    inner = [field for entry in entries if entry.name == "layer" for field in entry.entries]
    above = [
        comment for entry in entries if entry.name == "layer" for comment in (*entry.above, *comments(entry.beside))
    ]
    heads: list[Entry] = [Entry("", above=above)] if above else []
    settings: list[Entry] = []
    for field in inner:
        places = FIELDS.get(field.name)
        if field.name in ("name", "type"):
            heads.append(field)
        elif places is None:
            settings.append(field)  # the same today, or a field that nobody knows
        elif (place := places.get("") or places.get(kind)) is not None:
            _message(settings, place[0]).entries.append(replace(field, name=place[1]))
        else:
            note = f"# {field.name}: {field.text or '{ ... }'} (means nothing in a layer of this type)"
            settings.append(Entry("", above=[*field.above, note]))
    return [*heads, *(entry for entry in entries if entry.name != "layer"), *settings]
