# SPDX-License-Identifier: Apache-2.0
"""Runs the methods to post on both machines and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from . import plots, published
from .points import Point, Result, measure

US = 1e6
MACHINES = {"gpurdma_modern": "H200, ConnectX-7", "gpurdma_pair": "K40c, Connect-IB"}
NEW, OLD = MACHINES
LINE_GBPS = {NEW: 200.0, OLD: 54.54}
FENCES = {"no fence": "none", "a fence of the GPU": "agent", "a fence of system scope": "system"}
QPS = 128
MAX_BYTES = 8 << 20  #: of a run that measures bandwidth
SIZES, QUICK_SIZES = (128, 256, 512, 1024, 2048, 4096, 8192, 32768), (256, 1024, 8192)
BATCHES, QUICK_BATCHES = (1, 2, 4, 8, 16, 32, 64), (1, 4, 32)
Key = tuple[str, str, object]  #: machine, what, which


def _many(size: int, pairs: int) -> str:
    """Of each of many queue pairs, a power of two."""
    count = 64
    while count > 2 and count * size * pairs > MAX_BYTES:
        count //= 2
    batch = min(32, count)
    return f"groups={pairs} lanes=32 messages={count} batch={batch} signal={batch} window={count} reuse=1 size={size}"


def _points(quick: bool) -> dict[Key, Point]:
    points: dict[Key, Point] = {}
    messages, pairs = (64, 32) if quick else (512, QPS)
    for machine in MACHINES:

        def add(what: str, which: object, options: str, machine: str = machine) -> None:
            points[machine, what, which] = Point(
                f"runs=2 {options}", "own", machine=machine, cost=4 if "groups" in options else 1
            )

        for name, fence in FENCES.items():
            add("alone", name, f"messages={messages} inline=1 timed=1 fence={fence}")
        add("alone", "not inline", f"messages={messages} timed=1 fence=agent")
        for batch in QUICK_BATCHES if quick else BATCHES:
            add("batch", batch, f"messages=1024 inline=1 window=256 fence=agent batch={batch} signal=64")
        add(
            "rate",
            "32 lanes, one queue pair",
            "messages=1024 inline=1 window=256 fence=agent lanes=32 batch=32 signal=32",
        )
        add(
            "rate",
            "many queue pairs",
            f"groups={pairs} lanes=32 messages=64 inline=1 fence=agent batch=32 signal=32 window=64",
        )
        for size in QUICK_SIZES if quick else SIZES:
            add(
                "size, 32 lanes, one queue pair",
                size,
                f"messages={max(32, min(1024, MAX_BYTES // size))} size={size} window=256 fence=agent reuse=1 lanes=32"
                " batch=32 signal=32",
            )
            add("size, many queue pairs", size, _many(size, pairs))
    return points


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    points = _points(run.quick)
    found = dict(
        zip(
            points,
            run.map(
                "methods and machines",
                measure,
                list(points.values()),
                lambda p: p.cost,
                lambda p: f"{MACHINES[p.machine]}: {p.options}",
            ),
        )
    )
    first = (NEW, "alone", "a fence of the GPU")
    again = run.map("the same again", measure, [points[first]], name=lambda p: p.options, fresh=True)[0]
    _rows(run, found)
    _tables(run, found)
    check = run.report.check
    check("every byte is right at the far side", all(f.correct for f in found.values()), f"{len(found)} runs")
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in found.values()),
        "retries, dropped doorbells, unreadable entries",
    )
    check("a second run is the same to the picosecond", again == found[first], points[first].options)
    for machine, line in LINE_GBPS.items():
        most = max(f.gbps for (m, *_), f in found.items() if m == machine)
        check(
            f"no more than the link carries, {MACHINES[machine]}",
            most < line,
            f"at most {most:.1f} Gb/s of payload of {line:g}",
        )
    _conclude(run, found)


def _rate(f: Result) -> float:
    return 1e-6 / f.each


def _nine_tenths(found: dict[Key, Result], machine: str, what: str) -> float:
    """Smallest size that moves nine tenths of the line rate; nan if none does."""
    sizes = [
        which
        for (m, w, which), f in found.items()
        if m == machine and w == what and isinstance(which, int) and f.gbps > 0.9 * LINE_GBPS[machine]
    ]
    return float(min(sizes)) if sizes else float("nan")


def _rows(run: Run, found: dict[Key, Result]) -> None:
    for machine, name in MACHINES.items():
        modern = machine == NEW

        def row(
            figure: str, unit: str, measured: float, known: float | None = None, name: str = name, modern: bool = modern
        ) -> None:
            run.report.row(
                f"{name}: {figure}",
                unit,
                measured,
                known if modern else None,
                published.MODERN if modern and known else "the same kernel",
            )

        for fence, (issue, whole) in published.FENCES.items():
            f = found[machine, "alone", fence]
            row(f"to issue a write of 8 B, {fence}", "µs", (f.writing + f.ringing) * US, issue)
            row(f"until its completion is seen, {fence}", "µs", f.each * US, whole)
        f = found[machine, "alone", "a fence of the GPU"]
        row("from the doorbell to the completion", "µs", f.polling * US, published.SEEN)
        row(
            "payload that does not stand in the entry: more",
            "µs",
            (found[machine, "alone", "not inline"].each - f.each) * US,
            published.NOT_INLINE,
        )
        row("one lane", "M/s", _rate(found[machine, "batch", 1]), published.MODERN_RATES["one lane"])
        row("one lane, 32 entries a doorbell", "M/s", _rate(found[machine, "batch", 32]))
        for method in ("32 lanes, one queue pair", "many queue pairs"):
            row(method, "M/s", _rate(found[machine, "rate", method]), published.MODERN_RATES[method])
        for method, known in zip(("many queue pairs", "32 lanes, one queue pair"), published.NINE_TENTHS):
            row(
                f"nine tenths of the line rate from, {method}",
                "B",
                _nine_tenths(found, machine, f"size, {method}"),
                float(known),
            )


def _tables(run: Run, found: dict[Key, Result]) -> None:
    frame = pandas.DataFrame(
        [
            {
                "machine": MACHINES[machine],
                "what": what,
                "which": str(which),
                "bytes": f.size,
                "us": f.each * US,
                "writing_us": f.writing * US,
                "ringing_us": f.ringing * US,
                "polling_us": f.polling * US,
                "million_per_s": _rate(f),
                "gbps": f.gbps,
            }
            for (machine, what, which), f in found.items()
        ]
    )
    run.report.plot(
        "modern",
        plots.modern(frame),
        "Messages a second of one lane by entries a doorbell, and bandwidth by size, on both machines",
    )
    run.report.table("modern", frame.round(6), "All runs. `batch`: one lane, by entries a doorbell.", shown=80)


def _conclude(run: Run, found: dict[Key, Result]) -> None:
    new = {fence: found[NEW, "alone", fence] for fence in FENCES}
    issue = {fence: (f.writing + f.ringing) * US for fence, f in new.items()}
    one, batched = _rate(found[NEW, "batch", 1]), _rate(found[NEW, "batch", 32])
    warp, many = (_rate(found[NEW, "rate", method]) for method in ("32 lanes, one queue pair", "many queue pairs"))
    ordered = (
        1.02 * issue["no fence"] < issue["a fence of the GPU"]
        and 1.02 * issue["a fence of the GPU"] < issue["a fence of system scope"]
    )
    run.report.conclude(
        f"To issue a write takes {issue['no fence']:.2f} µs without fences (published 0.19),"
        f" {issue['a fence of the GPU']:.2f} with fences of the GPU (0.70), {issue['a fence of system scope']:.2f} with"
        " fences of system scope (2.62): "
        + (
            "the order is the published one."
            if ordered
            else "both kinds of fences wait for L2 here, and none for PCIe, so the last one costs too little."
        ),
        f"One lane posts {one:.2f} M messages a second (1.8), with 32 entries a doorbell {batched:.2f}; 32 lanes on one"
        f" queue pair {warp:.1f} (21.6), many queue pairs {many:.0f} (260): "
        + ("the published order." if one < warp < many else "not the published order."),
    )
