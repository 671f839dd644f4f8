"""Arguments of the subcommands.

One function a command, grouped by what the commands are for; :func:`build_parser` puts them together.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from engine import __version__
from engine.cli.arguments import documents, plugins, running, tools
from engine.cli.arguments.parsers import CommandParser, Commands, add_output, spell_modern

__all__ = ["ALIASES", "COMMANDS", "build_parser", "build_run_parser", "spell_modern", "switches"]

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "train": "train a net with a solver",
        "test": "score a net's weights",
        "time": "measure how long each layer of a net takes, forward and backward",
        "check": "look for faults in a net or solver, without running it",
        "show": "print a net's layers with shapes, parameters, multiply-adds and memory",
        "set": "set one field of one layer in a net's file, and change nothing else",
        "upgrade": "write a net, solver or weights file of an old format in today's",
        "diff": "say what two nets differ in, and what that does to shapes, parameters and cost",
        "draw": "draw a net as an SVG, PDF or PNG file, without a screen",
        "export": "write a net as a file of another kind, such as a Python program",
        "convert_imageset": "write a database of images from a list of image files",
        "compute_image_mean": "compute the mean image of a database",
        "extract_features": "write what a net computes to databases",
        "parse_log": "turn the log of a training into tables",
        "devices": "print where nets can compute on this machine",
        "gradcheck": "check the gradients of a Python layer against finite differences",
        "plugins": "list plugins, or convert those in Python 2 to Python 3",
        "run": "run a Python script whose 'import caffe' gets Netcanvas",
    }
)
ALIASES: Mapping[str, str] = MappingProxyType({"device_query": "devices"})
_ADDERS: tuple[Callable[[Commands, str], None], ...] = (
    running.add_train,
    running.add_test,
    running.add_time,
    documents.add_check,
    documents.add_show,
    documents.add_set,
    documents.add_upgrade,
    documents.add_diff,
    documents.add_draw,
    documents.add_export,
    tools.add_convert_imageset,
    tools.add_compute_image_mean,
    running.add_extract_features,
    tools.add_parse_log,
    tools.add_devices,
    plugins.add_gradcheck,
    plugins.add_plugins,
)


def build_parser() -> CommandParser:
    """Return the parser of all commands but ``run``, whose arguments belong to a script."""
    parser = CommandParser(
        prog="netcanvas",
        usage="netcanvas [FILE]\n       netcanvas COMMAND ...",
        description="Build and train neural nets. With a FILE or nothing, the editor opens; commands work without it. "
        "Caffe's spelling of flags (-solver x) is understood too.",
        epilog="Exit codes: 0 when all went well, 1 after an error, 2 for wrong arguments, 130 when interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"netcanvas {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="netcanvas")
    for add in _ADDERS:
        add(commands, COMMANDS[add.__name__.removeprefix("add_")])
    commands.add_parser("run", help=COMMANDS["run"], add_help=False)
    return parser


def build_run_parser() -> argparse.ArgumentParser:
    """Return the parser of ``run``."""
    summary = COMMANDS["run"]
    parser = CommandParser(
        prog="netcanvas run",
        usage="netcanvas run [-h] [--quiet] SCRIPT [ARGUMENT ...]",
        description=f"{summary[0].upper()}{summary[1:]}. What follows the script's name goes to the script.",
        epilog="examples:\n  netcanvas run train.py\n  netcanvas run --quiet classify.py --model net.prototxt cat.jpg",
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="Python file to run as the main program")
    add_output(parser, json=None)
    return parser


def switches(command: str) -> tuple[str, ...]:
    """Return the flags of a command that Caffe's spelling gives a value of yes or no."""
    return tools.SWITCHES if command == "convert_imageset" else ()
