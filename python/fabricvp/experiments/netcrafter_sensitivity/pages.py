# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on what NetCrafter's gains depend on."""

from __future__ import annotations

from collections.abc import Callable

import pandas

from ..netcrafter.points import BASELINE, IDEAL
from ..page_layout import EMPTY, Frames, PageTable, code, fixed, geometric

PARTS = {
    IDEAL: "all-fast fabric",
    "stitching": "stitching",
    "trimming": "trimming",
    "sequencing": "sequencing",
    "data-first": "as much data first",
    "all": "all parts",
}
POOLING = {"pooling": "plain pooling", "selective-pooling": "selective pooling"}
#: Workloads whose figures the page shows beside means: those in which pooling and rates matter in different ways.
WINDOW_SHOWN, RATES_SHOWN = ("gups", "mis"), ("gups", "pagerank", "mis")
PAGES = {
    "contiguous": "contiguous",
    "interleaved": "interleaved",
    "lasp": "LASP",
    "first_touch_recorded": "first touch, settled",
}
GROUPS = {"contiguous": "contiguous", "round_robin": "in turns", "lasp": "LASP"}
NO_WALK_CACHE = ", no walk cache"
_three = fixed(3)


def _order(frame: pandas.DataFrame, column: str) -> list[str]:
    return list(dict.fromkeys(frame[column]))


def _speed_up(frame: pandas.DataFrame, **where: str) -> float:
    """Geometric mean of the lines with these values."""
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return geometric(frame["speed_up"])


def parts(frames: Frames) -> PageTable:
    """Each part alone and all of them, by workload."""
    frame = frames["parts"]
    workloads = _order(frame, "workload")
    rows = [
        (
            label,
            *(_three(_speed_up(frame, point=point, workload=w)) for w in workloads),
            _three(_speed_up(frame, point=point)),
        )
        for point, label in PARTS.items()
    ]
    return PageTable(("parts", *map(code, workloads), "mean"), rows)


def window(frames: Frames) -> PageTable:
    """Means by pooling window, and two workloads; a window of 0 is stitching alone."""
    frame, alone = frames["window"], frames["parts"]
    windows = _order(frame, "setting")
    rows = [
        (
            label,
            _three(_speed_up(alone, point="stitching")),
            *(_three(_speed_up(frame, point=point, setting=w)) for w in windows),
        )
        for point, label in POOLING.items()
    ]
    for name in (n for n in WINDOW_SHOWN if n in set(frame["workload"])):
        both = (
            ", ".join(_three(_speed_up(frame, point=p, setting=w, workload=name)) for p in POOLING) for w in windows
        )
        none = _three(_speed_up(alone, point="stitching", workload=name))
        rows.append((f"… {code(name)}: plain, selective", none, *both))
    return PageTable(("window, cycles", "0", *(w.partition(" ")[0] for w in windows)), rows)


def _choices(sweep: str, *heads: str) -> Callable[[Frames], PageTable]:
    """By setting, whose name has a part for each column but the last of `heads`, and by design point; workloads beside
    each other, and their mean."""

    def table(frames: Frames) -> PageTable:
        frame = frames[sweep]
        frame = frame[frame["point"] != BASELINE]
        workloads = _order(frame, "workload")
        rows = []
        for setting in _order(frame, "setting"):
            for point in _order(frame, "point"):
                where = {"setting": setting, "point": point}
                cells = (_three(_speed_up(frame, **where, workload=w)) for w in workloads)
                label = (PARTS | POOLING)[point]
                rows.append((*setting.split(", ", len(heads) - 1), label, *cells, _three(_speed_up(frame, **where))))
        return PageTable((*heads, "parts", *map(code, workloads), "mean"), rows)

    return table


timer = _choices("timer", "window from", "kept of the queue")
walks = _choices("walks", "first")
riders = _choices("riders", "in a flit")
predictor = _choices("predictor", "trimmed")


def predictions(frames: Frames) -> PageTable:
    """By workload, with trimming alone: lines that were reused, and requests that asked for their line, by history."""
    frame = frames["predictor"]
    frame = frame[(frame["point"] == "trimming") & frame["trimmed"].notna()]

    def share(line: pandas.Series, part: str, other: str) -> str:
        every = line[part] + line[other]
        return f"{100 * line[part] / every:.1f} %" if every else EMPTY

    rows = []
    for workload, part in frame.groupby("workload", sort=False):
        lines = [line for _, line in part.iterrows()]
        kept = (share(line, "kept_whole", "trimmed") for line in lines)
        rows.append((code(workload), share(lines[-1], "reused", "unused"), *kept))
    return PageTable((EMPTY, "lines reused", *(f"whole, {s}" for s in _order(frame, "setting"))), rows)


def links(frames: Frames) -> PageTable:
    """All parts by rates inside and between clusters."""
    frame = frames["rates"]
    frame = frame[frame["point"] == "all"]
    settings = _order(frame, "setting")
    rows = [("mean", *(_three(_speed_up(frame, setting=s)) for s in settings))]
    for name in (n for n in RATES_SHOWN if n in set(frame["workload"])):
        rows.append((code(name), *(_three(_speed_up(frame, setting=s, workload=name)) for s in settings)))
    return PageTable((EMPTY, *settings), rows)


def tlbs(frames: Frames) -> PageTable:
    """Speed-up of `gups` by entries of a GPU's TLB, with and without page-walk caches."""
    frame = frames["tlb"]
    frame = frame[frame["workload"] == "gups"]
    entries = [s for s in _order(frame, "setting") if not s.endswith(NO_WALK_CACHE)]
    rows = []
    for behind in ("", NO_WALK_CACHE):
        for point in ("sequencing", "all"):
            if set(frame["setting"]) >= {e + behind for e in entries}:
                cells = (_three(_speed_up(frame, point=point, setting=e + behind)) for e in entries)
                rows.append((PARTS[point] + behind.replace("cache", "caches"), *cells))
    heads = [f"{e} entries" if i == 0 else e for i, e in enumerate(entries)]
    return PageTable((f"speed-up of {code('gups')}", *heads), rows)


def placement(frames: Frames) -> PageTable:
    """All parts, and in brackets the baseline's slow-down, by where pages lie and work-groups run."""
    frame = frames["policies"]
    settings = set(frame["setting"])

    def there(names: dict[str, str], key: Callable[[str], str]) -> list[str]:
        return [name for name in names if any(key(s) == name for s in settings)]

    pages, groups = there(PAGES, lambda s: s.partition(", ")[0]), there(GROUPS, lambda s: s.partition(", ")[2])

    def cell(setting: str) -> str:
        if setting not in settings:
            return EMPTY
        gain, slow = (_speed_up(frame, setting=setting, point=point) for point in ("all", IDEAL))
        return f"{_three(gain)} ({_three(slow)})"

    rows = [(PAGES[p], *(cell(f"{p}, {g}") for g in groups)) for p in pages]
    return PageTable(("pages \\\\ work-groups", *(GROUPS[g] for g in groups)), rows)
