# SPDX-License-Identifier: Apache-2.0
"""Searches for the best point and samples for what matters, on functions that are solved by hand."""

import math
import re
from types import SimpleNamespace

import fabricvp
import pytest
from fabricvp.sweeps import Range, Search, Sensitivity
from fabricvp.sweeps.columns import frame_of
from fabricvp.sweeps.samplers import value_at
from fabricvp.sweeps.study_sampler import outcome_of
from fabricvp.sweeps.task import PointOutcome, Record


class Here:
    """Calls the function in this process."""

    def __init__(self):
        self.batches = []

    def run(self, tasks, limits, on_result, on_alive):
        self.batches.append(len(tasks))
        for index, task in enumerate(tasks):
            try:
                record = Record(PointOutcome.OK, values={"value": task.function(**task.arguments)})
            except ValueError as error:
                record = Record(PointOutcome.FAILED, str(error))
            on_result(index, record)


def bowl(a, b, kind):
    if kind == "bad":
        raise ValueError("bad")
    return (a - 7) ** 2 + (b - 0.1) ** 2 + (0 if kind == "good" else 5)


SPACE = {"a": Range(0, 20), "b": Range(0.001, 10.0, log=True), "kind": ["fair", "good", "bad"]}


def searched(executor, **options):
    sampler = Search(SPACE, "value", 60, **options)
    return fabricvp.sweep(function=bowl, sampler=sampler, executor=executor, progress=False)


def test_a_search_finds_the_best_within_its_budget():
    here = Here()
    frame = searched(here)
    assert len(frame) == 60 and here.batches == [4] * 15
    best = frame.loc[frame["value"].idxmin()]
    assert best["kind"] == "good" and abs(best["a"] - 7) <= 1 and best["value"] < 1.5
    assert not frame.duplicated(["a", "b", "kind"]).any() and frame["a"].dtype.kind == "i"
    later = frame.iloc[30:]
    assert later["value"].mean() < frame.iloc[:12]["value"].mean() and (later["kind"] == "bad").mean() < 1 / 3
    assert searched(Here()).equals(frame)
    assert searched(Here(), batch=10)["a"].tolist() != frame["a"].tolist()
    assert searched(Here(), maximise=True)["value"].max() > 100


def test_a_search_ends_with_its_space_and_heeds_constraints():
    sampler = Search({"a": [1, 2, 3]}, "value", 50)
    frame = fabricvp.sweep(
        function=lambda a: a, sampler=sampler, constraints=["a > 1"], executor=Here(), progress=False
    )
    assert sorted(frame["a"]) == [2, 3]


def test_points_that_constraints_leave_out_cost_no_budget():
    sampler = Search({"a": Range(0, 1000)}, "value", 12)
    options = {"executor": Here(), "progress": False}
    frame = fabricvp.sweep(function=lambda a: a, sampler=sampler, constraints=["a >= 700"], **options)
    assert len(frame) == 12 and (frame["a"] >= 700).all()
    sampler = Search({"a": Range(0.0, 1.0)}, "value", 12)
    frame = fabricvp.sweep(function=lambda a: a, sampler=sampler, constraints=["a > 1"], **options)
    assert frame.empty


def test_parameters_may_be_lists():
    for sampler in (Search({"a": [[1, 2], [3]]}, "value", 2), Sensitivity({"a": [[1, 2], [3]]}, samples=2)):
        frame = fabricvp.sweep(function=lambda a: sum(a), sampler=sampler, executor=Here(), progress=False)
        assert [*frame["value"]] == [3, 3]
    assert [*sampler.analyse(frame, "value")["effect"]] == [0]


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_sensitivity_tells_what_matters(method):
    """y = 10 a + b + 0 c, over the same range: effects are as 10 to 1, and shares of the variance as 100 to 1."""
    space = {name: Range(0.0, 1.0) for name in "abc"}
    sampler = Sensitivity(space, method=method, samples=32)
    frame = fabricvp.sweep(function=lambda a, b, c: 10 * a + b, sampler=sampler, executor=Here(), progress=False)
    found = sampler.analyse(frame, "value").set_index("parameter")
    if method == "morris":
        assert found["effect"].tolist() == pytest.approx([10, 1, 0], abs=1e-9)
        assert found["spread"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)
    else:
        assert found["effect"].tolist() == pytest.approx([100 / 101, 1 / 101, 0], abs=0.05)
    with pytest.raises(fabricvp.InputError, match="there is none of the point"):
        sampler.analyse(frame.iloc[1:], "value")


@pytest.mark.parametrize(
    "values",
    [
        *(list(range(n)) for n in range(2, 9)),
        *(Range(5, 5 + n) for n in range(1, 9)),
        *(Range(1, high, log=True) for high in (2, 3, 5, 90)),
        Range(0.25, 4.0, log=True),
    ],
)
def test_effects_are_those_of_the_steps_that_were_taken(values):
    """y is linear in the parameter's number or value, or in its logarithm, and has the same effect in all places."""

    def share(x):
        if not isinstance(values, Range):
            return x / values[-1]
        if values.log:
            return math.log(x / values.low, values.high / values.low)
        return (x - values.low) / (values.high - values.low)

    sampler = Sensitivity({"switch": values, "rate": Range(0.0, 1.0), "only": [3]}, samples=8)
    frame = fabricvp.sweep(
        function=lambda switch, rate, only: share(switch) + 1.3 * rate, sampler=sampler, executor=Here(), progress=False
    )
    found = sampler.analyse(frame, "value")
    assert found["effect"].tolist() == pytest.approx([1.0, 1.3, 0.0])
    assert found["spread"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)
    assert found["interval"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)


def test_levels_are_measured_once():
    sampler = Sensitivity({"a": [1, 2], "b": [5, 6, 7]}, samples=16)
    points = sampler.next_points(frame_of([], [], []))
    assert len(points) == len({tuple(point.items()) for point in points}) <= 6
    assert sampler.next_points(frame_of([], [], [])) == []
    assert [value_at([1, 2, 3], u) for u in (0, 0.34, 1)] == [1, 2, 3]
    assert [value_at(Range(1, 3), u) for u in (0, 0.33, 1 / 3, 2 / 3 - 1e-12, 0.67, 1)] == [1, 1, 2, 3, 3, 3]
    assert [value_at(Range(1, 2, log=True), u) for u in (0, 0.6, 0.7, 1)] == [1, 1, 2, 2]  # ln 2 / ln 3 is 0.63
    assert value_at(Range(1, 100, log=True), 0.5) == 10 and value_at(Range(0.0, 4.0), 0.5) == 2.0


def test_values_may_be_missing():
    """A point with one costs what every other costs."""
    here = Here()
    sampler = Search({"a": [1, None, 2], "b": [1, 2, 3]}, "value", 4)
    frame = fabricvp.sweep(function=lambda a, b: b, sampler=sampler, executor=here, progress=False)
    assert len(frame) == 4 and frame["a"].isna().any()


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_what_changes_nothing_does_not_matter(method):
    sampler = SimpleNamespace(sampler=Sensitivity({"a": [1, 2], "b": [1, 2]}, method=method, samples=2), column="value")
    frame = fabricvp.sweep(function=lambda a, b: 3.0, sampler=sampler.sampler, executor=Here(), progress=False)
    assert outcome_of(sampler, frame)[0] == "No parameter changes value."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Search({}, "value", 5), "no parameters"),
        (lambda: Search({"a": []}, "value", 5), "a: a list of values, or a Range"),
        (lambda: Search({"a": Range(2, 1)}, "value", 5), "has no numbers"),
        (lambda: Search({"a": Range(0, 1, log=True)}, "value", 5), "has no numbers"),
        (lambda: Search({"a": [1]}, "value", 0), "1 or more"),
        (lambda: Sensitivity({"a": [1]}, method="fast"), "'fast' is not known"),
        (lambda: Sensitivity({"a": [1]}, method="sobol", samples=6), "a power of two"),
        (lambda: fabricvp.sweep(function=lambda a: a, sampler=Search({"a": [1]}, "v", 1), grid={}), "in the place of"),
        (
            lambda: fabricvp.sweep(
                function=lambda a: a, sampler=Search({"a": [1]}, "v", 1), executor=Here(), progress=False
            ),
            "no column 'v'",
        ),
        (
            lambda: fabricvp.sweep(
                function=lambda a: "fast", sampler=Search({"a": [1]}, "value", 1), executor=Here(), progress=False
            ),
            "the column 'value' has more than numbers",
        ),
        (lambda: Search({"a": Range(0.0, math.inf)}, "value", 5), "a: a range ends at"),
        (lambda: Sensitivity({"a": Range(1, 10**400, log=True)}), "a: a range ends at"),
        (lambda: Sensitivity({"a": [1, 2]}, samples=1 << 40), "samples: 1099511627776 need 2199023255552 points, more"),
        (lambda: Sensitivity({"a": [1, 2]}, method="sobol", samples=1 << 40), "samples: 1099511627776 need"),
        (lambda: Search({"a": [1]}, "v", 1, seed=-3), "seed: -3 is no whole number"),
        (lambda: Sensitivity({"a": [1, 2]}, seed=1 << 32), "seed: 4294967296 is no whole number"),
    ],
)
def test_wrong_samplers_are_input_errors(make, message):
    with pytest.raises(fabricvp.InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"config": "bare", "function": None, "time": "x"}, "time: 'x' is not a time"),
        ({"config": "bare", "function": None, "time": [1]}, "time: a time is text such as"),
        ({"config": 5}, "config: 5 is no text"),
        ({"text": 5}, "text: 5 is no text"),
        ({"result_cache": 5}, "result_cache: 5 is no text"),
        ({"overrides": 5}, "overrides: is no mapping"),
        ({"statistics": 5}, "statistics: 5 is no list of patterns"),
        ({"jobs": "4"}, "jobs: 4 is not a number of 1 … 1024"),
        ({"jobs": 2.5}, "jobs: 2.5 is not a number of 1 … 1024"),
        ({"memory_limit": True}, "memory_limit: bytes, above 0"),
        ({"grid": [1]}, "grid: is no mapping"),
        ({"grid": {"a": [10**5000]}}, "a: has a whole number of more than 4,096 bits"),
        ({"points": [1]}, "points: 1 is no mapping"),
        ({"constraints": [5]}, "constraints: 5 is neither an expression nor a function"),
    ],
)
def test_arguments_of_wrong_kinds_are_input_errors(given, message, tmp_path, monkeypatch):
    """Before any point runs."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fabricvp.InputError, match=re.escape(message)):
        fabricvp.sweep(**{"function": lambda a=0: a, "progress": False} | given)
