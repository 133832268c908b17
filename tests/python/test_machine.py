# SPDX-License-Identifier: Apache-2.0
"""Building, running and looking at a machine."""

import json
import re

import fabricvp
import guests
import numpy
import pytest
from fabricvp import Outcome

DRAM = 0x8000_0000


def test_power_off_ends_the_run(machine):
    platform = machine(guests.HELLO)
    result = platform.run("10 ms")
    assert (result.outcome, result.guest_status) == (Outcome.POWER_OFF, 0)
    assert result.outcome == "power_off"
    assert platform.nodes[0].console.output == "hello, world\n"
    assert 0 < result.time == platform.now < 0.01


def test_failure_of_the_guest(machine):
    result = machine(guests.FAILS).run("10 ms")
    assert (result.outcome, result.guest_status) == (Outcome.GUEST_FAILURE, 7)


def test_time_is_relative_and_exact(machine):
    platform = machine(guests.COUNTS)
    assert platform.run("100 us").outcome == Outcome.TIME_LIMIT
    assert platform.now_ps == 100_000_000
    assert platform.run(0.0005).outcome == Outcome.TIME_LIMIT
    assert platform.now_ps == 600_000_000
    first = platform.nodes[0].harts[0].x["s1"]
    assert platform.run("0 ns").outcome == Outcome.TIME_LIMIT
    assert platform.now_ps == 600_000_000
    platform.run("1 ms")
    assert platform.nodes[0].harts[0].x["s1"] > first > 0


@pytest.mark.parametrize("time", ["10", "ten ms", "-1 ms", "1 lightyear", -1.0, float("nan"), float("inf"), 1e30])
def test_bad_times(machine, time):
    platform = machine()
    with pytest.raises(fabricvp.InputError):
        platform.run(time)
    with pytest.raises(TypeError):
        platform.run([1])


def test_parameters_are_attributes(machine):
    platform = machine(
        node__host__harts=2, overrides={"node.host.memory": "64 MiB", "simulation": {"quantum": "500 ns"}}
    )
    config = platform.config
    assert config.node0.host.harts == 2
    assert config.node0.host.memory == 64 << 20
    assert config.simulation.quantum == pytest.approx(500e-9)
    assert config.node0.host.hart.floating_point is True
    described = config.describe("node0.host.harts")
    assert described.kind == "integer" and "64" in described.allowed and described.help
    assert len(platform.nodes[0].harts) == 2
    assert "harts: 2" in platform.resolved_config
    with pytest.raises(AttributeError, match="fixed once"):
        config.node0.host.harts = 3
    with pytest.raises(AttributeError, match="no parameter 'node0.host.hearts'"):
        config.node0.host.hearts  # noqa: B018


def test_resolved_configuration_makes_the_same_machine(machine):
    first = machine(node__host__harts=3)
    second = machine(text=first.resolved_config)
    assert second.resolved_config == first.resolved_config
    assert len(second.nodes[0].harts) == 3


def test_memory(machine):
    memory = machine().nodes[0].memory
    memory.write(DRAM + 0x1000, b"abcdefgh")
    assert memory.read(DRAM + 0x1000, 8) == b"abcdefgh"
    assert memory[DRAM + 0x1001] == ord("b")
    memory[DRAM + 0x1002] = 0x7A
    memory[DRAM + 0x1004 : DRAM + 0x1006] = b"XY"
    assert memory[DRAM + 0x1000 : DRAM + 0x1008] == b"abzdXYgh"
    memory.write_int(DRAM + 0x2000, -2, 4)
    assert memory.read_int(DRAM + 0x2000, 4) == 0xFFFF_FFFE
    assert memory.read_int(DRAM + 0x2000, 4, signed=True) == -2
    memory.write(DRAM + 0x3000, b"text\0rest")
    assert memory.read_string(DRAM + 0x3000) == "text"
    memory.write(DRAM + 0x4000, numpy.arange(4, dtype="<u4"))
    assert memory.array(DRAM + 0x4000, "<u4", 4).tolist() == [0, 1, 2, 3]


def test_memory_beyond_what_is_mapped(machine):
    memory = machine(node__host__memory="16 MiB").nodes[0].memory
    end = DRAM + (16 << 20)
    for bad in (
        lambda: memory.read(end - 4, 8),
        lambda: memory.write(end - 4, bytes(8)),
        lambda: memory[end],
        lambda: memory[end : end - 8],
        lambda: memory.read(-1, 1),
        lambda: memory.read(1 << 64, 1),
        lambda: memory.view(end - 4, 8),
        lambda: memory.view(0x1000_0000, 1),
        lambda: memory.read(DRAM, 1 << 60),
        lambda: memory[DRAM : DRAM + 8 : 2],
    ):
        with pytest.raises(fabricvp.AddressError):
            bad()
    with pytest.raises(ValueError, match="3 bytes for a range of 4"):
        memory[DRAM : DRAM + 4] = b"abc"
    with pytest.raises(OverflowError):
        memory.write_int(DRAM, 256, 1)


def test_a_view_is_live_and_read_only(run_script, assemble):
    run_script(
        """
        import sys, numpy, fabricvp
        platform = fabricvp.Platform.from_text("nodes: 1")
        platform.load_images(firmware=sys.argv[1])
        memory = platform.nodes[0].memory
        total = platform.nodes[0].address_of("total")
        live = numpy.frombuffer(memory.view(total, 8), "<u8")
        copy = memory.array(total, "<u8", 1)
        platform.run("100 us")
        assert copy[0] == 0 and live[0] > 1000, (copy, live)
        assert live[0] == memory.read_int(total)
        copy[0] = 5
        memory.write(total, copy)
        assert live[0] == 5
        try:
            live[0] = 1
        except ValueError:
            pass
        else:
            raise AssertionError("a view can be written")
        """,
        assemble(guests.COUNTS),
    )


def test_written_code_is_executed(machine):
    """A hart that has decoded a loop sees instructions that Python writes into it."""
    platform = machine(guests.COUNTS)
    platform.run("50 us")
    hart, memory = platform.nodes[0].harts[0], platform.nodes[0].memory
    again = platform.nodes[0].address_of("again")
    assert memory.read(again, 2) == bytes.fromhex("8504")  # c.addi s1, 1
    memory.write(again, bytes.fromhex("a104"))  # c.addi s1, 8
    before = hart.x["s1"]
    platform.run("10 us")
    gained, stores = hart.x["s1"] - before, 10_000 / 3
    assert gained > 5 * stores


def test_registers(machine):
    platform = machine(guests.COUNTS)
    platform.run("20 us")
    hart = platform.nodes[0].harts[0]
    assert hart.name == "node0.host.hart0"
    assert DRAM <= hart.pc < DRAM + 0x1000
    assert hart.x[0] == 0 and hart.x["zero"] == 0 and len(hart.x) == 32
    assert hart.x[9] == hart.x["s1"] > 0
    hart.x["s1"] = 10**9
    platform.run("1 us")
    assert 10**9 < hart.x["s1"] < 10**9 + 2000
    assert "mstatus" in hart.csr and "nonsense" not in hart.csr
    assert hart.csr["mhartid"] == hart.csr[0xF14] == 0
    hart.csr["mscratch"] = 0x1234
    assert hart.csr["mscratch"] == 0x1234
    hart.f[3] = 0x3FF0_0000_0000_0000
    assert hart.f[3] == 0x3FF0_0000_0000_0000
    with pytest.raises(IndexError):
        hart.x[32]
    with pytest.raises(KeyError):
        hart.csr["nonsense"]


def test_setting_the_program_counter(machine):
    platform = machine(guests.HELLO)
    platform.run("10 ns")
    elsewhere = DRAM + 0x10_0000
    platform.nodes[0].memory.write(elsewhere, bytes.fromhex("01a0"))  # c.j .
    platform.nodes[0].harts[0].pc = elsewhere
    assert platform.run("1 ms").outcome == Outcome.TIME_LIMIT
    assert platform.nodes[0].harts[0].pc == elsewhere
    assert platform.nodes[0].console.output in ("", "h")  # a store that was under way has ended


def test_device_registers(machine):
    devices = machine(guests.COUNTS).nodes[0].devices
    assert {"uart", "plic", "clint", "marker"} <= set(devices)
    uart = devices["uart"]
    assert len(uart) > 4 and all(isinstance(name, str) for name in uart)
    priorities = devices["plic"]["priority"]
    assert len(priorities) == 97
    devices["plic"].set("priority", 3, index=9)
    assert devices["plic"]["priority"][9] == 3
    with pytest.raises(KeyError):
        uart["no such register"]


def test_statistics(machine):
    platform = machine(guests.COUNTS)
    platform.run("100 us")
    statistics = platform.statistics
    retired = statistics["node0.host.hart0.instructions"]
    assert retired > 10_000
    assert statistics["sim.instructions"] >= retired
    assert statistics["sim.time_s"] == pytest.approx(100e-6)
    assert statistics["sim.wall_s"] > 0 and statistics["sim.events"] > 0
    frame = statistics.to_pandas()
    assert list(frame.columns) == ["value", "unit", "help"] and frame.index.name == "path"
    row = frame.loc["node0.host.hart0.instructions"]
    assert row.value == retired and row.help == "instructions retired" and row.unit == "1"
    assert list(statistics.to_pandas("node0.host.dram").index) == [
        p for p in frame.index if p.startswith("node0.host.dram")
    ]


def test_region_of_interest(machine):
    platform = machine(guests.COUNTS)
    platform.run("100 us")
    with platform.region_of_interest() as region:
        platform.run("10 us")
        inside = region.statistics["node0.host.hart0.instructions"]
        assert 0 < inside < 20_000
    platform.run("100 us")
    assert region.statistics["node0.host.hart0.instructions"] == inside
    platform.statistics.reset("node0.host.hart0")
    assert platform.statistics["node0.host.hart0.instructions"] == 0


def test_results_folder(machine, tmp_path):
    platform = machine(guests.HELLO)
    platform.run("10 ms")
    platform.write_results(tmp_path / "out")
    values = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert values["node0.host.hart0.instructions"] == platform.statistics["node0.host.hart0.instructions"]
    assert values["sim.time_s"] == platform.now
    assert "nodes:\n  - images:" in (tmp_path / "out" / "config.resolved.yaml").read_text()
    (tmp_path / "file").write_text("")
    with pytest.raises(fabricvp.InputError):
        platform.write_results(tmp_path / "file" / "below")


def test_trace(machine, tmp_path):
    platform = machine(guests.HELLO)
    platform.start_trace("0 s", "5 ms")
    platform.run("10 ms")
    platform.write_results(tmp_path / "out")
    traces = list((tmp_path / "out").glob("*trace*"))
    assert len(traces) == 1 and json.loads(traces[0].read_text())["traceEvents"]


def test_reset_starts_the_guest_again(machine):
    platform = machine(guests.HELLO)
    platform.run("10 ms")
    platform.reset()
    assert platform.run("10 ms").outcome == Outcome.POWER_OFF
    assert platform.nodes[0].console.output == "hello, world\n" * 2


def test_harts_share_memory(machine):
    platform = machine(guests.ADDS, node__host__harts=4)
    assert platform.run("100 ms").outcome == Outcome.POWER_OFF
    assert platform.nodes[0].memory.read_int(platform.nodes[0].address_of("total")) == 4000


def test_images_come_before_the_first_run(machine, assemble, tmp_path):
    platform = machine(guests.HELLO)
    with pytest.raises(fabricvp.InputError, match="no such file"):
        platform.load_images(firmware=tmp_path / "none")
    assert platform.run("1 ms").outcome == Outcome.POWER_OFF  # with the images that it had
    for load in (lambda: platform.load_images(firmware=assemble(guests.COUNTS)), lambda: platform.load_app("fir")):
        with pytest.raises(fabricvp.InputError, match=r"images are loaded before the first run\(\)"):
            load()


def test_nodes_are_apart(machine, assemble):
    platform = machine(guests.HELLO, text="nodes: 2\n")
    platform.load_images(1, firmware=assemble(guests.COUNTS))
    assert len(platform.nodes) == 2
    platform.run("1 ms")
    assert platform.nodes[0].console.output == "hello, world\n"
    assert platform.nodes[1].console.output == ""
    assert platform.nodes[1].harts[0].name == "node1.host.hart0"
    with pytest.raises(IndexError):
        platform.load_elf(assemble(guests.HELLO), node=2)


def test_timers(run_script, assemble):
    run_script(
        """
        import sys, fabricvp
        platform = fabricvp.Platform.from_text("nodes: 1")
        platform.load_images(firmware=sys.argv[1])
        called = []
        platform.call_in("10 us", lambda: called.append(platform.now_ps))
        platform.call_at(30e-6, lambda: platform.request_stop())
        cancelled = platform.call_in("5 us", lambda: called.append("cancelled"))
        assert cancelled.active
        cancelled.cancel()
        result = platform.run("1 ms")
        assert result.outcome == "interrupted", result
        assert called == [10_000_000], called
        assert not cancelled.active
        try:
            platform.call_at("1 ns", print)
        except ValueError as error:
            assert "passed" in str(error)
        else:
            raise AssertionError("a call in the past was accepted")
        platform.call_in("1 us", lambda: 1 // 0)
        try:
            platform.run("1 ms")
        except ZeroDivisionError:
            assert platform.now_ps < 10**9
        else:
            raise AssertionError("the exception was lost")
        assert platform.run("1 us").outcome == "time_limit"
        """,
        assemble(guests.COUNTS),
    )


def test_symbols(machine, assemble):
    node = machine(guests.COUNTS).nodes[0]
    assert node.address_of("_start") == DRAM
    assert node.address_of("again + 4") == node.address_of("again") + 4
    assert node.address_of(0x1234) == 0x1234
    with pytest.raises(fabricvp.InputError, match="no symbol 'nowhere'"):
        node.address_of("nowhere")


def test_a_whole_run_is_repeatable(machine):
    def run():
        platform = machine(guests.ADDS, node__host__harts=4)
        platform.run("5 ms")
        values = {k: v for k, v in platform.statistics.snapshot().items() if k != "sim.wall_s"}
        return (
            platform.now_ps,
            values,
            [list(h.x) for h in platform.nodes[0].harts],
            platform.nodes[0].memory.read(DRAM, 4096),
        )

    assert run() == run()


def test_repr(machine):
    platform = machine(guests.HELLO)
    assert re.search(r"remote <Node 0 with 1 hart> in process \d+", repr(platform.nodes[0]))
