"""Arguments of the commands that look at files of nets or change them."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.arguments.parsers import CommandParser, Commands, add_output, add_state, new_command
from engine.cli.arguments.values import assumption, input_shape, phase, scale, view

__all__ = ["add_check", "add_diff", "add_draw", "add_export", "add_set", "add_show", "add_upgrade"]


def add_check(commands: Commands, summary: str) -> None:
    """Add ``check``."""
    parser = new_command(
        commands,
        "check",
        summary,
        "Print faults as 'file:line:column: severity: message [code]'; exit 1 if one is an error, "
        "that is, if training would refuse the file. Nothing is trained, and Python layers run only with --trust.",
        examples=(
            "lenet_train_test.prototxt",
            "lenet_solver.prototxt lenet_train_test.prototxt --json",
            "net.prototxt --phase deploy",
        ),
        module="check",
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="net or solver prototxt")
    _add_trust(parser, "run the Python layers that the nets name, to check them too")
    _add_dialect(parser, "files are")
    _add_phase(parser, None, "all that the file holds")
    _add_assumed(parser)
    add_output(parser, json="print the faults as a JSON list")


def add_show(commands: Commands, summary: str) -> None:
    """Add ``show``."""
    parser = new_command(
        commands,
        "show",
        summary,
        "Print the layers of a net, or of the one in a weights file, and what they cost together for the batch that it "
        "asks for. "
        "Nothing is run, and Python layers are asked for their shapes only with --trust.",
        examples=(
            "lenet_train_test.prototxt",
            "lenet_train_test.prototxt --phase TRAIN --json",
            "lenet_iter_10000.caffemodel",
            "train_val.prototxt --input-shape data=0,3,227,227",
        ),
        module="show",
    )
    _add_net(parser, "file", "FILE")
    _add_view(parser)


def add_set(commands: Commands, summary: str) -> None:
    """Add ``set``."""
    parser = new_command(
        commands,
        "set",
        summary,
        "Set one field of one layer in a net's file. Everything else stays as it is, byte for byte.",
        examples=(
            "lenet_train_test.prototxt conv1 num_output 50",
            "lenet_train_test.prototxt mnist batch_size 32 --phase TEST",
        ),
        module="set_field",
    )
    _add_net(parser, "file", "FILE")
    parser.add_argument("layer", metavar="LAYER", help="name of the layer")
    parser.add_argument(
        "field",
        metavar="FIELD",
        help="field, with dots: num_output, convolution_param.weight_filler.type, param.0.lr_mult",
    )
    parser.add_argument("value", metavar="VALUE", help="new value; texts need no quotes")
    parser.add_argument(
        "--phase", type=phase, metavar="PHASE", help="which layer, where two phases have one of the name: TRAIN or TEST"
    )
    add_output(parser, json=None)


def add_upgrade(commands: Commands, summary: str) -> None:
    """Add ``upgrade``."""
    parser = new_command(
        commands,
        "upgrade",
        summary,
        "Write a file of one of Caffe's old formats in today's: the prototxt of a net or solver, or "
        "weights (.caffemodel). In prototxt, comments stay, and so does what is in today's format already.",
        examples=("old.prototxt new.prototxt", "net.prototxt net.prototxt --in-place"),
        module="upgrade",
    )
    parser.add_argument("file", type=Path, metavar="IN", help="net or solver prototxt, or .caffemodel")
    _add_out(parser, "out")
    parser.add_argument("--in-place", action="store_true", help="OUT may be the same file as IN")
    add_output(parser, json=None)


def add_diff(commands: Commands, summary: str) -> None:
    """Add ``diff``."""
    parser = new_command(
        commands,
        "diff",
        summary,
        "Print the layers that were added, removed, renamed and changed from one net to another, and what "
        "that does to shapes, parameters and multiply-adds. Exit 0 if the nets are the same, 1 if they differ, 2 if "
        "one cannot be read.",
        examples=("before.prototxt after.prototxt", "before.prototxt after.prototxt --phase TRAIN --json"),
        module="diff",
    )
    _add_net(parser, "first", "A")
    _add_net(parser, "second", "B")
    _add_view(parser)


def add_draw(commands: Commands, summary: str) -> None:
    """Add ``draw``."""
    parser = new_command(
        commands,
        "draw",
        summary,
        "Draw a net as the editor shows it, to a file whose ending says what it is: .svg, .pdf or .png. No screen is "
        "needed. Places, blocks, frames and notes are those of the file beside the net, if there is one.",
        examples=("net.prototxt net.svg", "net.prototxt net.png --theme dark --scale 2 --phase TRAIN"),
        module="draw",
    )
    _add_net(parser, "file", "NET")
    _add_out(parser, "output")
    parser.add_argument("--theme", choices=("paper", "light", "dark"), default="paper", help="colours (default: paper)")
    parser.add_argument("--scale", type=scale, default=1.0, metavar="N", help="size, 1 for 100 %% (default: 1)")
    parser.add_argument(
        "--fold",
        action=argparse.BooleanOptionalAction,
        help="fold repeated blocks, or do not (default: in a net of 100 layers or more without places of its own)",
    )
    _add_phase(parser, None, "all layers of the file")
    _add_assumed(parser)
    _add_trust(parser, "run the Python layers that the net names")
    add_output(parser, json=None)


def add_export(commands: Commands, summary: str) -> None:
    """Add ``export``."""
    parser = new_command(
        commands,
        "export",
        summary,
        "Write a net as a file of another kind: netspec (.py), a Python program that rebuilds the net with "
        "caffe.NetSpec, or prototxt (.prototxt) in today's format and one layout. With --phase deploy, the net that "
        "predicts: data becomes Input, losses become Softmax or Sigmoid, accuracies go, and all else keeps its text. "
        "The net's own file stays as it is.",
        examples=(
            "net.prototxt net.py",
            "net.prototxt tidy.txt --to prototxt",
            "train_val.prototxt deploy.prototxt --phase deploy --input-shape 1,3,227,227",
        ),
        module="export",
    )
    _add_net(parser, "file", "NET")
    _add_out(parser, "out")
    parser.add_argument("--to", metavar="KIND", help="kind of file (default: told by the ending of OUT)")
    _add_phase(parser, None, "all layers of the file, with their rules")
    parser.add_argument(
        "--input-shape",
        type=input_shape,
        action="append",
        default=[],
        metavar="[BLOB=]SHAPE",
        help="with --phase deploy: shape of an input, such as 1,3,224,224 or data=1,3,224,224, in place of its data's; "
        "once for each",
    )
    add_output(parser, json=None)


def _add_net(parser: CommandParser, name: str, metavar: str) -> None:
    parser.add_argument(name, type=Path, metavar=metavar, help="net prototxt")


def _add_out(parser: CommandParser, name: str) -> None:
    parser.add_argument(name, type=Path, metavar="OUT", help="file to write")


def _add_trust(parser: CommandParser, text: str) -> None:
    parser.add_argument("--trust", action="store_true", help=text)


def _add_view(parser: CommandParser) -> None:
    _add_phase(parser, "test", "TEST")
    _add_assumed(parser)
    _add_trust(parser, "run the Python layers that the net names")
    _add_dialect(parser, "net is")
    add_output(parser)


def _add_dialect(parser: CommandParser, what: str) -> None:
    """Add whose Caffe is meant."""
    text = f"whose Caffe the {what} written for, such as ssd (default: as chosen in the editor, or guessed)"
    parser.add_argument("--dialect", metavar="NAME", help=text)


def _add_assumed(parser: CommandParser) -> None:
    """Add what is assumed of data that are not here."""
    parser.add_argument(
        "--input-shape",
        type=assumption,
        action="append",
        default=[],
        dest="assumed",
        metavar="BLOB=SHAPE",
        help="assume a shape, such as data=10,3,224,224, where the data that would tell it are not here; "
        "0 in place of 10 is the layer's own batch size; once for each blob (default: as assumed in the editor)",
    )


def _add_phase(parser: CommandParser, default: str | None, words: str) -> None:
    """Add which of the nets of a file is meant."""
    parser.add_argument(
        "--phase", type=view, default=default, metavar="PHASE", help=f"TRAIN, TEST or deploy (default: {words})"
    )
    add_state(parser)
