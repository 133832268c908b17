# SPDX-License-Identifier: Apache-2.0
"""Runs every workload on both machines and reports."""

from __future__ import annotations

import dataclasses
import statistics

import pandas

from ...errors import InputError
from ...gpu import apps
from ..frame import Figure, Missing, Run
from ..invariants import check_workloads
from ..nodes import measured_nodes
from . import plots
from .attribution import records
from .closer import compare_queues, look_closer
from .measure import NO_CLUSTERS, PLACES, Measured, Point, as_record, for_table, measure
from .tables import by_gpu, padding
from .workloads import PUBLISHED, WORKLOADS

ISCA = "NetCrafter, ISCA 2025"
SENSITIVE_WORKLOADS = 4  #: workloads that are run at smaller sizes and with queues by destination, too
PARTS_OF_SIZE = (4, 2)  #: of the whole one


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options, report = run.options, run.report
    names = options.only or list(WORKLOADS)
    overrides = _overrides(options.set)
    nodes = measured_nodes([options.machine, options.ideal], options.node, "gpus")
    points = [
        Point(
            name,
            machine,
            WORKLOADS[name].quick if run.quick else 0,
            options.placement,
            options.dispatch,
            spans=machine == options.machine and not options.no_spans,
            overrides=overrides,
            node=nodes[machine],
        )
        for name in names
        for machine in dict.fromkeys((options.machine, options.ideal))
    ]
    found: list[Measured] = run.map("workloads", measure, points, lambda p: WORKLOADS[p.workload].seconds, _name)
    again = run.map("the same again", measure, [points[0]], name=_name, fresh=True)[0]
    slow = {m.point.workload: m for m in found if m.point.machine == options.machine}
    ideal = {m.point.workload: m for m in found if m.point.machine == options.ideal}
    slowdown = {name: slow[name].kernel_time_s / ideal[name].kernel_time_s for name in names}

    _checks(run, found, again)
    _rows(run, names, slow, slowdown)
    table = pandas.DataFrame([for_table(as_record(m)) for m in found])
    defaults = apps()
    table.insert(2, "size", [m.point.size or defaults[m.point.workload].size for m in found])
    table.insert(
        4, "slowdown", [slowdown[m.point.workload] if m.point.machine == options.machine else 1.0 for m in found]
    )
    report.table(
        "workloads",
        table.round(6),
        "Every workload on both machines. Shares are of lines read, written or changed by atomics behind L1 caches,"
        " page tables apart.",
    )
    report.table(
        "by_gpu",
        by_gpu(slow.values()),
        "Where the lines lie that each GPU reads, writes or changes behind its L1 caches, and page-table reads of its"
        f" walkers, on {options.machine}.",
    )
    if any(m.clusters > 1 for m in slow.values()):
        report.table("padding", padding(slow.values()), "Flits between the clusters by packet class and padding.")
    else:
        report.text(
            "What is not here",
            f"Nothing is told of traffic between clusters: on {options.machine}, {NO_CLUSTERS.reason}.",
        )
    attributed = [row for m in slow.values() if m.attribution for row in records(m.point.workload, m.attribution)]
    if attributed:
        report.table(
            "attribution",
            pandas.DataFrame(attributed),
            f"Mean time that a load spends in each part of {options.machine}, by where the farthest of "
            "its lines lies; each moment counts once, for what ends last. Loads that L1 answers are left out.",
            shown=30,
        )
    if not options.no_sizes:
        sensitive = sorted(slowdown, key=lambda name: slowdown[name], reverse=True)[:SENSITIVE_WORKLOADS]
        _against_size(run, sensitive, nodes, slow, slowdown)
        compare_queues(run, (options.machine, options.ideal), *({n: of[n] for n in sensitive} for of in (slow, ideal)))
        look_closer(run, names, nodes)
    for name, svg_figure, caption in plots.draw(slow, ideal, slowdown):
        report.plot(name, svg_figure, caption)
    for name, m in slow.items():
        if m.svg_figure:
            report.svg_figure(
                f"fabric_{name}",
                m.svg_figure,
                f"What the fabric of {options.machine} carried while the kernels of {name} ran",
            )


def _against_size(
    run: Run, sensitive: list[str], nodes: dict[str, int | None], slow: dict[str, Measured], slowdown: dict[str, float]
) -> None:
    """The slow-down of the most sensitive workloads at smaller sizes, too."""
    defaults = apps()
    whole = {name: slow[name].point.size or defaults[name].size for name in sensitive}
    points = [
        dataclasses.replace(
            slow[name].point, machine=machine, node=nodes[machine], size=max(1, whole[name] // part), spans=False
        )
        for name in sensitive
        for part in PARTS_OF_SIZE
        for machine in (run.options.machine, run.options.ideal)
    ]
    found = {
        (m.point.workload, m.point.size, m.point.machine): m
        for m in run.map(
            "smaller sizes",
            measure,
            points,
            lambda p: WORKLOADS[p.workload].seconds * p.size / whole[p.workload],
            _sized_name,
        )
    }
    rows = []
    for name in sensitive:
        for size in sorted({p.size for p in points if p.workload == name}):
            here, there = (found[name, size, machine] for machine in (run.options.machine, run.options.ideal))
            rows.append(
                {
                    "workload": name,
                    "size": size,
                    "kernels_us": here.kernel_time_s * 1e6,
                    "slowdown": here.kernel_time_s / there.kernel_time_s,
                }
            )
        rows.append(
            {
                "workload": name,
                "size": whole[name],
                "kernels_us": slow[name].kernel_time_s * 1e6,
                "slowdown": slowdown[name],
            }
        )
    wrong = [_sized_name(m.point) for m in found.values() if not m.correct]
    run.report.check("results at smaller sizes are right", not wrong, ", ".join(wrong) or f"{len(found)} runs")
    frame = pandas.DataFrame(rows)
    run.report.table("sizes", frame.round(6), "The workloads that the slow link costs most, against their size.")
    run.report.plot("sizes", plots.against_size(frame), "Slow-down against size, as a part of the largest")


def _sized_name(point: Point) -> str:
    return f"{point.workload} of {point.size} on {point.machine}"


def _overrides(texts: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in texts]
    for text, (key, equals, _) in zip(texts, pairs):
        if not key or not equals:
            raise InputError(f"--set {text}: KEY=VALUE is wanted, such as node.gpus.*.memory.l2_tlb.sets=8")
    return tuple((key, value) for key, _, value in pairs)


def _name(point: Point) -> str:
    return f"{point.workload} on {point.machine}"


def _checks(run: Run, found: list[Measured], again: Measured) -> None:
    check_workloads(run.report, {_name(m.point): m for m in found}, again)
    odd = [m.point.workload for m in found if not m.wavefront_instructions or not sum(m.accesses.values())]
    run.report.check(
        "every workload computes and accesses memory",
        not odd,
        ", ".join(odd) or "wavefront-instructions and lines counted in each",
    )
    over = [
        f"{m.point.workload} {link} {part:.3f}" for m in found for link, part in m.utilisation.items() if part > 1.0001
    ]
    run.report.check(
        "no link is busier than always",
        not over,
        ", ".join(over) or "busy time of both directions within the kernels' time",
    )
    unanswered = []
    for m in (m for m in found if m.clusters > 1):
        sent, back = (sum(n for c, n in m.packets.items() if c.endswith(side)) for side in ("request", "response"))
        if abs(sent - back) > 0.01 * sent + 64:  # some lie on two sides of a region's border
            unanswered.append(f"{m.point.workload} on {m.point.machine} {sent:.0f} / {back:.0f}")
    run.report.check(
        "requests between clusters are answered",
        not unanswered,
        ", ".join(unanswered) or "requests and responses balance within 1 %",
    )
    traced = [m for m in found if m.attribution]
    if traced:
        holes = [f"{m.point.workload} {t:.3g} s" for m in traced for t in [_unaccounted(m)] if t > 0]
        run.report.check(
            "parts of the latency leave nothing out",
            not holes,
            ", ".join(holes) or "no moment of a load without a span",
        )
        off = [
            f"{m.point.workload} {m.attribution.read_latency:.9g} / {m.read_latency_s:.9g} s"
            for m in traced
            if m.attribution and abs(m.attribution.read_latency - m.read_latency_s) > 1e-9 * m.read_latency_s
        ]
        run.report.check(
            "parts of the latency add up to it",
            not off,
            ", ".join(off) or "all loads and atomics, beside the compute units' own statistics",
        )


def _unaccounted(m: Measured) -> float:
    return sum(t for (_, part), t in m.attribution.service.items() if part == "unaccounted") if m.attribution else 0.0


def _rows(run: Run, names: list[str], slow: dict[str, Measured], slowdown: dict[str, float]) -> None:
    row = run.report.row
    chosen = [name for name in names if name in PUBLISHED] or names
    inverse = [slowdown[n] for n in chosen]
    row("speed-up of the all-fast fabric, mean", "1", statistics.fmean(inverse), 1.5, ISCA)
    row("… geometric mean", "1", statistics.geometric_mean(inverse), None, "ISCA's mean is said to be an average")
    row("… median", "1", statistics.median(inverse), None, "of the same")
    row("… largest", "1", max(inverse), 2.3, ISCA)
    for name in names:
        row(f"{name}: speed-up of the all-fast fabric", "1", slowdown[name], None, "kernel time, ratio")
    records = {name: as_record(slow[name]) for name in names}

    def mean(figure: str, key: str, published: float | None, source: str) -> None:
        values = [records[name][key] for name in chosen]
        measured = [v for v in values if not isinstance(v, Missing)]
        found: Figure = sum(measured) / len(measured) if measured else next(v for v in values if isinstance(v, Missing))
        row(
            figure,
            "%",
            found,
            published,
            source
            + (
                f"; over {len(measured)} of {len(values)} workloads, the others have none"
                if 0 < len(measured) < len(values)
                else ""
            ),
        )

    mean(
        "page-table flits between clusters, mean",
        "page_table_%_of_slow_flits",
        13,
        ISCA + ": of the traffic; of flits, if 42 % are padded, since plain reads and writes pad a third: (42 − 33.3) ÷"
        " 66.7",
    )
    mean(
        "page-table packets between clusters, mean",
        "page_table_%_of_slow_packets",
        None,
        "31 % of packets are page tables' if 13 % of flits are",
    )
    mean(
        "flits between clusters with 25 or 75 % padding, mean",
        "flits_padded_25_or_75_%",
        42,
        ISCA + " (its slides: about 40)",
    )
    mean(
        "lines from the other cluster of which at most 16 bytes are needed, mean",
        "lines_needing_16_bytes_%",
        None,
        ISCA + ": most lines",
    )
    mean("the busier direction between clusters: busy, mean", "slow_link_busy_%", None, "part of the kernels' time")
    for place in PLACES:
        mean(
            f"lines accessed, {place.replace('_', ' ')}, mean",
            f"{place}_%",
            None,
            "of lines read, written or changed by atomics behind L1 caches",
        )
