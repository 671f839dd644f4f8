"""``netcanvas extract_features``."""

from __future__ import annotations

import argparse
import difflib
import logging
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.threads import matrix_threads
from engine.cli.devices import check_gpu
from engine.cli.opening import open_net
from engine.cli.output import Output
from engine.errors import DataError, NetError
from engine.files.new_database import RecordSink, check_new, new_database
from engine.layer import Phase
from engine.net import Net
from engine.schema import load_schema

__all__ = ["run"]

_log = logging.getLogger(__name__)
_TELL_EVERY = 1000


def run(options: argparse.Namespace) -> int:
    """Write blobs of a net to databases; return the exit code."""
    check_gpu(options.device if options.mode == "GPU" else None, asked="GPU")
    output = Output(quiet=options.quiet, as_json=options.json)
    _check_databases(options.blobs, options.databases)
    with output.logging(), matrix_threads(options.threads), open_net(options, Phase.TEST) as net:
        _check_blobs(net, options.blobs)
        features = _extract(net, options, output)
    lines = [
        f"Wrote {each.database}: {each.count} records of blob '{each.blob}', "
        f"{' x '.join(map(str, each.shape))} values each."
        for each in features
    ]
    data = [
        {"blob": each.blob, "database": each.database, "records": each.count, "shape": list(each.shape)}
        for each in features
    ]
    output.result(lines, {"batches": options.iterations, "backend": options.backend, "features": data})
    return 0


@dataclass(slots=True)
class _Feature:
    """A blob on its way to its database; ``shape`` is that of one record: channels, height and width."""

    blob: str
    database: str
    sink: RecordSink
    count: int = 0
    shape: tuple[int, int, int] = (0, 0, 0)

    def put(self, values: npt.NDArray[Any]) -> None:
        """Write one record for each item of a batch."""
        items = values if values.ndim else values.reshape(1)
        self.shape = _record_shape(items.shape)
        for item in items.reshape(len(items), -1):
            self.sink.put(b"%010d" % self.count, _datum(item, self.shape).SerializeToString())
            self.count += 1
            if self.count % _TELL_EVERY == 0:
                self.tell()

    def tell(self) -> None:
        """Log how far it is."""
        _log.info("Extracted features of %d query images for feature blob %s", self.count, self.blob)


def _extract(net: Net, options: argparse.Namespace, output: Output) -> list[_Feature]:
    with ExitStack() as stack:
        features = []
        for blob, name in zip(options.blobs, options.databases, strict=True):
            _log.info("Opening dataset %s", name)
            features.append(_Feature(blob, name, stack.enter_context(new_database(name, options.backend))))
        _log.info("Extracting Features")
        with output.bar(options.iterations, text="Extracting") as bar:
            for _ in range(options.iterations):
                net.forward()
                for feature in features:
                    feature.put(net.blobs[feature.blob].read_data())
                bar.update()
        for feature in features:
            feature.tell()
    _log.info("Successfully extracted the features!")
    return features


def _record_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return channels, height and width of one item; what has fewer axes gets 1, more of them are folded into width."""
    padded = (*shape[1:], 1, 1, 1)
    return padded[0], padded[1], padded[2] if len(shape) <= 4 else math.prod(shape[3:])


def _datum(values: npt.NDArray[Any], shape: tuple[int, int, int]) -> Any:
    datum = load_schema().message("Datum")()
    datum.channels, datum.height, datum.width = shape
    datum.float_data.extend(np.asarray(values, dtype=np.float32).tolist())
    return datum


def _check_databases(blobs: Sequence[str], databases: Sequence[str]) -> None:
    if len(blobs) != len(databases):
        raise DataError(
            f"Expected as many databases as blobs, got {len(databases)} for {len(blobs)}.",
            next_step="Name one database for each blob, with commas between them.",
        )
    for number, name in enumerate(databases):
        check_new(name)
        if name in databases[:number]:
            raise DataError(f"Database '{name}' is named twice.", next_step="Give each blob a database of its own.")


def _check_blobs(net: Net, blobs: Sequence[str]) -> None:
    for name in blobs:
        if name not in net.blobs:
            close = difflib.get_close_matches(name, net.blobs, n=1)
            step = f"Did you mean '{close[0]}'?" if close else f"The blobs are {', '.join(net.blobs)}."
            raise NetError(f"Net '{net.name}': expected a blob called '{name}', got none of that name.", next_step=step)
