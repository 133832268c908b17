# SPDX-License-Identifier: Apache-2.0
"""Runs traffic and workloads with reversible lanes, and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Point, measure
from ..invariants import check_workloads
from ..netcrafter.points import PAGE_SIZES, pages_of
from . import plots
from .arithmetic import OSCILLATES, synthetic
from .conclusion import verdict
from .lines import Runs, block_line, gains_of, run_line, workload_line
from .points import (
    ALL,
    APART,
    DOUBLED,
    FIXED,
    LINE_PAIRS,
    MACHINE,
    POLICIES,
    QUICK,
    RUN_POLICIES,
    SHORT_SAMPLES,
    SWEPT,
    WORKLOADS,
    Overrides,
    migrating,
    points,
    sample_point,
    switch_point,
)
from .rows import add_block_rows, add_rows
from .saturation import gain_bound, kernel_lines, one_sided_share, samples_of

SETTLED, MOVING = "first_touch_recorded", "first_touch"
FIRST = (FIXED, "milic2017", DOUBLED)  #: what the first figure is made of
LEAST = (*FIRST, *RUN_POLICIES[1:])
MOVES = (FIXED, DOUBLED, "milic2017")  #: what is also run with pages that move while they are measured


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    chosen = options.only or list(QUICK if run.quick else ALL)
    names, aside = [n for n in chosen if n in WORKLOADS], [n for n in chosen if n in APART]
    designs = points()
    sweeps = [] if options.no_sweeps else [n for n in designs if n not in LEAST]
    if run.quick and sweeps:
        sweeps = [sample_point(1), sample_point(100), switch_point(500)]
    carried = synthetic(run)

    def point(name: str, at: str, placement: str, more: Overrides = ()) -> Point:
        w = ALL[name]
        return Point(
            w.application or name,
            MACHINE,
            w.quick if run.quick else w.small if options.small else w.size,
            "lasp" if w.placed else placement,
            "contiguous",
            overrides=designs[at] + pages_of(options.page_size) + more,
            timeline=placement == SETTLED and at in LEAST,
            option=w.option,
        )

    asked: dict[Point, str] = {}

    def measured(
        label: str, which: list[tuple[str, str]], placement: str = SETTLED, what: str = "", more: Overrides = ()
    ) -> Runs:
        called = {point(name, at, placement, more): (name, f"{name}, {at}{what}") for name, at in which}
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
    short = [] if options.no_sweeps else [sample_point(t) for t in SHORT_SAMPLES if sample_point(t) in designs]
    found |= measured("short samples", [(n, at) for n in aside for at in short])
    coarse = {
        size: measured(
            f"first touch by {size}",
            [(n, at) for at in FIRST for n in names],
            what=f", first touch by {size}",
            more=migrating(size),
        )
        for size in ([] if run.quick else options.migration_sizes)
    }
    paired: dict[str, Runs] = {}
    if not run.quick and not options.no_pairs:
        blocks: dict[str, Overrides] = {PAGE_SIZES[0]: (), **{size: migrating(size) for size in coarse}}
        paired = {
            size: measured(
                f"lines of 128 bytes, first touch by {size}",
                [(n, at) for at in FIRST for n in names],
                what=f", lines of 128 bytes, first touch by {size}",
                more=LINE_PAIRS + more,
            )
            for size, more in blocks.items()
        }
    elsewhere = [moving, *coarse.values(), *paired.values()]
    runs = [m for each in (found, *elsewhere) for m in each.values()]
    shortest = min(chosen, key=lambda n: ALL[n].seconds)
    last = point(shortest, "milic2017", SETTLED)
    again = run.map("the same again", measure, [last], name=lambda p: asked[p], fresh=True)[0]

    check_workloads(run.report, {asked[m.point]: m for m in runs}, again)
    everything = gains_of(found, chosen, list(LEAST))
    gains, apart = everything.loc[names], gains_of(found, aside, [*LEAST, *short])
    samples = {n: samples_of(found[n, FIXED]) for n in chosen}
    shares = {n: one_sided_share(samples[n]) for n in chosen}
    swept = gains_of(found, reversed_run, [FIXED, "milic2017", *sweeps]) if sweeps else pandas.DataFrame()
    moved = gains_of(moving, names, list(MOVES)) if moving else pandas.DataFrame()
    run.report.plot(
        "opportunity",
        plots.against_share(everything[list(RUN_POLICIES)], shares, aside),
        "Speed-up against the share of samples in which exactly one direction of a link is saturated on fixed lanes,"
        " and what arithmetic allows at that share; rings: in no mean",
    )
    if names:
        add_rows(run, gains, moved, swept)
    for name in aside:
        for at in apart.columns:
            run.report.row(
                f"{name}: speed-up, {at}",
                "1",
                apart.loc[name, at],
                None,
                f"in no mean; bound {gain_bound(shares[name]):.3f}",
            )
    run.report.plot("speedup", plots.bars(everything, aside), "Speed-up over fixed lanes; diamonds: published")
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
    for table, frame in (("speedups", gains), ("apart", apart)):
        if len(frame):
            run.report.table(
                table,
                frame.round(6).rename_axis("workload").reset_index(),
                "Kernel time on fixed lanes over that at each point; pages have settled."
                + (" They are in no mean." if table == "apart" else ""),
            )
    if len(swept):
        run.report.table(
            "times",
            swept.round(6).rename_axis("workload").reset_index(),
            "The same with other sample and switch times: workloads whose lanes reverse, and comd_like.",
        )
    if names and coarse:
        by_block = _by_block(names, {PAGE_SIZES[0]: found, **coarse})
        add_block_rows(run, "64 bytes", by_block)
        run.report.table(
            "blocks",
            by_block,
            "First touch that moves blocks of other sizes: the busiest link on fixed lanes, and speed-ups over them.",
        )
    if names and paired:
        by_block = _by_block(names, paired)
        add_block_rows(run, "128 bytes", by_block)
        run.report.table("pairs", by_block, "The same where a miss brings 128 bytes.")
    run.report.table(
        "directions",
        pandas.DataFrame([workload_line(found, n, everything, shares[n]) for n in chosen]).round(6),
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
        "runs", pandas.DataFrame([run_line(asked[m.point], m) for m in runs]).round(6), "Every run.", shown=30
    )
    if names:
        run.report.conclude(*verdict(gains, found, names))


def _by_block(names: list[str], machines: dict[str, Runs]) -> pandas.DataFrame:
    """Lines of workloads by what first touch moves at a time."""
    return pandas.DataFrame([block_line(name, size, each) for name in names for size, each in machines.items()]).round(
        6
    )


def _shown(shares: dict[str, float], names: list[str]) -> dict[str, str]:
    """Workloads whose links are shown over time: the published one, and the one whose links are most often saturated
    one direction only."""
    found = {"timeline_hpgmg": "hpgmg_like"} if "hpgmg_like" in names else {}
    return found | {"timeline": max(names, key=lambda n: shares[n])}
