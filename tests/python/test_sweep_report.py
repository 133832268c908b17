# SPDX-License-Identifier: Apache-2.0
"""What a sweep leaves in its folder, of all data that points may give."""

import re
import warnings

import pandas
import pytest
from fabricvp.sweeps import report
from fabricvp.sweeps.columns import frame_of
from fabricvp.sweeps.report import SHOWN, _plots, write_table
from fabricvp.sweeps.study import PlotRequest, Study
from fabricvp.sweeps.task import PointOutcome, Record, Task


def table(rows):
    """A sweep's table of parameters and measured values."""
    about = {"outcome": "ok", "error": "", "ended": "", "wall_s": 1.0, "branched": False, "log": ""}
    return pandas.DataFrame([{**parameters, **about, **values} for parameters, values in rows])


def axes_of(frame, **request):
    """Those of the one plot, which draws itself without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (plot,) = _plots(PlotRequest("t", **{"x": "x", "y": "y"} | request), frame)
        plot.figure.canvas.draw()
    return plot.figure.axes[0]


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_equal_values_of_many_seeds_are_drawn(kind):
    value = 41.93255e-6  # whose mean of seven is less than each
    frame = table([({"x": 1, "simulation.seed": seed}, {"y": value}) for seed in range(7)])
    assert frame["y"].mean() != value
    axes_of(frame, kind=kind)


def test_bars_stand_at_their_x():
    """Where series lack some of the values of x."""
    points = [(1, 4), (1, 8), (2, 2), (2, 4)]
    axes = axes_of(table([({"a": a, "x": x}, {"y": 10.0 * x}) for a, x in points]), by="a", kind="bars")
    ticks = {label.get_text(): place for label, place in zip(axes.get_xticklabels(), axes.get_xticks())}
    assert [*ticks] == ["4", "8", "2"]
    bars = [container for container in axes.containers if hasattr(container, "patches")]
    for (_, x), bar in zip(points, [bar for series in bars for bar in series.patches]):
        assert bar.get_height() == 10.0 * x
        assert abs(bar.get_x() + bar.get_width() / 2 - ticks[str(x)]) <= 0.4


@pytest.mark.parametrize("kind", ["lines", "bars", "scatter"])
def test_values_of_x_may_be_anything(kind):
    for values in ([1, "auto"], [[1, 2], [3, 4]], [True, False], ["a", "b"], [0.5, 2]):
        rows = [({"x": x, "by": x}, {"y": n}) for n, x in enumerate(values)]
        axes_of(table(rows), kind=kind)
        axes_of(table(rows), kind=kind, by="by")
    axes_of(table([({"x": 1}, {"y": True}), ({"x": 2}, {"y": 2**70}), ({"x": 3}, {"y": None})]), kind=kind)


@pytest.mark.parametrize(
    ("x", "y", "request_", "why"),
    [
        (1, "fast", {}, "'y' has more than numbers"),
        ("auto", 1.0, {"log": "x"}, "'x' has more than numbers, which a logarithmic axis needs"),
        (1, 1.0, {"y": "z"}, r"no column 'z' \(there are: y\)"),
    ],
)
def test_plots_that_cannot_be_drawn_are_warned_of(x, y, request_, why):
    frame = table([({"x": x}, {"y": y}), ({"x": 2}, {"y": 2.0})])
    with pytest.warns(UserWarning, match=f"plot 't' is left out: {why}"):
        assert _plots(PlotRequest("t", **{"x": "x", "y": "y"} | request_), frame) == []
    with warnings.catch_warnings():  # no point is ok: the table says so
        warnings.simplefilter("error")
        assert _plots(PlotRequest("t", "x", "z"), frame.assign(outcome="failed")) == []


def test_any_values_are_written(tmp_path):
    rows = [
        ({"n": [1, 2], "m": 1, "of": {"a": [1, "b"]}}, {"big": 2**65, "some": None, "y": 1}),
        ({"n": [3, "a"], "m": "auto", "of": {}}, {"big": 2, "some": 2**64 + 1, "y": None}),
    ]
    write_table(tmp_path, table(rows), csv=True)
    read = pandas.read_parquet(tmp_path / "points.parquet")
    assert [*read["n"]] == ["[1, 2]", "[3, 'a']"] and [*read["m"]] == ["1", "auto"]
    assert [*read["big"]] == [str(2**65), "2"] and [*read["some"]][1] == str(2**64 + 1) and read["y"][0] == 1
    assert [*read["of"]] == ["{'a': [1, 'b']}", "{}"]


@pytest.mark.parametrize("finished", [False, True])
def test_a_page_names_files_that_there_are(tmp_path, monkeypatch, finished):
    """Where it shows a part of the rows."""
    frame = table([({"n": n}, {"y": n}) for n in range(SHOWN + 1)])
    monkeypatch.setattr(report, "outcome_of", lambda sampler, frame: ("Found.", frame[["n", "y"]]))
    study = Study("s", "S", "?", Task(), [], list, sampler=object())
    records = [Record(PointOutcome.OK) for _ in range(len(frame))]
    if finished:
        report.write_table(tmp_path, frame)
    report.write_page(tmp_path, study, frame, records, "fabricvp sweep", 1.0, finished)
    text = (tmp_path / "index.html").read_text()
    assert text.count("The first 200 of") == 1 + finished
    named = set(
        re.findall(r"\b[\w-]+\.(?:csv|parquet|json)\b", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))
    )
    assert named <= {path.name for path in tmp_path.iterdir()}
    assert ("all are in points.parquet." in text and "all are in result.json." in text) == finished


@pytest.mark.parametrize("large", [2**53 + 1, -(2**63), 2**63 - 1, 2**70 + 1])
def test_large_whole_numbers_are_exact_where_a_point_lacks_the_column(large, tmp_path):
    records = [Record(PointOutcome.OK, values=values) for values in ({"v": large, "few": 3}, {}, {"v": None})]
    frame = frame_of([{"n": 1}, {"n": 2}, {"n": 3}], records, [])
    assert frame["v"][0] == large and frame["v"].isna().tolist() == [False, True, True]
    assert frame["few"].dtype == float
    write_table(tmp_path, frame, csv=True)
    assert int(pandas.read_parquet(tmp_path / "points.parquet")["v"][0]) == large
    report.write_page(tmp_path, Study("s", "t", "q", Task(), [{"n": 1}], list), frame, records, "c", 1.0, True)
    assert str(large) in (tmp_path / "points.csv").read_text() and f"{large:,}" in (tmp_path / "index.html").read_text()
