# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on fidelity."""

from __future__ import annotations

import re

from ...sweeps.progress import duration
from ..page_layout import EMPTY, Frames, PageTable, as_published, fixed, significant

_three = significant(3)


def summary(frames: Frames) -> PageTable:
    """Verdicts by system."""
    rows = [
        (
            line.system,
            f"{line.figures}",
            f"{line.agrees}",
            f"{line.near}",
            f"{line.misses}",
            fixed(2)(line.median_ratio),
        )
        for line in frames["summary"].itertuples()
        if line.figures
    ]
    return PageTable(("system", "figures", "agree", "near", "miss", "median of ours over published"), rows)


#: What README.md shows of each system: experiment, figure, what it is in a few words, and the page from there.
HEADLINES = (
    (
        "pcie-congestion",
        "τ: penalty of crossing the root complex",
        "penalty of crossing a Cray CS-Storm's root complex",
    ),
    ("rdma", "latency, write, 2 B", "RDMA write of 2 bytes by a ConnectX adapter, µs"),
    ("rdma", "latency, read, 2 B", "RDMA read of 2 bytes by a ConnectX adapter, µs"),
    ("netcrafter", "all: speed-up, arithmetic mean", "speed-up by NetCrafter, mean"),
    ("netcrafter", "ideal: speed-up, arithmetic mean", "speed-up where all links are fast, mean"),
    ("lanes", "milic2017 policy: speed-up, mean", "speed-up by reversible lanes, mean"),
)


def accuracy(frames: Frames) -> PageTable:
    """The best known figure of systems."""
    lines = {(line.experiment, line.figure): line for line in frames["figures"].itertuples()}
    rows = [
        (
            f"[{words}](docs/experiments/{experiment.replace('-', '_')}.md)",
            as_published(line.published),
            _three(line.measured),
            re.split(r"[:;]| \(", line.source)[0],
        )
        for experiment, figure, words in HEADLINES
        if (line := lines.get((experiment, figure)))
    ]
    return PageTable(("compared with", "published", "ours", "source"), rows)


def figures(frames: Frames) -> PageTable:
    """Each published figure with ours and what makes it miss."""
    rows = []
    for line in frames["figures"].itertuples():
        why = line.why if isinstance(line.why, str) and line.why else EMPTY
        name = (
            f"`{line.experiment}`: {line.figure}, {line.unit}"
            if line.unit != "1"
            else f"`{line.experiment}`: {line.figure}"
        )
        rows.append(
            (name, as_published(line.published), _three(line.measured), fixed(2)(line.ratio), line.verdict, why)
        )
    return PageTable(("figure", "published", "ours", "ratio", "verdict", "what makes it miss"), rows)


def machines(frames: Frames) -> PageTable:
    """Figures of two machines beside what was published."""
    rows = [
        (line.figure, as_published(line.published), _three(line.as_published), _three(line.today))
        for line in frames["machines"].itertuples()
    ]
    return PageTable(("figure", "published", "GPUs as the study had them", "GPUs of today"), rows)


def results(frames: Frames) -> PageTable:
    """Which results the figures come from."""
    rows = [
        (f"`{line.experiment}`", line.state, line.date if isinstance(line.date, str) and line.date else EMPTY)
        for line in frames["results"].itertuples()
    ]
    return PageTable(("experiment", "result", "date"), rows)


def costs(frames: Frames) -> PageTable:
    """What results took, beside the budget of their experiment."""
    rows = [
        (
            f"`{line.command}`",
            duration(line.core_s),
            duration(line.budget_s) if line.budget_s == line.budget_s else EMPTY,
            line.date,
        )
        for line in frames["costs"].itertuples()
    ]
    return PageTable(("command", "time of a core", "budget", "date"), rows)
