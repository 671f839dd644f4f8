"""How large updates are beside the weights: the figures, when they are taken, and how they travel."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from engine.solvers import Solver
from engine.worker import Finished, RunFolder, Updates
from engine.worker.events import from_message, to_message
from engine.worker.protocol import decode, encode
from engine.worker.updates import UpdateSizes
from tests.engine.worker.conftest import StartRun, Watch, is_a, until_end, wait_for
from tests.engine.worker.nets import FOREVER, TinyNet, solver_text

_MORE = """
layer {
  name: "%s" type: "InnerProduct" bottom: "data" top: "%s" param { name: "w" } param { name: "b" }
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } }
}
layer { name: "%s_loss" type: "SoftmaxWithLoss" bottom: "%s" bottom: "label" top: "%s_loss" }
"""


def solver_of(folder: Path, text: str, **changes: str) -> Solver:
    TinyNet.write(folder)
    source = folder / "solver.prototxt"
    source.write_text(solver_text(snapshot="0", **changes))
    return Solver.create(source, net_text=text, base_dirs=[folder])


def weights(solver: Solver, layer: str) -> np.ndarray:
    return np.concatenate([blob.data.ravel().astype(np.float64) for blob in solver.net.params[layer]])


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_figure_is_what_the_weights_moved_by_the_weights(tmp_path: Path, kind: str) -> None:
    solver = solver_of(tmp_path, TinyNet.with_layer(""), type=f'"{kind}"', iter_size="2")
    sizes = UpdateSizes(solver.net)
    for _iteration in range(3):
        before = {name: weights(solver, name) for name in ("hidden", "score")}
        solver.step(1)
        found = sizes.look()
        assert list(found) == ["hidden", "score"]
        for name, old in before.items():
            new = weights(solver, name)
            expected = math.sqrt(((new - old) ** 2).sum()) / math.sqrt((new**2).sum())
            assert expected > 1e-4
            assert found[name] == pytest.approx(expected, rel=1e-3)
    solver.close()


def test_what_is_not_trained_has_no_figure_and_shared_weights_have_one_each(tmp_path: Path) -> None:
    twins = "".join(_MORE % ((name,) * 5) for name in ("left", "right"))
    text = TinyNet.with_layer(twins).replace(
        'bottom: "data" top: "hidden"', 'bottom: "data" top: "hidden" param { lr_mult: 0 } param { lr_mult: 0 }'
    )
    solver = solver_of(tmp_path, text)
    sizes = UpdateSizes(solver.net)
    solver.step(1)
    found = sizes.look()
    assert set(found) == {"left", "right", "score"}
    assert found["left"] == found["right"] > 0.0
    solver.close()


@pytest.mark.parametrize(("value", "is_nan"), [(math.nan, True), (math.inf, False)])
def test_what_is_no_number_is_told(tmp_path: Path, value: float, is_nan: bool) -> None:
    solver = solver_of(tmp_path, TinyNet.with_layer(""))
    solver.step(1)
    solver.net.params["score"][0].diff[0, 0] = value
    found = UpdateSizes(solver.net).look()
    assert math.isnan(found["score"]) if is_nan else found["score"] == math.inf
    assert math.isfinite(found["hidden"])
    came = from_message(decode(encode(to_message(Updates(7, found)))))
    assert isinstance(came, Updates) and came.iteration == 7
    np.testing.assert_equal({name: float(each) for name, each in came.layers.items()}, found)
    solver.close()


def test_looks_are_few_and_fewer_where_they_take_long(tmp_path: Path) -> None:
    solver = solver_of(tmp_path, TinyNet.with_layer(""))
    now, cost = [100.0], [0.0]

    def clock() -> float:
        now[0] += cost[0]
        return now[0]

    sizes = UpdateSizes(solver.net, clock)
    assert sizes.is_due
    sizes.look()
    now[0] += 0.29
    assert not sizes.is_due
    now[0] += 0.02
    assert sizes.is_due
    cost[0] = 0.05
    sizes.look()
    cost[0] = 0.0
    now[0] += 4.9
    assert not sizes.is_due, "a look of 50 ms is 1 % of 5 s"
    now[0] += 0.2
    assert sizes.is_due
    solver.close()


def test_a_run_tells_viewers_and_ends_with_its_last_update(
    start_run: StartRun, watch: Watch, tiny_net: TinyNet, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path / "runs", tiny_net.text, solver_text(**FOREVER), "tiny")
    run, process = start_run(run=folder, base_dirs=[tiny_net.folder])
    viewer = watch(run, process)
    _, early = wait_for(viewer, is_a(Updates))
    viewer.stop()
    late = until_end(viewer)
    events = [event for event in (*early, *late) if isinstance(event, Updates)]
    (end,) = (event for event in late if isinstance(event, Finished))
    assert [event.iteration for event in events] == sorted({event.iteration for event in events})
    assert events[-1].iteration == end.iteration
    for event in events:
        assert set(event.layers) == {"hidden", "score"}
        assert all(0.0 <= float(value) < 1.0 for value in event.layers.values())
