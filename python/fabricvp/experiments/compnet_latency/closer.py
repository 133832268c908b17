# SPDX-License-Identifier: Apache-2.0
"""Tables of single questions: cores, places of queues and adapters, hosts that sleep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread, steps
from . import published
from .points import ATTACHMENTS, THREADS, Point, Result, measure

US = 1e6
WAITS = ("sleep", "poll")  #: of the host's program, for the kernel


def wider_cores(
    run: Run, points: dict[tuple[str, int, tuple[float, float]], Point], nominal: Mapping[Point, Result]
) -> dict[Point, Result]:
    """Cores that retire more instructions a cycle: means over machines with perturbed clocks, since where the polls of
    one thread meet the requests of many work-groups decides more than the cores do. Gives all runs."""
    lines, measured = [], {}
    by = perturbed(run, {p: p for p in points.values()}, {p: nominal[p] for p in points.values()}, measure)
    for (backend, groups, cores), point in points.items():
        own = cores[backend == "ComP-Net"]
        figures = spread([f.round_trip[64] * US for f in by[point]])
        measured |= {replace(point, step=step): f for step, f in zip(steps(run.quick), by[point])}
        lines.append(
            {
                "backend": backend,
                "groups": groups,
                "instructions_a_cycle": own,
                "round_trip_us": figures["mean"],
                "min_us": figures["min"],
                "max_us": figures["max"],
            }
        )
        run.report.row(
            f"round trip, {backend}, {groups} work-groups, {own:g} instructions a cycle",
            "µs",
            figures["mean"],
            None,
            f"64 B, one thread; mean of {figures['runs']} runs on machines whose clocks differ by up to 2 per mille",
        )
    run.report.table(
        "cores",
        pandas.DataFrame(lines).round(6),
        f"What cores retire in a cycle while their caches hit: one thread serves, 64 bytes. Means. {CAPTION}",
        shown=60,
    )
    return measured


def queue_places(run: Run, found: dict[tuple[str, int], Result]) -> None:
    """Queues in the host's memory, or in the GPU's."""
    lines = []
    for (memory, groups), f in found.items():
        lines.append(
            {
                "queues": memory,
                "groups": groups,
                "round_trip_us": f.round_trip[64] * US,
                "slowest_us": f.slowest[64] * US,
            }
        )
        run.report.row(
            f"round trip, GHN, {groups} work-groups, queues in {'the GPU' if memory == 'gpu' else 'host'} memory",
            "µs",
            lines[-1]["round_trip_us"],
            None,
            f"64 B, {max(THREADS)} threads; queues in the GPU's memory are read through its BAR",
        )
    run.report.table(
        "queues",
        pandas.DataFrame(lines).round(6),
        f"GHN: where requests lie until {max(THREADS)} host threads read them, 64 bytes.",
    )


def waiting_hosts(run: Run, found: dict[tuple[str, int, str], Result]) -> None:
    """A program that sleeps until its kernel has ended, or polls."""
    lines = [
        {
            "backend": backend,
            "groups": groups,
            "threads": min(2, groups),
            "wait": wait,
            "round_trip_us": f.round_trip[64] * US,
            "uJ_of_all": f.energy["total"] * 1e6 / f.messages,
            "uJ_of_host_cores": f.energy["host_cores"] * 1e6 / f.messages,
        }
        for (backend, groups, wait), f in found.items()
    ]
    frame = pandas.DataFrame(lines)
    by = frame.set_index(["backend", "groups", "wait"])["uJ_of_all"]
    for groups in dict.fromkeys(frame["groups"]):
        for wait in WAITS:
            run.report.row(
                f"energy of both nodes, GHN ÷ ComP-Net, {groups} work-groups, the host {wait}s",
                "1",
                float(by["GHN", groups, wait] / by["ComP-Net", groups, wait]),
                published.ENERGY_RATIO[1],
                f"{published.ENERGY_RATIO[0]}; here cores, caches, memory, PCIe, network, {min(2, groups)} threads",
            )
    run.report.table(
        "waits",
        frame.round(6),
        "The host's program sleeps until the kernel's interrupt, or polls its completion signal. Energy a request, of"
        " both nodes: all parts, and host cores alone. 64 bytes; two threads serve, or one a single work-group.",
    )


def attachments(run: Run, found: dict[tuple[str, int, str], Result]) -> None:
    """GPU and adapter on PCIe, or on the host's bus."""
    lines = []
    for (backend, groups, at), f in found.items():
        us = f.round_trip[64] * US
        lines.append(
            {
                "backend": backend,
                "groups": groups,
                "threads": min(2, groups),
                "attachment": ATTACHMENTS[at].name,
                "round_trip_us": us,
                "uJ_of_all": f.energy["total"] * US / f.messages,
            }
        )
        run.report.row(
            f"round trip, {backend}, {groups} work-groups, {ATTACHMENTS[at].name}",
            "µs",
            us,
            None,
            f"64 B, {min(2, groups)} threads",
        )
    run.report.table(
        "attachments",
        pandas.DataFrame(lines).round(6),
        "Where GPU and adapter are attached, 64 bytes. Two threads serve, or one a single work-group.",
        shown=60,
    )
