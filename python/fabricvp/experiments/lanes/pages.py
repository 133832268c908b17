# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on reversible lanes, beside the study's figures."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from ..page_layout import EMPTY, Frames, PageTable, as_published, code, count_of, fixed
from .points import (
    APART,
    DOUBLED,
    FIXED,
    POLICIES,
    PUBLISHED_MEANS,
    RUN_POLICIES,
    SAMPLE,
    SAMPLE_TIMES,
    SHORT_SAMPLES,
    SWITCH,
    SWITCH_TIMES,
    WORKLOADS,
    Workload,
    sample_point,
    switch_point,
)

if TYPE_CHECKING:
    import pandas

_three = fixed(3)
_Row = tuple[str, tuple[str, ...]]  #: name of a workload, and its line


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
    known = {
        name: EMPTY if w.gain is None else as_published(w.gain) + (" (doubled: 2)" if w.gain == 1 else "")
        for name, w in WORKLOADS.items()
    }
    heads, rows = _measured(frames, "speedups", WORKLOADS)
    gains = frames["speedups"]
    mean, doubled = PUBLISHED_MEANS["milic2017"], PUBLISHED_MEANS[DOUBLED]
    means = (_three(fmean(gains[at])) for at in (DOUBLED, *RUN_POLICIES))
    return PageTable(
        (*heads, "published speed-up"),
        [
            *((*row, known[name]) for name, row in rows),
            ("mean", *(6 * (EMPTY,)), *means, f"{mean:g} (doubled: {doubled:g})"),
        ],
    )


def apart(frames: Frames) -> PageTable:
    """The same of workloads that are in no mean: one-sided by nature, or with a mesh of another numbering."""
    heads, rows = _measured(frames, "apart", APART)
    gains = frames["apart"].set_index("workload")
    short = {sample_point(t): f"sample {t},000" for t in SHORT_SAMPLES if sample_point(t) in gains}
    return PageTable(
        (*heads, *short.values()), [(*row, *(_three(gains.loc[name, at]) for at in short)) for name, row in rows]
    )


def blocks(frames: Frames) -> PageTable:
    """What workloads do to links, and their speed-ups, by what first touch moves at a time."""
    return _by_block(frames["blocks"])


def pairs(frames: Frames) -> PageTable:
    """The same where a miss brings 128 bytes."""
    return _by_block(frames["pairs"])


def _by_block(frame: pandas.DataFrame) -> PageTable:
    sizes = list(dict.fromkeys(frame["block"]))
    by = frame.set_index(["workload", "block"])
    rows: list[tuple[str, ...]] = []
    for name in dict.fromkeys(frame["workload"]):
        rows.append((code(str(name)), *(cell for size in sizes for cell in _block_cells(by.loc[(name, size)]))))
    means: list[str] = []
    for size in sizes:
        part = frame[frame["block"] == size]
        means += [EMPTY, EMPTY, _three(fmean(part["doubled"])), _three(fmean(part["milic2017"]))]
    rows.append(("mean", *means))
    heads = ("busy", "one way", "doubled", code("milic2017"))
    return PageTable(("workload", *(f"{size}: {head}" for size in sizes for head in heads)), rows)


def _block_cells(line: pandas.Series) -> tuple[str, ...]:
    share = line["one_saturated_%"]
    return (
        f"{line['busier_%']:.0f} / {line['other_%']:.0f}",
        f"{share:.0f} %" if share >= 0.5 else "0",
        _three(line["doubled"]),
        _three(line["milic2017"]),
    )


def _measured(frames: Frames, table: str, which: dict[str, Workload]) -> tuple[tuple[str, ...], list[_Row]]:
    gains = frames[table].set_index("workload")
    sizes = {run.partition(", ")[0]: size for run, size in zip(frames["runs"]["run"], frames["runs"]["size"])}
    rows: list[_Row] = []
    for _, line in frames["directions"].iterrows():
        name = str(line["workload"])
        if name not in which:
            continue
        share = line["one_saturated_%"]
        rows.append(
            (
                name,
                (
                    code(name) + (f" ({which[name].published})" if which[name].published else ""),
                    count_of(int(sizes[name])),
                    f"{line['busier_%']:.0f} / {line['other_%']:.0f}",
                    f"{share:.0f} %" if share >= 0.5 else "0",
                    _three(line["bound"]),
                    f"{line['kernel_samples']:.0f}",
                    f"{line['reversals']:.0f}",
                    *(_three(gains.loc[name, at]) for at in (DOUBLED, *RUN_POLICIES)),
                ),
            )
        )
    heads = ("size", "busy", "one way", "bound", "samples", "reversals", "doubled", *map(code, RUN_POLICIES))
    return ("workload", *heads), rows


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
