# SPDX-License-Identifier: Apache-2.0
"""Runs every workload at every design point and reports."""

from __future__ import annotations

import dataclasses
import math
from statistics import fmean, geometric_mean, median

import pandas

from ..frame import Figure, Missing, Run
from ..gpu_workloads.measure import Measured, Point, as_record, for_table, measure
from ..gpu_workloads.workloads import PUBLISHED, WORKLOADS
from .pictures import bars, saved
from .points import BASELINE, IDEAL, POINTS, WORDS

ISCA = "NetCrafter, ISCA 2025"
Runs = dict[tuple[str, str], Measured]  #: by workload and design point


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or PUBLISHED
    points = [BASELINE, *(options.points or POINTS)]

    def point(name: str, at: str) -> Point:
        return Point(name, options.ideal if at == IDEAL else options.machine, WORKLOADS[name].quick if run.quick else 0, options.placement,
                     options.dispatch, overrides=POINTS.get(at, ()))

    chosen = [(name, at) for name in names for at in points]
    asked = {point(*c): f"{c[0]}, {c[1]}" for c in chosen}
    found: Runs = dict(zip(chosen, run.map("workloads", measure, list(asked), lambda p: WORKLOADS[p.workload].seconds, lambda p: asked[p])))
    last = point(names[0], points[-1])
    again = run.map("the same again", measure, [last], name=lambda p: asked[p])[0]

    gains = pandas.DataFrame({at: {n: found[n, BASELINE].kernels_s / found[n, at].kernels_s for n in names} for at in points})
    _checks(run, found, again, found[names[0], points[-1]])
    _rows(run, found, gains)
    run.report.plot("speedup", bars(gains.drop(columns=BASELINE)), f"Speed-up over {options.machine} by design point")
    if any(m.controllers for m in found.values()):
        run.report.plot("saved", saved(found, names, points), "Flits between the clusters that were saved, by mechanism")
    run.report.table("speedups", gains.round(3).rename_axis("workload").reset_index(), "Run time of the kernels at the baseline over that at each point.")
    run.report.table("runs", pandas.DataFrame([_line(at, m) for (_, at), m in found.items()]).round(3),
                     "Every run. Saved flits are a share of what the link would have carried without the controllers.", shown=60)


def _saved(m: Measured, mechanism: str) -> Figure:
    if not m.controllers:
        return Missing("there are no controllers")
    every = m.controllers["wire_flits"] + sum(v for k, v in m.controllers.items() if k.startswith("saved_flits."))
    return 100 * m.controllers[f"saved_flits.{mechanism}"] / every if every else Missing("nothing crossed")


def _line(at: str, m: Measured) -> dict[str, object]:
    record = as_record(m)
    keep = ("workload", "right", "kernels_us", "l1_mpki", "other_cluster_%", "page_table_%_of_slow_packets", "flits_padded_25_or_75_%",
            "lines_needing_16_bytes_%", "slow_link_busy_%", "other_cluster_read_us", "wall_s")
    figures = {key: record[key] for key in keep} | {f"saved_by_{k}_%": _saved(m, k) for k in ("stitching", "ends", "trimming")}
    return {"point": at} | for_table(figures)


def _checks(run: Run, found: Runs, again: Measured, first: Measured) -> None:
    wrong = [f"{name} at {at}" for (name, at), m in found.items() if not m.right]
    run.report.check("results are right", not wrong, ", ".join(wrong) or f"{len(found)} runs, each against an independent reference")
    lost, odd = [], []
    for (name, at), m in found.items():
        c = m.controllers
        if not c:
            continue
        if abs(c["packets"] - c["left"]) > 4096:  # what the queues hold at a region's borders
            lost.append(f"{name} at {at}: {c['packets']:.0f} in, {c['left']:.0f} out")
        spared = c["saved_flits.stitching"] + c["saved_flits.ends"]
        if abs(c["buffer_flits"] - c["wire_flits"] - spared) > 64:  # ends whose packets lie on the other side of a border
            odd.append(f"{name} at {at}: {c['buffer_flits']:.0f} - {c['wire_flits']:.0f}, {spared:.0f}")
    run.report.check("what comes into the controllers leaves them", not lost, "; ".join(lost) or "but for what waits at a region's borders")
    run.report.check("flits saved are the sum by mechanism", not odd, "; ".join(odd) or "packets one by one less what the link carried")
    same = dataclasses.replace(first, wall_s=0) == dataclasses.replace(again, wall_s=0)
    run.report.check("a second run is the same", same, f"{first.point.workload}, every figure")


def _rows(run: Run, found: Runs, gains: pandas.DataFrame) -> None:
    row = run.report.row
    published = {IDEAL: (1.5, 2.3), "all": (1.16, 1.64)}
    for at in gains.columns[1:]:
        values = [v for v in gains[at] if math.isfinite(v)]
        mean, most = published.get(at, (None, None))
        row(f"{at}: speed-up, arithmetic mean", "1", fmean(values), mean, f"{ISCA}; {WORDS[at]}")
        row(f"{at}: speed-up, geometric mean", "1", geometric_mean(values), None, WORDS[at])
        row(f"{at}: speed-up, median", "1", median(values), None, WORDS[at])
        row(f"{at}: speed-up, largest", "1", max(values), most, f"{ISCA}; {gains[at].idxmax()}")
        row(f"{at}: speed-up, smallest", "1", min(values), None, str(gains[at].idxmin()))
    for at in gains.columns:
        for mechanism in ("stitching", "ends", "trimming"):
            values = [_saved(m, mechanism) for (_, p), m in found.items() if p == at]
            shares = [v for v in values if not isinstance(v, Missing)]
            if any(shares):
                row(f"{at}: flits saved by {mechanism}, mean", "%", fmean(shares), None, "of what the link would have carried")
