# SPDX-License-Identifier: Apache-2.0
"""Runs the methods to post on both machines and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import plots, published, round_trip
from .points import Point, Result, measure

US = 1e6
MACHINES = {"gpurdma_modern": "H200, ConnectX-7", "gpurdma_pair": "K40c, Connect-IB"}
NEW, OLD = MACHINES
LINE_GBPS = {NEW: 200.0, OLD: 54.54}
RELEASE = "node.gpus.*.system.release"
#: What stands in front of the doorbell: option of the firmware, settings of the machine. What a release of system scope
#: waits for is not published of either GPU; the machine's own form, behind writes, is set beside the published figure.
FENCES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "no fence": ("none", ()),
    "a fence of the GPU": ("agent_doorbell", ()),
    "a fence of the GPU in front of the record, too": ("agent", ()),
    "a fence of system scope": ("doorbell", ()),
    "a fence of system scope that never waits for PCIe": ("doorbell", ((RELEASE, "never"),)),
    "a fence of system scope that always waits": ("doorbell", ((RELEASE, "always"),)),
    "a fence of system scope in front of the record, too": ("system", ()),
}
FENCE = "fence=agent_doorbell"  #: of everything else
#: What releases of system scope, which the program of round trips has, wait for: settings, whether the published figure
#: stands beside it. It is one with fences of the GPU, as those are that never wait for PCIe.
ROUND_TRIPS: dict[str, tuple[tuple[tuple[str, str], ...], bool]] = {
    "a fence that never waits for PCIe": (((RELEASE, "never"),), True),
    "a fence of system scope": ((), False),
}
QPS = 128
MAX_BYTES = 8 << 20  #: of a run that measures bandwidth
SIZES, QUICK_SIZES = (128, 256, 512, 1024, 2048, 4096, 8192, 32768), (256, 1024, 8192)
BATCHES, QUICK_BATCHES = (1, 2, 4, 8, 16, 32, 64), (1, 16, 32)
#: Queue pairs of a lane each, 16 entries a doorbell unless said otherwise.
SHAPES = {
    "64 queue pairs, a work-group each": "groups=64",
    "64 queue pairs in one work-group": "poster_groups=64",
    "32 queue pairs in one work-group": "poster_groups=32",
    "16 queue pairs, a work-group each": "groups=16",
    "16 queue pairs, a work-group each, an entry a doorbell": "groups=16 batch=1",
}
Key = tuple[str, str, object]  #: machine, what, which


def _many(size: int, pairs: int) -> str:
    """Of each of many queue pairs, a power of two."""
    count = 64
    while count > 2 and count * size * pairs > MAX_BYTES:
        count //= 2
    batch = min(32, count)
    return (
        f"groups={pairs} lanes=32 messages={count} batch={batch} signal={batch} window={count} reuse=1 size={size}"
        f" {FENCE}"
    )


def _points(quick: bool) -> dict[Key, Point]:
    points: dict[Key, Point] = {}
    messages, pairs = (64, 32) if quick else (512, QPS)
    for machine in MACHINES:

        def add(
            what: str, which: object, options: str, settings: tuple[tuple[str, str], ...] = (), machine: str = machine
        ) -> None:
            points[machine, what, which] = Point(
                f"runs=2 {options}", "own", machine=machine, cost=4 if "groups" in options else 1, settings=settings
            )

        for name, (fence, settings) in FENCES.items():
            add("alone", name, f"messages={messages} inline=1 timed=1 fence={fence}", settings)
        add("alone", "not inline", f"messages={messages} timed=1 {FENCE}")
        for batch in QUICK_BATCHES if quick else BATCHES:
            add("batch", batch, f"messages=1024 inline=1 window=256 {FENCE} batch={batch} signal=64")
        add(
            "rate", "32 lanes, one queue pair", f"messages=1024 inline=1 window=256 {FENCE} lanes=32 batch=32 signal=32"
        )
        add(
            "rate",
            "many queue pairs",
            f"groups={pairs} lanes=32 messages=64 inline=1 {FENCE} batch=32 signal=32 window=64",
        )
        for shape, how in SHAPES.items():
            batch = "" if "batch" in how else " batch=16"
            add("rate", shape, f"{how}{batch} messages={128 if quick else 1024} signal=16 window=64 inline=1 {FENCE}")
        for size in QUICK_SIZES if quick else SIZES:
            add(
                "size, 32 lanes, one queue pair",
                size,
                f"messages={max(32, min(1024, MAX_BYTES // size))} size={size} window=256 {FENCE} reuse=1 lanes=32"
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
    there = {
        (machine, name): round_trip.RoundTrip(machine, settings)
        for machine in MACHINES
        for name, (settings, _) in ROUND_TRIPS.items()
    }
    back = dict(zip(there, run.map("round trips", round_trip.measure, list(there.values()), name=str)))
    first = (NEW, "alone", "a fence of the GPU")
    again = run.map("the same again", measure, [points[first]], name=lambda p: p.options, fresh=True)[0]
    _rows(run, found)
    for (machine, name), r in back.items():
        known = published.MODERN_ROUND_TRIP if machine == NEW and ROUND_TRIPS[name][1] else None
        figure = f"{MACHINES[machine]}: 8 B there and back between two work-groups, {name}"
        run.report.row(figure, "µs", r.seconds * US, known, published.MODERN if known else "the same kernel")
    _tables(run, found)
    _fences(run, found)
    check = run.report.check
    both = [*found.values(), *_spread(run, points, found), *back.values()]
    check("every byte is right at the far side", all(f.correct for f in both), f"{len(both)} runs")
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in both),
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

        for fence in FENCES:
            issue, whole = published.FENCES.get(fence, (None, None))
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
        for batch in (16, 32):
            name_of = f"one lane, {batch} entries a doorbell"
            row(name_of, "M/s", _rate(found[machine, "batch", batch]), published.MODERN_RATES.get(name_of))
        for method in ("32 lanes, one queue pair", "many queue pairs", *SHAPES):
            row(method, "M/s", _rate(found[machine, "rate", method]), published.MODERN_RATES.get(method))
        for method, known in (("many queue pairs", float(published.NINE_TENTHS)), ("32 lanes, one queue pair", None)):
            row(
                f"nine tenths of the line rate from, {method}",
                "B",
                _nine_tenths(found, machine, f"size, {method}"),
                known,
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


def _fences(run: Run, found: dict[Key, Result]) -> None:
    lines = []
    for machine, name in MACHINES.items():
        for fence in FENCES:
            f = found[machine, "alone", fence]
            issue, whole = (
                published.FENCES.get(fence.split(" that ")[0], (None, None)) if machine == NEW else (None, None)
            )
            lines.append(
                {
                    "machine": name,
                    "fence": fence,
                    "issue_us": (f.writing + f.ringing) * US,
                    "published_issue_us": issue,
                    "us": f.each * US,
                    "published_us": whole,
                }
            )
    run.report.table(
        "fences",
        pandas.DataFrame(lines).round(6),
        "A write of 8 bytes by one lane: until it is issued, and until its completion is seen, by what stands in front"
        " of the doorbell. The three forms of a fence of system scope stand beside the same published figure.",
    )


def _spread(run: Run, points: dict[Key, Point], found: dict[Key, Result]) -> list[Result]:
    """What stands beside published figures, on newer machines with perturbed clocks. Gives all runs."""
    fences = list(FENCES)[:2] if run.quick else list(FENCES)
    rates: dict[str, tuple[str, object]] = {"one lane": ("batch", 1), "one lane, 16 entries a doorbell": ("batch", 16)}
    if not run.quick:
        rates |= {name: ("rate", name) for name in ("32 lanes, one queue pair", *SHAPES)}
    keys: list[Key] = [(NEW, "alone", fence) for fence in fences] + [(NEW, *which) for which in rates.values()]
    by = perturbed(run, {k: points[k] for k in keys}, {k: found[k] for k in keys}, measure, lambda p: p.cost)
    lines: dict[str, list[float]] = {}
    for fence in fences:
        results = by[NEW, "alone", fence]
        lines[f"to issue a write of 8 B, {fence}, µs"] = [(f.writing + f.ringing) * US for f in results]
        lines[f"until its completion is seen, {fence}, µs"] = [f.each * US for f in results]
    lines |= {f"{name}, M/s": [_rate(f) for f in by[NEW, *which]] for name, which in rates.items()}
    run.report.table("spread", spread_table(lines), f"{MACHINES[NEW]}. {CAPTION}")
    return [f for results in by.values() for f in results]


def _conclude(run: Run, found: dict[Key, Result]) -> None:
    issue = {fence: (found[NEW, "alone", fence].writing + found[NEW, "alone", fence].ringing) * US for fence in FENCES}
    one, batched = _rate(found[NEW, "batch", 1]), _rate(found[NEW, "batch", 16])
    warp, many = _rate(found[NEW, "rate", "32 lanes, one queue pair"]), _rate(found[NEW, "rate", next(iter(SHAPES))])
    gpu, system = "a fence of the GPU", "a fence of system scope"
    ordered = 1.02 * issue["no fence"] < issue[gpu] and 1.02 * issue[gpu] < issue[system]
    run.report.conclude(
        f"To issue a write takes {issue['no fence']:.2f} µs without fences (published 0.19), {issue[gpu]:.2f} with a"
        f" fence of the GPU (0.70), {issue[system]:.2f} with a fence of system scope (2.62): the order is"
        f" {'' if ordered else 'not '}the published one. If a release of system scope never waits for PCIe it is"
        f" {issue[f'{system} that never waits for PCIe']:.2f}, if it always waits"
        f" {issue[f'{system} that always waits']:.2f}.",
        f"One lane posts {one:.2f} M messages a second (1.79), with 16 entries a doorbell {batched:.2f} (4.70); 32"
        f" lanes on one queue pair {warp:.1f} (21.6): "
        + ("the published order." if one < batched < warp else "not the published order.")
        + f" 64 queue pairs with a work-group each reach {many:.0f}; the adapter's ceiling of 260 is an input.",
    )
