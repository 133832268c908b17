# SPDX-License-Identifier: Apache-2.0
"""Sweeps harts and work-groups and reports."""

from __future__ import annotations

from dataclasses import replace

import pandas

from ..compnet_latency.points import THREADS, Point, Result, measure
from ..frame import Missing, Run
from ..perturbations import CAPTION, perturbed, spread_grid
from . import plots
from .points import EIGHT, LANES, PROCESSOR, Stream, StreamResult, measure_stream

FEW = 8  #: work-groups from which on doorbells are compared
QUICK_SPREAD = (8, 32)  #: work-groups whose round trips are measured with perturbed clocks for --quick
SATURATED = 0.9  #: of what one hart performs at most, times the number of harts


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    groups = (1, 8, 32, 64) if run.quick else (1, 2, 4, 8, 16, 32, 64)
    rounds = 6 if run.quick else 12
    points = [Point(PROCESSOR, EIGHT, EIGHT, rounds, g, t) for g in groups for t in THREADS if t <= g] + [
        Point(LANES, EIGHT, EIGHT, rounds, g) for g in groups
    ]
    ringing = [Point(PROCESSOR, EIGHT, EIGHT, rounds, g, doorbells=True) for g in groups if g >= FEW]
    both = points + ringing
    measured = dict(zip(both, run.map("machines", measure, both, lambda p: p.rounds * p.groups + 20, str)))
    found = {p: measured[p] for p in points}
    messages = 40 if run.quick else 200
    streams = [Stream(p.backend, messages, p.groups, p.threads) for p in points]
    streamed = dict(
        zip(points, run.map("without answers", measure_stream, streams, lambda s: s.messages * s.groups + 200, str))
    )
    again = run.map("one again", measure, [points[0]], name=str, fresh=True)[0]
    frame = _frame(found, streamed)
    crossings = _rows(run, frame)
    run.report.plot(
        "rates", plots.rates(frame), "Requests a second of one node by the number of work-groups that communicate"
    )
    run.report.plot(
        "streams",
        plots.streams(frame),
        "Unanswered messages a second of one node, by the number of work-groups that send them",
    )
    run.report.plot("round_trips", plots.round_trips(frame), "Round trips by the number of work-groups")
    run.report.table(
        "scaling",
        frame.round(6),
        f"{EIGHT} bytes there and back; every work-group waits for its response before it sends again. µJ of both"
        f" nodes, all parts. messages_per_us: of one node, {messages} by each work-group, without replies.",
        shown=80,
    )
    _doorbells(run, measured)
    shifted = _spread(run, measured)
    check = run.report.check
    wrong = [str(p) for p, f in (*measured.items(), *shifted) if not f.correct] + [
        str(s) for s, f in zip(streams, streamed.values()) if not f.correct
    ]
    check(
        "both nodes find every byte as it should be",
        not wrong,
        ", ".join(wrong) or f"{len(measured) + len(shifted) + len(streamed)} runs",
    )
    everything = (*measured.values(), *(f for _, f in shifted), *streamed.values())
    check("nothing is retransmitted", not any(f.retries for f in everything), "in every run")
    check("a second run is the same to the picosecond", again.round_trip == found[points[0]].round_trip, str(points[0]))
    _conclude(run, frame, crossings)


def _doorbells(run: Run, found: dict[Point, Result]) -> None:
    """One hart that looks at all of its queues, beside one that reads a bit for each."""
    lines = []
    for p, f in found.items():
        if p.backend != PROCESSOR or p.threads != 1 or p.groups < FEW:
            continue
        lines.append(
            {
                "groups": p.groups,
                "doorbells": p.doorbells,
                "round_trip_us": f.round_trip[EIGHT] * 1e6,
                "misses_a_request": f.misses / f.messages,
                "misses_per_us": f.misses / f.seconds / 2e6,
            }
        )
        how = f"{p.groups} work-groups, 1 hart, {'doorbells' if p.doorbells else 'all queues read'}"
        note = "of the data caches of both nodes' command processors"
        run.report.row(f"cache misses a request, {how}", "1", lines[-1]["misses_a_request"], None, note)
        run.report.row(f"round trip, {how}", "µs", lines[-1]["round_trip_us"], None, "")
    run.report.table(
        "doorbells",
        pandas.DataFrame(lines).round(6),
        "One hart of the command processor looks at the next entry of each queue, or at a bit for each queue"
        " (doorbells). Misses are those of its data cache; misses_per_us: of one node.",
    )


def _spread(run: Run, found: dict[Point, Result]) -> list[tuple[Point, Result]]:
    """Round trips of the lanes over those of harts, and of one hart with doorbells over those without, on machines with
    perturbed clocks. Gives all runs."""
    chosen = [p for p in found if not run.quick or (p.groups in QUICK_SPREAD and p.threads == 1)]
    nominal = {p: found[p] for p in chosen}
    by = perturbed(run, {p: p for p in chosen}, nominal, measure, lambda p: p.rounds * p.groups + 20)
    lines: dict[tuple[str, str], list[float]] = {}
    for p in sorted(chosen, key=lambda p: (p.doorbells, p.threads, p.groups)):
        if p.backend != PROCESSOR:
            continue
        column = f"{p.groups} work-group{'s' * (p.groups > 1)}"
        if p.doorbells:
            row, above, below = "1 hart, doorbells over all queues read", p, replace(p, doorbells=False)
        else:
            row, above, below = f"lanes over {p.threads} hart{'s' * (p.threads > 1)}", _lanes_like(p), p
        pairs = zip(by[above], by[below])
        lines[row, column] = [a.round_trip[EIGHT] / b.round_trip[EIGHT] for a, b in pairs]
    run.report.table("spread", spread_grid(lines), f"Ratios of round trips. {CAPTION}")
    return [(p, f) for p, results in by.items() for f in results]


def _lanes_like(p: Point) -> Point:
    """The run in which the lanes post what harts do in ``p``."""
    return replace(p, backend=LANES, threads=1, doorbells=False)


def _frame(found: dict[Point, Result], streamed: dict[Point, StreamResult]) -> pandas.DataFrame:
    lines = []
    for p, f in found.items():
        us = f.round_trip[EIGHT] * 1e6
        lines.append(
            {
                "backend": p.backend,
                "harts": p.threads if p.backend == PROCESSOR else 0,
                "groups": p.groups,
                "round_trip_us": us,
                "slowest_us": f.slowest[EIGHT] * 1e6,
                "requests_per_us": p.groups / us,
                "uJ_a_request": f.energy["total"] * 1e6 / f.messages,
                "messages_per_us": 1e-6 / streamed[p].seconds,
            }
        )
    return pandas.DataFrame(lines)


def _rows(run: Run, frame: pandas.DataFrame) -> dict[int, int | None]:
    """\\returns from how many work-groups on lanes are faster, by harts"""
    row = run.report.row
    lanes = frame[frame["backend"] == LANES].set_index("groups")
    row(
        "requests a second, lanes, at most",
        "M/s",
        float(lanes["requests_per_us"].max()),
        None,
        f"with {lanes['requests_per_us'].idxmax()} work-groups, one request each",
    )
    row(
        "unanswered messages a second, lanes, at most",
        "M/s",
        float(lanes["messages_per_us"].max()),
        None,
        f"with {lanes['messages_per_us'].idxmax()} work-groups",
    )
    crossings: dict[int, int | None] = {}
    alone = float(frame[frame["harts"] == 1]["requests_per_us"].max())
    for harts, part in frame[frame["backend"] == PROCESSOR].groupby("harts"):
        by = part.set_index("groups")
        most = float(by["requests_per_us"].max())
        row(
            f"requests a second, {harts} harts, at most",
            "M/s",
            most,
            None,
            "of a node; the round trip has one of each node",
        )
        row(f"the same for each hart, {harts} harts", "M/s", most / harts, None, "")
        row(
            f"unanswered messages a second, {harts} harts, at most",
            "M/s",
            float(by["messages_per_us"].max()),
            None,
            f"with {by['messages_per_us'].idxmax()} work-groups",
        )
        busy = by.index[by["requests_per_us"] >= SATURATED * harts * alone]
        row(
            f"work-groups that saturate {harts} harts",
            "1",
            float(busy[0]) if len(busy) else Missing(f"more than {by.index[-1]}"),
            None,
            f"{SATURATED:.0%} of {harts} times what one hart performs at most",
        )
        slower = by.index[by["round_trip_us"] > lanes["round_trip_us"].reindex(by.index)]
        crossings[int(harts)] = int(slower[0]) if len(slower) else None
        row(
            f"work-groups from which on lanes are faster than {harts} harts",
            "1",
            float(slower[0]) if len(slower) else Missing(f"harts are faster up to {by.index[-1]}"),
            None,
            "by the mean round trip",
        )
    return crossings


def _conclude(run: Run, frame: pandas.DataFrame, crossings: dict[int, int | None]) -> None:
    most = int(frame["groups"].max())
    words = ", ".join(
        f"{harts}: {'never up to ' + str(most) if at is None else 'from ' + str(at)}" for harts, at in crossings.items()
    )
    run.report.conclude(
        "Work-groups that post by themselves are faster than the command processor, by its number of harts and the"
        f" number of work-groups: {words}."
    )
