# SPDX-License-Identifier: Apache-2.0
"""Faults from Python and from configurations, and what the watchdog says about a path that is stuck."""

import re

import fabricvp
import pytest

TREE = """
simulation: {watchdog: 20 ms}
node:
  pcie:
    switches: [{name: board, below: root}]
    endpoints: [{name: left, below: board}, {name: right, below: board}]
"""

IDLE = """
_start:
    wfi
    j _start
"""

#: Reads the vendor ID of bus 1, device 0, after it has made that bus the one behind root port 0; then marks and waits.
LOOKS = """
#define ECAM 0x30000000
_start:
    only_hart_0
    li t0, ECAM + (1 << 15)
    li t1, 0x010100         # primary 0, secondary 1, subordinate 1
    sw t1, 0x18(t0)
    li t0, ECAM + (1 << 20)
    la s2, seen
again:
    lwu t1, 0(t0)
    sd t1, 0(s2)
    li t3, MARKER
    li t4, 'x'
    sb t4, 8(t3)
    li t4, 3
    sw t4, 4(t3)
    j again
.balign 8
.globl seen
seen: .dword 0
"""


def test_kinds_and_arguments_are_listed(machine):
    platform = machine(text=TREE)
    kinds = {k.kind: k for k in platform.faults("node0.pcie.left.link")}
    assert {"bit_errors", "link_down", "retrain", "drop", "poison", "lose_credit"} <= set(kinds)
    rate = kinds["bit_errors"].arguments[0]
    assert (rate.name, rate.default, rate.allowed) == ("rate", "1e-06", "0 … 0.001")
    assert all(k.help for k in platform.faults())
    assert {"surprise_removal", "insertion", "not_ready"} == {
        k.kind for k in platform.faults() if k.target == "node0.pcie.left"
    }
    assert "retrain(lanes=0, generation=0)" in str(kinds["retrain"])


def test_faults_happen_at_their_time_and_are_counted(machine):
    platform = machine(IDLE, text=TREE)
    platform.inject("node0.pcie.left", "retrain", at="10 us", lanes=4)
    platform.inject("node0.pcie.left", "surprise_removal", at="50 us")
    platform.inject("node0.pcie.right.link", "link_down", at="50 us", lasting="100 us")
    platform.run("40 us")
    statistics = platform.statistics
    assert statistics["node0.pcie.left.link.faults.retrain"] == 1
    assert statistics["node0.pcie.left.faults.surprise_removal"] == 0
    platform.run("400 us")
    assert statistics["node0.pcie.left.faults.surprise_removal"] == 1
    assert (
        statistics["node0.pcie.left.link.link_downs"] == statistics["node0.pcie.board.downstream_port0.link_downs"] == 1
    )
    assert statistics["node0.pcie.right.link.link_downs"] == 1
    assert statistics["node0.pcie.right.link.transmitter.retrains"] == 1
    platform.inject("node0.pcie.left", "insertion")
    platform.run("100 us")
    assert statistics["node0.pcie.left.link.transmitter.retrains"] == 2


@pytest.mark.parametrize(
    "target, kind, arguments, message",
    [
        ("node0.pcie.lift", "retrain", {}, r"'node0\.pcie\.lift', did you mean 'node0\.pcie\.left'"),
        ("node0.host.uart", "retrain", {}, "no fault can happen to 'node0.host.uart'"),
        ("node0.pcie.left", "surprise", {}, r"'surprise' is no fault of node0\.pcie\.left.*allowed: insertion"),
        (
            "node0.pcie.board",
            "retrain",
            {},
            "several places for retrain: give one of node0.pcie.board.downstream_port0",
        ),
        ("node0.pcie.left", "retrain", {"lanes": 17}, r"lanes: 17 is out of range: give 0 … 16"),
        ("node0.pcie.left", "retrain", {"lanes": 3}, r"lanes: 3 is no width: give 0, 1, 2, 4, 8, 12, 16, 32"),
        ("node0.pcie.left", "retrain", {"lane": 3}, "unknown key 'lane'.*did you mean 'lanes'"),
        ("node0.pcie.left", "link_down", {"lasting": 3}, "'3' needs a unit"),
        ("node0.pcie.left", "drop", {"flow": "both"}, "'both' is not one of posted, non_posted, completion"),
        ("node0.pcie.left", "surprise_removal", {"x": 1}, "unknown key 'x'.*no arguments"),
    ],
)
def test_what_cannot_be_injected(machine, target, kind, arguments, message):
    platform = machine(text=TREE)
    with pytest.raises(fabricvp.InputError, match=message) as caught:
        platform.inject(target, kind, at="1 us", **arguments)
    assert "\n" not in str(caught.value)


def test_the_past_is_over(machine):
    platform = machine(IDLE, text=TREE)
    platform.run("10 us")
    with pytest.raises(fabricvp.InputError, match="is over"):
        platform.inject("node0.pcie.left", "retrain", at="5 us")


def test_faults_of_a_configuration(machine):
    text = (
        TREE + "faults:\n  - {at: 10 us, target: node0.pcie.left, kind: retrain, lanes: 4}\n"
        "nodes:\n  - faults:\n    - at: 20 us\n      target: pcie.right\n      kind: link_down\n      lasting: 30 us\n"
    )
    platform = machine(IDLE, text=text)
    again = fabricvp.spawn(text=platform.resolved_config)
    assert again.resolved_config == platform.resolved_config
    again.close()
    platform.run("200 us")
    assert platform.statistics["node0.pcie.left.link.faults.retrain"] == 1
    assert platform.statistics["node0.pcie.right.link.faults.link_down"] == 1


@pytest.mark.parametrize(
    "item, message",
    [
        ("{at: 1 us, target: node0.pcie.lift, kind: retrain}", r"text:8: faults\.0\.target: .*'node0\.pcie\.lift'"),
        ("{at: 1 us, target: node0.pcie.left, kind: retrian}", r"text:8: faults\.0\.kind: .*did you mean 'retrain'"),
        (
            "{at: 1 us, target: node0.pcie.left, kind: retrain, lanes: x}",
            r"text:8: faults\.0\.lanes: 'x' is not a whole number",
        ),
        (
            "{at: 1 us, target: node0.pcie.left, kind: retrain, lanes: 17}",
            r"text:8: faults\.0\.lanes: 17 is out of range: give 0 … 16",
        ),
        (
            "{at: 1 us, target: node0.pcie.left, kind: retrain, lanes: 7}",
            r"text:8: faults\.0\.lanes: 7 is no width: give 0, 1, 2, 4, 8, 12, 16, 32",
        ),
        (
            "{at: 1 us, target: node0.pcie.left, kind: retrain, lane: 1}",
            r"text:8: unknown key 'lane' in faults\.0.*allowed: lanes, generation",
        ),
        (
            "{at: 1 us, target: node0.pcie.left, kind: retrain, lanes: [1]}",
            r"text:8: faults\.0\.lanes must be a single value",
        ),
        ("{at: 1, target: node0.pcie.left, kind: retrain}", r"text:8: faults\.0\.at: '1' needs a unit"),
        ("{at: 1 us, kind: retrain}", r"text:8: faults\.0 needs a target"),
    ],
)
def test_bad_faults_of_a_configuration(item, message):
    with pytest.raises(fabricvp.InputError, match=f"^{message}"):
        fabricvp.spawn(text=f"{TREE}faults:\n  - {item}\n")


@pytest.mark.parametrize(
    "item, message",
    [
        ("target: node0.pcie.left, kind: retrain", r"target: .* 'node0\.pcie\.left', did you mean 'pcie\.left'\?"),
        (
            "target: pcie.lift, kind: retrain",
            r"target: .* to 'pcie\.lift', did you mean 'pcie\.left'\? \(allowed: host",
        ),
        ("target: pcie.left, kind: retrian", r"kind: 'retrian' is no fault of pcie\.left, did you mean 'retrain'\?"),
        (
            "target: pcie.board, kind: retrain",
            r"target: pcie\.board has several .* one of pcie\.board\.downstream_port0,",
        ),
    ],
)
def test_messages_about_faults_of_a_node_name_what_lies_in_it(item, message):
    with pytest.raises(fabricvp.InputError, match=rf"^text:9: node0\.faults\.0\.{message}"):
        fabricvp.spawn(text=f"{TREE}nodes:\n  - faults:\n    - {{at: 1 us, {item}}}\n")


def test_a_mark_is_that_of_the_node_of_the_target(machine, assemble):
    text = TREE + "nodes: 2\nfaults:\n"
    for node in (0, 1):
        text += f"  - {{when: x, at: 2 us, target: node{node}.pcie.root.root_port0, kind: link_down}}\n"
    platform = machine(text=text)
    platform.load_images(0, firmware=assemble(IDLE))
    platform.load_images(1, firmware=assemble(LOOKS))
    platform.run("1 ms")
    assert platform.statistics["node0.pcie.root.root_port0.link_downs"] == 0
    assert platform.statistics["node1.pcie.root.root_port0.link_downs"] == 1


def test_a_fault_whose_mark_never_comes_is_told(command, tmp_path):
    (tmp_path / "waits.yaml").write_text("base: hello\nfaults: [{when: nowhere, target: node0, kind: power_off}]\n")
    done = command("run", "waits.yaml")
    assert done.returncode == 0, done.stderr
    assert "faults.0: it has not happened: node0 has set no mark 'nowhere'" in done.stderr
    assert "has not happened" not in command("check", "waits.yaml").stderr


def test_a_fault_waits_for_a_mark_of_the_firmware(machine):
    platform = machine(
        LOOKS, text=TREE + "nodes:\n  - faults: [{when: x, at: 2 us, target: pcie.root.root_port0, kind: link_down}]\n"
    )
    result = platform.run("1 ms", until=fabricvp.Marker("x"))
    marked = platform.now
    assert result.outcome == "event"
    assert (
        int.from_bytes(platform.nodes[0].memory.read(platform.nodes[0].address_of("seen"), 8), "little") == 0x1050FAB0
    )
    platform.run("1 us")
    assert platform.statistics["node0.pcie.root.root_port0.link_downs"] == 0
    platform.run("5 us")
    assert platform.statistics["node0.pcie.root.root_port0.link_downs"] == 1
    assert platform.now < marked + 7e-6
    # What was under way times out; what the hart asks for then is refused, and it goes on.
    platform.run("15 ms")
    assert platform.statistics["node0.pcie.root.host_requests.timeouts"] == 1
    assert (
        int.from_bytes(platform.nodes[0].memory.read(platform.nodes[0].address_of("seen"), 8), "little") == 0xFFFFFFFF
    )


def test_the_watchdog_names_the_port_that_waits_for_credits(machine):
    platform = machine(LOOKS, text=TREE)
    platform.inject("node0.pcie.root.root_port0", "lose_credit", at="5 us", flow="non_posted")
    result = platform.run("1 s")
    assert result.outcome == "watchdog"
    assert re.search(
        r"node0\.pcie\.root\.root_port0 has waited 0\.02\d+ s for non_posted credits of "
        r"node0\.pcie\.board\.upstream_port: 0 of 64 headers and 0 of 1024 bytes are left",
        result.detail,
    ), result.detail


def test_the_command_lists_faults(command):
    done = command("describe", "cs_storm", "--faults")
    assert done.returncode == 0
    assert re.search(r"^surprise_removal  # .+\n    at node0\.pcie\.gpu0 node0\.pcie\.gpu1 ", done.stdout, re.M)
    assert re.search(r"^    lanes = 0 +# .+\(0 … 16\)$", done.stdout, re.M)
    smallest = command("describe", "bare", "--faults").stdout
    power_off = r"power_off  # .+\n    at node0\n"
    assert re.fullmatch(rf"flip  # .+\n(    \w+ = [01] +# .+\n){{3}}    at node0\.host\.dram\n\n{power_off}", smallest)
