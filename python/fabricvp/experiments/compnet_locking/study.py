# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware with lines locked and without, and reports."""

from __future__ import annotations

from dataclasses import replace

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import plots
from .points import Point, Result, measure

SLIDES = "ComP-Net (PACT 2018), slides: preliminary results are promising; no figure"
CAPS = (0, 2, 8)  #: of 16 ways
SPREAD_ABOVE = 8  #: work-groups: with fewer, locks change nothing


def _cost(p: Point) -> float:
    return p.rounds * (4.0 + p.load) * (1 + p.groups / 8)


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    rounds, loads, groups = (4, (0, 24), (64,)) if run.quick else (12, (0, 8, 24), (8, 32, 64))
    plain = [Point(lock, load, g, rounds) for g in groups for load in loads for lock in (False, True)]
    capped = [Point(True, loads[-1], groups[-1], rounds, cap) for cap in CAPS]
    points = list(dict.fromkeys(plain + capped))
    found = dict(zip(points, run.map("machines", measure, points, _cost, str)))
    again = run.map("one again", measure, [plain[-1]], name=str, fresh=True)[0]
    frame = _by_load(run, {p: found[p] for p in plain})
    _by_cap(run, {p: found[p] for p in capped})
    _spread(run, {p: found[p] for p in plain if p.load and p.groups > SPREAD_ABOVE})
    _checks(run, found, found[plain[-1]], again)
    _conclude(run, frame)


def _line(p: Point, f: Result) -> dict[str, float | bool]:
    return {
        "groups": p.groups,
        "load": p.load,
        "locked": p.lock,
        "max_ways": p.locked_ways,
        "residency": f.residency,
        "round_trip_us": f.round_trip * 1e6,
        "slowest_us": f.slowest * 1e6,
        "memory_GB_s": f.traffic,
        "evicted": f.evicted,
        "locks": f.locks,
        "refusals": f.refusals,
    }


def _by_load(run: Run, found: dict[Point, Result]) -> pandas.DataFrame:
    frame = pandas.DataFrame([_line(p, f) for p, f in found.items()])
    for p, f in found.items():
        name = f"{p.groups} work-groups, {p.load} stream, {'locked' if p.lock else 'not locked'}"
        run.report.row(
            f"residency, {name}",
            "1",
            f.residency,
            None,
            "lookups by the command processor that find the line of the queue in the L2",
        )
        run.report.row(f"round trip, {name}", "µs", f.round_trip * 1e6, None, SLIDES)
        run.report.row(f"traffic of memory, {name}", "GB/s", f.traffic, None, "HBM of node 0")
    run.report.plot(
        "residency",
        plots.by_load(frame, "residency", "found in L2"),
        "Lookups by the command processor that find the line of a queue in the L2",
    )
    run.report.plot("latency", plots.by_load(frame, "round_trip_us", "round trip, µs"), "Round trip of 64 bytes")
    run.report.plot("traffic", plots.by_load(frame, "memory_GB_s", "HBM, GB/s"), "Traffic of the GPU's memory")
    run.report.table(
        "loads",
        frame.round(6),
        "By work-groups that stream. evicted: lines of queues that the L2 gave up for others.",
        shown=60,
    )
    return frame


def _by_cap(run: Run, found: dict[Point, Result]) -> None:
    for p, f in found.items():
        name = f"{p.groups} work-groups, {p.load} stream, at most {p.locked_ways} ways locked"
        run.report.row(f"residency, {name}", "1", f.residency, None, f"{f.locks:.0f} locks, {f.refusals:.0f} refused")
    run.report.table(
        "caps",
        pandas.DataFrame([_line(p, f) for p, f in found.items()]).round(6),
        "By the number of ways of a set that may be locked (node.gpu0.memory.l2.locked_ways).",
    )


def _spread(run: Run, found: dict[Point, Result]) -> None:
    """Round trips with locks and without, on machines with perturbed clocks."""
    by = perturbed(run, {p: p for p in found}, found, measure, _cost)
    lines: dict[str, list[float]] = {}
    for without in (p for p in found if not p.lock):
        where = f"{without.groups} work-groups beside {without.load}"
        plain, locked = by[without], by[replace(without, lock=True)]
        lines[f"round trip, {where}, not locked, µs"] = [f.round_trip * 1e6 for f in plain]
        lines[f"… locked, {where}, µs"] = [f.round_trip * 1e6 for f in locked]
        lines[f"locked over not locked, {where}"] = [b.round_trip / a.round_trip for a, b in zip(plain, locked)]
    run.report.table("spread", spread_table(lines), CAPTION)


def _checks(run: Run, found: dict[Point, Result], first: Result, again: Result) -> None:
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.correct]
    check(
        "every byte is as it should be, of messages and of what is streamed",
        not wrong,
        ", ".join(wrong) or f"{len(found)} runs",
    )
    odd = [str(p) for p, f in found.items() if bool(f.locks) != (p.lock and p.locked_ways > 0)]
    check("lines are locked where they may be, and only there", not odd, ", ".join(odd) or "in every run")
    check("a second run is the same to the picosecond", again == first, "all figures")


def _conclude(run: Run, frame: pandas.DataFrame) -> None:
    table = frame.set_index(["groups", "load", "locked"])
    sentences = []
    for groups in sorted(frame["groups"].unique()):
        most = int(frame["load"].max())
        without, locked = table.loc[(groups, most, False)], table.loc[(groups, most, True)]
        sentences.append(
            f"{groups} work-groups beside {most} that stream: {without['residency']:.1%} of lookups find their line"
            f" without locks, {locked['residency']:.1%} with them; a round trip takes {without['round_trip_us']:.2f}"
            f" and {locked['round_trip_us']:.2f} µs."
        )
    run.report.conclude(*sentences)
