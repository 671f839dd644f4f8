"""Feeds damaged public files to the document model, and edits them at random, for as long as asked.

Run as ``python -m tests.benchmarks.fuzz_documents --seconds 3600 --seed 1``. Each case must pass without an exception
and within :data:`CASE_LIMIT` seconds, must not lose a byte, and the graph that followed the edits must be the graph
that the edited text gives. What fails is kept as a file, and the seed of its case is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from engine.diagnostics import diagnose
from engine.graph import OpGraph
from engine.prototxt import parse
from engine.prototxt.parts import render
from engine.schema import convert, guess_dialect, load_schema
from tests.engine.graph.editor import Editor
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent
from tests.support import shared_files

__all__ = ["CASE_LIMIT", "Hang", "check_document", "main", "mutated", "seeds"]

#: Seconds of processor time for one case.
CASE_LIMIT = 10.0

_LARGEST = 60_000
_EDITS = 6
_SNIPPETS = (
    *(bytes([each]) for each in b"{}<>[]:=,;\"'\\#-+ \t\r\n\x00\xff\xe9"),
    b"\r\n",
    b"\xef\xbb\xbf",
    "“x”".encode(),
    b"layer {\n",
    b"layers { layer { name: 'v0' type: 'relu' } }\n",
    b"}\n",
    b"# note\n\n",
    b'input: "data"\ninput_dim: [1, 3, 4, 4]\n',
    b"include { phase: TEST stage: 's' }",
    b"dim: [0x1F, 010, -1,]",
    b"param: [{ lr_mult: 1 }, < decay_mult: .5f >]",
    b"[type.googleapis.com/a.B] { x: 1 }",
    b"1e999",
    b"-inf",
    b"'a' \"b\"",
    b"\\u12",
    b"bottom: '?'",
    b" " * 3000,
    b"a {" * 500,
    b"[" * 500,
)


class Hang(Exception):
    """A case took longer than it may."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Hang` in what takes more processor time than ``seconds``."""
    start = time.process_time()

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"not done after {seconds} s of processor time")

    has_timer = hasattr(signal, "setitimer")  # elsewhere the case is timed when it is done
    if has_timer:
        before = signal.signal(signal.SIGVTALRM, stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
    if time.process_time() - start > seconds:
        raise Hang(f"took more than {seconds} s of processor time")


def seeds() -> list[bytes]:
    """Return sound files to damage: the public ones beside this checkout, and small nets."""
    found = [path.read_bytes() for path in shared_files("corpus/prototxt/*/*") + shared_files("corpus/syntax/*.proto*")]
    return [LENET.encode(), CHAIN.encode(), *(data for data in found if len(data) <= _LARGEST)]


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a file with some damage: pieces cut out, doubled, moved, put in, taken from other files."""
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 5, 12])):
        at = chance.randrange(len(data) + 1)
        upto = min(at + chance.choice([0, 1, 1, 2, 8, 60, 500]), len(data))
        piece = data[at:upto]
        match chance.randrange(7):
            case 0:
                data = data[:at] + data[upto:]
            case 1:
                data = data[:upto] + piece * chance.choice([1, 1, 2, 20]) + data[upto:]
            case 2:
                place = chance.randrange(len(data) + 1)
                data = data[:place] + piece + data[place:]
            case 3:
                data = data[:at] + bytes(chance.randrange(256) for _ in piece[:8]) + data[at + len(piece[:8]) :]
            case 4:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                data = data[:at] + other[start : start + chance.choice([10, 200, 2000])] + data[upto:]
            case 5:
                data = data[:at] if chance.random() < 0.3 else data
            case _:
                data = data[:at] + chance.choice(_SNIPPETS) + data[at:]
    return data


def check_document(data: bytes, seed: int, edits: int = _EDITS) -> None:
    """Read, convert, diagnose and edit one file.

    Raises
    ------
    AssertionError
        If a byte is lost, or the graph is another than the one that its text gives.
    Hang
        If it takes too long.
    """
    with time_limit(CASE_LIMIT):
        tree = parse(data)
        assert bytes(tree) == data
        pieces = tree.bom + "".join(map(render, tree.root.items)) + tree.root.close_lead
        assert pieces.encode("utf-8", "surrogateescape") == data
        schema = load_schema(guess_dialect(tree).name)
        for type_name in ("NetParameter", "SolverParameter"):
            convert(tree.root, type_name, schema=schema)
        graph = OpGraph.parse(data)
        assert_consistent(graph)
        diagnose(graph)
    with time_limit(CASE_LIMIT):
        _check_edits(graph, data, Editor(graph, seed), edits)


def _check_edits(graph: OpGraph, data: bytes, editor: Editor, count: int) -> None:
    texts, changes = [data], []
    for _ in range(count):
        change = editor.step()
        if change is not None and not change.is_empty:
            changes.append(change)
            texts.append(bytes(graph))
    assert_consistent(graph)
    for change, text in zip(reversed(changes), reversed(texts[:-1]), strict=True):
        change.undo()
        assert bytes(graph) == text
    assert_consistent(graph)
    for change in changes:
        change.redo()
    assert bytes(graph) == texts[-1]
    assert_consistent(graph)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run for some time; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Feed damaged prototxt to the document model.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="first case; case N is the same in every run")
    parser.add_argument("--cases", type=int, help="stop after this many")
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    options = parser.parse_args(arguments)
    files = seeds()
    end = time.monotonic() + options.seconds
    case, failures = options.seed, 0
    while time.monotonic() < end and (options.cases is None or case < options.seed + options.cases):
        chance = random.Random(case)
        data = mutated(chance.choice(files), files, chance)
        try:
            check_document(data, case)
        except Exception:
            failures += 1
            print(f"case {case} failed:\n{traceback.format_exc()}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{case}.prototxt").write_bytes(data)
        case += 1
    print(f"{case - options.seed} cases from {options.seed}, {failures} failed", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
