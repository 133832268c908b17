# SPDX-License-Identifier: Apache-2.0
"""Runs every network in every way and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..gpu_workloads.measure import Measured, Point, as_record, for_table, measure
from ..invariants import check_workloads
from ..netcrafter.points import BASELINE, IDEAL, LABELS, POINTS
from ..nodes import measured_nodes
from .ways import NETWORKS, WAYS

PARTS = ("selective-pooling", "all")  #: trimming and sequencing alone gain nothing for networks (netcrafter-load)
QUICK = ("lenet",)


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = options.only or (list(QUICK) if run.quick else list(NETWORKS))
    nodes = measured_nodes([options.machine, options.ideal], options.node, "gpus")

    def point(name: str, way: str, at: str) -> Point:
        machine, network = options.ideal if at == IDEAL else options.machine, NETWORKS[name]
        return Point(
            name,
            machine,
            network.quick if run.quick else network.batch,
            "lasp",
            "lasp",
            overrides=POINTS.get(at, ()),
            node=nodes[machine],
            option=" ".join(filter(None, (network.option, WAYS[way]))),
        )

    def seconds(p: Point) -> float:
        return NETWORKS[p.workload].seconds * p.size / NETWORKS[p.workload].batch

    parts = PARTS[-1:] if run.quick else PARTS
    chosen = [(name, way, at) for at in (BASELINE, IDEAL, *reversed(parts)) for name in names for way in WAYS]
    asked = {point(*c): c for c in chosen}
    found: dict[tuple[str, str, str], Measured] = dict(
        zip(chosen, run.map("runs", measure, list(asked), seconds, lambda p: _name(*asked[p])))
    )
    smallest = min(asked, key=seconds)
    again = run.map("the same again", measure, [smallest], name=lambda p: _name(*asked[p]), fresh=True)[0]
    check_workloads(run.report, {_name(*c): m for c, m in found.items()}, again)
    frame = pandas.DataFrame([_line(found, name, way, parts) for name in names for way in WAYS])
    for _, line in frame.iterrows():
        about = f"{line['network']}, {line['way']}"
        run.report.row(f"{about}: slow-down", "1", line[IDEAL], None, LABELS[IDEAL])
        run.report.row(f"{about}: all: speed-up", "1", line["all"], None, LABELS["all"])
    slow, gain = frame.loc[frame[IDEAL].idxmax()], frame.loc[frame["all"].idxmax()]
    run.report.conclude(
        f"The slow link costs {slow[IDEAL]:.2f}× at most ({slow['network']}, {slow['way']}). All parts gain"
        f" {100 * (gain['all'] - 1):+.1f} % at most ({gain['network']}, {gain['way']})."
    )
    run.report.table(
        "training",
        frame.round(6),
        "Kernel times against those of the slow link as it is; figures of the links are the baseline's.",
    )


def _name(name: str, way: str, at: str) -> str:
    return f"{name}, {way}, {at}"


def _line(
    found: dict[tuple[str, str, str], Measured], name: str, way: str, parts: tuple[str, ...]
) -> dict[str, object]:
    base = found[name, way, BASELINE]
    record = for_table(as_record(base))
    return {
        "network": name,
        "batch": base.point.size,
        "way": way,
        "kernel_time_ms": 1e3 * base.kernel_time_s,
        **{at: base.kernel_time_s / found[name, way, at].kernel_time_s for at in (IDEAL, *parts)},
        "packets": sum(base.packets.values()),
        **{
            key: record[key]
            for key in (
                "slow_link_busy_%",
                "page_table_%_of_slow_flits",
                "flits_padded_25_or_75_%",
                "lines_needing_16_bytes_%",
            )
        },
    }
