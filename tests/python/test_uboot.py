# SPDX-License-Identifier: Apache-2.0
"""Debian's OpenSBI and U-Boot, as they are in their packages, to the prompt and through a dialogue."""

import re

import fabricvp
import pytest
from fabricvp import Outcome

PROMPT = "=> "


def boot(config, **overrides):
    platform = fabricvp.spawn(config, **overrides)
    console = platform.nodes[0].console
    console.expect("Hit any key to stop autoboot", timeout="2 s")
    console.type(" ")
    console.expect(PROMPT, timeout="1 s")
    return platform, console


def check_dialogue(console):
    assert re.match(r"U-Boot 20\d\d\.\d\d", console.command("version", PROMPT))
    information = console.command("bdinfo", PROMPT)
    assert re.search(r"start\s+= 0x0000000080000000", information) and re.search(
        r"size\s+= 0x0000000010000000", information
    )
    assert "VendorId" in console.command("pci", PROMPT)
    console.command("mw 84000000 1234abcd 2", PROMPT)
    assert console.command("md 84000000 3", PROMPT).startswith("84000000: 1234abcd 1234abcd 00000000")


@pytest.mark.parametrize("harts", [1, 4])
def test_supervisor_mode_on_opensbi(harts):
    platform, console = boot("uboot", node__host__harts=harts)
    with platform:
        output = console.output
        assert "OpenSBI v" in output
        assert re.search(rf"Platform HART Count\s+: {harts}\b", output)
        assert re.search(r"Boot HART MIDELEG", output)
        check_dialogue(console)
        memory = platform.nodes[0].memory
        assert memory.array(0x8400_0000, "<u4", 3).tolist() == [0x1234ABCD, 0x1234ABCD, 0]
        memory.write_int(0x8400_0008, 0x600DF00D, 4)
        assert "600df00d" in console.command("md 84000000 3", PROMPT)
        console.type("poweroff\n")
        result = platform.run("1 s")
        assert (result.outcome, result.guest_status) == (Outcome.POWER_OFF, 0)
        assert len(platform.nodes[0].harts) == harts


@pytest.mark.parametrize("harts", [1, 4])
def test_machine_mode(harts):
    platform, console = boot("uboot_m", node__host__harts=harts)
    with platform:
        assert "OpenSBI" not in console.output
        check_dialogue(console)


def test_piped_input_waits_for_the_prompt(command):
    """U-Boot clears the receiver when it starts, and takes a key that comes during the countdown."""
    done = command("run", "uboot_m", input="version\n")
    assert done.returncode == 0, done.stderr
    assert re.search(r"=> version\s+U-Boot 20\d\d\.\d\d", done.stdout), done.stdout
    assert "Unknown command" not in done.stdout


def test_reset_from_the_prompt_boots_again():
    platform, console = boot("uboot")
    with platform:
        console.type("reset\n")
        assert "OpenSBI" in console.expect("Hit any key", timeout="2 s").before


def test_a_boot_is_repeatable():
    def run():
        platform, console = boot("uboot", node__host__harts=4)
        with platform:
            console.command("bdinfo", PROMPT)
            values = {k: v for k, v in platform.statistics.snapshot().items() if k != "sim.wall_s"}
            return console.output_bytes, platform.now_ps, values

    assert run() == run()


def test_branches_of_a_booted_machine():
    platform, console = boot("uboot")
    with platform, platform.fork() as one, platform.fork() as two:
        pending = [
            child.nodes[0].console.command.start(f"echo I am {name}", PROMPT)
            for child, name in ((one, "one"), (two, "two"))
        ]
        assert [p.result() for p in pending] == ["I am one\n", "I am two\n"]
        assert console.command("echo I am the parent", PROMPT) == "I am the parent\n"


def test_breakpoint_in_firmware_under_translation_off():
    """U-Boot's own entry, which OpenSBI jumps to in supervisor mode."""
    with fabricvp.spawn("uboot") as platform:
        result = platform.run("1 s", until=fabricvp.Breakpoint(0x8020_0000))
        hart = platform.nodes[0].harts[0]
        assert result.outcome == Outcome.BREAKPOINT and hart.pc == 0x8020_0000
        assert hart.x["a0"] == 0 and platform.nodes[0].memory.read(hart.x["a1"], 4) == bytes.fromhex("d00dfeed")
        assert "S-mode" in hart.state and "U-Boot 20" not in platform.nodes[0].console.output
