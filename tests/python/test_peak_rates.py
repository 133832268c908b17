# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the shipped GPUs: independent multiply-adds reach the published peak, a chain takes the latency."""

from __future__ import annotations

import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest
from fabricvp.experiments.microbenchmarks.bench import LANES, REPEATS, Bench
from fabricvp.experiments.microbenchmarks.limits import limits_of

#: Published TFLOP/s with 32 and with 64 bits (0: not looked at), cycles of a dependent multiply-add with 32 bits, and
#: compute units.
#: R9 Nano: 64 compute units of 64 lanes at 1 GHz; as in MGPUSim, its 64-bit instructions take no longer here.
MACHINES = {
    "gpu": (8.19, 0.0, 4, 64),
    "gpu_r9_nano": (8.19, 0.512, 4, 64),
    "gpurdma_pair": (4.29, 1.43, 9, 15),
    "gpurdma_modern": (66.9, 33.5, 4, 132),
}
GROUP = 8  #: wavefronts of a work-group
#: So many compute units of each: work-groups start one after the other, which more units would wait for.
UNITS = 15


def measure(machine: str) -> dict[str, float]:
    """TFLOP/s of UNITS compute units, and cycles from a wavefront's instruction to its next where each needs the last
    one's result: alone, and with as many wavefronts as a compute unit holds, whose SIMD units are occupied for `issued`
    cycles."""
    with Bench(machine, {"node.gpus.*.compute_units": UNITS}) as bench:
        limits = limits_of(bench.platform.config)
        together = math.lcm(GROUP, limits.simd_units)  # as many on each SIMD unit
        waves = limits.wavefronts // together * together

        def tflops(kernel: str, rounds: int) -> float:
            all_waves = waves * limits.compute_units
            cycles = bench.run(kernel, all_waves, GROUP, rounds=rounds).cycles
            return 2 * LANES * all_waves * rounds * REPEATS * limits.clock / cycles / 1e12

        def chain(count: int, rounds: int) -> float:
            return bench.run("fma32_chain", count, min(count, GROUP), rounds=rounds).cycles / rounds / REPEATS

        return {
            "single": tflops("fma32_independent", 24),
            "double": tflops("fma64_independent", 6),
            "chain": chain(1, 512),
            "chains": chain(waves, 64),
            "issued": limits.issue["floating"] * -(-waves // limits.simd_units),
        }


@pytest.mark.parametrize("machine", MACHINES)
def test_peak_and_latency(machine: str) -> None:
    single, double, latency, all_units = MACHINES[machine]
    single, double = single * UNITS / all_units, double * UNITS / all_units
    # A process of its own: it has one platform.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        m = process.submit(measure, machine).result()
    assert 0.9 * single <= m["single"] <= 1.005 * single
    if double:
        assert 0.9 * double <= m["double"] <= 1.005 * double
    assert latency <= m["chain"] <= 1.06 * latency
    # Other wavefronts issue meanwhile.
    assert m["chains"] <= 1.15 * max(latency, m["issued"])
