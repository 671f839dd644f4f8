"""The parts of the panel that need no training."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from app.training import formats
from app.training.curves import CurvesView
from app.training.logview import LogView
from app.training.model import RunModel, trailing_mean
from app.training.series import Series
from engine.worker import Failure, Finished, History, LogRecord, Lost, Metrics, Progress, RunStatus, StateChanged


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (math.nan, "–"),
        (0.2, "1 s"),
        (59.5, "1 min 00 s"),
        (200, "3 min 20 s"),
        (3900, "1 h 05 min"),
        (187200, "2 d 4 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0213412, "0.02134"), (1e-5, "1e-05"), (math.nan, "nan"), (123456.0, "1.235e+05")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert formats.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.974, "97.40 %"), (1.5, "1.5"), (None, "–"), (math.nan, "nan")])
def test_scores(value: float | None, text: str) -> None:
    assert formats.score(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "–"), (0.5, "2.0 s/it"), (33.21, "33.2 it/s"), (1234.5, "1234 it/s")]
)
def test_rates(value: float, text: str) -> None:
    assert formats.rate(value) == text


def test_a_series_grows_in_order_and_never_doubles() -> None:
    series = Series()
    for start in range(0, 5000, 7):
        series.extend([[x, 2 * x] for x in range(max(0, start - 3), start + 7)])
    np.testing.assert_array_equal(series.x, np.arange(len(series)))
    np.testing.assert_array_equal(series.column(1), 2 * np.arange(len(series)))
    row = series.at(17.4)
    assert row is not None
    assert row.tolist() == [17, 34]
    assert Series().at(1) is None


def test_the_trend_is_the_same_in_one_piece_or_many() -> None:
    rng = np.random.default_rng(0)
    points = np.column_stack((np.arange(300.0), rng.random((300, 3))))
    whole, pieces = RunModel(), RunModel()
    whole.load(RunStatus("running"), History(points, []))
    for start in range(0, 300, 11):
        pieces.apply(progress(points[start : start + 11]))
    np.testing.assert_allclose(whole.trend.rows, pieces.trend.rows)
    assert whole.trend.rows[100, 1] == pytest.approx(points[81:101, 1].mean())
    assert trailing_mean(np.zeros(0), 5).shape == (0,)


def progress(points: np.ndarray) -> Progress:
    return Progress(int(points[-1, 0]) + 1, 300, 0.5, 0.5, 0.1, 10.0, 5.0, points)


def test_the_model_follows_the_events_of_a_run() -> None:
    model = RunModel("waiting")
    model.apply(StateChanged("running"))
    model.apply(progress(np.array([[0.0, 2.0, 2.0, 0.1], [1.0, 1.0, 1.5, 0.1]])))
    model.apply(Metrics(0, 0, {"accuracy": 0.5, "loss": "nan", "map": [1.0, 2.0]}))
    model.apply(Metrics(0, 1, {"accuracy": 0.25}))
    assert (model.iteration, model.max_iter, model.speed) == (2, 300, 10.0)
    assert set(model.tests) == {"accuracy", "loss", "accuracy (#1)"}
    assert model.accuracy == ("accuracy", 0.5)
    model.apply(LogRecord("warning", "Mind this."))
    assert model.notice is not None
    assert model.notice.kind == "warning"
    model.apply(Finished("finished", 300))
    assert (model.state, model.iteration, model.live) == ("finished", 300, False)
    assert math.isnan(model.seconds_left)


@pytest.mark.parametrize(
    ("event", "state"), [(Failure("Why.", "ip1", "setup", "trace"), "failed"), (Lost("Gone.", ""), "lost")]
)
def test_bad_ends_leave_a_notice(event: Failure | Lost, state: str) -> None:
    model = RunModel("running")
    model.apply(event)
    assert model.state == state
    assert model.notice is not None
    assert model.notice.kind == "error"
    assert model.notice.text == event.message


def test_the_log_is_capped_and_stays_where_the_user_reads(qtbot: QtBot) -> None:
    view = LogView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    view.add("I1129 14:41:24.975178 29865 log.py:44] Iteration 200\nplain\n")
    assert view.toPlainText().startswith("14:41:24  Iteration 200\nplain\n")
    view.add("".join(f"line {number}\n" for number in range(20_000)))
    assert view.blockCount() <= 5000
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    bar.setValue(10)
    view.add("more\n")
    assert bar.value() == 10
    bar.setValue(bar.maximum())
    view.resize(400, 60)
    view.add("and more\n")
    assert bar.value() == bar.maximum()


@pytest.fixture
def curves(qtbot: QtBot) -> CurvesView:
    view = CurvesView()
    qtbot.addWidget(view)
    view.resize(900, 240)
    view.show()
    return view


def long_model(count: int) -> RunModel:
    x = np.arange(float(count))
    loss = 2 / (1 + x / 1000) + np.random.default_rng(1).random(count) * 0.2
    model = RunModel("running")
    model.apply(progress(np.column_stack((x, loss, loss, np.full(count, 0.01)))))
    for iteration in range(0, count, 500):
        model.apply(Metrics(iteration, 0, {"accuracy": 0.9, "loss": 0.1}))
    return model


def test_a_hundred_thousand_points_stay_cheap(curves: CurvesView, qtbot: QtBot) -> None:
    model = long_model(100_000)
    curves.show_model(model)
    qtbot.wait(50)
    assert len(curves.loss_plot.curve("loss").getData()[0]) < 4000
    times = []
    for step in range(10):
        model.apply(progress(np.array([[100_000.0 + step, 0.1, 0.1, 0.01]])))
        begin = time.thread_time()
        curves.show_model(model)
        curves.loss_plot.plot.viewport().repaint()
        times.append(time.thread_time() - begin)
    assert sorted(times)[5] < 0.060, f"{sorted(times)[5] * 1000:.0f} ms an update"


def test_where_it_is_narrow_no_mark_stands_without_its_name(curves: CurvesView, qtbot: QtBot) -> None:
    curves.show_model(long_model(2000))
    qtbot.wait(50)
    plot = curves.loss_plot
    assert {"loss", "smoothed", "test loss"} <= set(plot._curves)
    for width in range(60, 500, 20):
        plot.legend.resize(width, plot.legend.height())
        plot.tell()
        shown = plot.legend.text()
        named = sum(f">{name}<" in shown for name in plot._curves)
        assert shown.count("●") in (named, len(plot._curves)) and (named or width < 120), width


def test_the_pointer_reads_the_values_out(curves: CurvesView, qtbot: QtBot) -> None:
    model = long_model(2000)
    curves.show_model(model)
    qtbot.wait(50)
    view = curves.loss_plot.plot.getPlotItem().vb
    place = view.mapViewToScene(QPointF(1000.2, 1.0))
    curves.loss_plot.plot.scene().sigMouseMoved.emit(place)
    value = formats.number(float(model.train.rows[1000, 1]))
    assert f"<b>{value}</b>" in curves.loss_plot.legend.text()
    assert "iteration 1\u202f000" in curves.loss_plot.legend.text()
    assert "iteration 1\u202f000" in curves.test_plot.legend.text()
    assert curves.test_plot.cross.isVisible()
    curves.loss_plot.plot.left.emit()
    assert "iteration" not in curves.loss_plot.legend.text()
    assert not curves.test_plot.cross.isVisible()


def test_the_log_scale_takes_losses_of_zero(curves: CurvesView, qtbot: QtBot) -> None:
    model = RunModel("running")
    model.apply(progress(np.array([[0.0, 10.0, 10.0, 0.1], [1.0, 0.0, 0.0, 0.1], [2.0, 0.1, 0.1, 0.1]])))
    curves.show_model(model)
    curves.log_button.click()
    qtbot.wait(30)
    shown = curves.loss_plot.curve("loss").getData()[1]
    assert shown[0] == pytest.approx(1.0)
    assert shown[-1] == pytest.approx(-1.0)


def test_another_run_takes_the_old_curves_off(curves: CurvesView) -> None:
    curves.show_model(long_model(1000))
    curves.show_model(RunModel("running"))
    assert len(curves.loss_plot.curve("loss").xData or []) == 0
    with pytest.raises(KeyError):
        curves.test_plot.curve("accuracy")
    assert curves.test_plot.isHidden()


@pytest.mark.parametrize(
    ("values", "least", "most"), [([0.0], 0.0, 1.0), ([0.135], 0.1, 1.0), ([0.1, 0.97], 0.1, 1.0), ([1.0], 0.9, 1.0)]
)
def test_an_accuracy_has_one_as_the_top_of_its_axis(
    curves: CurvesView, values: list[float], least: float, most: float
) -> None:
    model = long_model(100)
    series = model.tests["accuracy"] = Series(2)
    series.extend(np.array([[10.0 * at, value] for at, value in enumerate(values)]))
    curves.show_model(model)
    low, high = curves.test_plot.plot.viewRange()[1]
    assert low == pytest.approx(least, abs=0.03)
    assert high == pytest.approx(most, abs=0.04)


def test_a_loss_has_no_axis_below_zero(curves: CurvesView) -> None:
    model = RunModel("running")
    model.apply(progress(np.array([[0.0, 0.0, 0.0, 0.1], [1.0, 4.0, 4.0, 0.1]])))
    curves.show_model(model)
    assert curves.loss_plot.plot.viewRange()[1][0] >= 0.0
