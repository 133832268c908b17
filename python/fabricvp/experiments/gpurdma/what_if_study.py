# SPDX-License-Identifier: Apache-2.0
"""Runs each placement on each PCIe tree and says which one wins."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_grid
from . import plots
from .placement_study import PLACES, options
from .points import BY_LIBRARY, Point, Result, measure

US = 1e6
TREES = {"switch": "one switch", "switches": "two switches", "root": "root ports"}
GENERATIONS = (3, 5)
#: What is done: what the firmware is told besides its placement, with (messages, fewer of them for --quick).
METRICS = {
    "latency": ("", 128, 32),
    "rate": ("window=256 batch=32 signal=32 lanes=32", 1024, 256),
    "bandwidth": ("size=16384 window=64 batch=16 signal=16", 64, 32),
}
#: The same by a hart through the verbs library, with its queues in its own memory: a doorbell for each call.
BY_CPU = {
    "latency": "",
    "rate": "window=256 batch=32 signal=32",
    "bandwidth": "size=16384 window=64 batch=16 signal=16",
}
#: Placements that are closer than this are as good as each other.
SAME = 0.02
Key = tuple[str, str, int, str, str]  #: metric, tree, generation, place of the queue pair, of the completion queue


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    points: dict[Key, Point] = {}
    for metric, (how, many, few) in METRICS.items():
        for tree in TREES:
            for generation in GENERATIONS:
                for place in PLACES:
                    points[metric, tree, generation, *place] = Point(
                        options(*place, few if run.quick else many, how), tree, generation
                    )
    cpu = {
        (metric, tree, generation): Point(
            f"{BY_LIBRARY} runs=2 messages={METRICS[metric][2 if run.quick else 1]} {how}".rstrip(), tree, generation
        )
        for metric, how in BY_CPU.items()
        for tree in TREES
        for generation in GENERATIONS
    }
    values = run.map(
        "trees",
        measure,
        [*points.values(), *cpu.values()],
        name=lambda p: f"{p.topology}, generation {p.generation}, {p.options}",
    )
    found = dict(zip(points, values))
    by_cpu = dict(zip(cpu, values[len(points) :]))
    first = points["latency", "switch", 3, "GPU", "GPU"]
    again = run.map("the same again", measure, [first], name=lambda p: p.options, fresh=True)[0]
    frame = _frame(found)
    _rows(run, found)
    run.report.plot(
        "what_if",
        plots.what_if(frame),
        "One write of 8 bytes after the other by one lane, 32 lanes that post together, and messages of 16 KiB, by"
        " tree, generation and placement",
    )
    run.report.table(
        "what_if",
        frame.round(6),
        "Every tree, generation and placement. Payload lies in the GPU, doorbell records with their queue.",
        shown=30,
    )
    run.report.table(
        "cpu",
        _cpu_frame(by_cpu).round(6),
        "A hart through the verbs library, queues in the host's memory, payload in the GPU: one write of 8 bytes after"
        " the other, 32 requests a call, messages of 16 KiB.",
    )
    values += _spread(run, points, found)
    check = run.report.check
    check("every byte is right at the far side", all(f.correct for f in values), f"{len(values)} runs")
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in values),
        "retries, dropped doorbells, unreadable entries",
    )
    check(
        "a second run is the same to the picosecond",
        again == found["latency", "switch", 3, "GPU", "GPU"],
        first.options,
    )
    newer = [
        key for key, f in found.items() if key[2] == 5 and f.each > (1 + SAME) * found[(*key[:2], 3, *key[3:])].each
    ]  # looks at completions are apart
    check(
        "a newer generation is not slower",
        not newer,
        ", ".join(map(str, newer)) or f"for each tree, placement and metric, to {100 * SAME:.0f} %",
    )
    most = max(f.gbps for f in values)
    check("no more than the link carries", most < 54.55, f"at most {most:.1f} Gb/s of payload; FDR 4x has 54.54")
    _conclude(run, found)


def _frame(found: dict[Key, Result]) -> pandas.DataFrame:
    lines = []
    for (_, tree, generation, pair, cq), f in [item for item in found.items() if item[0][0] == "latency"]:
        place = (tree, generation, pair, cq)
        lines.append(
            {
                "tree": TREES[tree],
                "generation": generation,
                "queue_pair": pair,
                "completion_queue": cq,
                "us": f.each * US,
                "million_per_s": 1e-6 / found["rate", *place].each,
                "gbps": found["bandwidth", *place].gbps,
                "adapter_reads_us": f.dma_read * US,
                "lane_reads_host_us": f.host_read * US,
            }
        )
    return pandas.DataFrame(lines)


def _cpu_frame(found: dict[tuple[str, str, int], Result]) -> pandas.DataFrame:
    lines = [
        {
            "tree": name,
            "generation": generation,
            "us": found["latency", tree, generation].each * US,
            "million_per_s": 1e-6 / found["rate", tree, generation].each,
            "gbps": found["bandwidth", tree, generation].gbps,
        }
        for tree, name in TREES.items()
        for generation in GENERATIONS
    ]
    return pandas.DataFrame(lines)


def _rows(run: Run, found: dict[Key, Result]) -> None:
    for (metric, tree, generation, pair, cq), f in found.items():
        name = f"{TREES[tree]}, generation {generation}: queue pair {pair}, completion queue {cq}"
        if metric == "latency":
            run.report.row(name, "µs", f.each * US, None, "write of 8 B, one lane, to its completion")
        elif metric == "rate":
            run.report.row(
                f"{name}, 32 lanes together", "M/s", 1e-6 / f.each, None, "writes of 8 B, 32 entries a doorbell"
            )
        else:
            run.report.row(f"{name}, 16 KiB", "Gb/s", f.gbps, None, "one lane, 16 entries a doorbell")


def _spread(run: Run, points: dict[Key, Point], found: dict[Key, Result]) -> list[Result]:
    """How much longer each placement takes than that with both queues in the GPU, on machines with perturbed clocks.
    Gives all runs."""
    chosen = [key for key in points if not run.quick or key[:3] == ("latency", "switch", 3)]
    by = perturbed(run, {k: points[k] for k in chosen}, {k: found[k] for k in chosen}, measure)
    lines: dict[tuple[str, str], list[float]] = {}
    for metric, tree, generation, *place in chosen:
        best = by[metric, tree, generation, "GPU", "GPU"]
        if place != ["GPU", "GPU"]:
            ratios = [a.each / b.each for a, b in zip(by[metric, tree, generation, *place], best)]
            lines[f"{metric}, {TREES[tree]}, generation {generation}", ", ".join(place)] = ratios
    what = "Time a message over that with both queues in the GPU, by place (queue pair, completion queue). "
    run.report.table("spread", spread_grid(lines), what + CAPTION, shown=60)
    return [f for results in by.values() for f in results]


def _best(found: dict[Key, Result], metric: str, tree: str, generation: int) -> tuple[list[tuple[str, str]], float]:
    """Placements that are as good as the best one, and how much longer the worst one takes."""
    each = {place: found[metric, tree, generation, *place].each for place in PLACES}
    smallest = min(each.values())
    return [place for place, seconds in each.items() if seconds < (1 + SAME) * smallest], max(each.values()) / smallest


def _placement_label(places: list[tuple[str, str]]) -> str:
    if len(places) == len(PLACES):
        return "anywhere"
    both = {
        ("GPU", "GPU"): "both in the GPU",
        ("host", "host"): "both in the host",
        ("host", "GPU"): "queue pair in the host, completions in the GPU",
        ("GPU", "host"): "queue pair in the GPU, completions in the host",
    }
    return " or ".join(both[place] for place in places)


def _conclude(run: Run, found: dict[Key, Result]) -> None:
    what = {"latency": "one message after the other", "rate": "many small messages", "bandwidth": "messages of 16 KiB"}
    lines = []
    for metric, label in what.items():
        for tree, name in TREES.items():
            for generation in GENERATIONS:
                places, worst = _best(found, metric, tree, generation)
                lines.append(
                    {
                        "for": label,
                        "tree": name,
                        "generation": generation,
                        "queues": _placement_label(places),
                        "the worst takes": f"{worst:.2f} times as long",
                    }
                )
    run.report.table(
        "verdict",
        pandas.DataFrame(lines),
        f"Where queues should live; placements within {100 * SAME:.0f} % of the best one are named together.",
    )
    for metric, label in what.items():
        grouped: dict[str, list[tuple[str, float]]] = {}
        for tree, name in TREES.items():
            for generation in GENERATIONS:
                places, worst = _best(found, metric, tree, generation)
                grouped.setdefault(_placement_label(places), []).append((f"{name}, generation {generation}", worst))
        parts = []
        for placements_label, where in grouped.items():
            trees = "every tree and generation" if len(grouped) == 1 else "; ".join(name for name, _ in where)
            factors = [worst for _, worst in where]
            parts.append(
                f"{placements_label} ({trees}: the worst takes {min(factors):.2f} to {max(factors):.2f} times as long)"
            )
        run.report.conclude(f"For {label}: {'; '.join(parts)}.")
