# SPDX-License-Identifier: Apache-2.0
"""What is measured: each function loads one unit, on a machine of its own, and gives rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from .bench import CHUNK, LANES, LINE, REPEATS, Bench, Launched, ring
from .limits import Limits, limits_of
from .sharing import fairness, far_latency, links
from .structure import associativity, hashing, tlb_reach

Rows = list[dict[str, Any]]

ARITHMETIC = {
    "alu": "alu",
    "mul": "multiply",
    "fma32": "floating",
    "fma64": "floating",
}  #: kernel → class of instructions
STRIDES = (4, 8, 16, 32, 64, 128)  #: bytes between lanes


@dataclass(frozen=True)
class Task:
    """One set of measurements on one machine."""

    machine: str
    what: str
    quick: bool


def measure(task: Task) -> Rows:
    """Does it."""
    with Bench(task.machine) as bench:
        return list(TASKS[task.what](bench, limits_of(bench.platform.config), task.quick))


def limits_of_machine(machine: str) -> Limits:
    """What the machine's parameters allow."""
    with Bench(machine) as bench:
        return limits_of(bench.platform.config)


def _latency(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """A pointer chase by one lane over more and more memory. The first lap warms caches and TLBs. In the last row it is
    too short for that, and the L2 holds other lines: each hop finds its own in memory."""
    sizes = [limits.l1_size // 4, limits.l1_size // 2, 2 * limits.l1_size, min(limits.l2_size // 2, 1 << 22)]
    if not quick:
        sizes += [1 << n for n in range(12, min(2 * limits.l2_size, 32 << 20).bit_length())]
    for size in sorted(set(sizes)):
        stride = LINE if size <= 4 << 20 else 4 * LINE
        hops = size // stride
        timed = min(hops, 256 if quick else 1024)
        row = b.run("chase", 1, 1, ring(size, stride), lanes=1, warm=hops, rounds=timed)
        yield {"bytes": size, "level": limits.level_of(size), "cycles": row.cycles / timed}
    cold = b.run("chase", 1, 1, ring(8 << 20, 4 * LINE), lanes=1, warm=64, rounds=256, evict=limits.l2_size * 9 // 8)
    yield {"bytes": 8 << 20, "level": "memory", "cycles": cold.cycles / 256}


def _bandwidth(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Streams by compute units and wavefronts: all in L1, all in L2, all in memory."""
    units = [limits.compute_units] if quick else sorted({1, limits.compute_units // 4, limits.compute_units})
    most = limits.wavefronts
    waves = [min(4, most), min(16, most)] if quick else sorted({1, 2, 4, 8, 16, most})
    for n in units:
        for w in (w for w in waves if w <= most):
            # A quick run takes few wavefronts for the caches, where they are enough, and more for the memory.
            yield from _caches(b, limits, n, w) if not quick or w == waves[0] else ()
            yield from _memory(b, limits, n, w, 1.25 if quick else 2) if not quick or w == waves[-1] else ()


def _caches(b: Bench, limits: Limits, units: int, waves: int) -> Iterator[dict[str, Any]]:
    group = min(waves, 4)
    total = units * (waves // group) * group
    least = total * CHUNK  #: bytes, so that each wavefront has something to read
    far = group * CHUNK  #: what a work-group reads at a time, and so as far as its L1 does not help
    levels: dict[str, tuple[int, int, int]] = {}  #: level → bytes, stride, passes
    if waves * CHUNK <= limits.l1_size:
        levels["L1"] = (least, 0, 8)
    if least <= limits.l2_size // 2:
        levels["L2"] = (_chunks(min(limits.l2_size / 2, max(2 * least, 1 << 20)), total), far, 4)
    for level, (size, stride, rounds) in levels.items():
        done = b.run("stream_read", total, group, _buffer(size), size=size, stride=stride, warm=1, rounds=rounds)
        yield _stream(level, "read", units, waves, size, rounds * size / done.cycles)


def _memory(b: Bench, limits: Limits, units: int, waves: int, over: float) -> Iterator[dict[str, Any]]:
    group = min(waves, 4)
    total = units * (waves // group) * group
    # The first pass leaves clean lines behind; the second one's are always gone before they are read again.
    size = _chunks(max(over * limits.l2_size, 2 * total * CHUNK, min(4 * limits.l2_size, 8 << 20)), total)
    rounds = -(-(8 << 20) // size)  # of a small GPU several, beside which begin and end are short
    done = b.run("stream_read", total, group, _buffer(size), size=size, stride=group * CHUNK, warm=1, rounds=rounds)
    yield _stream("memory", "read", units, waves, size, rounds * size / done.cycles)
    # The L2 is full of what was written before, so each line that is written drives another one out.
    size = _chunks(4 * limits.l2_size, total)
    if size <= 16 << 20:
        done = b.run("stream_write", total, group, _buffer(size), size=size)
        yield _stream("memory", "write", units, waves, size, size / done.cycles)


def _buffer(size: int) -> int:
    """Bytes of a buffer for a stream: in pages of 2 MiB, so that TLBs play no part."""
    return max(size, 2 << 20)


def _stream(level: str, kind: str, units: int, waves: int, size: int, rate: float) -> dict[str, Any]:
    return {
        "level": level,
        "kind": kind,
        "compute_units": units,
        "wavefronts": waves,
        "bytes": size,
        "bytes_per_cycle": rate,
    }


def _chunks(size: float, wavefronts: int) -> int:
    """A size that gives each wavefront equally many chunks, about as large."""
    return max(1, round(size / (CHUNK * wavefronts))) * CHUNK * wavefronts


def _arithmetic(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Chains of dependent instructions, and independent ones, by one wavefront and by as many as a unit holds."""
    rounds = 16
    for kernel, kind in ARITHMETIC.items():
        for form in ("chain", "independent") if kernel != "mul" else ("chain",):
            for waves in (1, limits.simd_units, min(16, limits.wavefronts)):
                done = b.run(f"{kernel}_{form}", waves, waves, rounds=rounds)
                yield {
                    "instruction": kernel,
                    "class": kind,
                    "form": form,
                    "wavefronts": waves,
                    "cycles": done.cycles / rounds / REPEATS,
                    "per_cycle": waves * rounds * REPEATS / done.cycles,
                }


def _lds(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """The LDS by stride between lanes, loaded by four and by sixteen wavefronts of one compute unit; its latency."""
    size, rounds = 1 << (limits.lds_size.bit_length() - 1), 4
    hops = 64
    chase = b.run("lds_chase", 1, 1, rounds=hops, lds=size)
    yield {"kind": "chase", "stride": 0, "wavefronts": 1, "cycles": chase.cycles / hops / 8}
    for kind in "load", "store", "atomic":
        for stride in STRIDES:
            for waves in (4,) if quick else (4, min(16, limits.wavefronts)):
                done = b.run(f"lds_{kind}", waves, waves, size=size, stride=stride, rounds=rounds, lds=size)
                yield {
                    "kind": kind,
                    "stride": stride,
                    "wavefronts": waves,
                    "cycles": done.cycles / rounds / REPEATS / waves,
                }


def _coalescing(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Loads that hit L1, by stride between lanes: one line a cycle."""
    rounds = 16
    for stride in (0, *STRIDES):
        words = numpy.zeros(min(limits.l1_size // 2, 8192), numpy.uint8)
        done = b.run("coalescing", 4, 4, words, stride=stride, warm=2, rounds=rounds)
        yield {"stride": stride, "cycles": done.cycles / rounds / 8 / 4}


def _atomics(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Adds by all lanes, by stride between them: to one word, to neighbouring words, to a line each. Sums are
    checked."""
    rounds = 8
    for stride in (0, 4, 8, 64):
        for units in (1, limits.compute_units):
            waves = 4 * units
            size = max(LINE, waves * LANES * stride)
            done = b.run("atomics", waves, 4, 1 << (size - 1).bit_length(), stride=stride, rounds=rounds, back=True)
            words = numpy.frombuffer(done.data, numpy.uint32)
            chain = b.run("atomic_chain", 1, 1, 1 << 14, stride=stride, warm=1, rounds=rounds)
            yield {
                "stride": stride,
                "compute_units": units,
                "lanes_per_cycle": waves * LANES * rounds / done.cycles,
                "chain_cycles": chain.cycles / rounds,
                "sum": int(words.sum()),
                "expected": waves * LANES * rounds,
            }


def _barriers(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Barriers one after the other, by wavefronts of the work-group."""
    rounds = 32
    for waves in (1, 2, 4, 8, 16):
        if waves <= limits.wavefronts:
            yield {"wavefronts": waves, "cycles": b.run("barriers", waves, waves, rounds=rounds).cycles / rounds}


def _dispatch(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Kernels that do nothing, by number of work-groups: what a launch takes, and a work-group more."""
    # The first ones of a few wait together for their code, and so begin together.
    many = max(256, 4 * limits.compute_units)
    for groups in (1, many) if quick else (1, many, 4 * many):
        for waves in (1, 4):
            done: Launched = b.run("nothing", groups * waves, waves)
            yield {
                "work_groups": groups,
                "wavefronts": waves,
                "launch_us": 1e6 * done.seconds,
                "cycles_per_work_group": done.interval * waves if groups > 1 else 0.0,
                "cycles_per_wavefront": done.interval,
            }


TASKS: dict[str, Callable[[Bench, Limits, bool], Iterator[dict[str, Any]]]] = {
    "latency": _latency,
    "far_latency": far_latency,
    "bandwidth": _bandwidth,
    "links": links,
    "arithmetic": _arithmetic,
    "lds": _lds,
    "coalescing": _coalescing,
    "atomics": _atomics,
    "barriers": _barriers,
    "dispatch": _dispatch,
    "associativity": associativity,
    "tlb": tlb_reach,
    "hashing": hashing,
    "fairness": fairness,
}
