# SPDX-License-Identifier: Apache-2.0
"""Running until something happens."""

import re

import fabricvp
import guests
import pytest
from fabricvp import Breakpoint, ConsoleText, Marker, Outcome, Watchpoint


def test_console_text(machine):
    platform = machine(guests.HELLO)
    result = platform.run("10 ms", until="lo, w")
    assert result.outcome == Outcome.EVENT
    assert (result.match.before, result.match.text) == ("hel", "lo, w")
    assert platform.nodes[0].console.output == "hello, w"  # stopped at that very character
    assert platform.run("10 ms").outcome == Outcome.POWER_OFF


def test_console_regular_expression(machine):
    platform = machine(guests.HELLO)
    result = platform.run("10 ms", until=re.compile(r"(\w+), (w)"))
    assert result.match.groups == ("hello", "w")
    assert platform.nodes[0].console.output == "hello, w"


def test_consumed_text_does_not_match_again(machine):
    platform = machine(guests.HELLO)
    platform.run("10 ms", until="l")
    assert platform.nodes[0].console.output == "hel"
    platform.run("10 ms", until="l")
    assert platform.nodes[0].console.output == "hell"
    assert platform.run("10 ms", until="hello").outcome == Outcome.POWER_OFF


def test_text_that_is_there_already(machine):
    platform = machine(guests.HELLO)
    platform.run("10 ms")
    now = platform.now_ps
    assert platform.run("10 ms", until="hello").outcome == Outcome.EVENT
    assert platform.now_ps == now


def test_expect_and_type(machine):
    console = machine(guests.ECHO).nodes[0].console
    console.expect("ready> ")
    assert console.command("good morning", "ready> ") == "you typed good morning\n"
    console.type("abc\n")
    match = console.expect(re.compile(r"typed (\w+)\n"), timeout="5 ms")
    assert match.groups == ("abc",)
    assert len(console.recorded_input.splitlines()) == 2


def test_a_prompt_stands_at_the_start_of_a_line(machine):
    """U-Boot's own `==> ` is no `=> `; colours before a prompt do not count."""
    echo = guests.ECHO.replace("ready> ", r"\033[1m=> ").replace("you typed ", "crc ==> ")
    assert echo != guests.ECHO
    console = machine(echo).nodes[0].console
    console.expect("=")
    with pytest.raises(fabricvp.ExpectTimeout):
        console._expect("> ", "1 ms", True)  # the rest of the prompt, whose start has been consumed
    console.expect("> ")
    assert console.command("600df00d", "=> ") == "crc ==> 600df00d\n"
    with pytest.raises(ValueError, match="empty"):
        console.command("x", "")


def test_expect_times_out_in_simulated_time(machine):
    platform = machine(guests.ECHO)
    console = platform.nodes[0].console
    with pytest.raises(fabricvp.ExpectTimeout, match="'never'.*3 ms") as caught:
        console.expect("never", timeout="3 ms")
    assert caught.value.seen == "ready> "
    assert platform.now_ps == 3_000_000_000
    console.expect("ready> ")  # a time-out consumes nothing


def test_expect_when_the_guest_ends(machine):
    console = machine(guests.ECHO).nodes[0].console
    console.expect("ready> ")
    console.type("off\n")
    with pytest.raises(fabricvp.GuestStopped) as caught:
        console.expect("ready> ")
    assert caught.value.result.outcome == Outcome.POWER_OFF


def test_breakpoints(machine):
    platform = machine(guests.COUNTS)
    hart = platform.nodes[0].harts[0]
    again = platform.nodes[0].address_of("again")
    for expected in (0, 1, 2):
        result = platform.run("1 ms", until=Breakpoint("again"))
        assert result.outcome == Outcome.BREAKPOINT and hex(again) in result.detail
        assert (hart.pc, hart.x["s1"]) == (again, expected)
    platform.run("1 ms", until=Breakpoint(again))
    assert hart.x["s1"] == 3
    assert platform.run("10 us").outcome == Outcome.TIME_LIMIT  # it is gone with its run
    before = hart.x["s1"]
    assert before > 1000
    platform.run("1 ms", until=Breakpoint("again"))
    assert hart.pc == again and hart.x["s1"] - before <= 1  # the first time round


def test_breakpoint_on_each_of_several_harts(machine):
    platform = machine(guests.ADDS, node__host__harts=4)
    stops = set()
    for _ in range(4):
        result = platform.run("1 ms", until=Breakpoint("_start"))
        assert result.outcome == Outcome.BREAKPOINT
        stops.add(re.search(r"hart\d", result.detail)[0])
    assert stops == {"hart0", "hart1", "hart2", "hart3"}
    assert platform.run("100 ms").outcome == Outcome.POWER_OFF


def test_watchpoint(machine):
    platform = machine(guests.COUNTS)
    node = platform.nodes[0]
    result = platform.run("1 ms", until=Watchpoint("total"))
    assert result.outcome == Outcome.BREAKPOINT and hex(node.address_of("total")) in result.detail
    assert node.harts[0].x["s1"] <= 2
    assert platform.run("10 us", until=Watchpoint("total", kind="read")).outcome == Outcome.TIME_LIMIT


def test_markers(machine):
    platform = machine(guests.MARKS)
    result = platform.run("10 ms", until=Marker("warm"))
    assert result.outcome == Outcome.EVENT and "warm" in result.detail
    assert platform.run("10 ms", until=Marker(kind="reset")).outcome == Outcome.EVENT
    before = platform.statistics["node0.host.hart0.instructions"]
    assert platform.run("10 ms", until=[Marker("loop", kind="dump"), Breakpoint("warm")]).outcome == Outcome.EVENT
    assert platform.statistics["node0.host.hart0.instructions"] - before >= 2000
    assert platform.run("10 ms", until=Marker()).outcome == Outcome.POWER_OFF


def test_several_conditions(machine):
    platform = machine(guests.HELLO)
    result = platform.run("10 ms", until=["world", ConsoleText("hello")])
    assert result.match.text == "hello"
    result = platform.run("10 ms", until=["world", "hello"])
    assert result.match.text == "world"


def test_bad_conditions(machine):
    platform = machine(guests.HELLO)
    with pytest.raises(TypeError):
        platform.run("1 ms", until=5)
    with pytest.raises(ValueError):
        platform.run("1 ms", until="")
    with pytest.raises(ValueError):
        Watchpoint(0, kind="sideways")
    with pytest.raises(fabricvp.InputError):
        platform.run("1 ms", until=Breakpoint("no_such_symbol"))
    with pytest.raises(IndexError, match="there is no node3: the machine has node0 to node0"):
        platform.run("1 ms", until=ConsoleText("x", node=3))
    with pytest.raises(IndexError, match="there is no node7"):
        platform.run("1 ms", until={"node7": "x"})
    with pytest.raises(TypeError, match="a function that takes no arguments is needed, not 3"):
        platform.call_in("1 us", 3)
    assert platform.run("10 ms").outcome == Outcome.POWER_OFF
