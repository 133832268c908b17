# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware with every backend and reports."""

from __future__ import annotations

from dataclasses import replace

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table, steps
from . import plots, published
from .closer import WAITS, attachments, queue_places, waiting_hosts, wider_cores
from .points import (
    ATTACHED_BACKENDS,
    ATTACHMENTS,
    CORES,
    ECHO_BACKENDS,
    OTHER_CORES,
    SERVICE_BACKENDS,
    THREADS,
    Point,
    Result,
    measure,
)

US = 1e6
BUS = (50, 125, 275)  #: ns: a read of host memory by the GPU takes .55, .70 and 1.0 µs


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    rounds, most, groups = (5, 4096, (16,)) if run.quick else (20, 64 << 10, (1, 8, 32, 64))
    queue_groups = (8, 16) if run.quick else (8, 16, 32, 64)
    points = {("size", s): Point(s, 8, most, rounds) for s in ECHO_BACKENDS}
    points |= {
        ("threads", s, g, t): Point(s, rounds=rounds, groups=g, threads=t)
        for s in SERVICE_BACKENDS
        for g in groups
        for t in THREADS
        if t <= g
    }
    points |= {("threads", "GPU-native", g, 1): Point("GPU-native", rounds=rounds, groups=g) for g in groups}
    points |= {("bus", s, ns): Point(s, rounds=rounds, bus_ns=ns) for s in ECHO_BACKENDS for ns in BUS}
    points |= {
        ("cores", s, g, c): Point(s, rounds=rounds, groups=g, cores=c)
        for s in SERVICE_BACKENDS
        for g in (1, groups[-1])
        for c in (CORES, *OTHER_CORES)
    }
    points |= {
        ("queues", memory, g): Point("GHN", rounds=rounds, groups=g, threads=max(THREADS), queues=memory)
        for memory in ("host", "gpu")
        for g in queue_groups
    }
    points |= {
        ("waits", s, g, wait): Point(s, rounds=rounds, groups=g, threads=min(2, g), wait=wait)
        for s in SERVICE_BACKENDS
        for g in (1, groups[-1])
        for wait in WAITS
    }
    points |= {
        ("attachment", s, g, at): Point(s, rounds=rounds, groups=g, threads=min(2, g), attachment=at)
        for s in ATTACHED_BACKENDS
        for g in (1, groups[-1])
        for at in ATTACHMENTS
    }
    different = list(dict.fromkeys(points.values()))
    measured = dict(
        zip(
            different,
            run.map(
                "machines", measure, different, lambda p: p.groups * p.rounds + (p.most // p.least).bit_length(), str
            ),
        )
    )
    found = {key: measured[point] for key, point in points.items()}
    again = run.map("one again", measure, [points["size", "ComP-Net"]], name=str, fresh=True)[0]
    by_size = _sizes(run, {s: found["size", s] for s in ECHO_BACKENDS})
    by_threads = _threads(run, {key[1:]: f for key, f in found.items() if key[0] == "threads"})
    by_bus = _bus(run, {key[1:]: f for key, f in found.items() if key[0] == "bus"})
    measured |= wider_cores(run, {key[1:]: p for key, p in points.items() if key[0] == "cores"}, measured)
    queue_places(run, {key[1:]: f for key, f in found.items() if key[0] == "queues"})
    waiting_hosts(run, {key[1:]: f for key, f in found.items() if key[0] == "waits"})
    attachments(run, {key[1:]: f for key, f in found.items() if key[0] == "attachment"})
    measured |= _spread(run, points, found, groups[-1])
    _checks(run, measured, again, points["size", "ComP-Net"])
    _conclude(run, by_size, by_threads, by_bus)


def _sizes(run: Run, found: dict[str, Result]) -> pandas.DataFrame:
    frame = pandas.DataFrame(
        [
            {"backend": s, "bytes": size, "round_trip_us": t * US}
            for s, f in found.items()
            for size, t in f.round_trip.items()
        ]
    )
    for backend, part in frame.groupby("backend", sort=False):
        for size in (8, 64, 4096):
            us = float(part[part["bytes"] == size]["round_trip_us"].iloc[0])
            run.report.row(
                f"round trip, {backend}, {size} B",
                "µs",
                us,
                None,
                "one work-group a node; 8 B travel in the request itself",
            )
    run.report.plot(
        "sizes", plots.sizes(frame), "Round trip of a message between two work-groups, by who performs the request"
    )
    run.report.table("sizes", frame.round(6), "One work-group on each node, one service thread.", shown=60)
    return frame


def energy(backend: str, threads: int, found: Result, awake: float | None = None) -> float | None:
    """That the service threads of both nodes take for one request: they poll, so they are awake all the time."""
    if backend not in SERVICE_BACKENDS:
        return None
    core = published.PROCESSOR_CORE if backend == "ComP-Net" else published.HOST_CORE
    always = (core.awake if awake is None else awake) + core.leakage
    return (2 * threads * found.seconds * always + core.instruction * found.instructions) / found.messages


def _threads(run: Run, found: dict[tuple[str, int, int], Result]) -> pandas.DataFrame:
    lines = []
    for (backend, groups, threads), f in found.items():
        j = energy(backend, threads, f)
        lines.append(
            {
                "backend": backend,
                "groups": groups,
                "threads": threads,
                "round_trip_us": f.round_trip[64] * US,
                "slowest_us": f.slowest[64] * US,
                "instructions_a_request": f.instructions / f.messages if backend in SERVICE_BACKENDS else None,
                "uJ_a_request": None if j is None else j * 1e6,
                "uJ_of_all": f.energy["total"] * 1e6 / f.messages,
            }
        )
    frame = pandas.DataFrame(lines)
    many = int(frame["groups"].max())
    for backend in SERVICE_BACKENDS:
        for threads in THREADS:
            line = frame[
                (frame["backend"] == backend) & (frame["groups"] == many) & (frame["threads"] == threads)
            ].iloc[0]
            known = published.HOST_8_THREADS[1] if backend == "GHN" and threads == 8 else None
            run.report.row(
                f"round trip, {backend}, {many} work-groups, {threads} threads",
                "µs",
                float(line["round_trip_us"]),
                known,
                published.HOST_8_THREADS[0] + "; number of work-groups and size not said" if known else "64 B",
            )
    run.report.row(
        f"round trip, lanes, {many} work-groups",
        "µs",
        float(frame[(frame["backend"] == "GPU-native") & (frame["groups"] == many)]["round_trip_us"].iloc[0]),
        None,
        "64 B",
    )
    for awake, name in ((None, ""), (published.HOST_AWAKE_MAX, ", a host core awake at 3 W")):
        host, processor = (energy(s, 2, found[s, many, 2], awake if s == "GHN" else None) for s in ("GHN", "ComP-Net"))
        run.report.row(
            f"energy of the service threads, GHN ÷ ComP-Net, {many} work-groups, 2 threads{name}",
            "1",
            host / processor,
            published.ENERGY_RATIO[1],
            f"{published.ENERGY_RATIO[0]}; here the threads' cores alone: {published.MCPAT}",
        )
    run.report.plot(
        "threads",
        plots.threads(frame, "round_trip_us", "round trip, µs", (8, published.HOST_8_THREADS[1])),
        "Many work-groups: round trip by the number of threads that serve them; diamond: published, for a number of"
        " work-groups that is not said",
    )
    run.report.plot(
        "energy",
        plots.threads(frame, "uJ_a_request", "µJ a request"),
        "Energy of the service threads of both nodes for a request (cores alone)",
    )
    run.report.table(
        "threads",
        frame.round(6),
        "64 bytes. Every work-group waits for its response before it sends again. uJ_a_request: the cores of service"
        " threads alone; uJ_of_all: both nodes, all parts.",
        shown=60,
    )
    return frame


def _bus(run: Run, found: dict[tuple[str, int], Result]) -> pandas.DataFrame:
    frame = pandas.DataFrame(
        [{"backend": s, "bus_ns": ns, "round_trip_us": f.round_trip[64] * US} for (s, ns), f in found.items()]
    )
    for backend, part in frame.groupby("backend", sort=False):
        for ns, us in zip(part["bus_ns"], part["round_trip_us"]):
            run.report.row(
                f"round trip, {backend}, {ns} ns at each end of the link to the root complex",
                "µs",
                float(us),
                None,
                "64 B, one work-group",
            )
    run.report.table(
        "bus",
        frame.round(6),
        "What a TLP takes to be processed by the root port and by the switch's upstream port. The adapter is beside the"
        " GPU, below the switch.",
    )
    return frame


def _spread(run: Run, points: dict[tuple, Point], found: dict[tuple, Result], many: int) -> dict[Point, Result]:
    """Threads that serve many work-groups, on machines with perturbed clocks. Gives all runs."""
    keys = [("threads", s, many, 2) for s in ("GHN", "ComP-Net")] + ([] if run.quick else [("threads", "GHN", many, 8)])
    names = {key: f"{key[1]}, {key[3]} threads" for key in keys}
    by = perturbed(
        run,
        {name: points[key] for key, name in names.items()},
        {name: found[key] for key, name in names.items()},
        measure,
    )
    lines = {f"round trip, {name}, µs": [f.round_trip[64] * US for f in results] for name, results in by.items()}
    ghn, own = (by[name] for name in list(names.values())[:2])
    with_two = "2 threads"
    lines[f"round trip, GHN ÷ ComP-Net, {with_two}"] = [a.round_trip[64] / b.round_trip[64] for a, b in zip(ghn, own)]
    lines[f"energy of the service threads, GHN ÷ ComP-Net, {with_two}"] = [
        (energy("GHN", 2, a) or 0.0) / (energy("ComP-Net", 2, b) or 1.0) for a, b in zip(ghn, own)
    ]
    run.report.table("spread", spread_table(lines), f"{many} work-groups. {CAPTION}")
    return {
        replace(points[key], step=step): f for key, name in names.items() for step, f in zip(steps(run.quick), by[name])
    }


def _checks(run: Run, found: dict[Point, Result], again: Result, repeated: Point) -> None:
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.correct]
    check("both nodes find every byte as it should be", not wrong, ", ".join(wrong) or f"{len(found)} runs")
    lost = [str(p) for p, f in found.items() if f.retries]
    check("nothing is retransmitted", not lost, ", ".join(lost) or "in every run")
    check(
        "a second run is the same to the picosecond",
        again.round_trip == found[repeated].round_trip,
        f"{len(again.round_trip)} sizes",
    )


def _conclude(run: Run, sizes: pandas.DataFrame, threads: pandas.DataFrame, bus: pandas.DataFrame) -> None:
    one = {
        s: float(sizes[(sizes["backend"] == s) & (sizes["bytes"] == 64)]["round_trip_us"].iloc[0])
        for s in ECHO_BACKENDS
    }
    many = int(threads["groups"].max())
    at = threads[threads["groups"] == many].set_index(["backend", "threads"])["round_trip_us"]
    slow = {
        s: float(bus[(bus["backend"] == s) & (bus["bus_ns"] == max(BUS))]["round_trip_us"].iloc[0])
        for s in ECHO_BACKENDS
    }
    best = min(slow, key=lambda s: slow[s])
    run.report.conclude(
        "One work-group, 64 bytes, there and back: " + ", ".join(f"{s} {us:.2f} µs" for s, us in one.items()) + ".",
        f"{many} work-groups: with 1, 2, 4, 8 threads the command processor takes {_list(at['ComP-Net'])} µs,"
        f" host threads {_list(at['GHN'])} µs; lanes that post themselves"
        f" {float(at['GPU-native'].iloc[0]):.2f} µs.",
        f"With {max(BUS)} ns at each end of the link to the root complex the {best} come out first: "
        + ", ".join(f"{s} {us:.2f} µs" for s, us in slow.items())
        + ".",
    )


def _list(series: pandas.Series) -> str:
    return ", ".join(f"{us:.1f}" for us in series.sort_index())
