# SPDX-License-Identifier: Apache-2.0
"""Runs traffic and workloads with reversible lanes, and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Measured, Point, measure
from ..invariants import check_workloads
from ..netcrafter.points import pages_of
from . import plots
from .arithmetic import OSCILLATES, synthetic
from .conclusion import verdict
from .points import (
    ALL,
    DOUBLED,
    FIXED,
    MACHINE,
    ONE_SIDED,
    POLICIES,
    QUICK,
    RUN_POLICIES,
    SAMPLE,
    SWEPT,
    WORKLOADS,
    points,
    sample_point,
    switch_point,
)
from .rows import add_rows
from .saturation import gain_bound, kernel_lines, one_sided_share, samples_of

SETTLED, MOVING = "first_touch_recorded", "first_touch"
FIRST = (FIXED, "milic2017", DOUBLED)  #: what the first figure is made of
LEAST = (*FIRST, *RUN_POLICIES[1:])
MOVES = (FIXED, DOUBLED, "milic2017")  #: what is also run with pages that move while they are measured
Runs = dict[tuple[str, str], Measured]  #: by workload and design point


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    chosen = options.only or list(QUICK if run.quick else ALL)
    names, one_sided = [n for n in chosen if n in WORKLOADS], [n for n in chosen if n in ONE_SIDED]
    designs = points()
    sweeps = [] if options.no_sweeps else [n for n in designs if n not in LEAST]
    if run.quick and sweeps:
        sweeps = [sample_point(1), sample_point(100), switch_point(500)]
    carried = synthetic(run)

    def point(name: str, at: str, placement: str) -> Point:
        w = ALL[name]
        return Point(
            w.application or name,
            MACHINE,
            w.quick if run.quick else w.small if options.small else w.size,
            "lasp" if w.option else placement,
            "contiguous",
            overrides=designs[at] + pages_of(options.page_size),
            timeline=placement == SETTLED and at in LEAST,
            option=w.option,
        )

    asked: dict[Point, str] = {}

    def measured(label: str, which: list[tuple[str, str]], placement: str = SETTLED, what: str = "") -> Runs:
        called = {point(name, at, placement): (name, f"{name}, {at}{what}") for name, at in which}
        asked.update({p: text for p, (_, text) in called.items()})
        runs = run.map(label, measure, list(called), lambda p: ALL[called[p][0]].seconds, lambda p: called[p][1])
        return dict(zip(which, runs))

    found = measured("workloads", [(n, at) for at in FIRST for n in chosen])
    found |= measured("other policies", [(n, at) for at in LEAST if at not in FIRST for n in chosen])
    moving: Runs = {}
    if not options.no_moves:
        moving = measured("pages move", [(n, at) for n in names for at in MOVES], MOVING, what=", pages move")
    reversed_run = [n for n in names if found[n, "milic2017"].reversal["reversals"] or n == SWEPT]
    found |= measured("other times", [(n, at) for n in reversed_run for at in sweeps])
    runs = [*found.values(), *moving.values()]
    shortest = min(chosen, key=lambda n: ALL[n].seconds)
    last = point(shortest, "milic2017", SETTLED)
    again = run.map("the same again", measure, [last], name=lambda p: asked[p], fresh=True)[0]

    check_workloads(run.report, {asked[m.point]: m for m in runs}, again)
    everything = gains_of(found, chosen, list(LEAST))
    gains, apart = everything.loc[names], everything.loc[one_sided]
    samples = {n: samples_of(found[n, FIXED]) for n in chosen}
    shares = {n: one_sided_share(samples[n]) for n in chosen}
    swept = gains_of(found, reversed_run, [FIXED, "milic2017", *sweeps]) if sweeps else pandas.DataFrame()
    moved = gains_of(moving, names, list(MOVES)) if moving else pandas.DataFrame()
    run.report.plot(
        "opportunity",
        plots.against_share(everything[list(RUN_POLICIES)], shares, one_sided),
        "Speed-up against the share of samples in which exactly one direction of a link is saturated on fixed lanes,"
        " and what arithmetic allows at that share; rings: one-sided by nature",
    )
    if names:
        add_rows(run, gains, moved, swept)
    for name in one_sided:
        for at in everything.columns:
            run.report.row(
                f"{name}: speed-up, {at}",
                "1",
                everything.loc[name, at],
                None,
                f"one-sided by nature; in no mean; bound {gain_bound(shares[name]):.3f}",
            )
    run.report.plot("speedup", plots.bars(everything), "Speed-up over fixed lanes, by workload")
    for plot, name in _shown(shares, chosen).items():
        run.report.plot(
            plot,
            plots.timeline(found[name, FIXED], found[name, "milic2017"]),
            f"{name}, the longest measured region: what each GPU's link carries from it and to it, and the lanes of"
            " both directions if they reverse",
        )
    run.report.plot(
        "oscillation",
        plots.oscillation(OSCILLATES.what, {p: carried[OSCILLATES.what, p][0] for p in POLICIES}),
        "All write to one: lanes that lead to it. The milic2017 policy turns a lane too many and back in every other"
        " sample",
    )
    if not swept.empty and not run.quick:
        run.report.plot(
            "sweeps",
            plots.sweeps(swept),
            "Speed-up against SampleTime and SwitchTime: workloads whose lanes reverse, and their mean",
        )
    for table, frame in (("speedups", gains), ("one_sided", apart)):
        if len(frame):
            run.report.table(
                table,
                frame.round(6).rename_axis("workload").reset_index(),
                "Kernel time on fixed lanes over that at each point; pages have settled."
                + (" One-sided by nature, and in no mean." if table == "one_sided" else ""),
            )
    if len(swept):
        run.report.table(
            "times",
            swept.round(6).rename_axis("workload").reset_index(),
            "The same with other sample and switch times: workloads whose lanes reverse, and comd_like.",
        )
    run.report.table(
        "directions",
        pandas.DataFrame([_line(found, n, everything, shares[n]) for n in chosen]).round(6),
        "Fixed lanes: the busiest and the other direction of the busiest link; the largest share of a link's samples"
        " of 5 µs in which exactly one direction is at least 99 % busy, and the speed-up that arithmetic allows at it;"
        " length of a kernel in samples. Then the milic2017 policy.",
    )
    run.report.table(
        "kernels",
        pandas.DataFrame([line for n in chosen for line in kernel_lines(n, samples[n])]).round(6),
        "Fixed lanes, each kernel that crosses links: samples of all links in which something moved, and shares of them"
        " in which one direction alone, and both, are at least 99 % busy.",
        shown=30,
    )
    run.report.table(
        "runs", pandas.DataFrame([_run_line(asked[m.point], m) for m in runs]).round(6), "Every run.", shown=30
    )
    if names:
        run.report.conclude(*verdict(gains, found, names))


def gains_of(found: Runs, names: list[str], columns: list[str]) -> pandas.DataFrame:
    """Speed-up over fixed lanes, by workload and design point."""
    return pandas.DataFrame(
        {
            at: {n: found[n, FIXED].kernel_time_s / found[n, at].kernel_time_s for n in names}
            for at in columns
            if at != FIXED
        }
    )


def _shown(shares: dict[str, float], names: list[str]) -> dict[str, str]:
    """Workloads whose links are shown over time: the published one, and the one whose links are most often saturated
    one direction only."""
    found = {"timeline_hpgmg": "hpgmg_like"} if "hpgmg_like" in names else {}
    return found | {"timeline": max(names, key=lambda n: shares[n])}


def _busiest(m: Measured) -> tuple[float, float]:
    """Of the busiest link: the busier direction's and the other's part of the kernels' time."""
    there = max(m.busy, key=lambda d: m.busy[d])
    scale = m.kernels_s / m.kernel_time_s if m.kernel_time_s else 0.0
    return scale * m.busy[there], scale * m.busy[" → ".join(reversed(there.split(" → ")))]


def _line(found: Runs, name: str, gains: pandas.DataFrame, share: float) -> dict[str, object]:
    fixed, reversed_run = found[name, FIXED], found[name, "milic2017"]
    busier, other = _busiest(fixed)
    return {
        "workload": name,
        "name in the paper": ALL[name].published,
        "busier_%": 100 * busier,
        "other_%": 100 * other,
        "one_saturated_%": 100 * share,
        "bound": gain_bound(share),
        "kernel_samples": fixed.kernel_time_s / max(1.0, fixed.launches / 4) / (SAMPLE * 1e-6),
        "reversals": reversed_run.reversal.get("reversals", 0.0),
        "restored_lanes": reversed_run.reversal.get("restored_lanes", 0.0),
        "milic2017": gains.loc[name, "milic2017"],
        "doubled": gains.loc[name, DOUBLED],
    }


def _run_line(what: str, m: Measured) -> dict[str, object]:
    return {
        "run": what,
        "size": m.point.size,
        "correct": m.correct,
        "kernel_time_us": 1e6 * m.kernel_time_s,
        "busiest_%": 100 * max(m.busy.values()),
        "packets": m.packets_of_devices["sent"],
        "failed": m.packets_of_devices["failed"],
        "reversals": m.reversal.get("reversals"),
        "restored_lanes": m.reversal.get("restored_lanes"),
        "lane_time_reversing_us": 1e6 * m.reversal["reversal_time"] if m.reversal else None,
        "wall_s": m.wall_s,
    }
