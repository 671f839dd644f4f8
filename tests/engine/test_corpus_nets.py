"""Every public net of BVLC Caffe's layer types builds in both phases and runs forward and backward.

How the nets are made ready is told in :mod:`tests.engine.corpus_nets`. Nets of more than :data:`LIMIT` billion
multiply-adds or :data:`PARAMS` million parameters after that are built with shapes only here, to keep the suite short;
``python -m tests.engine.test_corpus_nets`` runs those too.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.compat import install
from engine.errors import NetcanvasError, SchemaError
from engine.layer import Phase
from engine.net import Net
from engine.schema import read_net
from tests.engine.corpus_nets import Sources, fill, public_nets, work
from tests.support import SHARED, shared_files

LIMIT, PARAMS = 7.0, 90.0

#: Nets that Caffe cannot build either, though it knows their layer types, with what is wrong with them.
BROKEN = {
    ("digits/lenet", Phase.TRAIN): "expected num_output of 1 or more",  # DIGITS writes it in
    ("digits/lenet", Phase.TEST): "expected num_output of 1 or more",
    ("fabrik/HED", Phase.TRAIN): "expected 18432 targets",  # a fork's ImageData reads labels from images
    ("fabrik/HED", Phase.TEST): "expected 18432 targets",
    ("fabrik/simpleNet", Phase.TRAIN): "no layer before it produces 'label'",
    ("fabrik/simpleNet", Phase.TEST): "no layer before it produces 'label'",
    ("LRCN_activity_recognition__deploy", Phase.TRAIN): "'reshape-data' produces it, only in phase TEST",
    ("netscope/zynqnet", Phase.TRAIN): "expected 2 bottoms",
    ("nvcaffe/model__train_val", Phase.TEST): "'train-data' produces it, only in phase TRAIN",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one net in one phase."""

    file: str
    phase: Phase
    kind: str  # "ran", "shapes only", or "failed"
    reason: str = ""
    expected: bool = True


def run(sources: Sources, path: Path, row: dict[str, str], phase: Phase, *, everything: bool = False) -> Result:
    """Build one net and run it if it is small enough."""
    file = row["file"]
    try:
        ready = sources.ready(path, phase)
        with sources.build(ready, phase, shapes_only=True) as shapes:
            small = work(shapes) <= LIMIT and sum(item.blob.count for item in shapes.learnable) <= PARAMS * 1e6
        if not small and not everything:
            return Result(file, phase, "shapes only", f"images x {ready.factor}")
        with sources.build(ready, phase) as net:
            return _pass(net, file, phase)
    except SchemaError as error:
        return Result(file, phase, "failed", _short(error, path), expected=bool(row["unknown_fields"]))
    except NetcanvasError as error:
        reason = next((why for (part, when), why in BROKEN.items() if part in file and when == phase), None)
        text = _short(error, path)
        return Result(file, phase, "failed", text, expected=reason is not None and reason in text)


def _pass(net: Net, file: str, phase: Phase) -> Result:
    fill(net)
    net.forward()
    net.backward()
    wrong = [name for name, blob in net.blobs.items() if not np.isfinite(blob.data).all()]
    wrong += [item.name for item in net.learnable if not np.isfinite(item.blob.diff).all()]
    if wrong:
        return Result(file, phase, "failed", f"not finite: {', '.join(wrong[:3])}", expected=False)
    return Result(file, phase, "ran")


def _short(error: NetcanvasError, path: Path) -> str:
    return re.sub(r"\s+", " ", str(error).replace(str(path), path.name))


def report(results: list[Result]) -> str:
    """Return counts, and each net that did not run with its reason."""
    count = {kind: sum(each.kind == kind for each in results) for kind in ("ran", "shapes only", "failed")}
    lines = [f"public nets, by phase: {', '.join(f'{number} {kind}' for kind, number in count.items())}"]
    lines += [f"  {each.file} {each.phase}: {each.kind}: {each.reason[:160]}" for each in results if each.kind != "ran"]
    return "\n".join(lines)


def run_all(folder: Path, phases: tuple[Phase, ...] = tuple(Phase), *, everything: bool = False) -> list[Result]:
    """Run all nets in the given phases."""
    install()
    sources = Sources(folder)
    return [run(sources, path, row, phase, everything=everything) for path, row in public_nets() for phase in phases]


@pytest.mark.slow
@pytest.mark.parametrize("phase", Phase, ids=str)
def test_every_net_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, phase: Phase
) -> None:
    caplog.set_level("ERROR")
    results = run_all(tmp_path, (phase,))
    with capsys.disabled():
        print(f"\n{report(results)}")
    assert [each for each in results if not each.expected] == []
    broken = {part for part, when in BROKEN if when == phase}
    failed = [each.file for each in results if each.kind == "failed"]
    assert [part for part in broken if not any(part in file for file in failed)] == []
    assert sum(each.kind == "ran" for each in results) >= 65


REFERENCES = shared_files("corpus/reference/*.json")


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.name.removesuffix(".json"))
def test_shapes_are_those_of_caffe(path: Path) -> None:
    """Layers with those that Caffe inserts, every blob and every parameter, at full size."""
    name, phase, _ = path.name.rsplit(".", 2)
    wanted = json.loads(path.read_text())
    source = SHARED / "corpus/prototxt" / name.replace("~", "/", 1).replace("~", "__")
    net = Net(read_net(source), Phase[phase], shapes_only=True)
    got = [[node.name, node.type, net.bottom_names[node.name], net.top_names[node.name]] for node in net.nodes]
    assert [each[:2] for each in got] == [each[:2] for each in wanted["layers"]]
    assert {name: list(blob.shape) for name, blob in net.blobs.items()} == wanted["blobs"]
    assert {name: [list(blob.shape) for blob in blobs] for name, blobs in net.params.items()} == wanted["params"]
    assert (net.inputs, sorted(net.outputs)) == (wanted["inputs"], sorted(wanted["outputs"]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(report(run_all(Path(temporary), everything=True)))
