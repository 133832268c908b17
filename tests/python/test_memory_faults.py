# SPDX-License-Identifier: Apache-2.0
"""Bits that flip in memories and registers, and a command processor whose firmware stops."""

import fabricvp
import pytest
from fabricvp import Marker, Outcome

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
