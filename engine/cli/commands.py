"""Arguments of the subcommands and what runs them."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from engine import __version__
from engine.cli.output import Output, error_text
from engine.errors import NetcanvasError

__all__ = ["COMMANDS", "is_command", "main", "train_in_terminal"]

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "train": "train a net with a solver",
        "test": "score a net's weights",
        "check": "look for faults in a net or solver, without running it",
        "show": "print a net's layers with shapes, parameters, multiply-adds and memory",
        "set": "set one field of one layer in a net's file, and change nothing else",
        "upgrade": "write a net, solver or weights file of an old format in today's",
        "diff": "say what two nets differ in, and what that does to shapes, parameters and cost",
        "export": "write a net as a file of another kind, such as a Python program",
        "run": "run a Python script whose 'import caffe' gets Netcanvas",
    }
)
_EFFECTS = ("stop", "snapshot", "none")
_INTERRUPTED = 130


def is_command(arguments: Sequence[str]) -> bool:
    """Whether arguments are for :func:`main`: a subcommand, a flag, or a mistyped word that can be no file's name."""
    if not arguments:
        return False
    word = arguments[0]
    is_name = word.replace("_", "").isalnum()
    return word in COMMANDS or word.startswith("-") or (is_name and not Path(word).exists())


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
    if given and given[0] == "run":
        return _run_script(given[1:])
    parser = _parser()
    if not given or given[0] == "help":
        parser.print_help()
        return 0 if given else 2
    given = _modern(given)
    if given[0] not in (*COMMANDS, "-h", "--help", "--version"):
        parser.error(f"'{given[0]}' is no command; expected one of {', '.join(COMMANDS)}, or the file of a net")
    options = parser.parse_args(given)
    return _guard(lambda: _run(options))


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
    options = _parser().parse_args(["train", "--solver", str(solver_path)])
    options.always_bar, options.output_dir = True, solver_path.parent
    return _guard(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Import the module of a command, and it alone: what one command needs would delay the others."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # closed by whoever started us  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names in nets may be of any encoding
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


def _forget_stdout() -> None:
    """Keep Python from complaining, at exit, that nobody reads its output any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _modern(arguments: list[str]) -> list[str]:
    """Spell Caffe's flags, ``-solver x`` and ``-solver=x``, with two dashes, and underscores as dashes."""
    spelled = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name.startswith("-") and len(name.lstrip("-")) > 1 and not name[1:2].isdigit():
            argument = "--" + name.lstrip("-").replace("_", "-") + equals + value
        spelled.append(argument)
    return spelled


def _run_script(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="netcanvas run",
        usage="netcanvas run [-h] SCRIPT [ARGUMENT ...]",
        description=f"{_sentence('run')} What follows the script's name goes to the script.",
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="Python file to run as the main program")
    own = 1 if arguments and arguments[0] != "--" else 2  # all that follows the script belongs to it
    options = parser.parse_args(arguments[:own])
    if not options.script.is_file():
        what = "is a folder" if options.script.is_dir() else "was not found"
        Output.error(f"Script '{options.script}' {what}. Name a Python file.")
        return 1
    code: int = importlib.import_module("engine.cli.script").run(options.script, arguments[own:])
    return code


def _sentence(command: str) -> str:
    text = COMMANDS[command]
    return f"{text[0].upper()}{text[1:]}."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="netcanvas",
        usage="netcanvas [FILE]\n       netcanvas COMMAND ...",
        description="Build and train neural nets. With a FILE or nothing, the editor opens; commands work without it. "
        "Caffe's spelling of flags (-solver x) is understood too.",
    )
    parser.add_argument("--version", action="version", version=f"netcanvas {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="netcanvas")
    _add_train(commands)
    _add_test(commands)
    _add_check(commands)
    _add_show(commands)
    _add_set(commands)
    _add_upgrade(commands)
    _add_diff(commands)
    _add_export(commands)
    commands.add_parser("run", help=COMMANDS["run"], add_help=False)
    return parser


def _count(text: str) -> int:
    """Read a number of 1 or more."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got '{text}'")
    return number


def _seed(text: str) -> int:
    """Read a seed: what a solver's ``random_seed`` may hold."""
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {2**63 - 1}, got '{text}'")
    return int(text)


def _weights(text: str) -> list[Path]:
    """Read names of files with commas between them."""
    files = [Path(name.strip()) for name in text.split(",") if name.strip()]
    if not files:
        raise argparse.ArgumentTypeError("expected one or more .caffemodel files, got none")
    return files


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # argparse has no public name for it


def _add_train(commands: Commands) -> None:
    parser = commands.add_parser(
        "train",
        help=COMMANDS["train"],
        description="Train a net with a solver. Snapshots go where snapshot_prefix says, relative to the working "
        "directory. Interrupting (Ctrl-C) stops after the current iteration; doing it again ends at once.",
    )
    parser.add_argument("--solver", type=Path, required=True, metavar="FILE", help="solver prototxt")
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--weights",
        type=_weights,
        default=[],
        metavar="FILES",
        help="begin from these weights (comma-separated .caffemodel files)",
    )
    start.add_argument("--snapshot", type=Path, metavar="FILE", help="go on from this .solverstate")
    parser.add_argument("--seed", type=_seed, metavar="N", help="stands for the solver's random_seed")
    parser.add_argument("--sigint-effect", choices=_EFFECTS, default="stop", help="on Ctrl-C (default: stop)")
    parser.add_argument("--sighup-effect", choices=_EFFECTS, default="snapshot", help="on SIGHUP (default: snapshot)")
    _add_state(parser)
    _add_common(parser)
    parser.set_defaults(module="engine.cli.train", always_bar=False, output_dir=None)


def _add_test(commands: Commands) -> None:
    parser = commands.add_parser(
        "test",
        help=COMMANDS["test"],
        description="Score a net's weights: run batches through it in phase TEST and print the mean of each output.",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="FILE", help="net prototxt")
    parser.add_argument(
        "--weights", type=_weights, required=True, metavar="FILES", help="comma-separated .caffemodel files"
    )
    parser.add_argument("--iterations", type=_count, default=50, metavar="N", help="batches to run (default: 50)")
    parser.add_argument("--seed", type=_seed, metavar="N", help="seed of what is random in testing, such as mirroring")
    _add_state(parser)
    _add_common(parser)
    parser.set_defaults(module="engine.cli.test")


def _add_check(commands: Commands) -> None:
    parser = commands.add_parser(
        "check",
        help=COMMANDS["check"],
        description="Print faults as 'file:line:column: severity: message [code]'; exit 1 if one is an error, "
        "that is, if training would refuse the file. Nothing is trained, and Python layers run only with --trust.",
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="net or solver prototxt")
    parser.add_argument(
        "--trust", action="store_true", help="run the Python layers that the nets name, to check them too"
    )
    parser.add_argument(
        "--dialect", metavar="NAME", help="whose Caffe the files are written for, such as ssd (default: guessed)"
    )
    parser.add_argument("--json", action="store_true", help="print the faults as a JSON list")
    parser.set_defaults(module="engine.cli.check")


def _add_show(commands: Commands) -> None:
    parser = commands.add_parser(
        "show",
        help=COMMANDS["show"],
        description="Print the layers of a net, and what they cost together for the batch that the file asks for. "
        "Nothing is run, and Python layers are asked for their shapes only with --trust.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="net prototxt")
    _add_view(parser)
    parser.set_defaults(module="engine.cli.show")


def _add_set(commands: Commands) -> None:
    parser = commands.add_parser(
        "set",
        help=COMMANDS["set"],
        description="Set one field of one layer in a net's file. Everything else stays as it is, byte for byte.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="net prototxt")
    parser.add_argument("layer", metavar="LAYER", help="name of the layer")
    parser.add_argument(
        "field",
        metavar="FIELD",
        help="field, with dots: num_output, convolution_param.weight_filler.type, param.0.lr_mult",
    )
    parser.add_argument("value", metavar="VALUE", help="new value; texts need no quotes")
    parser.add_argument("--phase", choices=("train", "test"), help="which layer, where two phases have one of the name")
    parser.set_defaults(module="engine.cli.set_field")


def _add_upgrade(commands: Commands) -> None:
    parser = commands.add_parser(
        "upgrade",
        help=COMMANDS["upgrade"],
        description="Write a file of one of Caffe's old formats in today's: the prototxt of a net or solver, or "
        "weights (.caffemodel). In prototxt, comments stay, and so does what is in today's format already.",
    )
    parser.add_argument("file", type=Path, metavar="IN", help="net or solver prototxt, or .caffemodel")
    parser.add_argument("out", type=Path, metavar="OUT", help="file to write")
    parser.add_argument("--in-place", action="store_true", help="OUT may be the same file as IN")
    parser.set_defaults(module="engine.cli.upgrade")


def _add_diff(commands: Commands) -> None:
    parser = commands.add_parser(
        "diff",
        help=COMMANDS["diff"],
        description="Print the layers that were added, removed, renamed and changed from one net to another, and what "
        "that does to shapes, parameters and multiply-adds. Exit 0 if the nets are the same, 1 if they differ, 2 if "
        "one cannot be read.",
    )
    parser.add_argument("first", type=Path, metavar="A", help="net prototxt")
    parser.add_argument("second", type=Path, metavar="B", help="net prototxt")
    _add_view(parser)
    parser.set_defaults(module="engine.cli.diff")


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--phase", choices=("train", "test"), default="test", help="phase of the net (default: test)")
    parser.add_argument("--level", type=int, default=0, metavar="N", help="level for include rules of layers")
    parser.add_argument("--stage", default="", metavar="NAMES", help="comma-separated stages for include rules")
    parser.add_argument("--trust", action="store_true", help="run the Python layers that the net names")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_export(commands: Commands) -> None:
    parser = commands.add_parser(
        "export",
        help=COMMANDS["export"],
        description="Write a net as a file of another kind: netspec (.py), a Python program that rebuilds the net with "
        "caffe.NetSpec, or prototxt (.prototxt) in today's format and one layout. The net's own file stays as it is.",
    )
    parser.add_argument("file", type=Path, metavar="NET", help="net prototxt")
    parser.add_argument("out", type=Path, metavar="OUT", help="file to write")
    parser.add_argument("--to", metavar="KIND", help="kind of file (default: told by the ending of OUT)")
    parser.set_defaults(module="engine.cli.export")


def _add_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--level", type=int, default=0, metavar="N", help="level for include rules of layers")
    parser.add_argument("--stage", default="", metavar="NAMES", help="comma-separated stages for include rules")
    parser.add_argument(
        "--threads", type=_count, metavar="N", help="threads of matrix products (default: half the cores; at most all)"
    )
    parser.add_argument("--gpu", metavar="ID", help="compute on this GPU, or fail")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="print the result only")
