# SPDX-License-Identifier: Apache-2.0
"""What fences of a kernel take behind writes to its own memory and to the host's."""

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.compiler import build

opencl_machine.require_compiler()

SOURCE = """
#include <hip/hip_runtime.h>
__device__ long fence(bool system) {
    const long from = clock64();
    if (system) __threadfence_system();
    else __threadfence();
    return clock64() - from;
}
extern "C" __global__ void fences(volatile unsigned* there, volatile unsigned* here, long* cycles) {
    long took[7];
    fence(true); fence(false);         // fetches the code
    there[2] = 1;
    took[0] = fence(true);
    took[1] = fence(true);             // nothing new
    here[0] = 1;
    took[2] = fence(true);
    took[3] = fence(false);
    there[0] = 1;
    took[4] = fence(false);
    took[5] = fence(true);
    const long from = clock64();
    here[1] = there[1];                // a read, to compare with
    __threadfence();
    took[6] = clock64() - from;
    for (int i = 0; i < 7; ++i) cycles[i] = took[i];
}
"""
STEPS = ("posted", "again", "own memory", "agent, nothing", "agent, posted", "posted before", "read of the host")


def measure(tmp_path, **overrides):
    """Cycles of 1 GHz by step, and the flushes."""
    elf = tmp_path / "fences.elf"
    elf.write_bytes(build(SOURCE, "fences.hip").elf)
    with fabricvp.spawn("gpu", node__gpus__0__compute_units=4, **overrides) as platform:
        gpu = platform.nodes[0].gpus[0]
        words = numpy.array([0, 7, 0, 0], "u4")
        buffers = {"there": words, "here": numpy.zeros(4, "u4"), "cycles": numpy.zeros(7, "i8")}
        done = gpu.launch(elf, 1, list(buffers), buffers, group=1, kernel="fences", places={"there": "host"})
        assert list(done.buffers["there"]) == [1, 7, 1, 0] and list(done.buffers["here"]) == [1, 7, 0, 0]
        return dict(zip(STEPS, done.buffers["cycles"].tolist())), done.statistics


def test_a_release_waits_for_what_was_written_to_the_host(tmp_path):
    took, statistics = measure(tmp_path)
    there_and_back = took["read of the host"]
    assert there_and_back > 500
    for step in "posted", "posted before":
        assert 0.8 * there_and_back < took[step] < 1.3 * there_and_back, took  # the read has TLB and L1 before it
    for step in "again", "own memory", "agent, nothing", "agent, posted":
        assert took[step] < 200, took
    assert statistics["system.flushes"] == 2  # what the command processor wrote does not count
    # The time is the machine's own: with a longer way through the root complex it takes longer by that way.
    longer, _ = measure(tmp_path, node__pcie__root__completion_latency="620 ns")
    assert longer["posted"] - took["posted"] == pytest.approx(500, abs=20)


def test_forms_of_the_release(tmp_path):
    always, statistics = measure(tmp_path, node__gpus__0__system__release="always")
    there_and_back = always["read of the host"]
    for step in "posted", "again", "own memory", "posted before":
        assert always[step] > 0.8 * there_and_back, always
    assert always["agent, posted"] < 200 and statistics["system.flushes"] == 5
    never, statistics = measure(tmp_path, node__gpus__0__system__release="never")
    assert max(never[step] for step in STEPS[:6]) < 200 and statistics["system.flushes"] == 0


def test_bad_values():
    with pytest.raises(fabricvp.InputError, match="behind_writes, always, never"):
        fabricvp.spawn("gpu", node__gpus__0__system__release="sometimes")
