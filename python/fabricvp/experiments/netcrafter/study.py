# SPDX-License-Identifier: Apache-2.0
"""Runs every workload at every design point and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..gpu_workloads.attribution import records
from ..gpu_workloads.measure import Measured, Point, as_record, for_table, measure
from ..gpu_workloads.tables import by_gpu, padding
from ..gpu_workloads.workloads import PUBLISHED, WORKLOADS
from ..invariants import check_workloads
from ..nodes import measured_nodes
from .plots import bars, saved
from .points import BASELINE, DEFAULT, IDEAL, POINTS, pages_of, parts_of
from .rows import Runs, add_overhead, add_rows, region_speed_ups, saved_share, speed_ups, verdict
from .synthetic import MECHANISMS, FixedTraffic, TrafficResult, check_fixed_traffic, run_traffic

QUICK = (
    "gups",
    "spmv",
    "mis",
    "mvt",
)  #: workloads with --quick: one each that is random, in rows, over a graph, in columns
REQUESTS = 5_000  #: of each device, of the fixed traffic


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or (list(QUICK) if run.quick else PUBLISHED)
    points = [BASELINE, *(options.points or DEFAULT)]
    nodes = measured_nodes(
        [options.machine, options.ideal] if IDEAL in points else [options.machine], options.node, "gpus"
    )

    def point(name: str, at: str) -> Point:
        machine = options.ideal if at == IDEAL else options.machine
        return Point(
            name,
            machine,
            WORKLOADS[name].quick if run.quick else 0,
            options.placement,
            options.dispatch,
            spans=at == BASELINE and not options.no_spans,
            overrides=POINTS.get(at, ()) + pages_of(options.page_size),
            node=nodes[machine],
        )

    chosen = [(name, at) for name in names for at in points]
    asked = {point(*c): f"{c[0]}, {c[1]}" for c in chosen}
    found: Runs = dict(
        zip(
            chosen,
            run.map("workloads", measure, list(asked), lambda p: WORKLOADS[p.workload].seconds, lambda p: asked[p]),
        )
    )
    smallest = min(names, key=lambda name: WORKLOADS[name].seconds)
    again = run.map("the same again", measure, [point(smallest, points[-1])], name=lambda p: asked[p], fresh=True)[0]
    traffic = [FixedTraffic(at, parts_of(at), REQUESTS) for at in points if parts_of(at)]
    traffic = [*dict.fromkeys(t.alone for t in traffic), *traffic]
    carried = run.map("fixed traffic", run_traffic, traffic, name=lambda t: t.name)

    gains = speed_ups(found, names, points)
    _checks(run, {asked[m.point]: m for m in found.values()}, again, carried)
    add_rows(run.report, found, gains)
    add_overhead(run.report, carried)
    run.report.conclude(*verdict(found, gains))
    run.report.plot(
        "speedup",
        bars(gains.drop(columns=BASELINE)),
        f"Speed-up over {options.machine} by design point; diamonds: published",
    )
    if any(m.controllers for m in found.values()):
        run.report.plot(
            "saved", saved(found, names, points), "Flits between the clusters that were saved, by mechanism"
        )
    run.report.table(
        "speedups",
        gains.round(6).rename_axis("workload").reset_index(),
        "Kernel time at the baseline over that at each point: time in which a kernel runs on any GPU.",
    )
    run.report.table(
        "region_speedups",
        region_speed_ups(found, names, points).round(6).rename_axis("workload").reset_index(),
        "The same by the time of whole regions, with launches and what the host does between kernels.",
    )
    run.report.table(
        "runs",
        pandas.DataFrame([_line(at, m) for (_, at), m in found.items()]).round(6),
        "Every run. Saved flits are a share of what the link would have carried without the controllers.",
        shown=200,
    )
    baseline = [found[name, BASELINE] for name in names]
    run.report.table(
        "by_gpu",
        by_gpu(baseline),
        "At the baseline: requests of each GPU behind its L1 caches, where their lines lie, page-table reads of its"
        " walkers.",
        80,
    )
    run.report.table(
        "padding", padding(baseline), "At the baseline: flits between the clusters by packet class and padding.", 100
    )
    run.report.table(
        "fixed_traffic",
        pandas.DataFrame(
            [
                {
                    "point": c.traffic.name,
                    "flits": c.flits,
                    **{f"saved by {k}": v for k, v in c.saved.items()},
                    "packets": c.sent,
                }
                for c in carried
            ]
        ),
        "The same requests of generators at every point with controllers.",
    )
    attributed = [row for m in baseline if m.attribution for row in records(m.point.workload, m.attribution)]
    if attributed:
        run.report.table(
            "attribution",
            pandas.DataFrame(attributed),
            "At the baseline: mean time that a load spends in each part of the machine, by where the "
            "farthest of its lines lies; each moment counts once, for what ends last.",
            shown=30,
        )


def _line(at: str, m: Measured) -> dict[str, object]:
    record = as_record(m)
    keep = (
        "workload",
        "correct",
        "kernels_us",
        "kernel_time_us",
        "l1_mpki",
        "other_cluster_%",
        "page_table_%_of_slow_packets",
        "page_table_%_of_slow_flits",
        "flits_padded_25_or_75_%",
        "lines_needing_16_bytes_%",
        "slow_link_busy_%",
        "other_cluster_read_us",
        "wall_s",
    )
    figures = {key: record[key] for key in keep} | {f"saved_by_{k}_%": saved_share(m, k) for k in MECHANISMS}
    return {"point": at} | for_table(figures)


def _checks(run: Run, runs: dict[str, Measured], again: Measured, carried: list[TrafficResult]) -> None:
    check_workloads(run.report, runs, again)
    check_fixed_traffic(run.report, carried)
    held, odd = [], []
    for name, m in runs.items():
        c = m.controllers
        if not c:
            continue
        if abs(c["packets"] - c["left"]) > 4096:  # what the queues hold at a region's borders
            held.append(f"{name}: {c['packets']:.0f} in, {c['left']:.0f} out")
        spared = c["saved_flits.stitching"] + c["saved_flits.ends"]
        if (
            abs(c["buffer_flits"] - c["wire_flits"] - spared) > 64
        ):  # ends whose packets lie on the other side of a border
            odd.append(f"{name}: {c['buffer_flits']:.0f} - {c['wire_flits']:.0f}, {spared:.0f}")
    run.report.check(
        "what comes into the controllers leaves them",
        not held,
        "; ".join(held) or "but for what waits at a region's borders",
    )
    run.report.check(
        "flits saved in workloads are the sum by mechanism",
        not odd,
        "; ".join(odd) or "packets one by one less what the link carried",
    )
