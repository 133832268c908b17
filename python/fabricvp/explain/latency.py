# SPDX-License-Identifier: Apache-2.0
"""What was waited for, where no resource was busy: stalls of wavefronts, mean latencies, spans."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .durations import duration
from .run import Window

_STALLS = {
    "stall_memory": "data",
    "stall_queue": "the memory unit or the LDS",
    "stall_fetch": "instructions",
    "stall_fence": "fences",
    "stall_barrier": "barriers",
    "stall_result": "results of instructions",
    "stall_simd": "their SIMD unit",
}

#: Histograms of latencies: a pattern of paths, and what took that long.
_LATENCIES = (
    (r".+\.memory\.unit\d+\.load_latency", "a load of a wavefront"),
    (r".+\.memory\.unit\d+\.l1\.miss_latency", "an L1 miss"),
    (r".+\.memory\.unit\d+\.tlb\.miss_latency", "an L1 TLB miss"),
    (r".+\.fabric\.same_cluster\.read_latency", "a read in the same cluster"),
    (r".+\.fabric\.other_cluster\.read_latency", "a read in another cluster"),
    (r".+\.system\.read_latency", "a read of host memory by a GPU"),
    (r".+\.dma\.read_latency", "a read over PCIe"),
    (r".+\.host_requests\.read_latency", "a register read of the host over PCIe"),
    (r".+\.requester\.latency", "an RDMA message"),
)


def latency_lines(window: Window, whole: Window) -> Iterator[str]:
    """One line each for stalls of wavefronts, the longest latencies in sum, and spans, where there are any."""
    if stalls := _stalls(window):
        yield f"wavefronts waited for {stalls}"
    if latencies := _latencies(window):
        yield f"latency, mean and number: {latencies}"
    if spans := _spans(whole):
        yield f"spans of the whole run, longest in sum: {spans}"


def _stalls(window: Window) -> str:
    sums = dict.fromkeys(("residency", *_STALLS), 0.0)
    for path, value in window.statistics.items():
        name = path.rpartition(".")[2]
        if name in sums and ".compute_unit" in path:
            sums[name] += value
    if not sums["residency"]:
        return ""
    shares = sorted(((sums[name] / sums["residency"], what) for name, what in _STALLS.items()), reverse=True)
    return ", ".join(f"{what} {share:.0%}".replace("%", " %") for share, what in shares[:3] if share >= 0.01)


def _latencies(window: Window) -> str:
    found = []
    for pattern, what in _LATENCIES:
        matches = re.compile(pattern + r"\.sum")
        paths = [path[:-4] for path in window.statistics if matches.fullmatch(path)]
        total = sum(window.statistics[f"{path}.sum"] for path in paths)
        number = sum(window.statistics.get(f"{path}.count", 0.0) for path in paths)
        if number:
            found.append((total, f"{what} {duration(total / number / 1e12)} ({number:.0f})"))
    return ", ".join(text for _, text in sorted(found, reverse=True)[:3])


def _spans(whole: Window) -> str:
    found = []
    for path, value in whole.statistics.items():
        if path.endswith((".spans.queueing_ps", ".spans.service_ps")) and value:
            kind = path.rpartition(".")[2].removesuffix("_ps")
            found.append((value, f"{path.partition('.spans.')[0]} {kind} {duration(value / 1e12)}"))
    return ", ".join(text for _, text in sorted(found, reverse=True)[:3])
