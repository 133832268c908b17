# SPDX-License-Identifier: Apache-2.0
"""Pages of experiments: titles, wide tables, verdicts, and colours that mean the same in all plots of a page."""

import ast
import re
import threading
from pathlib import Path

import pandas
import pytest
from fabricvp import experiments
from fabricvp.experiments.compnet import PARTS
from fabricvp.experiments.compnet_latency import plots as latency_plots
from fabricvp.experiments.compnet_reduction import plots as reduction_plots
from fabricvp.experiments.frame import Experiment, Report
from fabricvp.experiments.lanes import plots as lanes_plots
from fabricvp.experiments.lanes.conclusion import percent, verdict
from fabricvp.experiments.lanes.points import DOUBLED, FIXED, POLICIES
from fabricvp.experiments.lanes.synthetic import Traffic, TrafficResult
from fabricvp.experiments.netcrafter import plots as netcrafter_plots
from fabricvp.experiments.netcrafter.points import POINTS
from fabricvp.experiments.netcrafter_sensitivity import plan
from fabricvp.experiments.netcrafter_sensitivity import plots as sensitivity_plots
from fabricvp.experiments.pcie_congestion import plots as congestion_plots
from fabricvp.experiments.registry import EXPERIMENTS, find
from fabricvp.experiments.what_if import plots as what_if_plots
from fabricvp.experiments.what_if.points import DESIGNS
from fabricvp.experiments.writing import Cost, prepare_folder, put, write
from matplotlib.colors import to_hex


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_title_names_the_machine_that_was_measured(name):
    experiment = find(name)
    assert experiment.title_with({}) == experiment.title_with({"machine": experiment.machine}) == experiment.title
    if experiment.machine:
        title = experiment.title_with({"machine": "other.yaml"})
        assert "other.yaml" in title and "four GPUs" not in title


def test_a_page_has_the_title_of_its_machine_and_headings_that_wrap(tmp_path):
    report = Report()
    report.table("wide", pandas.DataFrame({"page_table_%_of_slow_packets": [1.5]}), "a table")
    trial = Experiment("trial", "Four GPUs", "What?", lambda run: None, machine="quad", other_title="GPUs of {machine}")
    for machine, title in (("quad", "Four GPUs"), ("pair.yaml", "GPUs of pair.yaml")):
        write(tmp_path, trial, report, "fabricvp experiment trial", Cost(1.0, 1.0), {"machine": machine})
        page = (tmp_path / "index.html").read_text()
        assert f"<title>{title}</title>" in page and f"<h1>{title}</h1>" in page
    assert "<th>page table % of slow packets</th>" in page
    assert (tmp_path / "wide.csv").read_text().startswith("page_table_%_of_slow_packets\n")


def test_figures_in_words_have_a_digit_before_the_point():
    folder = Path(experiments.__file__).parent
    texts = [
        node.value
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert len(texts) > 1000
    assert [text for text in texts if re.search(r"[\s(–−]\.\d", text)] == []


class Busy:
    def __init__(self, *busy):
        self.busy = dict(enumerate(busy))


def concluded(gains):
    names = list(gains.index)
    return verdict(gains, {(name, FIXED): Busy(0.1, 0.9) for name in names}, names)


def test_a_verdict_has_no_range_without_a_difference():
    same = pandas.DataFrame({at: {"sp_like": 1.00001, "pagerank": 0.99999} for at in (DOUBLED, *POLICIES)})
    first, second = concluded(same)
    assert "does not change the kernels' speed." in first and "from" not in first and "+0.0" not in first + second
    assert "the best" not in second and "do not differ" in second
    differ = same.copy()
    differ.loc["pagerank", "milic2017"] = 1.1
    first, second = concluded(differ)
    assert "by +5.0 % on average, from 0.0 % (sp_like) to +10.0 % (pagerank)" in first
    assert "milic2017 is the best on average" in second
    one = concluded(differ.loc[["pagerank"]])[0]
    assert "Over 1 workload with" in one and "changes the kernels' speed by +10.0 % on each" in one


@pytest.mark.parametrize("gain, text", [(1.0, "0.0 %"), (0.99999, "0.0 %"), (1.00001, "0.0 %"), (0.99, "-1.0 %")])
def test_nothing_has_no_sign(gain, text):
    assert percent(gain) == text


def colours(figure):
    """Colour by label, of all bars and lines of a figure."""
    found = {}
    for axes in figure.axes:
        for container in axes.containers:
            if container.get_label() and hasattr(container, "patches") and container.patches:
                found.setdefault(container.get_label(), set()).add(to_hex(container.patches[0].get_facecolor()))
        for line in axes.get_lines():
            if not line.get_label().startswith("_"):
                found.setdefault(line.get_label(), set()).add(to_hex(line.get_color()))
    assert all(len(each) == 1 for each in found.values())
    return {label: each.pop() for label, each in found.items()}


def test_lanes_have_one_colour_each():
    gains = pandas.DataFrame({at: {"spmv": 1.0, "gups": 1.1} for at in (DOUBLED, *POLICIES)})
    bars = colours(lanes_plots.bars(gains))
    del bars["published"]
    carried = {
        p: TrafficResult(Traffic("t", p, 4, (), 0, 2), 1, (1, 1), 0, 1, 0, 0, 0, 0, 1e-6, [8, 9]) for p in POLICIES
    }
    shown = [to_hex(axes.get_lines()[0].get_color()) for axes in lanes_plots.oscillation("t", carried).axes]
    assert [bars[p] for p in POLICIES] == shown and len({*bars.values(), *lanes_plots.DIRECTIONS.values()}) == 6
    workloads = colours(lanes_plots.sweeps(gains))
    assert not {workloads["spmv"], workloads["gups"]} & {*bars.values(), *lanes_plots.DIRECTIONS.values()}


def test_designs_have_one_colour_each():
    line = {"workload": "gups", "ratio": 8, **{d: 1.0 for d in DESIGNS}}
    line |= {f"{d}: {which}": 50.0 for d in DESIGNS for which in ("busier_%", "other_%")}
    frame = pandas.DataFrame([line])
    bars, busy = colours(what_if_plots.bars(frame)), colours(what_if_plots.utilisation(frame))
    assert len(set(busy.values())) == len(DESIGNS) and all(busy[d] == bars[d] for d in DESIGNS[1:])


def test_parts_of_netcrafter_have_one_colour_each():
    gains = pandas.DataFrame({at: {"gups": 1.0} for at in POINTS})
    bars = colours(netcrafter_plots.bars(gains))
    del bars["published"]
    assert len(set(bars.values())) == len(POINTS)
    for part in "stitching", "trimming":
        assert bars[part] == to_hex(netcrafter_plots._MECHANISMS[part])
    assert to_hex(netcrafter_plots._MECHANISMS["ends"]) not in bars.values()


def test_workloads_have_one_colour_in_all_sweeps():
    def drawn(sweep, workloads):
        lines = [
            {"setting": s.name, "workload": w, "size": 1, "point": at, "speed_up": 1.0}
            for w in workloads
            for s in plan.SWEEPS[sweep].settings or [plan.Setting("1")]
            for at in ("baseline", *plan.SWEEPS[sweep].points)
        ]
        return colours(sensitivity_plots.draw(pandas.DataFrame(lines), plan.SWEEPS[sweep]))

    shown = [drawn(sweep, plan.SWEEPS[sweep].workloads) for sweep in ("parts", "rates", "tlb", "policies", "size")]
    by_workload = {}
    for found in shown:
        for label, colour in found.items():
            by_workload.setdefault(label.partition(",")[0], set()).add(colour)
    assert by_workload.keys() == plan.SIZES.keys() and all(len(each) == 1 for each in by_workload.values())


def marks(figure):
    """What stands at each tick: heights of the published marks there, in the order of the ticks."""
    (axes,) = figure.axes
    (line,) = (line for line in axes.get_lines() if line.get_label() == "published")
    ticks = {label.get_text(): at for label, at in zip(axes.get_xticklabels(), axes.get_xticks())}
    points = list(zip(*line.get_data()))
    return {name: sorted(y for x, y in points if abs(x - at) < 0.5) for name, at in ticks.items()}


def test_speed_ups_stand_beside_published_ones():
    gains = pandas.DataFrame({at: {"gups": 1.0, "mis": 1.5} for at in POINTS})
    figure = netcrafter_plots.bars(gains)
    assert marks(figure) == {"gups": [], "mis": [], "mean": [1.16, 1.5], "largest": [1.64, 2.3]}
    heights = [[patch.get_height() for patch in bars.patches] for bars in figure.axes[0].containers]
    assert heights == [[1.0, 1.5, 1.25, 1.5]] * len(POINTS)


def test_workloads_of_no_mean_stand_apart():
    gains = pandas.DataFrame({at: {"sp_like": 1.0, "amg_like": 1.2, "gather": 1.9} for at in (DOUBLED, "milic2017")})
    figure = lanes_plots.bars(gains, ("gather",))
    per_workload = {"sp_like": [1.8], "amg_like": [1.0, 2.0], "gather": []}
    assert marks(figure) == {**per_workload, "mean": [1.15, 1.5], "largest": [1.8, 2.0]}
    heights = [patch.get_height() for patch in figure.axes[0].containers[0].patches]
    assert heights == pytest.approx([1.0, 1.2, 1.9, 1.1, 1.2])
    # Where nothing else was run there is no mean.
    assert [t.get_text() for t in lanes_plots.bars(gains.loc[["gather"]], ("gather",)).axes[0].get_xticklabels()] == [
        "gather"
    ]


def marked(axes, label):
    """The published mark with that label: (x, y) of each."""
    (line,) = (line for line in axes.get_lines() if line.get_label().startswith(label))
    return list(zip(*line.get_data()))


def test_host_networking_stands_beside_its_published_round_trip():
    frame = pandas.DataFrame(
        {"backend": "GHN", "groups": groups, "threads": threads, "us": 9.0} for groups in (8, 64) for threads in (1, 8)
    )
    few, many = latency_plots.threads(frame, "us", "µs", (8, 40.0)).axes
    assert marked(many, "GHN, published") == [(8, 40.0)]
    assert [line.get_label() for line in few.get_lines()] == ["GHN"]


def test_all_reduces_stand_beside_what_was_published_to_be_saved():
    frame = pandas.DataFrame(
        {"backend": backend, "bytes": 64, "nodes": nodes, "us": 23.0, **dict.fromkeys(PARTS.values(), part)}
        for backend, part in (("GHN", 4.0), ("ComP-Net", 3.0))
        for nodes in (2, 4)
    )
    (panel,) = reduction_plots.strong_scaling(frame, "us", "µs", 1.15).axes
    assert marked(panel, "ComP-Net at the most") == [(2, pytest.approx(20)), (4, pytest.approx(20))]
    (bars,) = reduction_plots.parts(frame).axes
    assert marked(bars, "published")[0][0] == pytest.approx(4 * len(PARTS) / 2)


def test_the_share_of_good_predictions_stands_beside_the_published_one():
    frame = pandas.DataFrame({"family": "random", **dict.fromkeys(congestion_plots.FORMS, [0.1, -0.14, 0.16, 0.0])})
    texts = [axes.texts[0].get_text() for axes in congestion_plots.histogram(frame).axes]
    assert texts == ["within ±15 %: 75 % (published 95 %)", "within ±15 %: 75 %", "within ±15 %: 75 %"]


def test_orders_are_no_forms():
    orders = {name: [1e-6] * 2 for name in ("best", "natural", "worst")}
    shown = colours(congestion_plots.schedules({"2d, in steps": orders}, (40_000, 254_000)))
    assert not set(shown.values()) & set(congestion_plots._COLORS.values())
    drawn = congestion_plots.schedules({"2d, in steps": orders, "3d, in steps": orders}, (40_000, 254_000))
    assert [len(axes.get_lines()) for axes in drawn.axes] == [1, 0]
    assert drawn.axes[0].get_lines()[0].get_ydata() == pytest.approx([0.944, 0.944])


def test_several_may_write_to_a_folder_at_once(tmp_path):
    """None of them fails, and nothing but whole files is left."""
    wrong = []

    def work(number):
        try:
            for _ in range(300):
                prepare_folder(str(tmp_path))
                put(tmp_path / "x", b"%d" % number * 1000)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() in [b"%d" % number * 1000 for number in range(3)]
