"""What the blobs of data, or of code, that are not here may look like: guessed from what the net and its folder say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engine import prototxt
from engine.assumed import OWN_BATCH
from engine.blob import Shape
from engine.errors import NetcanvasError
from engine.layer_specs import LayerSpec
from engine.prototxt import Field, ListValue, Message, Scalar
from engine.registry import LayerRegistry
from engine.weights_guesses import WeightsFacts, WeightsTrial, first_reader, read_weights_facts

__all__ = ["Guess", "guess_shapes", "guesses_for", "twin_inputs"]

_LARGEST_TWIN = 2**18  # bytes; a longer net that only predicts is not read for a guess
_MOST_TWINS = 4
_MOST = 4
_COLOURS = 3
#: Data sets by a word of their names: channels, height and width of their images.
_KNOWN: Mapping[str, Shape] = MappingProxyType(
    {
        "mnist_siamese": (2, 28, 28),
        "mnist": (1, 28, 28),
        "lenet": (1, 28, 28),
        "cifar": (3, 32, 32),
        "svhn": (3, 32, 32),
        "ilsvrc": (3, 256, 256),
        "imagenet": (3, 256, 256),
        "places": (3, 256, 256),
        "flickr": (3, 256, 256),
        "voc": (3, 500, 500),
        "pascal": (3, 500, 500),
    }
)
#: Sizes of square images that are tried where weights tell which fits.
_SIDES = (24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 227, 256, 299, 300, 384, 416, 448, 500, 512)
_USUAL: tuple[Shape, ...] = ((3, 224, 224), (3, 256, 256), (1, 28, 28))
#: What the data layers of detectors call what they give beside their images, with its whole shape.
_DETECTION: Mapping[str, Shape] = MappingProxyType({"im_info": (1, 3), "gt_boxes": (1, 5), "rois": (1, 5)})
_IMAGE_INFO = "im_info"
#: Images as detectors take them, the shorter side scaled to 600: landscape, portrait, and the widest allowed.
_DETECTED: tuple[Shape, ...] = ((3, 600, 800), (3, 800, 600), (3, 600, 1000))
_BOXES: Shape = (1, 1, 1, 8)  # of one object, as SSD's annotated data has them
_LABEL = re.compile(r"label|target|^(class|y|gt|sem|geo)$", re.IGNORECASE)
#: Words in the names of files that say what a net is for, and not what it is.
_USES = frozenset({"", "all", "deploy", "net", "prototxt", "test", "train", "trainval", "val"})


@dataclass(frozen=True, slots=True)
class Guess:
    """What may be assumed of the tops of a layer.

    Attributes
    ----------
    shapes : mapping of blob to shape
        A first size of :data:`engine.assumed.OWN_BATCH` stands for the layer's own.
    why : str
        Where it comes from, in a few words; empty where it is only usual.
    """

    shapes: Mapping[str, Shape]
    why: str = ""


def guess_shapes(
    message: Any,
    net_name: str = "",
    path: Path | None = None,
    facts: WeightsFacts | None = None,
    agrees: Callable[[Mapping[str, Shape]], bool] | None = None,
) -> tuple[Guess, ...]:
    """Return what the items of a layer that reads data may look like, the likeliest first.

    Parameters
    ----------
    message : LayerParameter
        The layer.
    net_name : str
        What the net calls itself.
    path : Path, optional
        The net's file. Nets beside it that only predict are read; not for the thread of a window.
    facts : WeightsFacts, optional
        What weights tell of the items: what does not agree is not guessed.
    agrees : callable, optional
        Whether the whole net has its weights with these shapes: what does comes first, and more sizes are tried.
    """
    if not message.top or not message.type.endswith(("Data", "Python")):
        return ()
    found: dict[Shape, str] = {}
    items = _items(message, net_name, path)
    for item, why in items if facts is None else _agreeing(message, items, facts):
        found.setdefault(item, why)
    main = facts.top if facts is not None else _main_top(message)
    guesses = [Guess(_of_tops(message, item, main), why) for item, why in found.items()]
    if facts is not None and facts.channels and agrees is not None:
        fits = f"fits the weights in {facts.file.name}"
        sized = [Guess(_of_tops(message, (facts.channels, side, side), main), fits) for side in _SIDES]
        fitting = [guess for guess in [*guesses, *sized] if agrees(guess.shapes)]
        unlike = {frozenset(guess.shapes.items()): guess for guess in reversed([*fitting, *guesses])}
        guesses = [guess for guess in [*fitting, *guesses] if unlike[frozenset(guess.shapes.items())] is guess]
    return tuple(guesses[:_MOST])


def guesses_for(
    spec: LayerSpec,
    net_name: str = "",
    path: Path | None = None,
    *,
    registry: LayerRegistry | None = None,
    specs: Sequence[LayerSpec] = (),
    weights: Path | None = None,
    bottoms: Sequence[Shape | None] = (),
) -> tuple[Guess, ...]:
    """Return the same for a layer of a document; nothing for one whose text cannot be read.

    Parameters
    ----------
    registry : LayerRegistry, optional
        With what plugins add to the messages, such as SSD's ``resize_param``.
    specs : sequence of LayerSpec, optional
        All layers of the net: weights that are there, in a file beside the net, are asked what fits them.
    weights : Path, optional
        The weights file to ask first.
    bottoms : sequence of shapes, optional
        Of what a layer reads whose code is not there: its tops may be alike.
    """
    if spec.bottoms:
        return _like_bottoms(spec, bottoms)
    try:
        extended = registry.schema() if registry is not None and registry.fragments else None
        reader = first_reader(spec, specs)
        facts = None if reader is None else read_weights_facts(reader, path, weights)
        message = spec.message(extended)
        trial = None if facts is None or not facts.channels else WeightsTrial(specs, facts.file, registry)
        tries = trial is not None and trial.tells and not message.transform_param.crop_size
        return guess_shapes(message, net_name, path, facts, trial.agrees if trial is not None and tries else None)
    except NetcanvasError:
        return ()


def _like_bottoms(spec: LayerSpec, bottoms: Sequence[Shape | None]) -> tuple[Guess, ...]:
    """Return guesses that all tops of a layer have the shape of one of its bottoms."""
    found: dict[Shape, str] = {}
    batch = next((shape[0] for shape in bottoms if shape), 0)
    for name, shape in zip(spec.bottoms, bottoms, strict=False):
        if shape:
            found.setdefault((OWN_BATCH, *shape[1:]) if shape[0] == batch else shape, name)
    guesses = (Guess(dict.fromkeys(spec.tops, shape), f"as '{name}', which it reads") for shape, name in found.items())
    return tuple(guesses)[:_MOST] if spec.tops else ()


def _agreeing(message: Any, items: Iterable[tuple[Shape, str]], facts: WeightsFacts) -> Iterator[tuple[Shape, str]]:
    """Return the items that agree with what weights tell; those that need no change come first."""
    changed = []
    for item, why in [*items, *(((shape, "") for shape in _USUAL) if facts.channels else ())]:
        suited = facts.suit(item)
        if suited == item:
            yield item, why or facts.why
        elif suited is not None:
            changed.append((suited, facts.why))
    yield from changed
    if facts.values:
        side = math.isqrt(facts.values // _COLOURS)
        if message.type == "HDF5Data" or message.type == "Python":
            yield (facts.values,), facts.why
        elif _COLOURS * side * side == facts.values:
            yield (_COLOURS, side, side), facts.why
        else:
            side = math.isqrt(facts.values)
            yield (1, side, side) if side * side == facts.values else (facts.values, 1, 1), facts.why


def _items(message: Any, net_name: str, path: Path | None) -> Iterator[tuple[Shape, str]]:
    if message.type == "Python" and _IMAGE_INFO in message.top:
        yield from ((shape, "usual for detectors that are told the size in im_info") for shape in _DETECTED)
    transform = message.transform_param
    crop, means = int(transform.crop_size), len(transform.mean_value)
    size = getattr(transform, "resize_param", None)  # SSD's
    known = _known_by_name(message, net_name, path)
    twins = twin_inputs(path) if path is not None else {}
    fits = [(shape, name) for shape, name in twins.items() if not crop or shape[-2:] == (crop, crop)]
    if message.type not in ("HDF5Data", "Python"):
        fits = [each for each in fits if len(each[0]) == 3]
    if message.type == "HDF5Data":  # of any shape, and nothing else tells of it
        yield from ((shape, f"as in {name}") for shape, name in fits)
        yield from (() if known is None else [known])
        return
    if known is not None and (not crop or crop <= known[0][-1]):
        channels, why = known[0][0], f"crop_size, and {known[1]}"
    else:
        channels, why = _COLOURS, "crop_size"
    channels = _channels(message) or (means if means > 1 else channels)
    yield from ((shape, f"as in {name}") for shape, name in fits)
    if size is not None and size.height and size.width:
        yield (channels, int(size.height), int(size.width)), "resize_param"
    if crop:
        yield (channels, crop, crop), why
        yield (4 - channels if channels in (1, _COLOURS) else _COLOURS, crop, crop), "crop_size"
        return
    if known is not None:
        yield (_channels(message) or known[0][0], *known[0][1:]), known[1]
    for usual in _USUAL:
        yield (_channels(message) or usual[0], *usual[1:]), ""


def _channels(message: Any) -> int:
    """Return how many channels the images have, where the layer decides that; 0 where their records do."""
    if message.type == "ImageData":
        return _COLOURS if message.image_data_param.is_color else 1
    transform = message.transform_param
    return _COLOURS if transform.force_color else 1 if transform.force_gray else 0


def _known_by_name(message: Any, net_name: str, path: Path | None) -> tuple[Shape, str] | None:
    """Return the shape of a data set whose name stands somewhere: in the layer, the net's name or its file's."""
    words = [message.data_param.source, message.image_data_param.source, message.hdf5_data_param.source]
    words += [message.transform_param.mean_file, message.python_param.module, message.python_param.param_str]
    places = ["\n".join(words), net_name, f"{path.parent.name}/{path.name}" if path is not None else ""]
    for place in places:
        for word, shape in _KNOWN.items():
            if re.search(f"(?<![a-z]){word}", place.lower()):  # MobileNet is no LeNet
                return shape, f"by the name '{word}'"
    return None


def _main_top(message: Any) -> int:
    """Return which top has the items: the first that is not called like labels."""
    names = list(message.top)
    if message.type not in ("HDF5Data", "Python"):
        return 0
    return next((top for top, name in enumerate(names) if not _LABEL.search(name)), 0)


def _of_tops(message: Any, item: Shape, main: int = 0) -> dict[str, Shape]:
    """Return shapes for all tops that a guess is right for: of the main one, and of labels with a top of their own."""
    shapes = {message.top[main]: (OWN_BATCH, *item)}
    for top, name in enumerate(message.top):
        if top == main:
            continue
        if message.type == "AnnotatedData":
            shapes[name] = _BOXES
        elif message.type == "Python" and name in _DETECTION:
            shapes[name] = _DETECTION[name]
        elif message.type in ("HDF5Data", "Python") and _LABEL.search(name):
            shapes[name] = (OWN_BATCH, 1, *item[1:]) if message.type == "Python" else (OWN_BATCH, 1)
    return shapes


# Nets beside it


def twin_inputs(path: Path) -> dict[Shape, str]:
    """Return the first inputs of the nets beside a net that only predict, without the batch, with their files' names.

    A net beside another is its twin if its name has no words that the other's has not. The most alike come first.
    """
    own = _words(path)
    try:
        beside = [each for each in path.parent.glob("*.prototxt") if "deploy" in each.name.lower()]
        twins = [each for each in beside if each != path and _words(each) <= own and _is_short(each)]
    except OSError:
        return {}
    found: dict[Shape, str] = {}
    for twin in sorted(twins, key=lambda each: (-len(_words(each)), each.name))[:_MOST_TWINS]:
        shape = _first_input(twin)
        if len(shape) > 1:
            found.setdefault(shape[1:], twin.name)
    return found


def _words(path: Path) -> frozenset[str]:
    return frozenset(re.split(r"[\W_]+", path.name.lower())) - _USES


def _is_short(path: Path) -> bool:
    return path.stat().st_size <= _LARGEST_TWIN


def _first_input(path: Path) -> Shape:
    """Return the shape of a net's first input; an empty one where it says none."""
    try:
        root = prototxt.parse(path.read_bytes()).root
    except (OSError, NetcanvasError):
        return ()
    texts = _texts(root, "input_dim")[:4]
    if not texts:
        homes = [root.get("input_shape")]
        homes += [_inner(layer.message, "input_param", "shape") for layer in root.fields("layer") if _is_input(layer)]
        shape = next((home.message for home in homes if home is not None and home.message is not None), None)
        texts = [] if shape is None else _texts(shape, "dim")
    sizes = tuple(int(text) for text in texts if text.isascii() and text.isdigit())
    return sizes if len(sizes) == len(texts) and min(sizes, default=0) > 0 else ()


def _inner(message: Message | None, outer: str, name: str) -> Field | None:
    """Return a field of a message in a message."""
    held = None if message is None else message.get(outer)
    return None if held is None or held.message is None else held.message.get(name)


def _texts(message: Message, name: str) -> list[str]:
    """Return the values of a repeated field, as they are written."""
    found: list[str] = []
    for field in message.fields(name):
        parts = field.value.elements if isinstance(field.value, ListValue) else [field]
        found += [part.value.text for part in parts if isinstance(part.value, Scalar)]
    return found


def _is_input(layer: Field) -> bool:
    kind = None if layer.message is None else layer.message.get("type")
    return kind is not None and isinstance(kind.value, Scalar) and kind.value.as_str() == "Input"
