# SPDX-License-Identifier: Apache-2.0
"""The experiments on reversible lanes, on small samples."""

import pandas
import pytest


@pytest.mark.timeout(600)
def test_lanes(experiment, tmp_path):
    ran = experiment("lanes", "--only", "pagerank", "--no-sweeps")
    assert {"sent = delivered + reported as failed", "results are right", "a second run is the same"} < {
        c["name"] for c in ran.result["checks"]
    }
    rows = ran.measured
    # What arithmetic allows, and that the published rule does not find the best split where acknowledgements take
    # lanes, too.
    assert rows["all write to one, acknowledged by 4 bytes, milic2017: gain"] == pytest.approx(1.875, rel=0.01)
    assert rows["one direction saturated, the other needs 6 of 8 lanes, milic2017: gain"] == pytest.approx(
        1.25, rel=0.01
    )
    assert rows["the same for half of the time, bytes in equal time, milic2017: gain"] == pytest.approx(1.125, rel=0.01)
    assert rows["the same for half of the time, fixed work, milic2017: gain"] == pytest.approx(10 / 9, rel=0.01)
    acknowledged = "all write to one, acknowledged by a flit of 16 bytes"
    assert 1.4 < rows[f"{acknowledged}, milic2017: gain"] < 1.55 and rows[
        f"{acknowledged}, predictive: gain"
    ] == pytest.approx(1.625, rel=0.01)
    assert rows["both directions saturated, milic2017: gain"] == 1
    assert rows["pagerank: speed-up by doubled bandwidth"] > 1.02
    synthetic = pandas.read_csv(tmp_path / "found" / "synthetic.csv").set_index(["traffic", "policy"])
    assert (
        synthetic.loc[(acknowledged, "milic2017"), "reversals"]
        >= 0.9 * synthetic.loc[(acknowledged, "milic2017"), "samples"]
    )
    runs = pandas.read_csv(tmp_path / "found" / "runs.csv").set_index("run")
    assert (
        runs["correct"].all()
        and runs.loc["pagerank, milic2017", "reversals"] > 0
        and runs.loc["pagerank, fixed", "reversals"] != runs.loc["pagerank, fixed", "reversals"]
    )
    for name in ("speedup.png", "timeline.png", "oscillation.svg", "directions.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name
    page = (tmp_path / "found" / "index.html").read_text()
    assert page.index("class=verdict") < page.index("<figure>") < page.index("<table>")


@pytest.mark.timeout(300)
def test_what_if(experiment, tmp_path):
    rows = experiment("what-if", "--only", "transpose", "--ratios", "8", "--policy", "predictive", timeout=280).measured
    line = pandas.read_csv(tmp_path / "found" / "gains.csv").iloc[0]
    assert rows["8:1, both: speed-up, mean"] == pytest.approx(line["both"], abs=1e-4)
    assert line["both/better"] == pytest.approx(line["both"] / max(line["NetCrafter"], line["lanes"]), abs=1e-3)
    assert line["NetCrafter: saved_%"] > 1 and line["neither: busier_%"] > 30
    for name in ("gains.png", "together.svg", "utilisation.png", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.parametrize(
    "arguments, expected_error",
    [
        (["lanes", "--only", "doom"], "doom"),
        (["what-if", "--ratios", "3"], "3"),
        (["what-if", "--policy", "ours"], "ours"),
    ],
)
def test_lane_experiments_reject_unknown_names(command, arguments, expected_error):
    done = command("experiment", *arguments, "--quick", "--out", "found")
    assert done.returncode == 2 and expected_error in done.stderr and done.stderr.count("\n") == 1, done.stderr
