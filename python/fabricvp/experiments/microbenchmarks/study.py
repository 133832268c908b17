# SPDX-License-Identifier: Apache-2.0
"""Runs all microbenchmarks on one machine, and holds them against its parameters and against real GPUs."""

from __future__ import annotations

from typing import Any

import pandas

from ..frame import Run
from .limits import LINE, Limits
from .plots import bandwidth_plot, latency_plot, spread_plot, stride_plot
from .points import ARITHMETIC, TASKS, Rows, Task, limits_of_machine, measure
from .real import REAL

#: Share of memory's peak that a stream has to reach.
REACHED = 0.8
#: Instructions around a measured one that take issue cycles as well: the hop's address, the loop.
AROUND = 6
#: Cycles that a load which bypasses the L1 may take beyond one that misses it.
BYPASS = 4
#: Cycles by which a load may be slower while all translations hit.
TLB_HIT = 4


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    machine = run.options.machine
    limits: Limits = run.map("parameters", limits_of_machine, [machine], name=str)[0]
    tasks = [Task(machine, what, run.quick) for what in TASKS]
    weights = {"bandwidth": 10.0, "latency": 3.0, "links": 3.0, "fairness": 3.0, "hashing": 3.0}
    found: dict[str, Rows] = dict(
        zip(TASKS, run.map("microbenchmarks", measure, tasks, lambda t: weights.get(t.what, 1.0), lambda t: t.what))
    )
    again: Rows = run.map(
        "the same again", measure, [Task(machine, "coalescing", run.quick)], name=lambda t: t.what, fresh=True
    )[0]
    run.report.check("the same again", again == found["coalescing"], "coalescing measured twice")
    real = REAL.get(machine, {})
    _latency(run, limits, found["latency"], real)
    _far_latency(run, limits, found["far_latency"])
    _bandwidth(run, limits, found["bandwidth"])
    _links(run, limits, found["links"])
    _arithmetic(run, limits, found["arithmetic"], real)
    _lds(run, limits, found["lds"], real)
    _coalescing(run, limits, found["coalescing"])
    _atomics(run, limits, found["atomics"])
    _barriers(run, found["barriers"])
    _dispatch(run, limits, found["dispatch"])
    _associativity(run, limits, found["associativity"])
    _tlb(run, limits, found["tlb"])
    _hashing(run, limits, found["hashing"])
    _fairness(run, limits, found["fairness"])


def _row(run: Run, figure: str, unit: str, measured: float, real: dict[str, Any], key: str, source: str) -> None:
    """A figure beside a real GPU's, where one is known."""
    known = real.get(key)
    run.report.row(figure, unit, measured, known[0] if known else None, known[1] if known else source)


def _table(run: Run, name: str, rows: Rows, caption: str) -> None:
    run.report.table(name, pandas.DataFrame(rows).round(3), caption)


def _latency(run: Run, limits: Limits, rows: Rows, real: dict[str, Any]) -> None:
    levels = [r for r in rows if r["level"]]
    _table(
        run,
        "latency",
        [r | ({"parameters": limits.latency(r["level"])} if r["level"] else {}) for r in rows],
        "Cycles of a load that waits for the one before it, by the bytes that it walks over; `parameters` is the sum of"
        " the latencies on its way, without issue and bank conflicts. A hop is a load and an addition.",
    )
    run.report.plot("latency", latency_plot(rows, limits), "Cycles a hop of a pointer chase by one lane.")
    for level in "L1", "L2", "memory":
        best = min(r["cycles"] for r in levels if r["level"] == level)
        _row(
            run, f"load, {level}", "cycles", best, real, f"{level} latency", f"parameters: {limits.latency(level):.0f}"
        )
    below = [r for r in levels if r["cycles"] < limits.latency(r["level"])]
    above = [r for r in levels if r["level"] == "L1" and r["cycles"] > limits.l1_latency + AROUND * limits.result]
    run.report.check("no load below its latency", not below, f"{below or 'all above the sum of their parameters'}")
    run.report.check("a hit takes its latency and issue", not above, f"{above or 'at most'} {AROUND} instructions more")


def _far_latency(run: Run, limits: Limits, rows: Rows) -> None:
    _table(
        run,
        "far_latency",
        rows,
        "Memory of other GPUs over the fabric, and of the host over PCIe: cycles of a load that waits for the one"
        " before it, of what the L1 could hold and of more.",
    )
    beyond = {r["memory"]: r["cycles"] for r in rows if not r["fits_L1"]}
    for memory, cycles in beyond.items():
        if memory != "own":
            run.report.row(f"load, {memory}", "cycles", cycles, None, "beyond the L1, translations warm")
    run.report.check(
        "far memory is slower than the own",
        all(cycles > beyond["own"] for memory, cycles in beyond.items() if memory != "own"),
        ", ".join(f"{memory} {cycles:.0f}" for memory, cycles in beyond.items()),
    )


def _links(run: Run, limits: Limits, rows: Rows) -> None:
    if not rows:
        return
    held = [r | {"share_of_peak": r["bytes_per_cycle"] / r["peak"]} for r in rows]
    _table(
        run,
        "links",
        held,
        "Streams to memory of other GPUs and of the host: bytes a cycle by compute units and wavefronts on each, and"
        " what the slowest link on the way carries one way, headers included.",
    )
    for memory in dict.fromkeys(r["memory"] for r in held):
        for kind in "read", "write":
            best = _best_stream(held, memory=memory, kind=kind)
            run.report.row(
                f"{kind}s, {memory}",
                "GB/s",
                best["bytes_per_cycle"] * limits.clock / 1e9,
                None,
                f"the link carries {best['peak'] * limits.clock / 1e9:.1f}",
            )
    over = [f"{r['kind']}s of {r['memory']} {r['share_of_peak']:.2f}" for r in held if r["share_of_peak"] > 1]
    run.report.check("no link above its rate", not over, ", ".join(over) or "reads and writes are all below")


def _bandwidth(run: Run, limits: Limits, rows: Rows) -> None:
    held = [r | {"peak": limits.rate(r["level"], r["compute_units"])} for r in rows]
    for r in held:
        r["share_of_peak"] = r["bytes_per_cycle"] / r["peak"]
    _table(
        run,
        "bandwidth",
        held,
        "Bytes a cycle of streams, by compute units and wavefronts on each. L1: each compute unit reads again what it"
        " has read; L2: what others have read; memory: nothing is read twice.",
    )
    run.report.plot("bandwidth", bandwidth_plot(held), "Streams as a share of what the parameters allow.")
    for level in "L1", "L2", "memory":
        best = _best_stream(held, level=level, kind="read")
        if best:
            run.report.row(
                f"stream, {level}",
                "GB/s",
                best["bytes_per_cycle"] * limits.clock / 1e9,
                None,
                f"peak {best['peak'] * limits.clock / 1e9:.0f}",
            )
    over = [f"{r['level']} {r['kind']} {r['share_of_peak']:.2f}" for r in held if r["share_of_peak"] > 1.001]
    run.report.check("no stream above its peak", not over, ", ".join(over) or "reads and writes are all below")
    # Little's law: what is in flight is at most what the L1 caches can fetch at a time.
    most = limits.l1_in_flight * 64 / limits.memory_latency
    fetched = _best_stream(held, level="memory", kind="read")["bytes_per_cycle"]
    run.report.check("Little's law", fetched <= most, f"{fetched:.0f} of {most:.0f} bytes a cycle in flight")
    for kind in "read", "write":
        best = _best_stream(held, level="memory", kind=kind)
        if best:
            rate = best["bytes_per_cycle"]
            run.report.check(
                f"{kind}s reach {REACHED:.0%} of memory",
                rate >= REACHED * limits.memory_rate,
                f"{rate * limits.clock / 1e9:.0f} of {limits.memory_rate * limits.clock / 1e9:.0f} GB/s",
            )


def _best_stream(rows: Rows, **where: str) -> dict[str, Any]:
    """The fastest of the streams that have these values; empty if there is none."""
    found = [r for r in rows if all(r[key] == value for key, value in where.items())]
    return max(found, key=lambda r: r["bytes_per_cycle"], default={})


def _arithmetic(run: Run, limits: Limits, rows: Rows, real: dict[str, Any]) -> None:
    _table(
        run,
        "arithmetic",
        rows,
        "Cycles from an instruction of a wavefront to its next, and instructions a cycle of one compute unit, by"
        " wavefronts on it: each waits for the one before (chain), or four chains.",
    )
    one = {(r["instruction"], r["form"]): r["cycles"] for r in rows if r["wavefronts"] == 1}
    for kernel in ARITHMETIC:
        _row(run, f"{kernel}, chain", "cycles", one[kernel, "chain"], real, kernel, "one wavefront")
    over = [r for r in rows if r["per_cycle"] > limits.simd_units / min(limits.issue[r["class"]], r["cycles"]) * 1.001]
    run.report.check("no unit issues faster than it can", not over, f"{over or 'all below'}")


def _lds(run: Run, limits: Limits, rows: Rows, real: dict[str, Any]) -> None:
    _table(run, "lds", rows, "Cycles of the LDS an instruction of 64 lanes of 32 bits, by bytes between lanes.")
    run.report.plot("lds", stride_plot(rows, "kind"), "LDS: cycles an instruction by stride.")
    chase = next(r["cycles"] for r in rows if r["kind"] == "chase")
    _row(run, "load, LDS", "cycles", chase - limits.result, real, "LDS latency", f"parameter: {limits.lds_latency:.0f}")
    run.report.check(
        "no LDS load below its latency", chase >= limits.lds_latency, f"{chase:.0f} of {limits.lds_latency:.0f}"
    )
    low = [
        f"{r['kind']} at {r['stride']}: {r['cycles']:.2f} of {passes(limits, r['stride'])}"
        for r in rows
        if r["stride"] and r["cycles"] < 0.98 * passes(limits, r["stride"])
    ]
    run.report.check(
        "the LDS serves each bank once a cycle", not low, "; ".join(low) or "all accesses take their passes"
    )


def passes(limits: Limits, stride: int) -> int:
    """Cycles that 64 lanes with a 32-bit word every ``stride`` bytes keep the LDS: the most words of one bank, where
    lanes on one word share it."""
    words = {lane * stride % limits.lds_size // 4 for lane in range(64)}
    banks = [word % limits.lds_banks for word in words]
    return max(banks.count(bank) for bank in set(banks))


def _coalescing(run: Run, limits: Limits, rows: Rows) -> None:
    addresses = 64 / limits.address_lanes
    held = [r | {"lines": max(1, min(64, r["stride"])), "addresses": addresses} for r in rows]
    _table(
        run,
        "coalescing",
        held,
        "Cycles a load of 64 lanes by bytes between lanes: lines that it touches, of which L1 serves one a cycle, and"
        " cycles in which the coalescer takes the addresses.",
    )
    low = [r for r in held if r["cycles"] < 0.98 * max(r["lines"], r["addresses"])]
    run.report.check("L1 serves a line a cycle", not low, f"{low or 'no load is faster'}")


def _atomics(run: Run, limits: Limits, rows: Rows) -> None:
    _table(
        run,
        "atomics",
        rows,
        "Atomic additions of 32 bits by all lanes: lanes a cycle, by bytes between lanes (0: one word for all); cycles"
        " of one after the other by a wavefront.",
    )
    wrong = [r for r in rows if r["sum"] != r["expected"]]
    run.report.check("atomic sums are right", not wrong, f"{wrong or 'all'}")


def _barriers(run: Run, rows: Rows) -> None:
    _table(run, "barriers", rows, "Cycles from a barrier to the next, by wavefronts of the work-group.")


def _dispatch(run: Run, limits: Limits, rows: Rows) -> None:
    _table(
        run,
        "dispatch",
        rows,
        "Launches of a kernel that does nothing, as the host sees them, and cycles from a work-group's start to the"
        " next one's, over the second half of them: the first ones wait for their code.",
    )
    run.report.row(
        "launch", "us", min(r["launch_us"] for r in rows), None, "from the doorbell to the completion signal"
    )
    many = max((r for r in rows if r["wavefronts"] == 1), key=lambda r: r["work_groups"])
    run.report.row(
        "from a work-group to the next",
        "cycles",
        many["cycles_per_work_group"],
        None,
        f"{many['work_groups']} work-groups; parameter: {limits.work_group_interval:.0f}",
    )
    early = [
        r
        for r in rows
        if r["work_groups"] > limits.compute_units and r["cycles_per_work_group"] < 0.98 * limits.work_group_interval
    ]
    run.report.check(
        "work-groups start no faster than the dispatcher can", not early, f"{early or 'at least its interval apart'}"
    )


def _associativity(run: Run, limits: Limits, rows: Rows) -> None:
    if not rows:
        return
    _table(
        run,
        "associativity",
        rows,
        "Cycles of a load in a chase over lines of one set, by their number. Loads for the L2 bypass the L1.",
    )
    wrong = []
    for r in rows:
        here, beyond = ("L1", "L2") if r["level"] == "L1" else ("L2", "memory")
        most = limits.latency(here) + AROUND * limits.result + BYPASS
        if (r["cycles"] > most) if r["lines"] <= r["ways"] else (r["cycles"] < limits.latency(beyond)):
            wrong.append(f"{r['level']}: {r['lines']} lines of {r['ways']} ways {r['cycles']:.0f}")
    run.report.check("sets hold their ways", not wrong, "; ".join(wrong) or "and no line more")


def _tlb(run: Run, limits: Limits, rows: Rows) -> None:
    _table(
        run,
        "tlb",
        rows,
        "Cycles of a load that bypasses the L1 in a chase over a line of each page, by pages of 4 KiB, when all were"
        " walked for.",
    )
    least = min(r["cycles"] for r in rows)
    inside = [r for r in rows if r["pages"] < r["entries"]]
    beyond = [r for r in rows if r["pages"] >= 2 * r["entries"]]
    ok = all(r["cycles"] < least + TLB_HIT for r in inside) and all(r["cycles"] >= least + TLB_HIT for r in beyond)
    run.report.check(
        "the TLB reaches its entries", ok, ", ".join(f"{r['pages']} pages {r['cycles']:.0f}" for r in rows)
    )


def _hashing(run: Run, limits: Limits, rows: Rows) -> None:
    held = [
        r | {"in_use": units_in_use(limits, r["level"], r["stride"]), "peak": peak_of_stride(limits, r)} for r in rows
    ]
    _table(
        run,
        "hashing",
        held,
        "Lines a cycle by bytes between neighbouring lanes: banks of the L2, or channels of the memory, that such"
        " addresses use without hashing, and what these serve.",
    )
    run.report.plot("hashing", spread_plot(held), "Lines a cycle by bytes between neighbouring lanes.")
    over = [
        f"{r['level']} at {r['stride']}: {r['lines_per_cycle']:.2f}" for r in held if r["lines_per_cycle"] > r["peak"]
    ]
    run.report.check(
        "no bank or channel serves more than it can", not over, "; ".join(over) or "at strides of 64 to 4,096 bytes"
    )


def units_in_use(limits: Limits, level: str, stride: int) -> int:
    """Banks or channels that addresses at multiples of ``stride`` use, where the address's low bits choose them."""
    units, interleave = (
        (limits.l2_banks, limits.l2_interleave) if level == "L2" else (limits.channels, limits.channel_interleave)
    )
    return len({n * stride // interleave % units for n in range(units * max(1, interleave // stride) + units)})


def peak_of_stride(limits: Limits, row: dict[str, Any]) -> float:
    """Lines a cycle that such a stride can get: from the banks or channels in use, or from all if addresses are
    hashed."""
    rate, units = (limits.l2_rate, limits.l2_banks) if row["level"] == "L2" else (limits.memory_rate, limits.channels)
    used = units if limits.hashed else units_in_use(limits, row["level"], row["stride"])
    return rate / LINE * used / units


def _fairness(run: Run, limits: Limits, rows: Rows) -> None:
    held = [
        r | {"less_than_half_%": 100 * (1 - 2 * min(r["first"], r["second"]) / (r["first"] + r["second"]))}
        for r in rows
    ]
    _table(
        run,
        "fairness",
        held,
        "Bytes a cycle of two kernels that read at the same time, and of the first alone; `overlap` is the part of the"
        " longer one in which both ran; the last column says by how much the one that gets less misses its half.",
    )
    slower = [
        f"{r['shared']} {min(r['first'], r['second']):.1f} of {r['alone']:.1f}"
        for r in held
        if max(r["first"], r["second"]) > 1.05 * r["alone"]
    ]
    run.report.check("no kernel is faster beside another", not slower, "; ".join(slower) or "at most as fast as alone")
