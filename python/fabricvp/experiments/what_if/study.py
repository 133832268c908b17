# SPDX-License-Identifier: Apache-2.0
"""Runs every workload at every design point and reports where which mechanism wins."""

from __future__ import annotations

from statistics import fmean

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Measured, Point, measure
from ..invariants import check_workloads
from . import plots
from .points import (
    BOTH,
    CLEAR,
    DESIGNS,
    LANES,
    MACHINE,
    NEITHER,
    NETCRAFTER,
    QUICK,
    QUICK_RATIOS,
    RATIOS,
    WORKLOADS,
    overrides,
)

Runs = dict[tuple[str, int, str], Measured]  #: by workload, ratio and design


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or list(QUICK if run.quick else WORKLOADS)
    ratios = options.ratios or list(QUICK_RATIOS if run.quick else RATIOS)

    def point(name: str, ratio: int, design: str) -> Point:
        w = WORKLOADS[name]
        return Point(
            name,
            MACHINE,
            w.quick if run.quick else w.size,
            w.placement,
            w.dispatch,
            overrides=overrides(design, ratio, options.policy),
        )

    chosen = [(name, ratio, design) for name in names for ratio in ratios for design in DESIGNS]
    asked = {point(*c): f"{c[0]}, {c[1]}:1, {c[2]}" for c in chosen}
    found: Runs = dict(
        zip(
            chosen,
            run.map("workloads", measure, list(asked), lambda p: WORKLOADS[p.workload].seconds, lambda p: asked[p]),
        )
    )
    again = run.map("the same again", measure, [point(names[0], ratios[0], BOTH)], name=lambda p: asked[p], fresh=True)[
        0
    ]

    check_workloads(run.report, {asked[m.point]: m for m in found.values()}, again)
    gains = pandas.DataFrame([_gain(found, name, ratio) for name in names for ratio in ratios])
    _rows(run, gains, ratios)
    run.report.plot(
        "gains",
        plots.bars(gains),
        "Speed-up over neither at the same bandwidth, mean over the workloads; whiskers: smallest and largest",
    )
    run.report.plot(
        "together", plots.together(gains), "Both together over the better of the two alone: below 1 they lose together"
    )
    run.report.plot(
        "utilisation",
        plots.utilisation(gains),
        "The slow link at the published ratio: how busy the busier direction and the other one are, with each design",
    )
    run.report.table(
        "gains",
        gains.round(6),
        "Every workload at every ratio: speed-ups over neither, what both gain over the better one and over the"
        " product, shares of the time that the directions of the slow link are busy, turns of its lanes, flits saved.",
        shown=60,
    )
    run.report.conclude(*_verdict(gains, ratios))


def _gain(found: Runs, name: str, ratio: int) -> dict[str, object]:
    at = {design: found[name, ratio, design] for design in DESIGNS}
    gain = {design: at[NEITHER].kernel_time_s / m.kernel_time_s for design, m in at.items()}
    line: dict[str, object] = {
        "workload": name,
        "ratio": ratio,
        **{d: gain[d] for d in DESIGNS[1:]},
        "both/better": gain[BOTH] / max(gain[NETCRAFTER], gain[LANES]),
        "both/product": gain[BOTH] / (gain[NETCRAFTER] * gain[LANES]),
        "winner": max(DESIGNS, key=lambda d: (gain[d], d == NEITHER)),
    }
    for design, m in at.items():
        busy = sorted(m.utilisation.values(), reverse=True)
        line |= {f"{design}: busier_%": 100 * busy[0], f"{design}: other_%": 100 * busy[1]}
    line |= {f"{d}: reversals": at[d].reversal["reversals"] for d in (LANES, BOTH)}
    for d in (NETCRAFTER, BOTH):
        c = at[d].controllers
        saved = sum(v for k, v in c.items() if k.startswith("saved_flits."))
        line[f"{d}: saved_%"] = 100 * saved / (saved + c["wire_flits"]) if c["wire_flits"] else 0.0
    return line


def _rows(run: Run, gains: pandas.DataFrame, ratios: list[int]) -> None:
    for ratio in ratios:
        here = gains[gains["ratio"] == ratio]
        for design in DESIGNS[1:]:
            values = here[design]
            published = 1.16 if design == NETCRAFTER and ratio == 8 else None
            run.report.row(
                f"{ratio}:1, {design}: speed-up, mean",
                "1",
                fmean(values),
                published,
                (
                    "NetCrafter, ISCA 2025"
                    if published
                    else (
                        f"from {values.min():.3f} ({here.loc[values.idxmin(), 'workload']}) to {values.max():.3f}"
                        f" ({here.loc[values.idxmax(), 'workload']})"
                    )
                ),
            )
        together = here["both/better"]
        lose = here[together < 1 - CLEAR]
        run.report.row(
            f"{ratio}:1: workloads on which both together are slower than the better one",
            "1",
            len(lose),
            None,
            ", ".join(f"{w} {g:.3f}" for w, g in zip(lose["workload"], lose["both/better"]))
            or f"of {len(here)}; by 0.5 % or more",
        )
        run.report.row(
            f"{ratio}:1: both over the product of each alone, mean",
            "1",
            fmean(here["both/product"]),
            None,
            "1: they add up; below: they are after the same",
        )
    for design in DESIGNS:
        run.report.row(f"points that {design} wins", "1", sum(gains["winner"] == design), None, f"of {len(gains)}")


def _verdict(gains: pandas.DataFrame, ratios: list[int]) -> list[str]:
    parts = []
    for ratio in ratios:
        here = gains[gains["ratio"] == ratio]
        parts.append(
            f"{ratio}:1: NetCrafter {100 * (fmean(here[NETCRAFTER]) - 1):+.1f} %, lanes"
            f" {100 * (fmean(here[LANES]) - 1):+.1f} %, both {100 * (fmean(here[BOTH]) - 1):+.1f} %"
        )
    lose = gains[gains["both/better"] < 1 - CLEAR]
    win = gains[gains["both/better"] > 1 + CLEAR]
    second = (
        f"Together they beat the better of the two at {len(win)} of {len(gains)} points, and lose to it at {len(lose)}"
    )
    second += (
        ": "
        + ", ".join(
            f"{w} at {r}:1 ({100 * (g - 1):+.1f} %)"
            for w, r, g in zip(lose["workload"], lose["ratio"], lose["both/better"])
        )
        + "."
        if len(lose)
        else "."
    )
    return ["Mean gain over neither by how much slower the link between clusters is. " + "; ".join(parts) + ".", second]
