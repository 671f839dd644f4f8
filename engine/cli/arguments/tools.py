"""Arguments of the commands about data, logs and the machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.arguments.parsers import Commands, add_output, new_command
from engine.cli.arguments.values import database_kind, delimiter, seed, size

__all__ = ["SWITCHES", "add_compute_image_mean", "add_convert_imageset", "add_devices", "add_parse_log"]

SWITCHES = ("check-size", "encoded", "gray", "shuffle")  # which Caffe's tools also take as -gray=true and -nogray


def add_devices(commands: Commands, summary: str) -> None:
    """Add ``devices``."""
    parser = new_command(
        commands,
        "devices",
        summary,
        "Print where nets can compute here: backends, processor, matrix library and its threads, GPUs, and the "
        "versions of what computes. Caffe's name for it, device_query, works too.",
        examples=("", "--json"),
        module="devices",
    )
    parser.add_argument("--gpu", metavar="ID", help="fail unless this GPU can be computed on")
    add_output(parser)


def add_convert_imageset(commands: Commands, summary: str) -> None:
    """Add ``convert_imageset``."""
    parser = new_command(
        commands,
        "convert_imageset",
        summary,
        "Write a database of images for a Data layer, of Netcanvas or of Caffe. LISTFILE has a line 'PATH LABEL' for "
        "each; keys are the line's number and path, 00000000_a/b.jpg. Images that cannot be read are named, left out "
        "and counted, and the exit code is 1 then.",
        examples=(
            "-shuffle -resize_height 256 -resize_width 256 images/ train.txt train_lmdb",
            "-backend leveldb -gray digits/ list.txt digits_leveldb",
            "-encoded -encode_type png images/ list.txt images_lmdb",
        ),
        module="convert_imageset",
    )
    parser.add_argument("root", metavar="ROOTFOLDER", help="folder that the paths of the list are relative to")
    parser.add_argument("list", type=Path, metavar="LISTFILE", help="lines of path and label")
    parser.add_argument("database", type=Path, metavar="DB_NAME", help="database to write; must not exist")
    switch = argparse.BooleanOptionalAction
    parser.add_argument("--gray", action=switch, default=False, help="one channel instead of blue, green and red")
    parser.add_argument("--shuffle", action=switch, default=False, help="mix the order of the images")
    parser.add_argument("--seed", type=seed, metavar="N", help="makes --shuffle repeatable")
    parser.add_argument(
        "--backend", type=database_kind, default="lmdb", metavar="KIND", help="lmdb or leveldb (default: lmdb)"
    )
    parser.add_argument("--resize-width", type=size, default=0, metavar="PIXELS", help="width to resize images to")
    parser.add_argument("--resize-height", type=size, default=0, metavar="PIXELS", help="height to resize images to")
    parser.add_argument("--check-size", action=switch, default=False, help="fail if images differ in size")
    parser.add_argument("--encoded", action=switch, default=False, help="store image files, not their pixels")
    parser.add_argument(
        "--encode-type",
        default="",
        metavar="TYPE",
        help="kind of image files to store: png, jpg (default: as they are)",
    )
    add_output(parser)


def add_compute_image_mean(commands: Commands, summary: str) -> None:
    """Add ``compute_image_mean``."""
    parser = new_command(
        commands,
        "compute_image_mean",
        summary,
        "Print the mean of each channel over the images of a database; with OUT, write the mean image to a "
        ".binaryproto file, for mean_file of transform_param.",
        examples=("mnist_train_lmdb", "-backend leveldb train_leveldb mean.binaryproto"),
        module="compute_image_mean",
    )
    parser.add_argument("database", type=Path, metavar="DB", help="database of images of one size")
    parser.add_argument("out", type=Path, nargs="?", metavar="OUT", help=".binaryproto file to write")
    parser.add_argument(
        "--backend",
        type=database_kind,
        metavar="KIND",
        help="may be given as to Caffe: lmdb or leveldb (default: told by the database's files)",
    )
    add_output(parser)


def add_parse_log(commands: Commands, summary: str) -> None:
    """Add ``parse_log``."""
    parser = new_command(
        commands,
        "parse_log",
        summary,
        "Read the log of a training, Caffe's or of Netcanvas, and write LOG.train and LOG.test: tables with a row for "
        "each iteration shown, and the columns NumIters, Seconds, LearningRate and the net's outputs.",
        examples=("train.log", "caffe.INFO tables/ --delimiter '\\t' --verbose", "runs/lenet/log.txt --json"),
        module="parse_log",
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="log file of a training")
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="FOLDER",
        help="where to write the tables (default: here; with --json: nowhere)",
    )
    parser.add_argument(
        "--delimiter", type=delimiter, default=",", metavar="CHARACTER", help="between columns (default: ','; \\t: tab)"
    )
    parser.add_argument("--verbose", action="store_true", help="say which tables are written, and of what")
    add_output(parser, json="print the rows as JSON")
