"""How all commands take their arguments: spelling, help, errors, and the flags that many have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

from engine.cli.arguments.values import count

__all__ = ["CommandParser", "Commands", "add_output", "add_place", "add_state", "new_command", "spell_modern"]

_YES = frozenset({"", "true", "t", "yes", "y", "1"})
_NO = frozenset({"false", "f", "no", "n", "0"})


class _Help(argparse.HelpFormatter):
    """Wraps text, but leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and the next step, with exit code 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **settings})
        self._is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read arguments of a command, with flags also between and behind the others, as Caffe's tools take them."""
        if self._is_mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True
        try:
            found, rest = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        """End the program with a message; see the base class."""
        sentence = message if message.endswith((".", "?")) else f"{message}."
        self.exit(2, f"{self.prog}: error: {sentence} See '{self.prog} --help'.\n")


Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"  # argparse has no public name for it


def new_command(
    commands: Commands, name: str, summary: str, description: str, *, examples: Iterable[str], module: str
) -> CommandParser:
    """Add a command.

    Parameters
    ----------
    commands : Commands
    name, summary : str
        What to type, and what the list of commands says of it.
    description : str
        What its own help begins with.
    examples : iterable of str
        Command lines without the program's name; they end the help.
    module : str
        Name of the module in :mod:`engine.cli` whose ``run`` does the work.
    """
    shown = "\n".join(f"  netcanvas {name} {example}" for example in examples)
    parser = commands.add_parser(name, help=summary, description=description, epilog=f"examples:\n{shown}")
    parser.set_defaults(module=f"engine.cli.{module}")
    return parser


def add_output(parser: CommandParser, *, json: str | None = "print the result as JSON") -> None:
    """Add ``--quiet`` and, for commands that print data, ``--json`` with the help given."""
    if json is not None:
        parser.add_argument("--json", action="store_true", help=json)
    parser.add_argument("--quiet", action="store_true", help="print results and errors only")


def add_state(parser: CommandParser) -> None:
    """Add what include rules of layers may ask for."""
    parser.add_argument("--level", type=int, default=0, metavar="N", help="level for include rules of layers")
    parser.add_argument("--stage", default="", metavar="NAMES", help="comma-separated stages for include rules")


def add_place(parser: CommandParser) -> None:
    """Add where to compute."""
    parser.add_argument(
        "--threads", type=count, metavar="N", help="threads of matrix products (default: half the cores; at most all)"
    )
    parser.add_argument("--gpu", metavar="ID", help="compute on this GPU, or fail")


def spell_modern(arguments: Sequence[str], switches: Iterable[str] = ()) -> list[str]:
    """Spell Caffe's flags, ``-solver x`` and ``-solver=x``, with two dashes, and underscores as dashes.

    Parameters
    ----------
    arguments : sequence of str
        As typed.
    switches : iterable of str
        Flags without a value, by their modern names: ``-gray=true``, ``-gray=false`` and ``-nogray`` are Caffe's ways
        of setting one.
    """
    known = frozenset(switches)
    spelled = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        bare = name.lstrip("-").replace("_", "-")
        if not name.startswith("-") or len(bare) < 2 or name[1].isdigit() or name[1] == ".":
            spelled.append(argument)
        elif bare in known and value.lower() in _YES:
            spelled.append(f"--{bare}")
        elif (bare in known and value.lower() in _NO) or bare.removeprefix("no") in known - {bare}:
            spelled.append(f"--no-{bare if bare in known else bare.removeprefix('no')}")
        else:
            spelled.append(f"--{bare}{equals}{value}")
    return spelled
