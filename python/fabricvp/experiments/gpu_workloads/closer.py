# SPDX-License-Identifier: Apache-2.0
"""Closer looks at workloads: `syr2k` by the length of its rows, `gups` and `atax` by the reach of the TLBs, and
those that the slow link costs most with queues by destination."""

from __future__ import annotations

import dataclasses

import pandas

from ..frame import Run
from ..invariants import check_conservation
from .measure import Measured, Point, as_record, for_table, measure

#: Rows of `syr2k`: those of 256 words lie in few sets of an L1.
ROWS, QUICK_ROWS = (128, 192, 240, 256, 272, 320), (64, 80)
THRASHING, WAYS = 256, 16  #: the size that is run with an L1 of more ways, too
#: Sizes by workload: (default, with --quick); and entries of a GPU's TLB: (sets, ways).
SIZES = {"gups": (1 << 21, 1 << 16), "atax": (1024, 256)}
ENTRIES = {"512": (32, 16), "1,024": (64, 16), "4,096": (256, 16), "all memory": (8192, 64)}
QUICK_ENTRIES = ("512", "all memory")
#: A queue for each destination at a GPU's link, in place of one a virtual channel.
QUEUES = (("node.fabric.device.queues_by_destination", "true"),)


def look_closer(run: Run, names: list[str], nodes: dict[str, int | None]) -> None:
    """Adds the tables `syr2k_rows` and `tlb_reach` for those of their workloads that are among ``names``."""
    options = run.options
    base = Point("", options.machine, placement=options.placement, dispatch=options.dispatch)

    def point(name: str, machine: str, size: int, overrides: tuple[tuple[str, str], ...] = ()) -> Point:
        return dataclasses.replace(
            base, workload=name, machine=machine, size=size, overrides=overrides, node=nodes[machine]
        )

    more = (("node.gpus.*.memory.unit.l1.ways", str(WAYS)),)
    rows = [(n, ()) for n in (QUICK_ROWS if run.quick else ROWS)]
    if not run.quick:
        rows.insert(rows.index((THRASHING, ())) + 1, (THRASHING, more))
    pairs = {
        (n, changed): [point("syr2k", machine, n, changed) for machine in (options.machine, options.ideal)]
        for n, changed in rows
        if "syr2k" in names
    }
    entries = {e: size for e, size in ENTRIES.items() if not run.quick or e in QUICK_ENTRIES}
    reach = {
        (e, name): point(name, options.machine, sizes[run.quick], _reach(*entries[e]))
        for e in entries
        for name, sizes in SIZES.items()
        if name in names
    }
    asked = [*(p for pair in pairs.values() for p in pair), *reach.values()]
    if not asked:
        return
    found = dict(zip(asked, run.map("closer looks", measure, asked, name=_name)))
    if pairs:
        lines = [_row(n, changed, *(found[p] for p in pair)) for (n, changed), pair in pairs.items()]
        run.report.table("syr2k_rows", pandas.DataFrame(lines).round(6), "`syr2k` by the length of its rows.")
    if reach:
        lines = [_reached(e, name, found[p]) for (e, name), p in reach.items()]
        run.report.table(
            "tlb_reach",
            pandas.DataFrame(lines).round(6),
            f"By entries of a GPU's TLB, on {options.machine}: the kernels' time; page tables' packets and flits, and"
            " flits of which 25 or 75 % are padding, of those between clusters.",
        )
    wrong = [_name(p) for p, m in found.items() if not m.correct]
    run.report.check("results of closer looks are right", not wrong, ", ".join(wrong) or f"{len(found)} runs")
    check_conservation(run.report, {_name(p): m for p, m in found.items()}, "closer looks: ")


def compare_queues(run: Run, machines: tuple[str, str], slow: dict[str, Measured], ideal: dict[str, Measured]) -> None:
    """Adds the table `queues`: workloads of ``slow`` (machine with the slow link) and ``ideal`` with a queue for each
    destination beside one for all, which a full link blocks for the others."""
    with_queues = {
        (name, machine): dataclasses.replace(
            found[name].point, overrides=found[name].point.overrides + QUEUES, spans=False
        )
        for name in slow
        for machine, found in zip(machines, (slow, ideal))
    }
    found = dict(zip(with_queues, run.map("queues by destination", measure, list(with_queues.values()), name=_name)))
    rows = []
    for name in slow:
        here, there = (found[name, machine] for machine in machines)
        rows.append(
            {
                "workload": name,
                "slow_us": slow[name].kernel_time_s * 1e6,
                "slow_queues_us": here.kernel_time_s * 1e6,
                "ideal_us": ideal[name].kernel_time_s * 1e6,
                "ideal_queues_us": there.kernel_time_s * 1e6,
                "slowdown": slow[name].kernel_time_s / ideal[name].kernel_time_s,
                "slowdown_queues": here.kernel_time_s / there.kernel_time_s,
            }
        )
    run.report.table(
        "queues",
        pandas.DataFrame(rows).round(6),
        "The workloads that the slow link costs most, with one queue a virtual channel at each GPU's link and with"
        " queues by destination.",
    )
    wrong = [_name(m.point) for m in found.values() if not m.correct]
    run.report.check(
        "results with queues by destination are right", not wrong, ", ".join(wrong) or f"{len(found)} runs"
    )
    check_conservation(run.report, {_name(m.point): m for m in found.values()}, "queues by destination: ")


def _name(point: Point) -> str:
    changed = ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in point.overrides)
    size = f" of {point.size}" if point.size else ""
    return f"{point.workload}{size} on {point.machine}" + (f", {changed}" if changed else "")


def _reach(sets: int, ways: int) -> tuple[tuple[str, str], ...]:
    return ("node.gpus.*.memory.l2_tlb.sets", str(sets)), ("node.gpus.*.memory.l2_tlb.ways", str(ways))


def _row(rows: int, changed: tuple[tuple[str, str], ...], slow: Measured, ideal: Measured) -> dict[str, object]:
    return {
        "rows": rows,
        "l1_ways": WAYS if changed else 0,  # 0: as the machine has
        "slow_us": slow.kernel_time_s * 1e6,
        "ideal_us": ideal.kernel_time_s * 1e6,
        "l1_misses": slow.l1_misses,
        "transactions": slow.transactions,
    }


def _reached(entries: str, name: str, m: Measured) -> dict[str, object]:
    record = for_table(as_record(m))
    return {
        "entries": entries,
        "workload": name,
        "size": m.point.size,
        "kernels_us": record["kernels_us"],
        "packets_%": record["page_table_%_of_slow_packets"],
        "flits_%": record["page_table_%_of_slow_flits"],
        "padded_%": record["flits_padded_25_or_75_%"],
    }
