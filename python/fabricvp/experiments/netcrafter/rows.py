# SPDX-License-Identifier: Apache-2.0
"""Figures of NetCrafter's design points beside the published ones, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, geometric_mean, median

import pandas

from ..frame import Figure, Missing, Report
from ..gpu_workloads.measure import Measured, as_record
from .orderings import ISCA, orderings
from .points import BASELINE, IDEAL, LABELS, PUBLISHED
from .synthetic import MECHANISMS, TrafficResult

Runs = dict[tuple[str, str], Measured]  #: by workload and design point
#: MiB of memory of published chips, beside which the paper sets a controller's
AREAS = {"a GPU's L2 (MI250X)": 16, "a switch's buffers": 64}


def speed_ups(found: Runs, names: list[str], points: list[str]) -> pandas.DataFrame:
    """Kernel time at the baseline over that at each point; a line for each workload."""
    return pandas.DataFrame(
        {at: {n: found[n, BASELINE].kernel_time_s / found[n, at].kernel_time_s for n in names} for at in points}
    )


def region_speed_ups(found: Runs, names: list[str], points: list[str]) -> pandas.DataFrame:
    """The same by the time of whole regions, with launches and what the host does between kernels."""
    return pandas.DataFrame(
        {at: {n: found[n, BASELINE].kernels_s / found[n, at].kernels_s for n in names} for at in points}
    )


def saved_share(m: Measured, mechanism: str) -> Figure:
    """Flits that a mechanism saved, in % of those that the link would have carried."""
    if not m.controllers:
        return Missing("there are no controllers")
    every = m.controllers["wire_flits"] + sum(v for k, v in m.controllers.items() if k.startswith("saved_flits."))
    return 100 * m.controllers[f"saved_flits.{mechanism}"] / every if every else Missing("nothing crossed")


def mean_of(runs: list[Measured], key: str) -> Figure:
    """Mean of a figure of `as_record()` over the runs that have it."""
    values = [as_record(m)[key] for m in runs]
    there = [v for v in values if not isinstance(v, Missing)]
    return fmean(there) if there else values[0]


def add_rows(report: Report, found: Runs, gains: pandas.DataFrame) -> None:
    """Adds all rows."""
    row = report.row
    for at in gains.columns[1:]:
        values = list(gains[at])
        mean, most = PUBLISHED.get(at, (None, None))
        row(
            f"{at}: speed-up, arithmetic mean",
            "1",
            fmean(values),
            mean,
            f"{ISCA}; {LABELS[at]}" if mean else LABELS[at],
        )
        row(f"{at}: speed-up, geometric mean", "1", geometric_mean(values), None, LABELS[at])
        row(f"{at}: speed-up, median", "1", median(values), None, LABELS[at])
        row(
            f"{at}: speed-up, largest",
            "1",
            max(values),
            most,
            f"{ISCA}; here {gains[at].idxmax()}" if most else str(gains[at].idxmax()),
        )
        row(f"{at}: speed-up, smallest", "1", min(values), None, str(gains[at].idxmin()))
    for found_so in orderings(gains):
        row(found_so.text, "1", float(found_so.holds), 1, found_so.source)
    at_point = {at: [m for (_, p), m in found.items() if p == at] for at in gains.columns}
    slow = at_point[BASELINE]
    row(
        "baseline: flits between clusters with 25 or 75 % padding, mean",
        "%",
        mean_of(slow, "flits_padded_25_or_75_%"),
        42,
        ISCA + " (its slides: about 40)",
    )
    row(
        "baseline: page-table flits between clusters, mean",
        "%",
        mean_of(slow, "page_table_%_of_slow_flits"),
        13,
        ISCA + ": of the traffic; of flits, if 42 % are padded, since plain reads and writes pad a third",
    )
    row(
        "baseline: page-table packets between clusters, mean",
        "%",
        mean_of(slow, "page_table_%_of_slow_packets"),
        None,
        "31 % if 13 % of the flits are page tables'",
    )
    row(
        "baseline: lines from the other cluster of which at most 16 bytes are needed, mean",
        "%",
        mean_of(slow, "lines_needing_16_bytes_%"),
        None,
        ISCA + ": most lines",
    )
    for at, runs in at_point.items():
        row(
            f"{at}: the busier direction between clusters busy, mean",
            "%",
            mean_of(runs, "slow_link_busy_%"),
            None,
            "of the kernels' time",
        )
    for at, runs in at_point.items():
        row(
            f"{at}: L1 misses per thousand wavefront-instructions, mean",
            "1",
            mean_of(runs, "l1_mpki"),
            None,
            LABELS[at],
        )
    for at, runs in at_point.items():
        for mechanism in MECHANISMS:
            values = [saved_share(m, mechanism) for m in runs]
            shares = [v for v in values if not isinstance(v, Missing)]
            if any(shares):
                row(
                    f"{at}: flits saved by {mechanism}, mean",
                    "%",
                    fmean(shares),
                    None,
                    "of what the link would have carried",
                )


def add_overhead(report: Report, carried: Sequence[TrafficResult]) -> None:
    """Adds the rows of what a controller takes in hardware, beside chips of today."""
    memory = max((c.memory for c in carried), default=0.0)
    if not memory:
        return
    report.row("memory of a controller", "B", memory, None, "cluster queue and stitching buffer")
    for what, mebibytes in AREAS.items():
        report.row(
            f"memory of a controller, of {what}", "%", 100 * memory / (mebibytes << 20), None, f"{mebibytes} MiB"
        )


def verdict(found: Runs, gains: pandas.DataFrame) -> list[str]:
    """What came out, in words made from the figures."""
    sentences = []
    if IDEAL in gains:
        slow = gains[IDEAL].sort_values(ascending=False)
        sentences.append(
            f"The slow link costs {_times(fmean(slow))} on average (published 1.5), from {_times(slow.iloc[-1])}"
            f" ({slow.index[-1]}) to {_times(slow.iloc[0])} ({slow.index[0]}; published at most 2.3)."
        )
    if "all" in gains:
        values = gains["all"]
        lost = [name for name, v in values.items() if v < 0.995]
        sentences.append(
            f"All parts of NetCrafter together gain {_percent(fmean(values))} on average (published +16 %),"
            f" {_percent(values.max())} at most ({values.idxmax()}; published +64 %). "
            + (f"They lose in {', '.join(lost)}." if lost else "No workload loses.")
        )
    parts = [
        at
        for at in ("stitching", "pooling", "selective-pooling", "trimming", "sequencing", "sector-cache", "data-first")
        if at in gains
    ]
    if parts:
        sentences.append(
            "Alone: "
            + ", ".join(
                f"{at} {_percent(fmean(gains[at]))} (largest {_percent(gains[at].max())}, {gains[at].idxmax()})"
                for at in parts
            )
            + "."
        )
    if "trimming" in gains and "sector-cache" in gains:
        base, trimmed, sectors = (
            mean_of([m for (_, p), m in found.items() if p == at], "l1_mpki")
            for at in (BASELINE, "trimming", "sector-cache")
        )
        if not any(isinstance(v, Missing) for v in (base, trimmed, sectors)):
            sentences.append(
                f"L1 misses per thousand wavefront-instructions: {base:,.0f} at the baseline, {trimmed:,.0f} with"
                f" trimming, {sectors:,.0f} with a sector cache."
            )
    return sentences


def _times(value: float) -> str:
    return f"{value:.2f}×"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %".replace("-", "−")
