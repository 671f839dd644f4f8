"""What runs the subcommands, and ends them with an exit code."""

from __future__ import annotations

import argparse
import difflib
import faulthandler
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.cli.arguments import ALIASES, COMMANDS, build_parser, build_run_parser, spell_modern, switches
from engine.cli.output import Output, error_text
from engine.errors import NetcanvasError

__all__ = ["COMMANDS", "is_command", "main", "train_in_terminal"]

_INTERRUPTED = 130
_TRACEBACK = "NETCANVAS_TRACEBACK"


def is_command(arguments: Sequence[str]) -> bool:
    """Whether arguments are for :func:`main`: a subcommand, a flag, or a mistyped word that can be no file's name."""
    if not arguments:
        return False
    word = arguments[0]
    is_name = word.replace("_", "").isalnum()
    return word in COMMANDS or word in ALIASES or word.startswith("-") or (is_name and not Path(word).exists())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Returns
    -------
    int
        0 when all went well, 1 after an error, 2 for wrong arguments, 130 when interrupted for good.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    return _guard(lambda: _dispatch(given))


def _dispatch(given: list[str]) -> int:
    """Find the command that is asked for and run it."""
    given = [ALIASES.get(word, word) for word in given[:1]] + given[1:]
    if given[:1] == ["help"] and given[1:2] and given[1] in COMMANDS:
        given = [given[1], "--help"]
    if given and given[0] == "run":
        return _run_script(given[1:])
    parser = build_parser()
    if not given or given[0] == "help":
        parser.print_help()
        return 0 if given else 2
    given = spell_modern(given, switches(given[0]))
    if given[0] not in (*COMMANDS, "-h", "--help", "--version"):
        close = difflib.get_close_matches(given[0], COMMANDS, n=1)
        hint = f". Did you mean '{close[0]}'?" if close else ""
        parser.error(f"'{given[0]}' is no command; expected one of {', '.join(COMMANDS)}, or the file of a net{hint}")
    return _run(parser.parse_args(given))


def train_in_terminal(solver_path: Path) -> int:
    """Train with a progress bar and print the test scores: what there is to see where there is no display.

    Parameters
    ----------
    solver_path : Path
        A solver file; snapshots are written beside it.

    Returns
    -------
    int
        Exit code.
    """
    options = build_parser().parse_args(["train", "--solver", str(solver_path)])
    options.always_bar, options.output_dir = True, solver_path.parent
    _open_streams()
    return _guard(lambda: _run(options))


def _open_streams() -> None:
    """Make sure that there is something to print to, in which names of nets may be of any encoding.

    Native code of a plugin that crashes ends the command without a word of Python's; the place in its code is told.
    """
    if not faulthandler.is_enabled():
        faulthandler.enable(2)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # closed by whoever started us  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _run(options: argparse.Namespace) -> int:
    """Import the module of a command, and it alone: what one command needs would delay the others."""
    code: int = importlib.import_module(options.module).run(options)
    return code


def _guard(command: Callable[[], int]) -> int:
    """Run a command, turning what users can cause into a message and an exit code."""
    try:
        return command()
    except (NetcanvasError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            _forget_stdout()
            return 1
        Output.error(error_text(error))
        return 1
    except MemoryError:
        Output.error("There is not enough memory. Lower the batch size.")
        return 1
    except KeyboardInterrupt:
        Output.error("Interrupted.")
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        Output.error(_whose_fault(error))
        return 1


def _whose_fault(error: Exception) -> str:
    """Tell an exception that nobody expected: a plugin's, where its code raised it or replaced what we use."""
    from engine.plugins.tampering import blame, plugin_place  # only on the way to an error

    place, changed = plugin_place(error), blame()
    if place or changed:
        at = f" at {place}" if place else ""
        step = "Mend the plugin's code and run again."
        return " ".join(filter(None, [f"A plugin's code failed{at}: {error_text(error)}.", changed, step]))
    step = f"Set {_TRACEBACK}=1, run again and report what it prints."
    return f"A fault of Netcanvas itself: {error_text(error)}. {step}"


def _forget_stdout() -> None:
    """Keep Python from complaining, at exit, that nobody reads its output any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_script(arguments: list[str]) -> int:
    first = next((index for index, word in enumerate(arguments) if not word.startswith("-")), len(arguments))
    if "--" in arguments[:first]:  # before a script whose name begins with a dash
        first = arguments.index("--") + 1
    own = first + 1  # all that follows the script belongs to it
    options = build_run_parser().parse_args(arguments[:own])
    if not options.script.is_file():
        what = "is a folder" if options.script.is_dir() else "was not found"
        Output.error(f"Script '{options.script}' {what}. Name a Python file.")
        return 1
    code: int = importlib.import_module("engine.cli.script").run(options.script, arguments[own:], quiet=options.quiet)
    return code
