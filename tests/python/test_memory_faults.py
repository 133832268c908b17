# SPDX-License-Identifier: Apache-2.0
"""Bits that flip in memories and registers, and a command processor whose firmware stops."""

import re
import subprocess

import fabricvp
import pytest
from fabricvp import Marker, Outcome
from fabricvp.data import sdk_folder

GPU = {"node__gpus__0__compute_units": 4}


def test_a_bit_of_host_memory_flips_at_its_time(machine):
    platform = machine("_start: j _start")
    memory = platform.nodes[0].memory
    memory.write_int(0x8010_0000, 0x55)
    platform.inject("node0.host.dram", "flip", at="5 us", offset=0x10_0000, bit=7)
    platform.run("4 us")
    assert memory.read_int(0x8010_0000) == 0x55
    platform.run("2 us")
    assert memory.read_int(0x8010_0000) == 0xD5
    assert platform.statistics.totals()["node0.host.dram.faults.flip"] == 1


def test_a_flipped_instruction_is_executed(machine):
    platform = machine(".option norvc\n_start: j _start")
    platform.run("5 us")
    entry = platform.nodes[0].harts[0].pc
    word = platform.nodes[0].memory.read_int(entry, 4)
    assert word & 0x7F == 0x6F, hex(word)  # jal
    platform.inject("node0.host.dram", "flip", offset=entry - 0x8000_0000, bit=2)  # 0x6b: custom-3, illegal
    platform.run("5 us")
    hart = platform.nodes[0].harts[0]
    assert hart.pc != entry and hart.csr["mcause"] != 0


def run_app(platform, flips):
    """Runs `vectoradd` into its kernel, lets ``flips(lane)`` of a live wavefront happen, and gives whether all was
    right."""
    platform.run(until=Marker("kernels", "reset"))
    while not (live := platform.nodes[0].gpus[0].wavefronts()):
        platform.run("100 ns")
    for target, arguments in flips(live[0]):
        platform.inject(target, "flip", **arguments)
    platform.run("2 s")
    return platform.app_ok


@pytest.mark.parametrize("row", ["live", "free"])
def test_flipped_registers_change_what_a_wavefront_does(row):
    def flips(wavefront):
        slot = wavefront.slot if row == "live" else 9
        target = f"node0.gpu0.compute_unit{wavefront.compute_unit}"
        return [(target, {"slot": slot, "lane": 0, "row": n, "bit": 45}) for n in range(1, 32)]

    with fabricvp.spawn("gpu", app="vectoradd", size=64, **GPU) as platform:
        assert platform.call(run_app, flips) is (row == "free")


def test_the_driver_tells_of_a_command_processor_that_has_crashed():
    with fabricvp.spawn("gpu", app="vectoradd", size=64, **GPU) as platform:
        platform.run(until=Marker("kernels", "reset"))
        platform.inject("node0.gpu0.processor", "crash")
        result = platform.run("5 s")
        assert result.outcome == Outcome.GUEST_FAILURE and "timed out" in platform.nodes[0].console.output


def test_a_host_that_waits_for_long_sleeps():
    with fabricvp.spawn("gpu", app="vectoradd", size=64, node__host__hart__clock="1 GHz", **GPU) as platform:
        platform.run(until=Marker("kernels", "reset"))
        platform.inject("node0.gpu0.processor", "crash")
        platform.run("100 ms")
        before = platform.statistics.totals()["node0.host.hart0.active_cycles"]
        platform.run("100 ms")
        active = platform.statistics.totals()["node0.host.hart0.active_cycles"] - before
        assert 0 < active < 4_000_000  # 12.5 million where it polls


ECC = {
    "node__host__dram__ecc": True,
    "node__gpus__0__memory__hbm__ecc": True,
    "node__gpus__0__memory__l2__ecc": True,
    "node__gpus__0__memory__unit__l1__ecc": True,
    "node__gpus__0__processor__ecc": True,
    "node__gpus__0__compute_unit__register_file__ecc": True,
}


def all_words(structure, wavefront):
    """Flips in many words of a structure: (target, arguments) each. Bit 29 is one of the exponents of floats."""
    gpu = "node0.gpu0"
    if structure == "registers":
        place = {"slot": wavefront.slot, "lane": 0, "bit": 45}
        return [(f"{gpu}.compute_unit{wavefront.compute_unit}", place | {"row": row}) for row in range(1, 32)]
    blocks = [f"unit{n}.l1" for n in range(4)] if structure == "L1" else [f"l2.bank{n}" for n in range(16)]
    words = [{"line": line, "word": word, "bit": 29} for line in range(16) for word in range(8)]
    return [(f"{gpu}.memory.{block}", word) for block in blocks for word in words]


def flip_all(platform, structure, bits):
    """Runs `spmv` with flips where wavefronts are alive. \\returns whether all was right, output, corrected and
    uncorrected errors."""
    platform.run(until=Marker("kernels", "reset"))
    gpu = platform.nodes[0].gpus[0]
    while not gpu.wavefronts():
        platform.run("100 ns")
    times = 1 if structure == "registers" else 8
    for _ in range(times):
        platform.run("300 ns")
        if not (live := gpu.wavefronts()):
            break
        for target, arguments in all_words(structure, live[0]):
            platform.inject(target, "flip", bits=bits, **arguments)
    platform.run("2 s")
    counters = {p: v for p, v in platform.statistics.totals().items() if p.endswith("corrected_errors")}
    corrected = sum(v for p, v in counters.items() if not p.endswith("uncorrected_errors"))
    return platform.app_ok, platform.nodes[0].console.output, corrected, sum(counters.values()) - corrected


@pytest.mark.parametrize("structure", ["registers", "L1", "L2"])
@pytest.mark.parametrize("bits", [1, 2])
@pytest.mark.parametrize("ecc", [False, True])
def test_ecc_of_a_gpu_leaves_no_silent_corruption(structure, bits, ecc):
    with fabricvp.spawn("gpu", app="spmv", size=64, **GPU, **(ECC if ecc else {})) as platform:
        ok, output, corrected, uncorrected = platform.call(flip_all, structure, bits)
    if not ecc:
        assert not ok and not corrected and not uncorrected
    elif bits == 1 or structure == "L1":
        assert ok and corrected and not uncorrected, output
    else:
        assert not ok and uncorrected and "poisoned" in output, output


@pytest.mark.parametrize("bits, cause, record", [(1, 0, (1, 0)), (2, 5, (0, 1))])
def test_what_host_memory_finds_stands_in_its_error_record(machine, bits, cause, record):
    """RISC-V Privileged Architecture, 3.1.15: 5 is a load access fault."""
    program = """
_start: la t0, trap
        csrw mtvec, t0
        li t1, 0x80100000
loop:   ld t2, 0(t1)
        j loop
        .balign 4
trap:   j trap
"""
    platform = machine(program, node__host__dram__ecc=True)
    node = platform.nodes[0]
    node.memory.write_int(0x8010_0000, 0x1234, 8)
    platform.run("5 us")
    platform.inject("node0.host.dram", "flip", offset=0x10_0000, bit=7, bits=bits)
    platform.run("5 us")
    assert node.harts[0].csr["mcause"] == cause and node.harts[0].x["t2"] == 0x1234
    words = [node.memory.read_int(0x12_0000 + offset, 8) for offset in (0, 8, 16, 24)]
    assert words == [*record, 1 if bits == 1 else 2, 0x8010_0000]


READER = """#include "lib/console.h"
#include "lib/memory_errors.h"
#include "lib/region.h"
#include "lib/traps.h"
static uint32_t words[64] __attribute__((aligned(64))) = {0x1234};
int main(void) {
    struct memory_errors found;
    if (!memory_errors_read(&found)) return 3;
    console_printf("words at 0x%lx\\n", (unsigned long)words);
    region_begin("flip"), region_end();
    uint32_t value = 0;
    const bool loaded = probe_load(words, &value);
    const bool trusted = memory_errors_report();
    memory_errors_clear();
    const bool quiet = memory_errors_report() && memory_errors_read(&found) && !found.status;
    console_printf("loaded %d, value 0x%x, trusted %d, then quiet %d\\n", loaded, value, trusted, quiet);
    return 0;
}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A program that reads the record of memory errors, built as a user's own."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "main.c").write_text(READER)
    sdk = sdk_folder()
    (folder / "Makefile").write_text(f"include {sdk}/fabricvp.mk\nreader.elf: main.c\n\t$(build_firmware)\n")
    subprocess.run(["make", "-C", folder, "reader.elf"], check=True, capture_output=True, timeout=500)
    return folder / "reader.elf"


@pytest.mark.parametrize(
    "bits, first, last",
    [
        (0, None, "loaded 1, value 0x1234, trusted 1, then quiet 1"),
        (1, "corrected error at {}; 1 corrected and 0 uncorrected", "loaded 1, value 0x1234, trusted 1, then quiet 1"),
        (2, "uncorrected error at {}; 0 corrected and 1 uncorrected", "loaded 0, value 0x0, trusted 0, then quiet 1"),
    ],
)
def test_firmware_reads_the_record_of_memory_errors(reader, bits, first, last):
    with fabricvp.spawn("bare", node__host__dram__ecc=True) as platform:
        platform.load_images(firmware=reader)
        platform.run(until=Marker("flip", "reset"))
        at = re.search(r"words at (0x[0-9a-f]+)", platform.nodes[0].console.output)[1]
        if bits:
            platform.inject("node0.host.dram", "flip", offset=int(at, 16) - 0x8000_0000, bit=7, bits=bits)
        assert platform.run("1 s").outcome == Outcome.POWER_OFF
        output = platform.nodes[0].console.output
    assert last in output
    assert ("memory:" in output) is (first is not None)
    assert first is None or f"memory: {first.format(at)} since power-on" in output


def test_firmware_without_a_record_says_so(reader):
    with fabricvp.spawn("bare") as platform:
        platform.load_images(firmware=reader)
        result = platform.run("1 s")
        assert result.outcome == Outcome.GUEST_FAILURE and result.guest_status == 3


def test_a_word_of_two_wrong_bits_is_readable_when_it_was_overwritten(machine):
    program = "_start: li t1, 0x80100000\nloop: sd t1, 0(t1)\n ld t2, 0(t1)\n j loop"
    platform = machine(program, node__host__dram__ecc=True)
    platform.run("5 us")
    platform.inject("node0.host.dram", "flip", offset=0x10_0000 + 64, bits=2)
    platform.run("5 us")
    assert platform.nodes[0].harts[0].csr["mcause"] == 0
    platform.nodes[0].memory.write_int(0x8010_0040, 5, 8)
    totals = platform.statistics.totals()
    assert not totals.get("node0.host.dram.uncorrected_errors") and not totals.get("node0.host.dram.corrected_errors")
    assert totals["node0.host.dram.faults.flip"] == 1


@pytest.mark.parametrize("bits", [1, 2])
def test_the_command_processors_memory_corrects_one_bit_and_stops_at_two(bits):
    with fabricvp.spawn("gpu", app="vectoradd", size=64, **GPU, **ECC) as platform:
        platform.run(until=Marker("kernels", "reset"))
        for offset in range(0x4000, 0x6000, 8):  # where its program lies
            platform.inject("node0.gpu0.processor", "flip", offset=offset, bit=2, bits=bits)
        result = platform.run("5 s")
        totals = platform.statistics.totals()
        assert totals["node0.gpu0.processor.faults.flip"] == 1024
        if bits == 1:
            assert result.outcome == Outcome.POWER_OFF and totals["node0.gpu0.processor.corrected_errors"]
        else:
            assert result.outcome == Outcome.GUEST_FAILURE and totals["node0.gpu0.processor.uncorrected_errors"]


@pytest.mark.parametrize(
    "target, arguments, message",
    [
        ("node0.host.dram", {"offset": 1 << 40}, "offset: 1099511627776 is out of range"),
        ("node0.gpu0.memory.hbm", {"bits": 3}, "bits: 3 is out of range"),
        ("node0.gpu0.compute_unit0", {"slot": 40}, "slot: 40 is out of range"),
        ("node0.gpu0.processor", {"bit": 8}, "bit: 8 is out of range"),
    ],
)
def test_places_that_are_not_there_are_refused(target, arguments, message):
    with fabricvp.spawn("gpu", **GPU) as platform, pytest.raises(fabricvp.InputError, match=message):
        platform.inject(target, "flip", **arguments)


def test_ecc_is_a_parameter_of_the_memory():
    with fabricvp.spawn("gpu", node__gpus__0__memory__hbm__ecc=True, **GPU) as platform:
        assert platform.config["node0.gpu0.memory.hbm.ecc"] is True
