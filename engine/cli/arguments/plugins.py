"""Arguments of the commands about plugins."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from engine.cli.arguments.parsers import Commands, add_output, new_command
from engine.cli.arguments.values import count, phase, seed

__all__ = ["BottomSpec", "add_gradcheck", "add_plugins"]


@dataclass(frozen=True, slots=True)
class BottomSpec:
    """A bottom as the command line describes it: a shape; for labels, also the whole numbers it is drawn from."""

    shape: tuple[int, ...]
    low: int | None = None
    high: int | None = None


def add_gradcheck(commands: Commands, summary: str) -> None:
    """Add ``gradcheck``."""
    parser = new_command(
        commands,
        "gradcheck",
        summary,
        "Run a Python layer, a class or a function, on random values in float64, and compare the gradients of its "
        "bottoms and parameters with finite differences along random directions, also with bottoms blocked by "
        "propagate_down; then compare backends with each other. Prints the element at fault; exit code 1 if there is "
        "one.",
        examples=(
            "my_layers.Scale --bottom 3,4",
            "pyloss.EuclideanLossLayer --bottom 8,2 --bottom 8,2 --plugins examples/layers",
            "losses.Weighted --bottom 5,3 --bottom 5:0..2 --param-str '{\"margin\": 0.5}' --seed 1 --json",
        ),
        module="gradcheck",
    )
    parser.add_argument("layer", type=_layer, metavar="MODULE.CLASS", help="module, as nets name it, and class in it")
    parser.add_argument(
        "--bottom",
        dest="bottoms",
        type=_bottom,
        action="append",
        default=[],
        metavar="SHAPE[:LOW..HIGH]",
        help="shape of a bottom, such as 3,4; '' is one number. With LOW..HIGH, its values are whole numbers and have "
        "no gradient. Give it once for each bottom",
    )
    parser.add_argument("--tops", type=count, default=1, metavar="N", help="number of tops (default: 1)")
    parser.add_argument("--param-str", default="", metavar="TEXT", help="the layer's parameter text")
    parser.add_argument(
        "--propagate-down",
        type=_flags,
        metavar="FLAGS",
        help="for each bottom, 1 if it has a gradient, such as 1,0 (default: all without LOW..HIGH)",
    )
    parser.add_argument("--phase", type=phase, default="train", metavar="PHASE", help="TRAIN or TEST (default: TRAIN)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of values and directions (default: 0)")
    parser.add_argument(
        "--plugins",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="look for the module here first; then here and on PYTHONPATH",
    )
    add_output(parser)


def add_plugins(commands: Commands, summary: str) -> None:
    """Add ``plugins``."""
    parser = new_command(
        commands,
        "plugins",
        summary,
        "list: print the plugins that a net finds, with what they lack; none of their code runs. convert: print what "
        "turns files of Python 2 into Python 3 as a difference; with --write, write it and keep each file's old text "
        "beside it, in a file ending in .python2.",
        examples=("list", "list net.prototxt --json", "convert plugins/old_layers", "convert layers.py --write"),
        module="plugins",
    )
    parser.add_argument("action", choices=("list", "convert"), metavar="ACTION", help="list or convert")
    parser.add_argument(
        "places",
        type=Path,
        nargs="*",
        metavar="PLACE",
        help="list: nets whose plugins are meant (default: a net here); convert: Python files, or folders of them",
    )
    parser.add_argument("--write", action="store_true", help="convert: write the files, with backups")
    add_output(parser)


def _layer(text: str) -> tuple[str, str]:
    module, _, name = text.rpartition(".")
    if not module or not name:
        raise argparse.ArgumentTypeError(f"expected MODULE.CLASS, got '{text}'")
    return module, name


def _bottom(text: str) -> BottomSpec:
    dims, colon, values = text.partition(":")
    try:
        shape = tuple(int(dim) for dim in dims.split(",")) if dims.strip() else ()
        low, high = map(int, values.split("..")) if colon else (None, None)
    except ValueError:
        shape, low, high = (-1,), None, None
    if any(dim < 0 for dim in shape) or (low is not None and high is not None and low > high):
        raise argparse.ArgumentTypeError(f"expected a shape such as 3,4, or 5:0..9 for labels, got '{text}'")
    return BottomSpec(shape, low, high)


def _flags(text: str) -> list[bool]:
    words = {"1": True, "true": True, "0": False, "false": False}
    flags = [words.get(word.strip().lower()) for word in text.split(",")]
    if None in flags:
        raise argparse.ArgumentTypeError(f"expected 1 or 0 for each bottom with commas between them, got '{text}'")
    return [bool(flag) for flag in flags]
