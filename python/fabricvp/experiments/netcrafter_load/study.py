# SPDX-License-Identifier: Apache-2.0
"""Runs every workload at every size and reports."""

from __future__ import annotations

from statistics import fmean, median

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Measured, Point, as_record, for_table, measure
from ..invariants import check_workloads
from ..netcrafter.points import BASELINE, IDEAL, LABELS, POINTS, PUBLISHED
from ..nodes import measured_nodes
from . import plots
from .sizes import SIZES, overrides_of, seconds_of

#: Parts beside all of them: what each gains alone.
PARTS = ("selective-pooling", "trimming", "sequencing")
QUICK = ("gups", "spmv", "transpose")
QUICK_SIZES = 2  #: the smallest
ISCA = "NetCrafter, ISCA 2025"


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or (list(QUICK) if run.quick else list(SIZES))
    shown = shown_points(options.points)
    nodes = measured_nodes([options.machine, options.ideal], options.node, "gpus")

    def point(name: str, size: int, reach: str, at: str) -> Point:
        machine = options.ideal if at == IDEAL else options.machine
        return Point(
            name, machine, size, "lasp", "lasp", overrides=POINTS.get(at, ()) + overrides_of(reach),
            node=nodes[machine], option=SIZES[name].option,
        )  # fmt: skip

    def sizes(name: str) -> tuple[int, ...]:
        return SIZES[name].sizes[:QUICK_SIZES] if run.quick else SIZES[name].sizes[-options.sizes :]

    # The all-fast fabric, the baseline and all parts of everything come first: the first figure is complete with them.
    chosen = [
        (name, size, reach, at)
        for first in (True, False)
        for reach in options.reach
        for name in names
        for size in sizes(name)
        for at in (BASELINE, *shown)
        if (at in (BASELINE, IDEAL, "all")) == first
    ]
    asked = {point(*c): c for c in chosen}
    found: dict[tuple[str, int, str, str], Measured] = dict(
        zip(
            chosen,
            run.map("runs", measure, list(asked), lambda p: seconds_of(p.workload, p.size), lambda p: _name(*asked[p])),
        )
    )
    smallest = min(chosen, key=lambda c: seconds_of(c[0], c[1]))
    again = run.map("the same again", measure, [point(*smallest)], name=lambda p: _name(*asked[p]), fresh=True)[0]
    check_workloads(run.report, {_name(*c): m for c, m in found.items()}, again)
    frame = pandas.DataFrame(
        [_line(found, name, size, reach, shown) for reach in options.reach for name in names for size in sizes(name)]
    )
    for reach in options.reach:
        _report(run, frame[frame["reach"] == reach], reach, shown)
    run.report.table(
        "load",
        frame.round(6),
        "Kernel times against the baseline's of the same size; figures of the links are the baseline's.",
        shown=200,
    )


def shown_points(given: list[str] | None) -> list[str]:
    """Points beside the baseline: the all-fast fabric, those that are asked for (None: each part), and all parts."""
    return list(dict.fromkeys([IDEAL, *(PARTS if given is None else given), "all"]))


def _name(name: str, size: int, reach: str, at: str) -> str:
    return f"{name} of {size}, {at}, {reach} entries"


def _line(
    found: dict[tuple[str, int, str, str], Measured], name: str, size: int, reach: str, shown: list[str]
) -> dict[str, object]:
    base = found[name, size, reach, BASELINE]
    record = for_table(as_record(base))
    return {
        "workload": name,
        "size": size,
        "reach": reach,
        "kernel_time_us": 1e6 * base.kernel_time_s,
        **{at: base.kernel_time_s / found[name, size, reach, at].kernel_time_s for at in shown},
        "region_slowdown": base.kernels_s / found[name, size, reach, IDEAL].kernels_s,
        **{
            key: record[key]
            for key in (
                "slow_link_busy_%",
                "page_table_%_of_slow_flits",
                "flits_padded_25_or_75_%",
                "lines_needing_16_bytes_%",
                "wavefront_instructions",
            )
        },
    }


def _report(run: Run, frame: pandas.DataFrame, reach: str, shown: list[str]) -> None:
    """Rows, a sentence and the figure of one reach: averages are over the largest size of each workload."""
    last = frame.loc[frame.groupby("workload", sort=False)["size"].idxmax()]
    row = run.report.row
    for at in shown:
        values = list(last[at])
        mean, most = PUBLISHED.get(at, (None, None))
        label = "slow-down" if at == IDEAL else f"{at}: speed-up"
        row(f"{reach} entries, {label}, mean", "1", fmean(values), mean, ISCA if mean else LABELS[at])
        row(f"{reach} entries, {label}, median", "1", median(values), None, LABELS[at])
        row(f"{reach} entries, {label}, largest", "1", max(values), most, ISCA if most else LABELS[at])
    for key, what, published in (
        ("page_table_%_of_slow_flits", "page-table flits", 13),
        ("flits_padded_25_or_75_%", "flits with 25 or 75 % padding", 42),
    ):
        values = list(last[key].dropna())
        if values:
            row(f"{reach} entries, baseline: {what} between clusters, mean", "%", fmean(values), published, ISCA)
    slow, gains = last[IDEAL], last["all"]
    run.report.conclude(
        f"With an L2 TLB of {reach} entries, the slow link costs {fmean(slow):.2f}× on the mean (published 1.5) and"
        f" {slow.max():.2f}× at most (published 2.3), over the largest size of {len(last)} workloads. All parts gain"
        f" {100 * (fmean(gains) - 1):+.1f} % on the mean (published +16), {100 * (median(gains) - 1):+.1f} % on the"
        f" median and {100 * (gains.max() - 1):+.1f} % at most (published +64)."
    )
    run.report.plot(
        f"load_{reach}",
        plots.gain_against_slow_down(frame, [at for at in reversed(shown) if at != IDEAL]),
        f"Gain of all parts, and of each, against slow-down, L2 TLB of {reach} entries; filled: the largest size of"
        " each workload",
    )
