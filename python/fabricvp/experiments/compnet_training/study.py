# SPDX-License-Identifier: Apache-2.0
"""Measures all-reduces by size and backend, projects the workloads, and reports."""

from __future__ import annotations

from typing import Any

import pandas

from ..compnet import APU, BACKENDS
from ..compnet_reduction.points import Point, Result, measure
from ..frame import Missing, Run
from ..perturbations import CAPTION, perturbed, spread_grid, steps
from . import plots
from .projection import minibatch, speedup
from .workloads import WORKLOADS

SLIDES = "ComP-Net (PACT 2018), slides"
LAUNCH = 20  #: µs, the slides' time of a launch
BASELINE = "HDN"
KERNEL_BOUNDARY = (BASELINE, "GDS")  #: with launches in every all-reduce
#: Whose gains are measured on machines with perturbed clocks; of the baseline with a driver's time, too.
SHIFTED, SHIFTED_QUICK = ("ComP-Net", "GHN", "GDS"), ("ComP-Net",)
GPU_BACKENDS = tuple(s for s in BACKENDS if s not in ("CPU only", APU))


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    nodes = run.options.nodes
    sizes = (64, 16 << 10, 64 << 10) if run.quick else (64, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20)
    points = [
        Point(s, nodes, size, algorithm, rounds=4 if size <= 16 << 10 else 2, driver_us=driver)
        for s in GPU_BACKENDS
        for size in sizes
        for algorithm in ("ring", "tree")
        if algorithm == "ring" or size <= 64 << 10
        for driver in ((0, LAUNCH) if s in KERNEL_BOUNDARY else (0,))
    ]
    found = dict(zip(points, run.map("machines", measure, points, lambda p: p.cost, str)))
    frame = _curves(found, nodes)
    table = _project(run, frame, nodes)
    run.report.plot("sizes", plots.sizes(frame), f"An all-reduce on {nodes} nodes by size: the faster of ring and tree")
    run.report.plot(
        "workloads",
        plots.workloads(table),
        "Projected speed-up of training over host-driven networking (HDN), and its bound (line)",
    )
    run.report.table(
        "allreduce", frame.round(6), "Inside of a running kernel; between kernels, launches included.", shown=80
    )
    run.report.table(
        "workloads",
        table.round(6),
        "s: how many times as fast the all-reduces of a minibatch are as the baseline's.",
        shown=80,
    )
    runs = [*found.items(), *_spread(run, found, nodes)]
    check = run.report.check
    wrong = [str(p) for p, f in runs if not f.run.correct]
    check("every node has every sum, to the bit", not wrong, ", ".join(wrong) or f"{len(runs)} runs")
    parameters = {w.name: sum(w.tensors) for w in WORKLOADS if w.tensors}
    known = {
        "AlexNet": 61_100_840,
        "AN4 LSTM": 13_634_692,
        "CIFAR": 116_906,
        "MNIST Conv": 80_202,
        "MNIST Hidden": 159_010,
    }
    check(
        "tensors have as many parameters as the networks",
        parameters == known,
        ", ".join(f"{n} {c:,}" for n, c in parameters.items()),
    )
    over = [f"{t.workload} {t.backend}" for t in table.itertuples() if t.speedup > t.bound]
    check("no speed-up beyond 1/(1 − b)", not over, ", ".join(over) or f"{len(table)} projections")
    _conclude(run, table)


def _curves(found: dict[Point, Result], nodes: int) -> pandas.DataFrame:
    lines = []
    for p, f in found.items():
        backend = f"{p.backend}, {p.driver_us} µs a launch" if p.backend in KERNEL_BOUNDARY else p.backend
        lines.append(
            {
                "backend": backend,
                "nodes": nodes,
                "bytes": p.size,
                "algorithm": p.algorithm,
                "time_us": (f.time if f.inside is None else f.inside) * 1e6,
                "mJ": f.energy["total"] * 1e3,
            }
        )
    return pandas.DataFrame(lines)


def _curve(frame: pandas.DataFrame, backend: str) -> list[tuple[int, float]]:
    """The faster of ring and tree."""
    best = frame[frame["backend"] == backend].groupby("bytes")["time_us"].min()
    return [(int(size), float(us) * 1e-6) for size, us in best.sort_index().items()]


def _projections(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """Training with each workload's tensors by each backend of ``frame``, over the baseline with the same driver."""
    lines = []
    backends = list(frame["backend"].unique())
    curves = {s: _curve(frame, s) for s in backends}
    for driver in (0, LAUNCH):
        base = f"{BASELINE}, {driver} µs a launch"
        for w in WORKLOADS:
            for backend in backends if base in curves else ():
                if not w.tensors or backend.startswith(BASELINE):
                    continue
                if backend.startswith(KERNEL_BOUNDARY) and not backend.endswith(f", {driver} µs a launch"):
                    continue
                slow, fast = minibatch(curves[base], w.tensors), minibatch(curves[backend], w.tensors)
                lines.append(
                    {
                        "workload": w.name,
                        "backend": backend.partition(",")[0],
                        "driver_us": driver,
                        "blocked": w.blocked,
                        "reductions": w.reductions,
                        "tensors": len(w.tensors),
                        "bytes": 4 * sum(w.tensors),
                        "minibatch_us": fast * 1e6,
                        "s": slow / fast,
                        "speedup": speedup(w.blocked, slow / fast),
                        "bound": w.bound,
                    }
                )
    return lines


def _project(run: Run, frame: pandas.DataFrame, nodes: int) -> pandas.DataFrame:
    lines = _projections(frame)
    known = {(line["workload"], line["backend"], line["driver_us"]): line["speedup"] for line in lines}
    backends = dict.fromkeys(line["backend"] for line in lines)
    for driver in (0, LAUNCH):
        for w in WORKLOADS:
            published = f"{SLIDES}: {w.blocked:.0%} blocked, {w.reductions:,} reductions"
            for name in backends:
                figure = f"training, {w.name}, {name}, {driver} µs a launch for the driver"
                if w.tensors:
                    note = (
                        f"{published}, so at most {w.bound:.3f}; {len(w.tensors)} tensors of {w.source}; {nodes} nodes"
                    )
                    run.report.row(figure, "1", known[w.name, name, driver], None, note)
                else:
                    absent = Missing(f"its tensors are not known; at most {w.bound:.3f}")
                    run.report.row(figure, "1", absent, None, published)
    return pandas.DataFrame(lines)


def _spread(run: Run, found: dict[Point, Result], nodes: int) -> list[tuple[Point, Result]]:
    """Projected gains with all-reduces of machines with perturbed clocks. Gives all runs."""
    gaining = SHIFTED_QUICK if run.quick else SHIFTED
    drivers = (0,) if run.quick else (0, LAUNCH)
    chosen = [p for p in found if p.backend in (BASELINE, *gaining) and p.driver_us in drivers]
    by = perturbed(run, {p: p for p in chosen}, {p: found[p] for p in chosen}, measure, lambda p: p.cost)
    gains: dict[tuple[str, str], list[float]] = {}
    for at in range(len(steps(run.quick))):
        lines = _projections(_curves({p: by[p][at] for p in chosen}, nodes))
        known = {(line["workload"], line["backend"], line["driver_us"]): line["speedup"] for line in lines}
        for (workload, backend, driver), gain in known.items():
            behind = f", {driver} µs a launch" if driver else ""
            gains.setdefault((workload, f"{backend}{behind}"), []).append(gain)
            if backend == "GHN":
                ahead = known[workload, "ComP-Net", driver] / gain
                gains.setdefault((workload, f"ComP-Net over GHN{behind}"), []).append(ahead)
    run.report.table("spread", spread_grid(gains), f"Projected speed-ups over HDN. {CAPTION}", shown=60)
    return [(p, f) for p, results in by.items() for f in results]


def _conclude(run: Run, table: pandas.DataFrame) -> None:
    sentences = []
    for driver, part in table.groupby("driver_us"):
        by = part.pivot(index="workload", columns="backend", values="speedup")
        sentences.append(
            f"With {driver} µs a launch for the driver ComP-Net gains over HDN: "
            + ", ".join(
                f"{name} {value:.3f} (at most {1 / (1 - part[part['workload'] == name]['blocked'].iloc[0]):.3f})"
                for name, value in by["ComP-Net"].items()
            )
            + "."
        )
    run.report.conclude(*sentences)
