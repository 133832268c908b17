# SPDX-License-Identifier: Apache-2.0
"""Streams of machines reach their memory: MSHRs, banks and channels suffice for rate × latency."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest
from fabricvp.experiments.microbenchmarks.bench import CHUNK, Bench
from fabricvp.experiments.microbenchmarks.limits import limits_of

GROUP = 4  #: wavefronts of a work-group


def rates(machine):
    """Shares of memory's peak that reads of all compute units get from memory and from the L2."""
    with Bench(machine) as bench:
        limits = limits_of(bench.platform.config)

        def stream(size, wavefronts, rounds):
            waves = limits.compute_units * wavefronts
            size = max(1, round(size / (CHUNK * waves))) * CHUNK * waves
            # Each pass begins a work-group further: nothing hits the L1 caches.
            large = max(size, 2 << 20)  # a buffer in large pages, which TLBs reach
            done = bench.run("stream_read", waves, GROUP, large, size=size, stride=GROUP * CHUNK, warm=1, rounds=rounds)
            return rounds * size / done.cycles / limits.memory_rate

        return stream(4 * limits.l2_size, 16, 4), stream(limits.l2_size / 2, 4, 16)


#: Shares of memory's peak from memory and from the L2. Rows of the R9 Nano's 8 banks a channel are closed between most
#: of its reads. Lanes of `gpurdma_pair` issue too slowly to read its L2 faster than its memory.
@pytest.mark.parametrize(
    "machine, floor, l2_floor",
    [("gpu", 0.8, 1), ("gpu_r9_nano", 0.75, 1), ("gpu_compnet", 0.8, 1), ("gpurdma_pair", 0.8, 0.9)],
)
def test_streams_reach_memory(machine, floor, l2_floor):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:  # one machine each
        memory, l2 = process.submit(rates, machine).result()
    print(f"{machine}: {memory:.3f} of the peak from memory, {l2:.3f} from the L2")
    assert floor < memory <= 1
    assert l2 > l2_floor
