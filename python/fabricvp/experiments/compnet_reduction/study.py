# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware with every scheme and reports."""

from __future__ import annotations

import pandas

from ..compnet import APU, MACHINES, PARTS, SCHEMES
from ..frame import Run
from . import pictures
from .points import Found, Point, measure

SLIDES = "ComP-Net (PACT 2018), slides"
LAUNCH = 20  #: µs, the slides' time of a launch
MOST = 8 << 20  #: bytes of all vectors together, unless sizes or numbers of nodes are asked for


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    sizes = tuple(run.options.bytes or ((64 << 10,) if run.quick else (64 << 10, 1 << 20)))
    nodes = tuple(run.options.nodes or ((2, 4) if run.quick else tuple(MACHINES)))
    chosen = run.options.bytes or run.options.nodes
    points = [Point(s, n, size) for size in sizes for n in nodes for s in SCHEMES if chosen or n * size <= MOST]
    launches = [
        Point(s, nodes[-1], sizes[0], driver_us=LAUNCH)
        for s in ("host between kernels", "queue between kernels", "command processor")
    ]
    found = dict(zip(points + launches, run.map("machines", measure, points + launches, lambda p: p.cost, str)))
    again = run.map("one again", measure, [points[0]], name=str, fresh=True)[0]
    frame = _frame({p: found[p] for p in points})
    _rows(run, frame, {p: found[p] for p in launches})
    run.report.plot(
        "time",
        pictures.strong_scaling(frame, "time_us", "µs an all-reduce"),
        "Time of an all-reduce by the number of nodes, a panel for each size of the vector",
    )
    run.report.plot(
        "energy",
        pictures.strong_scaling(frame, "mJ", "mJ an all-reduce, all nodes"),
        "Energy of an all-reduce on all nodes together",
    )
    run.report.plot(
        "parts",
        pictures.parts(frame),
        f"Where the energy goes, with the most nodes and the largest vector ({frame['bytes'].max():,} bytes)",
    )
    run.report.table(
        "reduction",
        frame.round(4),
        "Time on the clock of node 0's host, launches included, and mJ of all nodes, by part.",
        shown=80,
    )
    _checks(run, found, again, points[0])
    _conclude(run, frame)


def _frame(found: dict[Point, Found]) -> pandas.DataFrame:
    lines = []
    for p, f in found.items():
        lines.append(
            {
                "bytes": p.size,
                "nodes": p.nodes,
                "scheme": p.scheme,
                "time_us": f.time * 1e6,
                "barrier_us": None if f.barrier is None else f.barrier * 1e6,
                "mJ": f.joules["total"] * 1e3,
                **{PARTS[part]: f.joules[part] * 1e3 for part in PARTS},
            }
        )
    return pandas.DataFrame(lines)


def _rows(run: Run, frame: pandas.DataFrame, launches: dict[Point, Found]) -> None:
    row = run.report.row
    for line in frame.itertuples():
        row(
            f"all-reduce, {line.scheme}, {line.nodes} nodes, {line.bytes} B",
            "µs",
            line.time_us,
            None,
            "ring; published for 64 MB, axis not known",
        )
        row(
            f"energy, {line.scheme}, {line.nodes} nodes, {line.bytes} B",
            "mJ",
            line.mJ,
            None,
            "all nodes: cores, caches, memory, PCIe, network",
        )
    for point, found in launches.items():
        row(f"all-reduce, {point}", "µs", found.time * 1e6, None, f"{SLIDES}: a launch takes up to {LAUNCH} µs")
    time, energy, cores, own = (
        frame.pivot(index=["bytes", "nodes"], columns="scheme", values=key)
        for key in ("time_us", "mJ", "CPU cores", "CP cores")
    )
    ratio = time["host threads"] / time["command processor"]
    row(
        "threads of the host against command processor, time, at most",
        "1",
        float(ratio.max()),
        1.15,
        f"{SLIDES}: up to 15 % over all applications (abstract: up to 20 %); {_at(ratio)}",
    )
    ratio = energy["host threads"] / energy["command processor"]
    row(
        "threads of the host against command processor, energy, at most",
        "1",
        float(ratio.max()),
        2.0,
        f"{SLIDES}: 2× less over all applications; {_at(ratio)}",
    )
    both = cores + own
    ratio = both["host threads"] / both["command processor"]
    row(
        "the same of cores alone",
        "1",
        float(ratio.max()),
        2.0,
        f"{SLIDES}: 2× less over all applications, by McPAT's model of cores; {_at(ratio)}",
    )
    for key, table, published in (
        ("time", time, "ahead in time"),
        ("energy", energy, "behind in energy"),
        ("energy of cores", both, "behind in energy"),
    ):
        for (size, count), value in (table[APU] / table["command processor"]).items():
            row(
                f"APU against command processor, {key}, {count} nodes, {size} B",
                "1",
                float(value),
                None,
                f"{SLIDES}: the APU is {published}, 64 MB; no figure",
            )


def _at(ratio: pandas.Series) -> str:
    size, nodes = ratio.idxmax()
    return f"at {size} B on {nodes} nodes"


def _checks(run: Run, found: dict[Point, Found], again: Found, first: Point) -> None:
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.run.right]
    check("every node has every sum, to the bit", not wrong, ", ".join(wrong) or f"{len(found)} runs")
    lost = [str(p) for p, f in found.items() if f.run.retries]
    check("nothing is sent twice", not lost, ", ".join(lost) or "in every run")
    odd = [
        str(p)
        for p, f in found.items()
        if abs(sum(f.joules[part] for part in PARTS) - f.joules["total"]) > 1e-9 * f.joules["total"]
    ]
    check("joules of all parts are those of the whole", not odd, ", ".join(odd) or "in every run")
    check(
        "a second run is the same to the picosecond and the joule",
        again.time == found[first].time and again.joules == found[first].joules,
        str(first),
    )


def _conclude(run: Run, frame: pandas.DataFrame) -> None:
    words = []
    for (size, nodes), part in frame.groupby(["bytes", "nodes"]):
        if nodes not in (frame["nodes"].min(), frame[frame["bytes"] == size]["nodes"].max()):
            continue
        by = part.set_index("scheme")
        order = ", ".join(
            f"{s} {by['time_us'][s]:,.0f} µs and {by['mJ'][s]:.2f} mJ" for s in by["time_us"].sort_values().index
        )
        words.append(f"{size:,} bytes on {nodes} nodes: {order}.")
    run.report.conclude(*words)
