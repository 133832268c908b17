# SPDX-License-Identifier: Apache-2.0
"""Tables of the experiment's page."""

from __future__ import annotations

from ..page_layout import Frames, PageTable, bytes_of, fixed, pivoted, significant


def _count(groups: int) -> str:
    return "one work-group" if groups == 1 else f"{groups} work-groups"


def round_trips(frames: Frames) -> PageTable:
    """Round trips by size."""
    frame = frames["sizes"]
    frame = frame[frame["bytes"].isin([8, 64, 1024, 4096, 65536])]
    return pivoted(frame, "round trip, µs", "backend", "bytes", "round_trip_us", significant(3), column_name=bytes_of)


def distance(frames: Frames) -> PageTable:
    """Round trips by the host's distance."""
    heading = "at each end of the link to the root complex"
    return pivoted(
        frames["bus"], heading, "backend", "bus_ns", "round_trip_us", fixed(2), column_name=lambda ns: f"{ns} ns"
    )


def work_groups(frames: Frames) -> PageTable:
    """Many work-groups, by threads."""
    frame = frames["threads"]
    many = int(frame["groups"].max())
    frame = frame[frame["groups"] == many]
    return pivoted(
        frame, f"{many} work-groups, µs", "backend", "threads", "round_trip_us", significant(3),
        column_name=lambda n: "1 thread" if n == 1 else str(n),
    )  # fmt: skip


def wider_cores(frames: Frames) -> PageTable:
    """Columns are pairs of cores, narrow to wide; lines a backend with few and with many work-groups."""
    frame = frames["cores"]
    rows = []
    for (backend, groups), part in frame.groupby(["backend", "groups"], sort=False):
        figures = part.sort_values("instructions_a_cycle")["round_trip_us"]
        name = f"{backend}, one work-group" if groups == 1 else f"… {groups} work-groups"
        rows.append((name, *map(significant(3), figures)))
    return PageTable(("µs, instructions a cycle", "1", "1.5 (command processor), 2 (CPU)", "2, 4"), rows)


def queues(frames: Frames) -> PageTable:
    """Where requests lie."""
    names = {"host": "host memory", "gpu": "GPU memory, read through the BAR"}
    return pivoted(
        frames["queues"], "round trip, µs, queues in", "queues", "groups", "round_trip_us", significant(3),
        row_name=lambda memory: names[memory], column_name=lambda n: f"{n} work-groups",
    )  # fmt: skip


def waits(frames: Frames) -> PageTable:
    """Rows are backends by work-groups; GHN ÷ ComP-Net last."""
    frame, waits = frames["waits"], ("sleep", "poll")
    by = {(b, g, w): uj for b, g, w, uj in zip(*(frame[k] for k in ("backend", "groups", "wait", "uJ_of_all")))}
    rows = []
    for groups in dict.fromkeys(frame["groups"]):
        count = _count(groups)
        rows += [
            (f"{backend}, {count}", *(significant(3)(by[backend, groups, w]) for w in waits))
            for backend in dict.fromkeys(frame["backend"])
        ]
        ratios = (fixed(2)(by["GHN", groups, w] / by["ComP-Net", groups, w]) for w in waits)
        rows.append((f"GHN ÷ ComP-Net, {count}", *ratios))
    return PageTable(("µJ a request, both nodes", "the host sleeps", "the host polls"), rows)


def attachments(frames: Frames) -> PageTable:
    """Where GPU and adapter are."""
    frame = frames["attachments"]
    frame = frame.assign(who=[f"{b}, {_count(n)}" for b, n in zip(frame["backend"], frame["groups"])])
    return pivoted(
        frame, "round trip, µs", "who", "attachment", "round_trip_us", significant(3),
        list(dict.fromkeys(frame["who"])), missing="–",
    )  # fmt: skip
