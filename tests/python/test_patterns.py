# SPDX-License-Identifier: Apache-2.0
"""Patterns of names that match nothing of the machine end in one line with the nearest names."""

import json
import subprocess
import sys

import fabricvp
import fabricvp.plot
import pytest

LAUNCHER = [sys.executable, "-m", "fabricvp"]
UNTIL = ["--time", "1 us", "--quiet", "--console", "none"]


def refusal(*arguments, cwd=None):
    done = subprocess.run([*LAUNCHER, *arguments], capture_output=True, text=True, timeout=100, cwd=cwd)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("node0.host.hrat0", "no block has a name such as 'node0.host.hrat0': did you mean 'node0.host.hart0'?"),
        ("*.hart*,node0.hots.uart", "no block has a name such as 'node0.hots.uart': did you mean 'node0.host.uart'?"),
        ("node7.*", "no block has a name such as 'node7.*': did you mean 'node0.*'?"),
        ("quux", "no block has a name such as 'quux': names begin with "),
        ("*.hart*,", "the filter '*.hart*,' has an empty part"),
    ],
)
def test_filters_of_traces(given, says, tmp_path):
    line = refusal("run", "hello", *UNTIL, "--trace", "--trace-filter", given, "--out", "out", cwd=tmp_path)
    assert line.startswith(f"fabricvp: trace: {says}"), line
    assert not (tmp_path / "out").exists()


def test_parts_of_a_filter_are_texts_or_patterns(tmp_path):
    options = ["--trace", "--trace-filter", "hart0,*.uart", "--out", tmp_path, "--quiet", "--console", "none"]
    subprocess.run([*LAUNCHER, "run", "hello", *options], check=True, timeout=100)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert "node0.host.hart0.instructions" in counters
    assert {name.split(".")[2] for name in counters} <= {"hart0", "uart"}, counters


def test_scopes_of_marks(tmp_path):
    (tmp_path / "m.yaml").write_text("base: hello\nnode:\n  host:\n    marker: {scope: node0.host.hrat0}\n")
    says = (
        "m.yaml:4: node0.host.marker.scope: no statistic starts with 'node0.host.hrat0': did you mean"
        " 'node0.host.hart0'?"
    )
    assert says in refusal("check", "m.yaml", cwd=tmp_path)
    assert says in refusal("run", "m.yaml", *UNTIL, "--out", "out", cwd=tmp_path)
    assert not (tmp_path / "out").exists()
    with (
        fabricvp.spawn("hello", overrides={"node.host.marker.scope": "node0.hots"}) as platform,
        pytest.raises(
            fabricvp.InputError, match=r"marker\.scope=node0\.hots': node0\.host\.marker\.scope: .*node0\.host'"
        ),
    ):
        platform.run("1 us")


@pytest.fixture
def platform():
    with fabricvp.spawn("hello") as platform:
        yield platform


def test_beginnings_of_statistics(platform):
    statistics = platform.statistics
    misspelt = r"no statistic starts with 'node0\.host\.hrat0': did you mean 'node0\.host\.hart0'"
    for call in (
        lambda: statistics.snapshot("node0.host.hrat0"),
        lambda: statistics.reset("node0.host.hrat0"),
        lambda: statistics.to_pandas("node0.host.hrat0"),
        lambda: platform.region_of_interest("node0.host.hrat0"),
    ):
        with pytest.raises(KeyError, match=misspelt):
            call()
    with pytest.raises(ValueError, match=r"no statistic matches '\*\.hrat\*\.instructions': did you mean"):
        fabricvp.plot.bars(statistics, "*.hrat*.instructions")
    assert statistics.snapshot("node0.host.har")
    assert statistics.get("node0.host.hrat0.instructions") is None
    statistics.reset("node0.host.hart0")
    statistics.reset()


def test_overrides_without_effect():
    line = refusal("check", "hello", "--set", "node.gpus.*.compute_units=8")
    assert line == "fabricvp: --set 'node.gpus.*.compute_units=8': node.gpus has no items, so this has no effect\n"
    assert "unknown key 'gpu7'" in refusal("check", "hello", "--set", "node.gpu7.compute_units=8")
    assert "there is no node7" in refusal("check", "hello", "--set", "node7.host.harts=2")
