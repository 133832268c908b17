# SPDX-License-Identifier: Apache-2.0
"""Instructions per second of one hart, beside QEMU's translator, and host instructions per simulated instruction."""

import re
import subprocess

import tools
from registry import Result, alternately, measurement

ROUNDS = tools.sized(5, 1)
# Long enough that a start-up of tens of milliseconds, which is subtracted, does not matter.
ITERATIONS = {
    "integer": (12_000_000, 40_000_000),
    "memory": (25_000_000, 100_000_000),
    "straight": (25_000_000, 200_000_000),
}


def run_own(elf):
    out = tools.WORK / "iss"
    took = tools.seconds(tools.fabricvp("bare.yaml", "--firmware", elf, out=out))
    return took, tools.statistics_of(out)["sim.instructions"]


def million_a_second(loop):
    """Medians of ours and of QEMU's speed: wall time of a run minus that of a run without iterations."""
    few, many = (n // tools.sized(1, 4) for n in ITERATIONS[loop])
    empty, short, long = (tools.compile_loop(loop, n) for n in (0, few, many))
    each = tools.instructions_per_iteration(loop)
    start, retired_at_start = run_own(empty)

    def speed():
        took, retired = run_own(short)
        if abs(retired - retired_at_start - few * each) > 1000:
            raise RuntimeError(f"{retired - retired_at_start} instructions retired; the loop has {few * each}")
        return few * each / (took - start) / 1e6

    bare = [*tools.qemu(memory="128M"), "-serial", "none", "-bios", "none", "-kernel"]
    qemu_start = min(tools.seconds([*bare, empty]) for _ in range(3))
    start = min(start, *(run_own(empty)[0] for _ in range(2)))
    value, baseline = alternately(
        ROUNDS, speed, lambda: many * each / (tools.seconds([*bare, long]) - qemu_start) / 1e6
    )
    return Result(value, baseline, "MIPS")


@measurement("iss_vs_qemu_integer", "integer loop, against QEMU TCG", "MIPS", goal="ratio ≥ 0.16")
def integer():
    return million_a_second("integer")


@measurement("iss_vs_qemu_memory", "memory loop, against QEMU TCG", "MIPS", goal="ratio ≥ 0.16")
def memory():
    return million_a_second("memory")


@measurement("iss_vs_qemu_straight", "straight-line integer loop, against QEMU TCG", "MIPS")
def straight():
    return million_a_second("straight")


def host_instructions(elf):
    """What valgrind's callgrind counts for a whole run: repeatable, unlike time."""
    file = tools.WORK / "callgrind.out"
    command = [
        tools.program("valgrind"),
        "--tool=callgrind",
        f"--callgrind-out-file={file}",
        *tools.fabricvp("bare.yaml", "--firmware", elf, out=tools.WORK / "callgrind"),
    ]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return int(re.search(r"^(?:summary|totals): (\d+)", file.read_text(), re.MULTILINE)[1])


def host_instructions_each(loop):
    less, more = 20_000, tools.sized(120_000, 40_000)
    counts = [host_instructions(tools.compile_loop(loop, n)) for n in (less, more)]
    return (counts[1] - counts[0]) / ((more - less) * tools.instructions_per_iteration(loop))


@measurement(
    "iss_callgrind_instructions_per_instruction", "host instructions for one of the integer loop", "instructions"
)
def callgrind_integer():
    return Result(host_instructions_each("integer"), None, "instructions")


@measurement(
    "iss_callgrind_instructions_per_memory_instruction", "host instructions for one of the memory loop", "instructions"
)
def callgrind_memory():
    return Result(host_instructions_each("memory"), None, "instructions")
