# SPDX-License-Identifier: Apache-2.0
"""Runs every method to post at every size and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import plots, published
from .points import BY_HART, BY_LIBRARY, Point, Result, measure

US = 1e6
SIZES = (2, 64, 1024, 4096, 16 << 10, 32 << 10, 256 << 10, 1 << 20)
QUICK_SIZES = (2, 1024, 32 << 10)
MAX_BYTES = 4 << 20  #: of a run, as far as messages are many enough
QPS = 30
RING = 1024  #: entries, and messages of a small test, as published
#: As many lanes of a wavefront of 64 as a warp has.
WARP = 32


def runs(size: int) -> int:
    """The last one counts; what the first one has to find out once, translations above all, matters to small messages
    only."""
    return 2 if size <= 4096 else 1


def single(size: int) -> int:
    """Messages of one queue pair."""
    return max(8, min(RING, MAX_BYTES // size))


def each(size: int) -> int:
    """Messages of each of many; a power of two."""
    count = 64
    while count > 1 and count * size * QPS > 2 * MAX_BYTES:
        count //= 2
    return count


def _together(size: int, shape: str, batch: int = WARP) -> str:
    """Of `QPS` queue pairs, with a completion for as many messages as a warp has lanes."""
    count = each(size)
    signal = min(WARP, count)
    return f"{shape} messages={count} batch={min(batch, count)} signal={signal} window={max(count, 2)}"


#: What the firmware is told, by method and size.
METHODS = {
    "CPU, one at a time": lambda size: f"{BY_LIBRARY} gpu_payload=0 messages={single(size)}",
    "CPU, pipelined": lambda size: f"{BY_LIBRARY} gpu_payload=0 messages={single(size)} window={RING}",
    "CPU, pipelined, payload in the GPU": lambda size: (
        f"{BY_LIBRARY} gpu_payload=1 messages={single(size)} window={RING}"
    ),
    "CPU, 30 queue pairs": lambda size: _together(size, f"{BY_LIBRARY} gpu_payload=1 poster_groups={QPS}", 1),
    "CPU, 30 queue pairs, 32 requests a call": lambda size: _together(
        size, f"{BY_LIBRARY} gpu_payload=1 poster_groups={QPS}"
    ),
    "CPU, pipelined, pre-written entries": lambda size: (
        f"{BY_HART} gpu_payload=0 messages={single(size)} window={RING} reuse=1"
    ),
    "CPU, 30 queue pairs, pre-written entries": lambda size: _together(
        size, f"{BY_HART} gpu_payload=1 reuse=1 poster_groups={QPS}"
    ),
    "one at a time": lambda size: f"messages={single(size)}",
    "entries reused": lambda size: f"messages={single(size)} reuse=1",
    "pipelined": lambda size: f"messages={single(size)} reuse=1 window={RING}",
    "doorbells batched": lambda size: f"messages={single(size)} reuse=1 window={RING} batch={min(128, single(size))}",
    "32 lanes, one queue pair": lambda size: (
        f"messages={single(size)} reuse=1 window={RING} lanes={WARP} batch={min(WARP, single(size))}"
        f" signal={min(WARP, single(size))}"
    ),
    "queue pair a warp": lambda size: _together(size, f"reuse=1 poster_groups={QPS} lanes={WARP}"),
    "queue pair a block": lambda size: _together(size, f"reuse=1 groups={QPS} lanes={WARP}"),
}
QUICK_METHODS = (
    "CPU, one at a time",
    "CPU, 30 queue pairs",
    "CPU, 30 queue pairs, 32 requests a call",
    "CPU, 30 queue pairs, pre-written entries",
    "one at a time",
    "pipelined",
    "32 lanes, one queue pair",
    "queue pair a block",
)
BELOW_ROOT = ("one at a time", "queue pair a block")
#: Hart and lanes with as many queue pairs; what the hart does is said in the name.
BESIDE = {
    "": "CPU, 30 queue pairs",
    ", 32 requests a call": "CPU, 30 queue pairs, 32 requests a call",
    ", pre-written entries": "CPU, 30 queue pairs, pre-written entries",
}
#: Methods and sizes whose spread is measured; with --quick the first ones.
SPREAD = (
    ("CPU, 30 queue pairs", 2),
    ("queue pair a block", 2),
    ("one at a time", 32 << 10),
    ("one at a time", 1 << 20),
    ("pipelined", 32 << 10),
    ("queue pair a warp", 16 << 10),
    ("queue pair a block", 16 << 10),
)
QUICK_SPREAD = 2


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    sizes, methods = (QUICK_SIZES, QUICK_METHODS) if run.quick else (SIZES, tuple(METHODS))
    points = {
        (method, size): Point(
            f"size={size} runs={runs(size)} {METHODS[method](size)}", cost=2 if "queue pair" in method else 1
        )
        for method in methods
        for size in sizes
    }
    timed = {
        f"timed, {how}": Point(f"size=8 runs=2 messages={64 if run.quick else RING} timed=1 {how}".rstrip())
        for how in ("", "reuse=1")
    }
    root = {
        (method, size): Point(f"size={size} runs={runs(size)} {METHODS[method](size)}", "root", cost=2)
        for method in BELOW_ROOT
        for size in sizes
    }
    values = run.map(
        "methods and sizes",
        measure,
        [*points.values(), *timed.values(), *root.values()],
        lambda p: p.cost,
        lambda p: f"{p.topology}, {p.options}",
    )
    found = dict(zip(points, values))
    steps = dict(zip(timed, values[len(points) :]))
    below = dict(zip(root, values[len(points) + len(timed) :]))
    again_point = points["one at a time", sizes[0]]
    again = run.map("the same again", measure, [again_point], name=lambda p: p.options, fresh=True)[0]
    _rows(run, found, steps, below, sizes)
    _tables(run, found, below)
    values += _spread(run, points, found, timed["timed, "], steps["timed, "])
    check = run.report.check
    check("every byte is right at the far side", all(f.correct for f in values), f"{len(values)} runs")
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in values),
        "retries, dropped doorbells, unreadable entries",
    )
    check("a second run is the same to the picosecond", again == found["one at a time", sizes[0]], again_point.options)
    most = max(f.gbps for f in values)
    check("no more than the link carries", most < 54.55, f"at most {most:.1f} Gb/s of payload; FDR 4x has 54.54")
    _conclude(run, found, steps, sizes)


def _name(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def _rows(
    run: Run,
    found: dict[tuple[str, int], Result],
    steps: dict[str, Result],
    below: dict[tuple[str, int], Result],
    sizes: tuple[int, ...],
) -> None:
    row = run.report.row
    naive, reused = steps.values()
    row("one at a time, 8 B: a message", "µs", naive.each * US, published.NAIVE, published.PAPER)
    for name, known in published.STEPS.items():
        row(f"one at a time, 8 B: {name}", "µs", getattr(naive, name) * US, known, published.PAPER)
    row("what reused entries save", "µs", (naive.each - reused.each) * US, published.REUSE_SAVES, published.PAPER)
    for (method, size), f in found.items():
        known = published.GBPS.get((method, size))
        if known:
            row(f"{method}, {_name(size)}", "Gb/s", f.gbps, known, published.PAPER)
    for size in sizes:
        if size <= 1024:
            for how, method in BESIDE.items():
                row(
                    f"a queue pair a block over the CPU with as many{how}, {_name(size)}",
                    "1",
                    found["queue pair a block", size].gbps / found[method, size].gbps,
                    None if how else published.SPEEDUP[1],
                    f"{published.PAPER}: up to 3.8 (introduction), 4.5 (abstract)",
                )
            row(
                f"a queue pair a block over the CPU, one at a time, {_name(size)}",
                "1",
                found["queue pair a block", size].gbps / found["CPU, one at a time", size].gbps,
                None,
                "what is compared in the paper is not said in more detail",
            )
    for method in dict.fromkeys(method for method, _ in found):
        row(f"{method}, {_name(sizes[0])}", "M/s", 1e-6 / found[method, sizes[0]].each, None, "messages a second")
        row(
            f"{method}, {_name(sizes[-1])}",
            "Gb/s",
            found[method, sizes[-1]].gbps,
            published.GBPS.get((method, sizes[-1])),
            published.PAPER if (method, sizes[-1]) in published.GBPS else "payload",
        )
    for method in BELOW_ROOT:
        row(
            f"{method}, {_name(sizes[-1])}, below root ports",
            "Gb/s",
            below[method, sizes[-1]].gbps,
            None,
            "published: an Intel root complex lets an adapter read a GPU's memory at half the rate at which it"
            " writes it",
        )


def _tables(run: Run, found: dict[tuple[str, int], Result], below: dict[tuple[str, int], Result]) -> None:
    def lines(part: dict[tuple[str, int], Result], topology: str) -> list[dict[str, object]]:
        return [
            {
                "topology": topology,
                "method": method,
                "bytes": size,
                "messages": f.messages,
                "us_a_message": f.each * US,
                "million_per_s": 1e-6 / f.each,
                "gbps": f.gbps,
                "polls": f.polls,
            }
            for (method, size), f in part.items()
        ]

    frame = pandas.DataFrame(lines(found, "switch"))
    run.report.plot(
        "throughput",
        plots.throughput(frame),
        "Writes to the other node's host memory by size and method to post, GPU and adapter below one PCIe switch",
    )
    run.report.table(
        "throughput",
        pandas.DataFrame(lines(found, "switch") + lines(below, "root")).round(6),
        "The second of two runs; of messages above 4 KiB the first.",
        shown=130,
    )


def _spread(
    run: Run, points: dict[tuple[str, int], Point], found: dict[tuple[str, int], Result], timed: Point, naive: Result
) -> list[Result]:
    """Headline figures on machines with perturbed clocks. Gives all runs."""
    keys = [key for key in (SPREAD[:QUICK_SPREAD] if run.quick else SPREAD) if key in points]
    what = {key: f"{key[0]}, {_name(key[1])}" for key in keys}
    one = "one at a time, 8 B"
    by = perturbed(
        run,
        {one: timed, **{what[key]: points[key] for key in keys}},
        {one: naive, **{what[key]: found[key] for key in keys}},
        measure,
        lambda p: p.cost,
    )
    lines = {f"{one}, µs a message": [f.each * US for f in by[one]]}
    for key in keys:
        if key[1] < 1024:
            lines[f"{what[key]}, M/s"] = [1e-6 / f.each for f in by[what[key]]]
        else:
            lines[f"{what[key]}, Gb/s"] = [f.gbps for f in by[what[key]]]
    cpu, gpu = (by[what[key]] for key in SPREAD[:QUICK_SPREAD])
    lines["a queue pair a block over the CPU with as many, 2 B"] = [b.gbps / a.gbps for a, b in zip(cpu, gpu)]
    run.report.table("spread", spread_table(lines), CAPTION)
    return [f for results in by.values() for f in results]


def _conclude(run: Run, found: dict[tuple[str, int], Result], steps: dict[str, Result], sizes: tuple[int, ...]) -> None:
    naive, reused = steps.values()
    small, large = sizes[0], sizes[-1]
    run.report.conclude(
        f"One lane that does one message after the other needs {naive.each * US:.2f} µs for each (published 5.8):"
        f" {naive.writing * US:.2f} to write the entry (1.6), {naive.ringing * US:.2f} to ring (1.5),"
        f" {naive.polling * US:.2f} until it has seen the completion (3.1). Entries that are only renewed save"
        f" {(naive.each - reused.each) * US:.2f} µs (0.76).",
        f"Messages of {_name(small)} a second, in millions: one at a time"
        f" {1e-6 / found['one at a time', small].each:.2f}, pipelined {1e-6 / found['pipelined', small].each:.2f}, 32"
        f" lanes on one queue pair {1e-6 / found['32 lanes, one queue pair', small].each:.2f}, thirty blocks with a"
        f" queue pair each {1e-6 / found['queue pair a block', small].each:.1f}; the CPU one at a time"
        f" {1e-6 / found['CPU, one at a time', small].each:.2f}, over thirty queue pairs"
        f" {1e-6 / found['CPU, 30 queue pairs', small].each:.1f}, with 32 requests a call"
        f" {1e-6 / found['CPU, 30 queue pairs, 32 requests a call', small].each:.1f}, with entries written before"
        f" {1e-6 / found['CPU, 30 queue pairs, pre-written entries', small].each:.1f}.",
        f"At {_name(large)} thirty queue pairs carry {found['queue pair a block', large].gbps:.1f} Gb/s, one lane one"
        f" at a time {found['one at a time', large].gbps:.1f}.",
    )
