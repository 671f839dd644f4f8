"""Gradient checks of Python layers: what is right passes, what is wrong is found and placed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.cli.commands import main
from engine.errors import PluginError
from engine.inspection import InspectionClient, PluginLost
from engine.layer import Phase
from engine.schema import load_schema
from engine.testing import GradientReport, check_python_layer, python_layer_case
from tests.engine.plugins.helpers import write

LAYERS = """
    import caffe
    import numpy as np

    class Square(caffe.Layer):
        factor = 1.0
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].data.shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data ** 2
        def backward(self, top, propagate_down, bottom):
            if propagate_down[0]:
                bottom[0].diff[...] = 2 * bottom[0].data * top[0].diff
                self.spoil(bottom[0].diff)
        def spoil(self, diff): pass

    class OneWrong(Square):
        def spoil(self, diff): diff[1, 2] *= 1.001

    class NotANumber(Square):
        def spoil(self, diff): diff[0, 3] = np.nan

    class Relu(Square):
        def forward(self, bottom, top): top[0].data[...] = np.maximum(bottom[0].data, 0)
        def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff * (bottom[0].data > 0)

    class Noisy(Square):
        rng_of_mine = np.random.default_rng()
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data + self.rng_of_mine.normal()

    class Kinks(Square):
        def forward(self, bottom, top): top[0].data[...] = np.abs(bottom[0].data - self.at)
        def setup(self, bottom, top): self.at = bottom[0].data.copy()
        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].data.shape)
            if not self.at.any(): self.at = bottom[0].data.copy()

    class Rounds(Square):  # keeps float32, as layers for Caffe do
        def forward(self, bottom, top):
            self.kept = bottom[0].data.astype(np.float32)
            top[0].data[...] = self.kept ** 2
        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = 2 * self.kept * top[0].diff

    class RoundsWrong(Rounds):
        def spoil(self, diff): diff[...] *= 1.05
        def backward(self, top, propagate_down, bottom):
            Rounds.backward(self, top, propagate_down, bottom)
            self.spoil(bottom[0].diff)

    class Product(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(*bottom[0].data.shape[1:])
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].data.shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data * bottom[1].data * self.blobs[0].data
        def backward(self, top, propagate_down, bottom):
            w = self.blobs[0].data
            for i in range(2):
                if propagate_down[i]:
                    bottom[i].diff[...] = top[0].diff * bottom[1 - i].data * w
            self.blobs[0].diff[...] += (top[0].diff * bottom[0].data * bottom[1].data).sum(0)

    class ForgetsFlags(Product):  # uses what it computed for bottom 0 only when that was wanted
        def backward(self, top, propagate_down, bottom):
            if propagate_down[0]:
                self.common = top[0].diff * self.blobs[0].data
                bottom[0].diff[...] = self.common * bottom[1].data
            bottom[1].diff[...] = getattr(self, 'common', 0) * bottom[0].data
            self.common = 0
            self.blobs[0].diff[...] = (top[0].diff * bottom[0].data * bottom[1].data).sum(0)

    class WrongParam(Product):
        def backward(self, top, propagate_down, bottom):
            Product.backward(self, top, propagate_down, bottom)
            self.blobs[0].diff[2] += 1

    class Loss(caffe.Layer):  # does not look at its top's gradient, as many losses for Caffe
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top):
            assert set(np.unique(bottom[1].data)) <= {0, 1, 2}
            self.d = bottom[0].data - bottom[1].data[:, None]
            top[0].data[...] = (self.d ** 2).sum() / 2
        def backward(self, top, propagate_down, bottom):
            assert list(propagate_down) == [True, False]
            bottom[0].diff[...] = self.d

    class Host(Square):
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data ** 2 + self.xp.ones(1)

    class BadOnDevice(Square):
        host_arrays = False
        def forward(self, bottom, top): top[0].data[...] = np.square(bottom[0].data)

    def double(inputs, outputs): outputs[0].feed(2 * inputs[0].data)
    def grad_double(inputs, outputs): outputs[0].feed(2 * inputs[2].data)
    def third(inputs, outputs): outputs[0].feed(3 * inputs[0].data)
    def grad_third(inputs, outputs): outputs[0].feed(2 * inputs[2].data)

    class Slow(Square):
        def forward(self, bottom, top):
            while True: pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, lay=LAYERS)


def check(name: str, *shapes: tuple[int, ...], **settings: Any) -> GradientReport:
    rng = np.random.default_rng(3)
    case = python_layer_case("lay", name, [rng.normal(size=shape) for shape in shapes], **settings)
    return check_python_layer(case, name)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("Square", [(3, 4)]),
        ("Square", [()]),
        ("Relu", [(3, 4)]),
        ("Rounds", [(3, 4)]),
        ("Product", [(3, 4), (3, 4)]),
        ("double", [(2, 3)]),
        ("Square", [(0, 4)]),
    ],
)
def test_right_gradients_pass(folder: Path, name: str, shapes: list[tuple[int, ...]]) -> None:
    report = check(name, *shapes)
    assert report.passed, report.lines()
    assert {finding.status for finding in report.findings} <= {"right", "skipped"}


@pytest.mark.parametrize(
    ("name", "target", "status", "element"),
    [
        ("OneWrong", "bottom 0", "wrong", (1, 2)),
        ("NotANumber", "bottom 0", "wrong", (0, 3)),
        ("Noisy", "bottom 0", "random", ()),
        ("RoundsWrong", "bottom 0", "wrong", None),
        ("third", "bottom 0", "wrong", None),
        ("BadOnDevice", "backend strict", "wrong", ()),
    ],
)
def test_wrong_ones_are_found_and_placed(
    folder: Path, name: str, target: str, status: str, element: tuple[int, ...] | None
) -> None:
    report = check(name, (3, 4))
    (finding,) = [finding for finding in report.findings if finding.failed]
    assert (finding.target, finding.status) == (target, status)
    assert element is None or finding.element == element
    assert not report.passed and target in report.summary


def test_the_element_at_fault_is_shown_with_both_values(folder: Path) -> None:
    (finding,) = [finding for finding in check("OneWrong", (3, 4)).findings if finding.failed]
    assert finding.analytic == pytest.approx(1.001 * finding.numeric, rel=1e-6)
    assert f"{finding.analytic:.6g}" in str(finding) and "(1, 2)" in str(finding)


def test_kinks_in_every_direction_are_told(folder: Path) -> None:
    report = check("Kinks", (3, 4))
    assert next(finding.status for finding in report.findings) == "kinks"


def test_parameters_are_checked(folder: Path) -> None:
    (finding,) = [finding for finding in check("WrongParam", (3, 4), (3, 4)).findings if finding.failed]
    assert (finding.target, finding.element) == ("parameter 0", (2,))


def test_every_bottom_is_blocked_in_turn(folder: Path) -> None:
    report = check("ForgetsFlags", (3, 4), (3, 4))
    (finding,) = [finding for finding in report.findings if finding.failed]
    assert finding.target == "blocked bottoms"
    assert "propagate_down [False, True], the gradient of bottom 1" in finding.detail
    assert any("parameter 0 is not added to" in warning for warning in report.warnings)


def test_a_gradient_written_where_none_is_wanted_is_told(folder: Path) -> None:
    write(
        folder,
        greedy="""
    import caffe
    class Sum(caffe.Layer):
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].data.shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data + bottom[1].data
        def backward(self, top, propagate_down, bottom):
            for blob in bottom: blob.diff[...] = top[0].diff
""",
    )
    report = check_python_layer(python_layer_case("greedy", "Sum", [np.ones((2, 3))] * 2), "Sum")
    assert report.passed and len(report.warnings) == 2
    assert "bottom 1 is written although its propagate_down is false" in " ".join(report.warnings)


def test_reports_travel_as_json(folder: Path) -> None:
    report = check("OneWrong", (3, 4))
    assert GradientReport.from_json(json.loads(json.dumps(report.to_json()))) == report


class TestCommandLine:
    def run(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
        code = main(["gradcheck", *arguments])
        return code, *capsys.readouterr()

    def test_right_and_wrong(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = self.run(capsys, "lay.Square", "--bottom", "3,4")
        assert (code, err) == (0, "") and "bottom 0: right (4 directions" in out
        code, out, _ = self.run(capsys, "lay.OneWrong", "--bottom", "3,4", "--seed", "5")
        assert code == 1 and "element (1, 2)" in out and "is not right: bottom 0." in out

    def test_labels_and_losses_that_ignore_their_top(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = self.run(capsys, "lay.Loss", "--bottom", "4,3", "--bottom", "4:0..2")
        assert code == 0 and "loss_weight of 1 only" in out and "bottom 1: skipped" in out

    def test_json(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = self.run(capsys, "lay.OneWrong", "--bottom", "3,4", "--json")
        found = json.loads(out)
        assert code == 1 and not found["passed"] and found["findings"][0]["element"] == [1, 2]

    def test_the_seed_decides_the_values(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        outs = [self.run(capsys, "lay.OneWrong", "--bottom", "3,4", "--seed", seed)[1] for seed in "778"]
        assert outs[0] == outs[1] != outs[2]

    def test_plugin_folders(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(tmp_path / "far", gradcheck_far=LAYERS)
        code, _, err = self.run(capsys, "gradcheck_far.Square", "--bottom", "2")
        assert code == 1 and "was not found" in err
        code, *_ = self.run(capsys, "gradcheck_far.Square", "--bottom", "2", "--plugins", str(tmp_path / "far"))
        assert code == 0

    @pytest.mark.parametrize(
        "arguments", [["Square"], ["lay.Square", "--bottom", "3,x"], ["lay.Square", "--bottom", "3:9..1"]]
    )
    def test_wrong_arguments(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            main(["gradcheck", *arguments])
        assert caught.value.code == 2 and "expected" in capsys.readouterr().err

    def test_a_folder_of_plugins_that_is_none(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(folder, gradcheck_near=LAYERS)
        code, _, err = self.run(capsys, "gradcheck_near.Square", "--bottom", "2", "--plugins", "nowhere")
        assert code == 1 and "--plugins: expected a folder, got 'nowhere'" in err

    def test_flags_that_do_not_fit(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, _, err = self.run(capsys, "lay.Square", "--bottom", "3", "--propagate-down", "1,0")
        assert code == 1 and "expected 1 values, one for each --bottom, got 2" in err


class TestTheOldTool:
    """``from test_gradient_for_python_layer import test_gradient_for_python_layer``."""

    @pytest.fixture
    def tool(self, folder: Path) -> Any:
        engine.compat.install()
        sys.modules.pop("test_gradient_for_python_layer", None)
        from test_gradient_for_python_layer import test_gradient_for_python_layer  # type: ignore[import-not-found]

        yield test_gradient_for_python_layer
        sys.modules.pop("test_gradient_for_python_layer", None)

    def test_with_its_arguments(self, tool: Any) -> None:
        rng = np.random.default_rng(0)
        values = [("in_cont", rng.normal(size=(3, 4))), ("in_binary", rng.binomial(1, 0.4, (3,)))]
        assert tool(values, ["out1"], "lay", "Loss", "some params", [True, False]) is True
        assert tool(values[:1], ["out1"], "lay", "Square")

    def test_a_fault_is_an_assertion_that_names_the_bottom(self, tool: Any) -> None:
        with pytest.raises(AssertionError, match=r"lay\.OneWrong: bottom 'x': at element \(1, 2\)"):
            tool([("x", np.random.default_rng(0).normal(size=(3, 4)))], ["y"], "lay", "OneWrong")

    @pytest.mark.parametrize("flags", [([True, False], None), (None, [True, True])])
    def test_flags_that_do_not_fit(self, tool: Any, flags: tuple[Any, Any]) -> None:
        with pytest.raises(ValueError, match="expected 1 values, got 2"):
            tool([("x", np.ones(3))], ["y"], "lay", "Square", None, *flags)

    def test_a_file_of_the_users_comes_first(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        engine.compat.install()
        sys.modules.pop("test_gradient_for_python_layer", None)
        write(folder, test_gradient_for_python_layer="mine = 3\n")
        monkeypatch.syspath_prepend(str(folder))
        import test_gradient_for_python_layer

        assert test_gradient_for_python_layer.mine == 3
        del sys.modules["test_gradient_for_python_layer"]


class TestInspection:
    """The editor's button asks the inspection process."""

    def ask(self, folder: Path, name: str, *, time_limit: float = 60.0, labels: tuple[int, ...] = ()) -> GradientReport:
        message = load_schema().message("LayerParameter")()
        message.name, message.type = "node", "Python"
        message.bottom.extend(["x", "label"] if labels else ["x"])
        message.top.append("y")
        message.loss_weight.append(1)
        message.include.add().phase = 0
        message.python_param.module, message.python_param.layer = "lay", name
        shapes = [(4, 3), (4,)][: len(message.bottom)]
        with InspectionClient(time_limit=time_limit) as client:
            return client.check_gradients(message, Phase.TRAIN, shapes, labels=labels, base_dirs=[folder])

    def test_reports_come_back(self, folder: Path) -> None:
        report = self.ask(folder, "OneWrong")
        assert not report.passed and report.layer == "node" and report.findings[0].element == (1, 2)
        assert self.ask(folder, "Loss", labels=(1,)).passed

    def test_errors_and_hangs_are_the_nodes(self, folder: Path) -> None:
        with pytest.raises(PluginError, match="IndexError"):
            self.ask(folder, "Product")
        with pytest.raises(PluginLost, match="while it was checked"):
            self.ask(folder, "Slow", time_limit=4.0)
