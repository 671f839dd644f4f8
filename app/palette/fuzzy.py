"""Ranking of layer types against what was typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

__all__ = ["Entry", "Match", "match_text", "rank"]

#: What people call layers, beside their type names.
_SYNONYMS = {
    "InnerProduct": "fc dense linear fully connected ip",
    "Convolution": "conv2d",
    "Deconvolution": "transposed conv upsample",
    "ReLU": "relu rectifier activation",
    "Pooling": "maxpool avgpool max average",
    "SoftmaxWithLoss": "cross entropy softmax loss",
    "Eltwise": "add sum multiply elementwise residual",
    "Concat": "concatenate join",
    "BatchNorm": "batch normalization bn",
    "LRN": "local response normalization",
    "EuclideanLoss": "mse l2 loss",
    "Python": "custom plugin script",
    "Data": "lmdb database dataset",
    "HDF5Data": "h5 dataset",
    "Dropout": "regularization",
}

#: What most nets are made of; it comes first where several types fit nearly as well.
_USUAL = frozenset(("Convolution", "Data", "InnerProduct", "Pooling", "ReLU", "SoftmaxWithLoss"))
#: The types that most public nets have, by how many have them: their order where nothing else tells.
_BY_USE = (
    *("Convolution", "ReLU", "Pooling", "InnerProduct", "SoftmaxWithLoss", "Dropout", "Softmax", "Eltwise", "Concat"),
    *("BatchNorm", "Accuracy", "Scale"),
)
_USUAL_BONUS = 3.5
_PLUGIN_MALUS = 10.0


class Entry(Protocol):
    """What can be searched: layer types (``engine.registry.LayerInfo``), and layers of a net under their names."""

    @property
    def type(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def bottoms(self) -> tuple[str, ...]: ...
    @property
    def tops(self) -> tuple[str, ...]: ...


class Match(NamedTuple):
    """An entry that fits, how well, and which letters of its name matched."""

    info: Entry
    score: float
    letters: tuple[int, ...]


def match_text(pattern: str, text: str) -> tuple[float, tuple[int, ...]] | None:
    """Score how well a text contains the letters of a pattern in order; None when it does not.

    Beginnings of words and letters in a row count more, initials ("ip") more than a place within a word; long texts
    count less.
    """
    if not pattern:
        return 0.0, ()
    lower, wanted = text.lower(), pattern.lower()
    start = lower.find(wanted)
    if len(wanted) > 1 and start != 0 and lower.startswith(wanted[0]):  # the first letter is always an initial
        heads = [index for index in range(len(text)) if _begins(text, index)]
        if "".join(lower[index] for index in heads).startswith(wanted):
            return 120.0 - len(text) * 0.5, tuple(heads[: len(wanted)])
    if start >= 0:
        score = 100.0 + (50.0 if start == 0 else 25.0 if _begins(text, start) else 0.0) - len(text) * 0.5
        return score, tuple(range(start, start + len(wanted)))
    if not _in_order(wanted, lower):
        return None
    letters: list[int] = []
    score, position = 40.0, 0
    for letter in wanted:
        found = _next(text, lower, letter, position)
        if found < 0:
            return None
        if letters and found == letters[-1] + 1:
            score += 6.0
        elif _begins(text, found):
            score += 8.0
        else:
            score -= 4.0
        letters.append(found)
        position = found + 1
    return score - len(text) * 0.5, tuple(letters)


def _begins(text: str, index: int) -> bool:
    """Whether a word of the text begins there."""
    return index == 0 or text[index].isupper() or not text[index - 1].isalnum()


def _in_order(wanted: str, lower: str) -> bool:
    """Whether a text has all letters of a pattern in order; what most texts of a long list fail at soonest."""
    position = 0
    for letter in wanted:
        position = lower.find(letter, position) + 1
        if not position:
            return False
    return True


def _next(text: str, lower: str, letter: str, position: int) -> int:
    """Prefer the next beginning of a word over the next letter in a word."""
    plain = lower.find(letter, position)
    if plain < 0 or plain == position:
        return plain
    for index in range(plain, len(text)):
        if lower[index] == letter and _begins(text, index):
            return index
    return plain


def rank(infos: Iterable[Entry], pattern: str, usage: Mapping[str, float] | None = None) -> Sequence[Match]:
    """Return what fits, best first; all of it, the usual and then by name, without a pattern.

    Parameters
    ----------
    usage : mapping of str to float, optional
        How much each type is used where it is asked: alone it orders what fits a pattern equally well, and everything
        where nothing was typed.
    """
    pattern = pattern.strip().replace(" ", "")
    begun = pattern.lower()
    found: list[Match] = []
    for info in infos:
        by_name = match_text(pattern, info.type)
        if by_name is not None:
            found.append(Match(info, by_name[0], by_name[1]))
            continue
        words = f"{_SYNONYMS.get(info.type, '')} {info.category}"
        if any(word.startswith(begun) for word in words.lower().split()):
            found.append(Match(info, 30.0, ()))
        elif len(pattern) >= 4 and begun in info.summary.lower().replace(" ", ""):
            found.append(Match(info, 5.0, ()))
    used = usage or {}
    found.sort(key=lambda match: (-match.score - _bonus(match.info), -used.get(match.info.type, 0.0), match.info.type))
    if used and not pattern:
        found.sort(key=lambda match: (-used.get(match.info.type, 0.0), _place(match.info.type)))
    return found


def _place(kind: str) -> int:
    return _BY_USE.index(kind) if kind in _BY_USE else len(_BY_USE)


def _bonus(info: Entry) -> float:
    """Return what an entry counts beside its name: the usual more, what plugins add less than the product's own."""
    usual = _USUAL_BONUS if info.type in _USUAL else 0.0
    return usual - (_PLUGIN_MALUS if getattr(info, "plugin", "") else 0.0)
