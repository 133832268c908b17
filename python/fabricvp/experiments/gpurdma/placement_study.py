# SPDX-License-Identifier: Apache-2.0
"""Runs the four placements on both topologies and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import plots, published
from .points import BY_LIBRARY, TOPOLOGIES, Point, Result, measure

US = 1e6
#: (queue pair, completion queue); doorbell records lie with their queue
PLACES = (("host", "host"), ("GPU", "host"), ("host", "GPU"), ("GPU", "GPU"))
NAMES = {"switch": "below one switch", "root": "below root ports"}
RELEASE = "node.gpus.*.system.release"
READ = "node.gpus.*.memory.router.system_latency"
#: What is not published of a K40c: what a release of system scope waits for, how many of them a post has, and how long
#: the GPU's own way to PCIe is (one of the same generation reads host memory in 1 to 2 µs: GPUnet, TOCS 2016).
#: Name: options of the firmware, settings of the machine.
FORMS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "a release does not wait for PCIe": ("", ((RELEASE, "never"),)),
    "it waits behind writes": ("", ()),
    "it always waits": ("", ((RELEASE, "always"),)),
    "behind writes, one a post": ("fence=doorbell", ()),
    "always, one a post": ("fence=doorbell", ((RELEASE, "always"),)),
    "behind writes, one a post, none on receiving": ("fence=doorbell_only", ()),
    "always, one a post, none on receiving": ("fence=doorbell_only", ((RELEASE, "always"),)),
    "behind writes, host read in 1 µs": ("", ((READ, "170 cycles"),)),
    "behind writes, one a post, host read in 1 µs": ("fence=doorbell", ((READ, "170 cycles"),)),
    "behind writes, one a post, none on receiving, host read in 1 µs": ("fence=doorbell_only", ((READ, "170 cycles"),)),
    "behind writes, host read in 2 µs": ("", ((READ, "540 cycles"),)),
    "behind writes, one a post, host read in 2 µs": ("fence=doorbell", ((READ, "540 cycles"),)),
    "behind writes, one a post, none on receiving, host read in 2 µs": ("fence=doorbell_only", ((READ, "540 cycles"),)),
}


def options(pair: str, cq: str, messages: int, more: str = "") -> str:
    """Of the firmware."""
    return (
        f"messages={messages} runs=2 gpu_queues={int(pair == 'GPU')} gpu_records={int(pair == 'GPU')}"
        f" gpu_cqs={int(cq == 'GPU')} {more}".rstrip()
    )


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    messages = 64 if run.quick else 1024
    points = {
        (t, *place): Point(options(*place, messages, "timed=1"), t, spans=True) for t in TOPOLOGIES for place in PLACES
    }
    together = {
        (t, *place): Point(options(*place, messages, "window=256 batch=32 signal=32 lanes=32"), t)
        for t in TOPOLOGIES[:1]
        for place in PLACES
    }
    forms = {
        (form, *place): Point(options(*place, messages, f"timed=1 {more}".rstrip()), settings=settings)
        for form, (more, settings) in FORMS.items()
        for place in PLACES
    }
    cpu = {t: Point(f"{BY_LIBRARY} messages={messages} runs=2", t) for t in TOPOLOGIES}
    values = run.map(
        "placements",
        measure,
        [*points.values(), *together.values(), *forms.values(), *cpu.values()],
        lambda p: p.cost,
        lambda p: ", ".join([p.topology, p.options, *(f"{path}={value}" for path, value in p.settings)]),
    )
    found = dict(zip(points, values))
    many = dict(zip(together, values[len(points) :]))
    by_form = dict(zip(forms, values[len(points) + len(together) :]))
    by_cpu = dict(zip(cpu, values[-len(cpu) :]))
    again = run.map("the same again", measure, [points["switch", "GPU", "GPU"]], name=lambda p: p.options, fresh=True)[
        0
    ]
    _rows(run, found, many)
    for topology, f in by_cpu.items():
        name = f"{NAMES[topology]}: the CPU through the verbs library, queues in the host"
        run.report.row(name, "µs", f.each * US, None, "write of 8 B, one hart, payload in the GPU, to its completion")
    _tables(run, found)
    _forms(run, by_form)
    steps = _spread(run, points, found)
    _checks(run, [*values, *steps], found["switch", "GPU", "GPU"], again)
    _conclude(run, found)


def _rows(run: Run, found: dict[tuple[str, str, str], Result], many: dict[tuple[str, str, str], Result]) -> None:
    row = run.report.row
    for (topology, pair, cq), f in found.items():
        known = published.PLACEMENT[pair, cq] if topology == "switch" else None
        row(
            f"{NAMES[topology]}: queue pair {pair}, completion queue {cq}",
            "µs",
            f.each * US,
            known,
            published.SLIDES if known else "write of 8 B, one lane, to its completion",
        )
    for topology in TOPOLOGIES:

        def each(pair: str, cq: str, topology: str = topology) -> float:
            return found[topology, pair, cq].each * US

        pairs = {cq: each("host", cq) - each("GPU", cq) for cq in ("host", "GPU")}
        cqs = {pair: each(pair, "host") - each(pair, "GPU") for pair in ("host", "GPU")}
        shown = topology == "switch"
        row(
            f"{NAMES[topology]}: the queue pair in the GPU saves, completion queue in the host",
            "µs",
            pairs["host"],
            2.4 if shown else None,
            published.SLIDES,
        )
        row(
            f"{NAMES[topology]}: the queue pair in the GPU saves, completion queue in the GPU",
            "µs",
            pairs["GPU"],
            2.0 if shown else None,
            published.SLIDES,
        )
        row(
            f"{NAMES[topology]}: the completion queue in the GPU saves, queue pair in the host",
            "µs",
            cqs["host"],
            1.8 if shown else None,
            published.SLIDES,
        )
        row(
            f"{NAMES[topology]}: the completion queue in the GPU saves, queue pair in the GPU",
            "µs",
            cqs["GPU"],
            1.4 if shown else None,
            published.SLIDES,
        )
    best = found["switch", "GPU", "GPU"]
    for name in ("writing", "ringing", "polling"):
        row(f"both in the GPU: {name}", "µs", getattr(best, name) * US, published.STEPS[name], published.PAPER)
    for (_, pair, cq), f in many.items():
        row(
            f"32 lanes together, 32 a doorbell: queue pair {pair}, completion queue {cq}",
            "M/s",
            1e-6 / f.each,
            None,
            "writes of 8 B; published: throughput does not depend on the place",
        )


def _tables(run: Run, found: dict[tuple[str, str, str], Result]) -> None:
    steps = pandas.DataFrame(
        [
            {
                "topology": t,
                "queue_pair": pair,
                "completion_queue": cq,
                "us": f.each * US,
                "writing_us": f.writing * US,
                "ringing_us": f.ringing * US,
                "polling_us": f.polling * US,
                "polls": f.polls,
                "message_us": sum(s for *_, s in f.stages) * US,
                "lane_reads_host_us": f.host_read * US,
                "adapter_reads_us": f.dma_read * US,
            }
            for (t, pair, cq), f in found.items()
        ]
    )
    run.report.plot(
        "placement",
        plots.placement(steps),
        "One lane, one write of 8 bytes after the other: simulated (bars), published (marks)",
    )
    run.report.table(
        "placement",
        steps.round(6),
        "Time a message, by the lane's steps; `message`: of it, from the store to the doorbell until the completion is"
        " in memory.",
    )
    stages = pandas.DataFrame(
        [
            {"topology": t, "queue_pair": pair, "completion_queue": cq, "component": c, "stage": s, "ns": seconds * 1e9}
            for (t, pair, cq), f in found.items()
            for c, s, seconds in f.stages
        ]
    )
    run.report.table(
        "spans",
        stages.round(6),
        "Where the time from the store to the doorbell until the completion is in memory goes; mean of a run's"
        " messages.",
        shown=60,
    )


def _forms(run: Run, found: dict[tuple[str, str, str], Result]) -> None:
    lines = []
    for form in FORMS:
        us = {place: found[(form, *place)].each * US for place in PLACES}
        place = ("GPU", "GPU")
        lines.append(
            {
                "form": form,
                **{f"{pair}, {cq}": us[pair, cq] for pair, cq in PLACES},
                "lane_reads_host_us": found[form, "GPU", "host"].host_read * US,
                **{f"{s}_us": getattr(found[(form, *place)], s) * US for s in ("writing", "ringing", "polling")},
                "published_order": us["host", "host"] > us["host", "GPU"] > us["GPU", "host"] > us[place],
            }
        )
    run.report.table(
        "forms",
        pandas.DataFrame(lines).round(6),
        "What a release of system scope waits for: microseconds a message by place (queue pair, completion queue); the"
        " steps with both in the GPU; and whether the order of the four is the published one (8.6 > 6.8 > 6.2 > 4.8).",
    )


def _spread(
    run: Run, points: dict[tuple[str, str, str], Point], found: dict[tuple[str, str, str], Result]
) -> list[Result]:
    """The placements below one switch, and what they save, on machines with perturbed clocks. Gives all runs."""
    names = {place: f"queue pair {place[0]}, completion queue {place[1]}" for place in PLACES}
    by = perturbed(
        run,
        {name: points[("switch", *place)] for place, name in names.items()},
        {name: found[("switch", *place)] for place, name in names.items()},
        measure,
    )
    us = {place: [f.each * US for f in by[name]] for place, name in names.items()}
    lines = {f"{name}, µs": us[place] for place, name in names.items()}
    for other in ("host", "GPU"):
        pair = zip(us["host", other], us["GPU", other])
        lines[f"the queue pair in the GPU saves, completion queue in the {other}, µs"] = [a - b for a, b in pair]
    for other in ("host", "GPU"):
        pair = zip(us[other, "host"], us[other, "GPU"])
        lines[f"the completion queue in the GPU saves, queue pair in the {other}, µs"] = [a - b for a, b in pair]
    run.report.table("spread", spread_table(lines), CAPTION)
    return [f for results in by.values() for f in results]


def _checks(run: Run, all_found: list[Result], first: Result, again: Result) -> None:
    check = run.report.check
    check("every byte is right at the far side", all(f.correct for f in all_found), f"{len(all_found)} runs")
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in all_found),
        "retries, dropped doorbells, unreadable entries",
    )
    check("a second run is the same to the picosecond", again == first, "both in the GPU")
    apart = [abs(f.writing + f.ringing + f.polling - f.each) / f.each for f in all_found if f.writing]
    check("a lane's steps add up to its time", max(apart) < 0.01, f"{100 * max(apart):.2f} % apart at most")
    inside = all(sum(s for *_, s in f.stages) < f.each for f in all_found if f.stages)
    check("a message's spans are shorter than its time", inside, "for each placement")


def _conclude(run: Run, found: dict[tuple[str, str, str], Result]) -> None:
    us = {key: f.each * US for key, f in found.items()}
    run.report.conclude(
        f"One lane writes 8 bytes to the other node and sees the completion after {us['switch', 'GPU', 'GPU']:.2f} µs"
        f" with everything in the GPU's memory (published: 4.8), {us['switch', 'host', 'GPU']:.2f} with the queue pair"
        f" in the host's (6.8), {us['switch', 'GPU', 'host']:.2f} with the completion queue there (6.2),"
        f" {us['switch', 'host', 'host']:.2f} with both (8.6). Below root ports it is {us['root', 'GPU', 'GPU']:.2f},"
        f" {us['root', 'host', 'GPU']:.2f}, {us['root', 'GPU', 'host']:.2f}, {us['root', 'host', 'host']:.2f} µs.",
        "A completion queue in the host's memory makes each look a read across PCIe. A queue pair there makes each"
        " fence of a post a read behind the stores, which waits for them on their way through the root complex; with"
        " both in the GPU only the doorbell of the message before has to be waited for.",
    )
