# SPDX-License-Identifier: Apache-2.0
"""Figures of the workloads, beside the study's."""

from __future__ import annotations

from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING

from .points import (
    DOUBLED,
    MICRO,
    PUBLISHED_LARGEST,
    PUBLISHED_MEANS,
    RUN_POLICIES,
    SAMPLE_TIMES,
    SWITCH,
    SWITCH_TIMES,
    WORKLOADS,
    sample_point,
    switch_point,
)

if TYPE_CHECKING:
    import pandas

    from ..frame import Run


def add_rows(run: Run, gains: pandas.DataFrame, moved: pandas.DataFrame, swept: pandas.DataFrame) -> None:
    row = run.report.row
    row("doubled bandwidth: speed-up, mean", "1", fmean(gains[DOUBLED]), PUBLISHED_MEANS[DOUBLED], MICRO)
    row(
        "doubled bandwidth: speed-up, largest",
        "1",
        gains[DOUBLED].max(),
        PUBLISHED_LARGEST[DOUBLED],
        f"{MICRO}; {gains[DOUBLED].idxmax()}",
    )
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
        PUBLISHED_LARGEST["milic2017"],
        f"{MICRO}; {gains['milic2017'].idxmax()}",
    )
    for policy in RUN_POLICIES:
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
            w.doubled,
            f"{MICRO}: {w.published}" if w.published else "",
        )
    for policy in RUN_POLICIES[1:]:
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


def add_block_rows(run: Run, lines: str, frame: pandas.DataFrame) -> None:
    """Means over workloads by what first touch moves at a time."""
    for size, part in frame.groupby("block", sort=False):
        if len(part) < len(WORKLOADS):
            continue  # a mean of some workloads is no mean of all
        for at, published in PUBLISHED_MEANS.items():
            run.report.row(
                f"first touch by {size}, lines of {lines}, {at}: speed-up, mean",
                "1",
                fmean(part[at]),
                None,  # the published figure has its row: variants of one machine do not count again
                f"{MICRO}: {published:g}",
            )
