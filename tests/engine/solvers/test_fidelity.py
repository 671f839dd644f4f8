"""Our snapshots against Caffe's own: the same bytes, read by protobuf alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from engine.resources import resource_path
from engine.solvers import Solver
from tests.engine.solvers.nets import make_solver, write_project
from tests.support import shared


def message(name: str) -> Any:
    """Return a class of Caffe's schema from a pool of its own, without any code of ours."""
    files = descriptor_pb2.FileDescriptorSet.FromString(resource_path("schema/caffe.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)  # type: ignore[no-untyped-call]
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"caffe.{name}"))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", ["sgd_fixed", "adam"])
def test_a_snapshot_written_again_has_caffes_bytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared("golden/solvers")
    solver = Solver.create(folder / f"{name}.solver.prototxt")
    solver.restore(folder / f"{name}.iter20.solverstate")
    monkeypatch.chdir(tmp_path)
    paths = solver.snapshot()
    solver.close()
    assert paths.model.read_bytes() == (folder / f"{name}.iter20.caffemodel").read_bytes()
    assert paths.state.read_bytes() == (folder / f"{name}.iter20.solverstate").read_bytes()


def test_protobuf_alone_reads_what_a_stepped_run_writes(tmp_path: Path) -> None:
    project = write_project(tmp_path, dropout=0.3)
    text = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "multistep" gamma: 0.5 stepvalue: 1 stepvalue: 2 stepvalue: 9 '
    solver = make_solver(project, base=text + 'type: "Adam" random_seed: 1 snapshot_prefix: "snap"')
    solver.step(3)
    paths = solver.snapshot()
    solver.close()
    net = message("NetParameter").FromString(paths.model.read_bytes())
    state = message("SolverState").FromString(paths.state.read_bytes())
    assert net.name == "small"
    assert [(layer.name, layer.type, [list(blob.shape.dim) for blob in layer.blobs]) for layer in net.layer] == [
        ("data", "HDF5Data", []),
        ("ip1", "InnerProduct", [[6, 5], [6]]),
        ("relu1", "ReLU", []),
        ("drop1", "Dropout", []),
        ("ip2", "InnerProduct", [[3, 6], [3]]),
        ("loss", "SoftmaxWithLoss", []),
    ]
    assert all(layer.phase == 0 and layer.HasField("phase") for layer in net.layer)
    assert [len(blob.data) for blob in net.layer[1].blobs] == [30, 6]
    assert (state.iter, state.current_step, state.learned_net) == (3, 2, str(paths.model))
    assert [list(blob.shape.dim) for blob in state.history] == [[6, 5], [6], [3, 6], [3]] * 2
