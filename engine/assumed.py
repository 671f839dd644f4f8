"""Shapes that a person assumes for blobs whose data are not on this machine.

A net whose data are missing tells nothing of its shapes where only the records would. What is assumed instead belongs
to whoever looks at the net, not to the net: it stands beside its text, holds only while the data are missing, and
nothing is ever trained with it.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from engine.blob import Shape
from engine.sidecar import sidecar_path

__all__ = [
    "MOST_AXES",
    "OWN_BATCH",
    "Assumed",
    "assumed_json",
    "assumed_tops",
    "batch_size",
    "item_words",
    "parse_item",
    "read_assumed",
    "stored_assumed",
]

_log = logging.getLogger(__name__)

Assumed: TypeAlias = Mapping[str, Shape]  # by blob; see OWN_BATCH

#: In place of the first size of an assumed shape: as many as the layer's own settings say.
OWN_BATCH = 0
#: More axes no blob has.
MOST_AXES = 32
_LARGEST = 2**31 - 1
_KEY = "assumed_shapes"
#: Layers that give images, and whose second top are their labels, one for each.
_LABELLED = frozenset({"Data", "ImageData", "WindowData"})
_BATCHED = ("data_param", "hdf5_data_param", "image_data_param", "window_data_param")
_SIZE = re.compile(r"0{0,9}[1-9][0-9]{0,9}")
_BATCH_IN_TEXT = re.compile(r"batch_?size\W{1,8}(\d{1,9})", re.IGNORECASE)


def assumed_tops(message: Any, assumed: Assumed, bottoms: Sequence[Shape] = ()) -> tuple[Shape | None, ...]:
    """Return the shapes that are assumed for the tops of a layer; None where nothing is.

    Parameters
    ----------
    message : LayerParameter
        A layer that cannot be asked.
    assumed : mapping of blob to shape
        A first size of :data:`OWN_BATCH` stands for the layer's own batch size. The labels of a layer that reads
        images follow from its images.
    bottoms : sequence of shapes
        Of what it reads; the batch is the first one's.
    """
    batch = bottoms[0][0] if bottoms and bottoms[0] else batch_size(message)
    tops: list[Shape | None] = []
    for name in message.top:
        shape = assumed.get(name)
        tops.append((batch, *shape[1:]) if shape and shape[0] == OWN_BATCH else shape)
    if message.type in _LABELLED and len(tops) == 2 and tops[0] and tops[1] is None:
        tops[1] = tops[0][:1]
    return tuple(tops)


def batch_size(message: Any) -> int:
    """Return how many items a layer that reads data says to give at once; 1 where it does not say so."""
    for param in _BATCHED:
        if message.HasField(param) and getattr(message, param).batch_size:
            return int(getattr(message, param).batch_size)
    if message.type == "Python":
        found = _BATCH_IN_TEXT.search(message.python_param.param_str)
        return max(int(found[1]), 1) if found else 1
    return 1


# In words


def parse_item(text: str) -> Shape | None:
    """Return the shape that a person typed, such as ``3 x 224 x 224`` or ``3,224,224``; None where it is none."""
    parts = [part for part in re.split(r"[\s,;x\u00d7*]+", text.strip().lower().strip("()[]")) if part]
    if not parts or len(parts) >= MOST_AXES or not all(map(_SIZE.fullmatch, parts)):
        return None
    sizes = tuple(int(part) for part in parts)
    return sizes if math.prod(sizes) <= _LARGEST else None


def item_words(shape: Shape) -> str:
    """Return an assumed shape as people read it, without a batch size that is the layer's own."""
    sizes = shape[1:] if shape and shape[0] == OWN_BATCH else shape
    return " \u00d7 ".join(map(str, sizes)) if sizes else "one number"


# Beside the net


def read_assumed(net: Path) -> dict[str, Shape]:
    """Return what is assumed of a net in the file beside it; nothing where there is no such file."""
    try:
        return stored_assumed(sidecar_path(net).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return {}


def stored_assumed(text: str) -> dict[str, Shape]:
    """Return what the text of such a file says is assumed; what makes no sense is left out."""
    try:
        held: object = json.loads(text).get(_KEY)
    except (ValueError, AttributeError, RecursionError):
        return {}  # told when the places are read
    if not isinstance(held, dict):
        return {}
    found = {str(name): tuple(sizes) for name, sizes in held.items() if _is_shape(sizes)}
    if len(found) < len(held):
        _log.warning("Shapes in the layout file that are none are ignored.")
    return found


def assumed_json(assumed: Assumed) -> dict[str, Any]:
    """Return what that file holds of what is assumed; an empty mapping for nothing."""
    return {_KEY: {name: list(shape) for name, shape in sorted(assumed.items())}} if assumed else {}


def _is_shape(sizes: object) -> bool:
    """Whether something is a list of sizes, of which the first may be :data:`OWN_BATCH`."""
    if not isinstance(sizes, Sequence) or isinstance(sizes, str) or not 0 < len(sizes) <= MOST_AXES:
        return False
    if not all(type(size) is int and 0 <= size <= _LARGEST for size in sizes):
        return False
    return min(sizes[1:], default=1) > 0 and math.prod(sizes[1:]) <= _LARGEST
