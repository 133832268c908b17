# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware with every backend and reports."""

from __future__ import annotations

from dataclasses import replace

import pandas

from ..compnet import APU, BACKENDS, MACHINES, PARTS
from ..compnet_latency.published import ENERGY_RATIO, SLIDES
from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table, steps
from . import plots
from .points import Point, Result, measure

LARGEST_GAIN = 1.15  #: published time of GHN over ComP-Net's, at the most
LAUNCH = 20  #: µs, the slides' time of a launch
MAX_TOTAL_BYTES = 8 << 20  #: bytes of all vectors together, unless sizes or numbers of nodes are asked for


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    sizes = tuple(run.options.bytes or ((64 << 10,) if run.quick else (64 << 10, 1 << 20)))
    nodes = tuple(run.options.nodes or ((2, 4) if run.quick else tuple(MACHINES)))
    chosen = run.options.bytes or run.options.nodes
    points = [
        Point(s, n, size) for size in sizes for n in nodes for s in BACKENDS if chosen or n * size <= MAX_TOTAL_BYTES
    ]
    launches = [Point(s, nodes[-1], sizes[0], driver_us=LAUNCH) for s in ("HDN", "GDS", "ComP-Net")]
    polled = [Point(p.backend, p.nodes, p.size, wait="poll") for p in points if p.backend in ("GHN", "ComP-Net")]
    asked = points + launches + polled
    found = dict(zip(asked, run.map("machines", measure, asked, lambda p: p.cost, str)))
    again = run.map("one again", measure, [points[0]], name=str, fresh=True)[0]
    frame = _frame({p: found[p] for p in points})
    _rows(run, frame, {p: found[p] for p in launches})
    _polled(run, frame, _frame({p: found[p] for p in polled}))
    run.report.plot(
        "time",
        plots.strong_scaling(frame, "time_us", "µs an all-reduce", LARGEST_GAIN),
        "Time of an all-reduce by the number of nodes, a panel for each size of the vector",
    )
    run.report.plot(
        "energy",
        plots.strong_scaling(frame, "mJ", "mJ an all-reduce, all nodes"),
        "Energy of an all-reduce on all nodes together",
    )
    run.report.plot(
        "parts",
        plots.parts(frame),
        f"Where the energy goes, with the most nodes and the largest vector ({frame['bytes'].max():,} bytes)",
    )
    run.report.table(
        "reduction",
        frame.round(6),
        "Time on the clock of node 0's host, launches included, and mJ of all nodes, by part.",
        shown=80,
    )
    run.report.table(
        "launches",
        pandas.DataFrame(
            [
                {
                    "bytes": p.size,
                    "nodes": p.nodes,
                    "backend": p.backend,
                    "driver_us": p.driver_us,
                    "time_us": found[p].time * 1e6,
                    "inside_us": _inside(found[p]),
                }
                for p in launches
            ]
        ).round(6),
        "Where a driver takes its time for each launch.",
    )
    _spread(run, found, sizes[0], nodes[:1] if run.quick else nodes[:2])
    _checks(run, found, again, points[0])
    _conclude(run, frame)


def _inside(found: Result) -> float | None:
    """Microseconds of an all-reduce between its kernel's begin and end."""
    return None if found.inside is None else found.inside * 1e6


def _frame(found: dict[Point, Result]) -> pandas.DataFrame:
    lines = []
    for p, f in found.items():
        lines.append(
            {
                "bytes": p.size,
                "nodes": p.nodes,
                "backend": p.backend,
                "time_us": f.time * 1e6,
                "inside_us": _inside(f),
                "barrier_us": None if f.barrier is None else f.barrier * 1e6,
                "mJ": f.energy["total"] * 1e3,
                **{PARTS[part]: f.energy[part] * 1e3 for part in PARTS},
            }
        )
    return pandas.DataFrame(lines)


def _rows(run: Run, frame: pandas.DataFrame, launches: dict[Point, Result]) -> None:
    row = run.report.row
    for line in frame.itertuples():
        row(
            f"all-reduce, {line.backend}, {line.nodes} nodes, {line.bytes} B",
            "µs",
            line.time_us,
            None,
            "ring; published for 64 MB, axis not known",
        )
        row(
            f"energy, {line.backend}, {line.nodes} nodes, {line.bytes} B",
            "mJ",
            line.mJ,
            None,
            "all nodes: cores, caches, memory, PCIe, network",
        )
    for point, found in launches.items():
        row(f"all-reduce, {point}", "µs", found.time * 1e6, None, f"{SLIDES}: a launch takes up to {LAUNCH} µs")
    time, energy, cores, own = (
        frame.pivot(index=["bytes", "nodes"], columns="backend", values=key)
        for key in ("time_us", "mJ", "CPU cores", "CP cores")
    )
    ratio = time["GHN"] / time["ComP-Net"]
    row(
        "GHN against ComP-Net, time, at most",
        "1",
        float(ratio.max()),
        LARGEST_GAIN,
        f"{SLIDES}: up to 15 % over all applications (abstract: up to 20 %); {_at(ratio)}",
    )
    both = cores + own
    _energy_ratios(run, energy, both, "")
    for key, table, published in (
        ("time", time, "ahead in time"),
        ("energy", energy, "behind in energy"),
        ("energy of cores", both, "behind in energy"),
    ):
        for (size, count), value in (table[APU] / table["ComP-Net"]).items():
            row(
                f"APU against ComP-Net, {key}, {count} nodes, {size} B",
                "1",
                float(value),
                None,
                f"{SLIDES}: the APU is {published}, 64 MB; no figure",
            )


def _spread(run: Run, found: dict[Point, Result], size: int, nodes: tuple[int, ...]) -> None:
    """Host threads against the command processor, on machines with perturbed clocks; runs come to ``found``."""
    lines: dict[str, list[float]] = {}
    for count in nodes:
        pair = {s: Point(s, count, size) for s in ("GHN", "ComP-Net")}
        by = perturbed(run, pair, {s: found[p] for s, p in pair.items()}, measure, lambda p: p.cost)
        shape = f"{count} nodes, {size} B"
        lines |= {f"all-reduce, {s}, {shape}, µs": [f.time * 1e6 for f in results] for s, results in by.items()}
        both = list(zip(by["GHN"], by["ComP-Net"]))
        lines[f"GHN against ComP-Net, time, {shape}"] = [a.time / b.time for a, b in both]
        lines[f"GHN against ComP-Net, energy, {shape}"] = [a.energy["total"] / b.energy["total"] for a, b in both]
        for s, results in by.items():
            found |= {replace(pair[s], step=step): f for step, f in zip(steps(run.quick), results)}
    run.report.table("spread", spread_table(lines), CAPTION)


def _energy_ratios(run: Run, energy: pandas.DataFrame, cores: pandas.DataFrame, where: str) -> None:
    ratio = energy["GHN"] / energy["ComP-Net"]
    run.report.row(
        f"GHN against ComP-Net, energy, at most{where}",
        "1",
        float(ratio.max()),
        ENERGY_RATIO[1],
        f"{SLIDES}: 2× less over all applications; {_at(ratio)}",
    )
    ratio = cores["GHN"] / cores["ComP-Net"]
    run.report.row(
        f"the same of cores alone{where}",
        "1",
        float(ratio.max()),
        ENERGY_RATIO[1],
        f"{SLIDES}: 2× less over all applications, by McPAT's model of cores; {_at(ratio)}",
    )


def _polled(run: Run, sleeping: pandas.DataFrame, polling: pandas.DataFrame) -> None:
    """Energy where the program's hart polls the launch's completion signal instead of waiting for its interrupt."""
    energy, cores, own = (
        polling.pivot(index=["bytes", "nodes"], columns="backend", values=key)
        for key in ("mJ", "CPU cores", "CP cores")
    )
    _energy_ratios(run, energy, cores + own, ", the host polls")
    both = pandas.concat([sleeping.assign(wait="sleep"), polling.assign(wait="poll")])
    run.report.table(
        "waits",
        both[both["backend"].isin(["GHN", "ComP-Net"])][
            ["bytes", "nodes", "backend", "wait", "time_us", "mJ", "CPU cores", "CP cores"]
        ].round(6),
        "The program's hart sleeps until a kernel's interrupt, or polls its completion signal.",
        shown=60,
    )


def _at(ratio: pandas.Series) -> str:
    size, nodes = ratio.idxmax()
    return f"at {size} B on {nodes} nodes"


def _checks(run: Run, found: dict[Point, Result], again: Result, first: Point) -> None:
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.run.correct]
    check("every node has every sum, to the bit", not wrong, ", ".join(wrong) or f"{len(found)} runs")
    lost = [str(p) for p, f in found.items() if f.run.retries]
    check("nothing is retransmitted", not lost, ", ".join(lost) or "in every run")
    odd = [
        str(p)
        for p, f in found.items()
        if abs(sum(f.energy[part] for part in PARTS) - f.energy["total"]) > 1e-9 * f.energy["total"]
    ]
    check("energy of all parts adds up to the total", not odd, ", ".join(odd) or "in every run")
    check(
        "a second run is the same to the picosecond and in energy",
        again.time == found[first].time and again.energy == found[first].energy,
        str(first),
    )


def _conclude(run: Run, frame: pandas.DataFrame) -> None:
    sentences = []
    for (size, nodes), part in frame.groupby(["bytes", "nodes"]):
        if nodes not in (frame["nodes"].min(), frame[frame["bytes"] == size]["nodes"].max()):
            continue
        by = part.set_index("backend")
        order = ", ".join(
            f"{s} {by['time_us'][s]:,.0f} µs and {by['mJ'][s]:.2f} mJ" for s in by["time_us"].sort_values().index
        )
        sentences.append(f"{size:,} bytes on {nodes} nodes: {order}.")
    run.report.conclude(*sentences)
