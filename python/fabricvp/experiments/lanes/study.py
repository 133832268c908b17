# SPDX-License-Identifier: Apache-2.0
"""Runs traffic and workloads with reversible lanes, and reports."""

from __future__ import annotations

from statistics import fmean, geometric_mean

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Measured, Point, measure
from ..invariants import check_workloads
from ..netcrafter.points import pages_of
from . import plots
from .arithmetic import OSCILLATES, synthetic
from .conclusion import verdict
from .points import (
    DOUBLED,
    FIXED,
    MACHINE,
    MICRO,
    POLICIES,
    PUBLISHED_MEANS,
    QUICK,
    SAMPLE,
    SAMPLE_TIMES,
    SWEPT,
    SWITCH,
    SWITCH_TIMES,
    WORKLOADS,
    points,
    sample_point,
    switch_point,
)

SETTLED, MOVING = "first_touch_recorded", "first_touch"
MOVES = (FIXED, DOUBLED, "milic2017")  #: what is also run with pages that move while they are measured
SATURATED = 0.99
Runs = dict[tuple[str, str], Measured]  #: by workload and design point


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or list(QUICK if run.quick else WORKLOADS)
    designs = points()
    at_least = [FIXED, DOUBLED, *POLICIES]
    sweeps = [] if options.no_sweeps else [n for n in designs if n not in at_least]
    if run.quick and sweeps:
        sweeps = [sample_point(1), sample_point(100), switch_point(500)]
    carried = synthetic(run)

    def point(name: str, at: str, placement: str) -> Point:
        size = WORKLOADS[name].quick if run.quick else WORKLOADS[name].size
        return Point(
            name,
            MACHINE,
            size,
            placement,
            "contiguous",
            overrides=designs[at] + pages_of(options.page_size),
            timeline=placement == SETTLED and at in at_least,
        )

    asked: dict[Point, str] = {}

    def measured(label: str, chosen: list[tuple[str, str, str]]) -> Runs:
        called = {point(*c): f"{c[0]}, {c[1]}" + (", pages move" if c[2] == MOVING else "") for c in chosen}
        asked.update(called)
        runs = run.map(label, measure, list(called), lambda p: WORKLOADS[p.workload].seconds, lambda p: called[p])
        return {(name, at): m for (name, at, _), m in zip(chosen, runs)}

    settled = measured("workloads", [(name, at, SETTLED) for name in names for at in at_least])
    moving = {} if options.no_moves else measured("pages move", [(name, at, MOVING) for name in names for at in MOVES])
    reversed_run = [n for n in names if settled[n, "milic2017"].reversal["reversals"] or n == SWEPT]
    settled |= measured("other times", [(name, at, SETTLED) for name in reversed_run for at in sweeps])
    runs = [*settled.values(), *moving.values()]
    last = point(names[0], "milic2017", SETTLED)
    again = run.map("the same again", measure, [last], name=lambda p: asked[p], fresh=True)[0]

    check_workloads(run.report, {asked[m.point]: m for m in runs}, again)
    gains = gains_of(settled, names, at_least)
    swept = gains_of(settled, reversed_run, [FIXED, "milic2017", *sweeps])
    _rows(run, gains, gains_of(moving, names, [at for at in MOVES if moving]), swept if sweeps else pandas.DataFrame())
    run.report.plot("speedup", plots.bars(gains), "Speed-up over fixed lanes, by workload")
    for plot, name in _shown(settled, names).items():
        run.report.plot(
            plot,
            plots.timeline(settled[name, FIXED], settled[name, "milic2017"]),
            f"{name}, the longest measured region: what each GPU's link carries from it and to it, and the lanes of"
            " both directions if they reverse",
        )
    run.report.plot(
        "oscillation",
        plots.oscillation(OSCILLATES.what, {p: carried[OSCILLATES.what, p][0] for p in POLICIES}),
        "All write to one: lanes that lead to it. The milic2017 policy turns a lane too many and back in every other"
        " sample",
    )
    if sweeps and not run.quick:
        run.report.plot(
            "sweeps",
            plots.sweeps(swept),
            "Speed-up against SampleTime and SwitchTime: workloads whose lanes reverse, and their mean",
        )
    run.report.table(
        "speedups",
        gains.round(6).rename_axis("workload").reset_index(),
        "Kernel time on fixed lanes over that at each point; pages have settled.",
    )
    if sweeps:
        run.report.table(
            "times",
            swept.round(6).rename_axis("workload").reset_index(),
            "The same with other sample and switch times: workloads whose lanes reverse, and comd_like.",
        )
    run.report.table(
        "directions",
        pandas.DataFrame([_line(settled, n, gains) for n in names]).round(6),
        "Fixed lanes: the busiest and the other direction of the busiest link; shares of its windows of time"
        " in which one direction alone, and both, are at least 99 % busy; length of a kernel in samples of 5 µs. Then"
        " the milic2017 policy.",
    )
    run.report.table(
        "runs", pandas.DataFrame([_run_line(asked[m.point], m) for m in runs]).round(6), "Every run.", shown=30
    )
    run.report.conclude(*verdict(gains, settled, names))


def gains_of(found: Runs, names: list[str], columns: list[str]) -> pandas.DataFrame:
    """Speed-up over fixed lanes, by workload and design point."""
    return pandas.DataFrame(
        {
            at: {n: found[n, FIXED].kernel_time_s / found[n, at].kernel_time_s for n in names}
            for at in columns
            if at != FIXED
        }
    )


def _shown(found: Runs, names: list[str]) -> dict[str, str]:
    """Workloads whose links are shown over time: the published one, and the one whose links are most often saturated
    one direction only."""
    busiest = max(names, key=lambda n: opportunity(found[n, FIXED])["one_saturated_%"])
    return {"timeline_hpgmg": "hpgmg_like", "timeline": busiest} if "hpgmg_like" in names else {"timeline": busiest}


def opportunity(m: Measured) -> dict[str, float]:
    """Of the busiest link without turning: part of the time that each direction is busy, and parts of its windows in
    which one direction alone, and both, are saturated."""
    pairs = [(d, " → ".join(reversed(d.split(" → ")))) for d in m.busy]
    there, back = max(pairs, key=lambda p: m.busy[p[0]])
    rate = 64e9 * m.window_s
    windows = [
        (a >= SATURATED * rate, b >= SATURATED * rate) for a, b in zip(m.load.get(there, []), m.load.get(back, []))
    ]
    count = len(windows) or 1
    return {
        "busier_%": 100 * m.busy[there],
        "other_%": 100 * m.busy[back],
        "one_saturated_%": 100 * sum(a != b for a, b in windows) / count,
        "both_saturated_%": 100 * sum(a and b for a, b in windows) / count,
    }


def _line(found: Runs, name: str, gains: pandas.DataFrame) -> dict[str, object]:
    fixed, reversed_run = found[name, FIXED], found[name, "milic2017"]
    kernel = fixed.kernels_s / max(1.0, fixed.launches / 4)
    return {
        "workload": name,
        "name in the paper": WORKLOADS[name].published,
        **opportunity(fixed),
        "kernel_samples": kernel / (SAMPLE * 1e-6),
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
        "kernels_us": 1e6 * m.kernels_s,
        "busiest_%": 100 * max(m.busy.values()),
        "packets": m.packets_of_devices["sent"],
        "failed": m.packets_of_devices["failed"],
        "reversals": m.reversal.get("reversals"),
        "restored_lanes": m.reversal.get("restored_lanes"),
        "lane_time_reversing_us": 1e6 * m.reversal["reversal_time"] if m.reversal else None,
        "wall_s": m.wall_s,
    }


def _rows(run: Run, gains: pandas.DataFrame, moved: pandas.DataFrame, swept: pandas.DataFrame) -> None:
    row = run.report.row
    row("doubled bandwidth: speed-up, mean", "1", fmean(gains[DOUBLED]), PUBLISHED_MEANS[DOUBLED], MICRO)
    row("doubled bandwidth: speed-up, largest", "1", gains[DOUBLED].max(), 2.0, f"{MICRO}; {gains[DOUBLED].idxmax()}")
    row(
        "milic2017 policy: speed-up, mean",
        "1",
        fmean(gains["milic2017"]),
        PUBLISHED_MEANS["milic2017"],
        f"{MICRO} (its conclusion: 1.14)",
    )
    row(
        "milic2017 policy: speed-up, largest",
        "1",
        gains["milic2017"].max(),
        1.8,
        f"{MICRO}; {gains['milic2017'].idxmax()}",
    )
    for policy in POLICIES:
        row(f"{policy}: speed-up, geometric mean", "1", geometric_mean(gains[policy]), None, "5,000 cycles, 100 cycles")
        row(f"{policy}: speed-up, smallest", "1", gains[policy].min(), None, str(gains[policy].idxmin()))
    for name in gains.index:
        w = WORKLOADS[name]
        row(
            f"{name}: speed-up by the milic2017 policy",
            "1",
            gains.loc[name, "milic2017"],
            w.gain,
            f"{MICRO}: {w.published}" if w.published else "no workload of the study",
        )
        row(
            f"{name}: speed-up by doubled bandwidth",
            "1",
            gains.loc[name, DOUBLED],
            2.0 if w.gain == 1.0 else None,
            f"{MICRO}: {w.published}" if w.published else "",
        )
    for policy in ("symmetric", "predictive"):
        won = sum(gains[policy] > gains["milic2017"] + 0.005)
        lost = sum(gains[policy] < gains["milic2017"] - 0.005)
        row(
            f"{policy}: workloads on which it beats the milic2017 policy by 0.5 %",
            "1",
            won,
            None,
            f"loses on {lost} of {len(gains)}",
        )
    if not moved.empty:
        row(
            "pages move while measured, milic2017 policy: speed-up, mean",
            "1",
            fmean(moved["milic2017"]),
            None,
            "first touch without a pass that places pages",
        )
        row(
            "pages move while measured, doubled bandwidth: speed-up, mean",
            "1",
            fmean(moved[DOUBLED]),
            None,
            "first touch without a pass that places pages",
        )
    if swept.empty:
        return
    over = f"over {len(swept)} workloads whose lanes reverse"
    for t in SAMPLE_TIMES:
        if sample_point(t) in swept:
            row(
                f"SampleTime {t}K cycles: speed-up, mean",
                "1",
                fmean(swept[sample_point(t)]),
                None,
                f"{over}; {MICRO}: longer samples lose, shorter ones gain little",
            )
    for t in SWITCH_TIMES:
        if switch_point(t) in swept and t != SWITCH:
            change = swept[switch_point(t)] / swept["milic2017"]
            row(
                f"SwitchTime {t} cycles beside 100: speed, mean change",
                "%",
                100 * (fmean(change) - 1),
                0.0 if t == 10 else -2.0,
                f"{over}; {MICRO}: " + ("no gain" if t == 10 else "less than 2 % lost"),
            )
            row(
                f"SwitchTime {t} cycles beside 100: largest loss",
                "%",
                100 * (change.min() - 1),
                -25.0 if t == 500 else None,
                f"{change.idxmin()}" + (f"; {MICRO}: HPC-CoMD-Ta, -Wa" if t == 500 else ""),
            )
