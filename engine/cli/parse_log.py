"""``netcanvas parse_log``."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from engine.cli.output import Output
from engine.cli.training_log import Row, TrainingTables, columns, read_training_log
from engine.errors import FileFormatError
from engine.files import atomic_write
from engine.schema import sniff

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write the tables of a log; return the exit code."""
    path: Path = options.log
    tables = _read(path)
    folder: Path | None = options.folder if options.folder is not None or options.json else Path()
    written = []
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        written = _write(tables, folder / path.name, options)
    if options.json:
        result = {
            "log": str(path),
            "train": list(tables.train),
            "test": list(tables.test),
            "files": [str(file) for file in written],
        }
        Output(as_json=True).result([], result)
    return 0


def _read(path: Path) -> TrainingTables:
    """Return the tables of a log.

    Raises
    ------
    FileFormatError
        If the file is no log of a training, or shows no output of a net.
    """
    data = path.read_bytes()
    written = datetime.fromtimestamp(path.stat().st_mtime)
    tables = read_training_log(data.decode("utf-8", "backslashreplace"), written.year)
    if tables.train or tables.test:
        return tables
    if tables.iterations:
        raise FileFormatError(
            f"'{path}': expected lines such as 'Train net output #0: loss = 0.2' with a time stamp, got none.",
            next_step="Set display or test_interval in the solver and train again, or name another log.",
        )
    raise FileFormatError(
        f"'{path}': expected the log of a training, with lines such as 'Iteration 100, loss = 0.2', got "
        f"{sniff(data).value} without them.",
        next_step="Name what 'caffe train' or 'netcanvas train' wrote to standard error.",
    )


def _write(tables: TrainingTables, base: Path, options: argparse.Namespace) -> list[Path]:
    """Write the tables that have rows; return their files."""
    output = Output(quiet=options.quiet)
    written = []
    for kind, rows in (("train", tables.train), ("test", tables.test)):
        target = base.with_name(f"{base.name}.{kind}")
        if not rows:
            if options.verbose:
                output.note(f"Not writing {target}; no lines to write")
            continue
        atomic_write(target, _csv(rows, options.delimiter).encode("utf-8"))
        written.append(target)
        output.note(f"Wrote {target}: {len(rows)} row{'s' if len(rows) > 1 else ''}")
        if options.verbose:
            output.note(f"  columns: {', '.join(columns(rows))}")
    return written


def _csv(rows: Sequence[Row], delimiter: str) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=columns(rows), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
