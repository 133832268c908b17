# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on training, beside what was published of the workloads."""

from __future__ import annotations

from ..page_layout import EMPTY, Frames, PageTable, bytes_of, significant
from .workloads import WORKLOADS

BACKENDS = ("ComP-Net", "GHN", "GPU-native", "GDS", "HDN")
GAINING = BACKENDS[:-1]  #: the last one is the baseline


def all_reduces(frames: Frames) -> PageTable:
    """The faster of ring and tree, by backend and size."""
    frame = frames["allreduce"]
    nodes = int(frame["nodes"].iloc[0])
    sizes = sorted(set(frame["bytes"]))
    rows = []
    for backend in BACKENDS:
        for name, part in frame.groupby("backend", sort=False):
            if str(name).partition(",")[0] != backend:
                continue
            best = {size: here.loc[here["time_us"].idxmin()] for size, here in part.groupby("bytes")}
            cells = (
                significant(3)(best[size]["time_us"]) + (" (tree)" if best[size]["algorithm"] == "tree" else "")
                for size in sizes
            )
            driver = str(name).partition(", ")[2].partition(" µs")[0]
            rows.append((f"… {driver} µs a launch for the driver" if driver not in ("", "0") else backend, *cells))
    return PageTable((f"µs an all-reduce, {nodes} nodes (ring or tree)", *map(bytes_of, sizes)), rows)


def speed_ups(frames: Frames) -> PageTable:
    """By workload and backend; in parentheses with a driver's time for launches."""
    frame = frames["workloads"]
    found = {(w, b, d): s for w, b, d, s in zip(*(frame[c] for c in ("workload", "backend", "driver_us", "speedup")))}
    slow = max(frame["driver_us"])
    rows = []
    for w in WORKLOADS:
        cells = [
            f"{found[w.name, b, 0]:.3f} ({found[w.name, b, slow]:.3f})" if (w.name, b, 0) in found else "–"
            for b in GAINING
        ]
        tensors = f"{len(w.tensors)}, {_size(4 * sum(w.tensors))}" if w.tensors else w.source
        rows.append((w.name, f"{100 * w.blocked:.0f} %, {w.reductions:,}", tensors, f"{w.bound:.3f}", *cells))
    return PageTable((EMPTY, "published: blocked, reductions", "tensors, bytes", "bound", *GAINING), rows)


def _size(size: int) -> str:
    return f"{significant(3)(size / 1e6)} MB" if size >= 1e6 else f"{size / 1e3:.0f} KB"
