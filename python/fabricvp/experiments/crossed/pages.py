# SPDX-License-Identifier: Apache-2.0
"""Tables of the page that holds all combinations against each other."""

from __future__ import annotations

import pandas

from ..page_layout import EMPTY, Frames, PageTable, bold, in_percent, significant

#: Combinations that the page names: NetCrafter, lanes, backend, queues.
NAMED = {
    "ComP-Net: command processor, queues in the GPU, neither NetCrafter nor lanes": (False, False, "ComP-Net", "GPU"),
    "GPUrdma: lanes post, queues in the GPU, neither": (False, False, "GPU-native", "GPU"),
    "all on: ComP-Net with NetCrafter and reversible lanes": (True, True, "ComP-Net", "GPU"),
}
KEYS = ["netcrafter", "lanes", "backend", "queues"]
#: Settings as the page calls them, by factor and setting.
SETTINGS = {
    ("netcrafter", "on"): "NetCrafter",
    ("lanes", "on"): "reversible lanes",
    ("queues", "host"): "queues in the host's memory instead of the GPU's",
}


def _label(line: pandas.Series) -> str:
    return (
        f"NetCrafter {'on' if line['netcrafter'] else 'off'}, lanes {'reversible' if line['lanes'] else 'fixed'},"
        f" {line['backend']}, queues in the {line['queues']}"
    )


def summary(frames: Frames) -> PageTable:
    """Time of a step: the best, those that the page names, the worst."""
    frame = frames["combinations"]
    workloads, four = list(dict.fromkeys(frame["workload"].sort_values())), significant(4)
    parts = {w: frame[frame["workload"] == w] for w in workloads}
    best, worst = ({w: p.loc[getattr(p["step_us"], find)()] for w, p in parts.items()} for find in ("idxmin", "idxmax"))
    rows = [("best", *(f"{bold(four(best[w]['step_us']))}: {_label(best[w])}" for w in workloads))]
    for label, key in NAMED.items():
        by = {w: p.set_index(KEYS)["step_us"].to_dict() for w, p in parts.items()}
        if all(key in figures for figures in by.values()):
            rows.append((label, *(four(by[w][key]) for w in workloads)))
    rows.append(("worst", *(f"{four(worst[w]['step_us'])}: {_label(worst[w])}" for w in workloads)))
    return PageTable(("µs a step", *workloads), rows)


def settings(frames: Frames) -> PageTable:
    """What each setting saves: mean, smallest and largest."""
    frame = frames["gains"]
    workloads, signed, plain = sorted(set(frame["workload"])), in_percent(1, sign=True), in_percent()
    rows = []
    for (factor, setting, against), part in frame.groupby(["factor", "setting", "against"], sort=False):
        by = part.set_index("workload")
        cells = []
        for w in workloads:
            mean, least, most = (float(by.loc[w, c]) for c in ("saved", "min", "max"))
            span = f" ({plain(least)} … {plain(most)})" if plain(least) != plain(most) else ""
            cells.append(signed(mean) + span)
        rows.append((SETTINGS.get((factor, setting), f"{setting} instead of {against}"), *cells))
    return PageTable((EMPTY, *workloads), rows)
