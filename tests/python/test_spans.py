# SPDX-License-Identifier: Apache-2.0
"""Where the time of PCIe accesses goes, asked from Python."""

import json

import fabricvp
import pytest

TREE = """
node:
  pcie:
    switches:
      - {name: board}
    endpoints:
      - {name: gpu0, below: board}
      - {name: gpu1, below: board}
      - {name: gpu2, below: board}
"""


@pytest.fixture
def tree(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text(TREE)
    return file


def test_every_picosecond_of_an_access_is_in_a_span(tree):
    with fabricvp.spawn(tree) as machine:
        pcie, spans = machine.nodes[0].pcie, machine.spans
        pcie.transfer([("gpu0", "gpu1", "1 KiB")])
        assert spans.total[0] == 0  # not enabled yet
        with spans:
            pcie.transfer([("gpu0", "gpu1", "4 KiB")])
        accesses, total, unaccounted = spans.total
        assert accesses >= 16 and total > 0 and unaccounted == 0
        sums = spans.to_pandas()
        assert sums["queueing"].sum() + sums["service"].sum() == pytest.approx(total)
        whole = spans.accesses()
        assert whole["access"].nunique() == accesses
        for number in range(accesses):
            one = spans.access(number)
            begin, end = whole[whole["access"] == number][["begin", "end"]].iloc[0]
            assert one["time"].sum() == pytest.approx(end - begin)
            assert one["from"].iloc[0] == 0
        with pytest.raises(IndexError, match="not recorded"):
            spans.access(accesses)


def test_contention_shows_as_queueing(tree):
    with fabricvp.spawn(tree) as machine:
        pcie, spans = machine.nodes[0].pcie, machine.spans
        pcie.transfer([("gpu0", "gpu2", "1 KiB")])

        def queueing(messages):
            with spans:
                pcie.transfer(messages)
            sums = spans.to_pandas()
            accesses = spans.total[0]
            return sums["queueing"].sum() / accesses, sums["service"].sum() / accesses

        alone = queueing([("gpu0", "gpu2", "64 KiB")])
        together = queueing([("gpu0", "gpu2", "64 KiB"), ("gpu1", "gpu2", "64 KiB")])
        assert together[0] > 1.5 * alone[0]
        assert together[1] == pytest.approx(alone[1], rel=0.05)


def test_statistics_and_plot(tree, tmp_path):
    with fabricvp.spawn(tree) as machine:
        with machine.spans:
            machine.nodes[0].pcie.transfer([("gpu0", "gpu1", "4 KiB")])
        statistics = dict(machine.statistics)
        assert statistics["spans.accesses"] == machine.spans.total[0]
        assert statistics["spans.unaccounted_ps"] == 0
        assert any(key.endswith(".spans.service_ps") for key in statistics)
        for number in (None, 0):
            axes = machine.spans.plot(number)
            axes.figure.savefig(tmp_path / "spans.svg")
            assert (tmp_path / "spans.svg").stat().st_size > 5000


def test_run_with_spans(command, tree, tmp_path):
    done = command(
        "run",
        str(tree),
        "--firmware",
        "firmware:pcie_demo.elf",
        "--spans",
        "--trace",
        "--out",
        "out",
        "--time",
        "100 ms",
    )
    assert done.returncode == 0, done.stderr
    statistics = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert (
        statistics["spans.accesses"] > 100 and statistics["spans.unaccounted_ps"] < 1e-3 * statistics["spans.total_ps"]
    )
    slices = [
        event
        for event in json.loads((tmp_path / "out" / "trace.json").read_text())["traceEvents"]
        if event["ph"] == "X"
    ]
    # Of any access the trace tells where its time went: the slices with its number, one of which is the whole of it.
    accesses = {}
    for one in slices:
        if "access" in one.get("args", {}):
            accesses.setdefault(one["args"]["access"], []).append(one)
    whole = {number: [s for s in found if s["name"] in ("read", "write")] for number, found in accesses.items()}
    complete = [number for number, found in whole.items() if len(found) == 1 and len(accesses[number]) > 3]
    assert len(complete) > 100
    for number in complete:
        (one,) = whole[number]
        stages = [s for s in accesses[number] if s is not one]
        assert sum(s["dur"] for s in stages) == pytest.approx(one["dur"], abs=1e-5), (number, one, stages)
        assert len({s["args"]["address"] for s in accesses[number]}) == 1
