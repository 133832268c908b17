# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on reversible lanes, beside the study's figures."""

from __future__ import annotations

from statistics import fmean

from ..page_layout import EMPTY, Frames, PageTable, as_published, code, count_of, fixed
from .points import (
    DOUBLED,
    FIXED,
    POLICIES,
    PUBLISHED_MEANS,
    RUN_POLICIES,
    SAMPLE,
    SAMPLE_TIMES,
    SWITCH,
    SWITCH_TIMES,
    WORKLOADS,
    sample_point,
    switch_point,
)

_three = fixed(3)


def synthetic(frames: Frames) -> PageTable:
    """Gain of each policy on traffic whose gain arithmetic knows."""
    frame, rows = frames["synthetic"], frames["rows"]
    known = dict(zip(rows["figure"], rows["published"]))
    lines = []
    for what, part in frame.groupby("traffic", sort=False):
        gain = dict(zip(part["policy"], part["gain"]))
        lines.append(
            (
                str(what),
                as_published(known[f"{what}, {POLICIES[0]}: gain"]),
                f"{part['bound'].iloc[0]:.4g}",
                *(_three(gain[p]) for p in POLICIES),
            )
        )
    return PageTable(("traffic", "published", "bound", *map(code, POLICIES)), lines)


def workloads(frames: Frames) -> PageTable:
    """What workloads do to links, and their speed-ups."""
    gains = frames["speedups"].set_index("workload")
    sizes = {run.partition(", ")[0]: size for run, size in zip(frames["runs"]["run"], frames["runs"]["size"])}
    columns = (DOUBLED, *RUN_POLICIES)
    rows = []
    for _, line in frames["directions"].iterrows():
        name = str(line["workload"])
        if name not in WORKLOADS:  # stands apart
            continue
        w, share = WORKLOADS[name], line["one_saturated_%"]
        known = EMPTY if w.gain is None else as_published(w.gain) + (" (doubled: 2)" if w.gain == 1 else "")
        rows.append(
            (
                code(name) + (f" ({w.published})" if w.published else ""),
                count_of(int(sizes[name])),
                f"{line['busier_%']:.0f} / {line['other_%']:.0f}",
                f"{share:.0f} %" if share >= 0.5 else "0",
                f"{line['kernel_samples']:.0f}",
                f"{line['reversals']:.0f}",
                *(_three(gains.loc[name, at]) for at in columns),
                known,
            )
        )
    mean, doubled = PUBLISHED_MEANS["milic2017"], PUBLISHED_MEANS[DOUBLED]
    rows.append(
        ("mean", *(5 * (EMPTY,)), *(_three(fmean(gains[at])) for at in columns), f"{mean:g} (doubled: {doubled:g})")
    )
    heads = ("size", "busy", "one way", "samples", "reversals", "doubled", *map(code, RUN_POLICIES))
    return PageTable(("workload", *heads, "published speed-up"), rows)


def sample_times(frames: Frames) -> PageTable:
    """Speed-up by the published policy with other sample and switch times."""
    frame = frames["times"].set_index("workload")
    columns = {"milic2017": f"{SAMPLE},000 and {SWITCH} cycles"}
    columns |= {sample_point(t): f"sample {t},000" for t in SAMPLE_TIMES if t != SAMPLE}
    columns |= {switch_point(t): f"switch {t}" for t in SWITCH_TIMES if t != SWITCH}
    columns = {at: label for at, label in columns.items() if at in frame and at != FIXED}
    rows = [(code(str(name)), *(_three(line[at]) for at in columns)) for name, line in frame.iterrows()]
    rows.append(("mean", *(_three(fmean(frame[at])) for at in columns)))
    return PageTable(("workload", *columns.values()), rows)
