# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware with every backend and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas

from ..compnet import APU
from ..compnet_latency.points import OTHER_CORES
from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_grid, steps
from . import plots
from .points import CPU, GPU_BACKENDS, ITERATIONS, LARGEST_CPU, Point, Result, measure

SLIDES = (
    "ComP-Net (PACT 2018), slides: CPUs are best at first, then intra-kernel networking, then all GPU backends"
    " are equal"
)
LAUNCH = 20  #: µs, the slides' time of a launch
CORES_SIZE = 32  #: rows and columns where instructions a cycle are varied
BUS = 50  #: ns at each end of the link to the root complex
INTRA_KERNEL = ("ComP-Net", "GHN", "GPU-native")
COMPARED = ("HDN", "GHN", APU, "GPU-native")  #: with ComP-Net, on machines with perturbed clocks


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    sizes = (32, 128) if run.quick else (16, 32, 64, 128, 256, 1024)
    points = [Point(s, size, driver, BUS) for size in sizes for driver in (0, LAUNCH) for s in GPU_BACKENDS]
    others = [Point(s, CORES_SIZE, 0, BUS, cores) for cores in OTHER_CORES for s in ("HDN", "GHN", "ComP-Net")]
    points += others
    found = dict(zip(points, run.map("machines", measure, points, lambda p: float(p.size**2), str)))
    again = run.map("one again", measure, [points[0]], name=str, fresh=True)[0]
    frame = _frame({p: f for p, f in found.items() if p not in others})
    _cores(
        run,
        {
            p: f
            for p, f in found.items()
            if p.size == CORES_SIZE and p.driver_us == 0 and p.backend in {o.backend for o in others}
        },
    )
    for (size, driver), part in frame.groupby(["size", "driver_us"], sort=True):
        for backend, us in zip(part["backend"], part["iteration_us"]):
            run.report.row(
                f"{backend}, {size}², driver {driver} µs",
                "µs/iteration",
                float(us),
                None,
                SLIDES if backend == CPU else f"{ITERATIONS} iterations, launch included",
            )
    for backend, uj in (
        frame[(frame["size"] == sizes[-1]) & (frame["driver_us"] == 0)].set_index("backend")["iteration_uJ"].items()
    ):
        run.report.row(
            f"energy of an iteration, {backend}, {sizes[-1]}², driver 0 µs",
            "µJ",
            float(uj),
            None,
            "both nodes: cores, caches, memory, PCIe, network",
        )
    for driver in (0, LAUNCH):
        ratio = _gain(frame, driver)
        run.report.row(
            f"best intra-kernel backend against HDN, at most, driver {driver} µs",
            "1",
            float(ratio.max()),
            None,
            f"at {ratio.idxmax()}²",
        )
        run.report.row(
            f"the same at the largest size, driver {driver} µs",
            "1",
            float(ratio.iloc[-1]),
            1.0 if not run.quick else None,
            SLIDES,
        )
    run.report.plot("sizes", plots.sizes(frame), "Time of an iteration by the size of a node's part of the grid")
    run.report.table(
        "sizes",
        frame.round(6),
        f"{BUS} ns at each end of the link to the root complex; the adapter beside the GPU, below a switch.",
        shown=80,
    )
    _spread(run, found, sizes)
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.correct]
    check(
        f"every backend finds what the CPUs find, to the bit, up to {LARGEST_CPU}²",
        not wrong,
        ", ".join(wrong) or f"{len(found)} solutions on two nodes",
    )
    several = [str(size) for size in sizes if len({f.digests for p, f in found.items() if p.size == size}) != 1]
    check("all backends find the same", not several, ", ".join(several) or f"{len(sizes)} sizes")
    check("nothing is retransmitted", not any(f.retries for f in found.values()), "in every run")
    check("a second run is the same to the picosecond", again.time == found[points[0]].time, str(points[0]))
    _conclude(run, frame)


def _frame(found: dict[Point, Result]) -> pandas.DataFrame:
    lines = []
    for p, f in found.items():
        if p.backend == next(iter(GPU_BACKENDS)) and "cpu" in f.time:
            lines.append(
                {
                    "size": p.size,
                    "driver_us": p.driver_us,
                    "backend": CPU,
                    "iteration_us": f.time["cpu"] * 1e6,
                    "iteration_uJ": f.energy["cpu"] * 1e6,
                }
            )
        gpu = f.gpu_backend
        lines.append(
            {
                "size": p.size,
                "driver_us": p.driver_us,
                "backend": p.backend,
                "iteration_us": f.time[gpu] * 1e6,
                "iteration_uJ": f.energy[gpu] * 1e6,
            }
        )
    return pandas.DataFrame(lines)


def _cores(run: Run, found: dict[Point, Result]) -> None:
    lines = []
    for p, f in sorted(found.items(), key=lambda pair: pair[0].cores):
        for name, seconds in f.time.items():
            backend = CPU if name == "cpu" else p.backend
            if backend == CPU and p.backend != "HDN":
                continue  # the same in every run
            lines.append(
                {"backend": backend, "host": p.cores[0], "processor": p.cores[1], "iteration_us": seconds * 1e6}
            )
            run.report.row(
                f"{backend}, {p.size}², {p.cores[0]:g} and {p.cores[1]:g} instructions a cycle",
                "µs/iteration",
                seconds * 1e6,
                None,
                "of cores of the host, of the command processor",
            )
    run.report.table(
        "cores",
        pandas.DataFrame(lines).round(6),
        f"What cores retire in a cycle while their caches hit, {CORES_SIZE}².",
        shown=40,
    )


def _spread(run: Run, found: dict[Point, Result], sizes: Sequence[int]) -> None:
    """Backends beside ComP-Net, on machines with perturbed clocks; runs come to ``found``."""
    compared = COMPARED[:2] if run.quick else COMPARED
    points = {(s, size): Point(s, size, 0, BUS) for s in ("ComP-Net", *compared) for size in sizes}
    nominal = {key: found[p] for key, p in points.items()}
    by = perturbed(run, points, nominal, measure, lambda p: float(p.size**2))
    lines: dict[tuple[str, str], list[float]] = {}
    for size in sizes:
        own, column = by["ComP-Net", size], f"{size}²"
        seconds = [f.time[f.gpu_backend] for f in own]
        lines["ComP-Net, µs", column] = [s * 1e6 for s in seconds]
        if "cpu" in own[0].time:
            lines[f"{CPU} over ComP-Net", column] = [f.time["cpu"] / s for f, s in zip(own, seconds)]
        for other in compared:
            results = by[other, size]
            lines[f"{other} over ComP-Net", column] = [f.time[f.gpu_backend] / s for f, s in zip(results, seconds)]
        lines["energy, GHN over ComP-Net", column] = [
            a.energy[a.gpu_backend] / b.energy[b.gpu_backend] for a, b in zip(by["GHN", size], own)
        ]
    for key, results in by.items():
        found |= {replace(points[key], step=step): f for step, f in zip(steps(run.quick), results)}
    run.report.table("spread", spread_grid(lines), CAPTION, shown=60)


def _gain(frame: pandas.DataFrame, driver: int) -> pandas.Series:
    table = frame[frame["driver_us"] == driver].pivot(index="size", columns="backend", values="iteration_us")
    return table["HDN"] / table[list(INTRA_KERNEL)].min(axis=1)


def _conclude(run: Run, frame: pandas.DataFrame) -> None:
    sentences = []
    for driver, part in frame.groupby("driver_us"):
        table = part.pivot(index="size", columns="backend", values="iteration_us")
        best = ", ".join(f"{size}²: {row.idxmin()} ({row.min():.2f} µs)" for size, row in table.iterrows())
        sentences.append(f"With {driver} µs a launch for the driver the best are, by size: {best}.")
    gain = _gain(frame, LAUNCH)
    sentences.append(
        f"Intra-kernel networking is {gain.iloc[0]:.1f} times as fast as host-driven networking (HDN) at"
        f" {gain.index[0]}², {gain.iloc[-1]:.2f} times at {gain.index[-1]}²."
    )
    run.report.conclude(*sentences)
