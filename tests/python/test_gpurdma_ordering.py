# SPDX-License-Identifier: Apache-2.0
"""What a running kernel sees of data that RDMA writes (firmware/programs/ordering), and the CRC that finds out."""

import fabricvp
import pytest


def look(options, commit="on_arrival"):
    """Counts of the kernel by name."""
    with fabricvp.spawn(
        "gpurdma_pair",
        node__images__firmware="firmware:ordering.elf",
        node__images__append=options,
        node__gpus__0__host_interface__peer_writes=commit,
    ) as platform:
        ended = platform.run("100 ms")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, (ended.detail, consoles)
        assert all("all ok" in text for text in consoles), consoles
        (line,) = fabricvp.result_lines(consoles[0], "ordering")
        return line.values


def test_l1_keeps_old_data_until_an_acquire():
    seen = look("rounds=10 bytes=1024 flag=separate_write read=plain")
    assert seen == {
        "rounds": 10,
        "wrong": 9,
        "stale": 9,
        "early": 0,
        "words": 9 * 256,
        "found": 9,
        "missed": 0,
        "alarms": 0,
    }
    for read in "acquire", "bypass":
        assert look(f"rounds=10 bytes=1024 flag=separate_write read={read}")["wrong"] == 0


@pytest.mark.parametrize(
    "flag",
    [
        "bytes=56 flag=same_write",
        "bytes=100 flag=same_write",
        "bytes=4 flag=separate_write",
        "bytes=260 flag=completion",
        "bytes=64 flag=completion host_cq=1",
        "bytes=64 flag=separate_write flush=1",
    ],
)
def test_flags_and_sizes(flag):
    seen = look(f"rounds=8 {flag} read=acquire", "at_bank")
    assert seen["rounds"] == 8 and seen["wrong"] == seen["alarms"] == 0


def test_a_flag_overtakes_data_that_wait_for_a_busy_bank():
    options = "rounds=60 bytes=64 flag=separate_write read=acquire load=59"
    early = look(options, "at_bank")
    assert early["early"] == early["wrong"] == early["found"] > 0 and early["missed"] == early["alarms"] == 0
    assert look(options)["wrong"] == 0
    assert look(f"{options} flush=1", "at_bank")["wrong"] == 0  # the writer's read pushes the data


@pytest.mark.parametrize(
    "options, says",
    [
        ("read=3", "read=3: one of plain, acquire, bypass"),
        ("read=2", "read=2 is now read=bypass"),
        ("bytes=6", "bytes=6: a multiple of 4"),
        ("flag=same_write flush=1", "flush=1: not with flag=same_write"),
    ],
)
def test_invalid_options_are_reported(options, says):
    with fabricvp.spawn(
        "gpurdma_pair", node__images__firmware="firmware:ordering.elf", node__images__append=options
    ) as platform:
        ended = platform.run("100 ms")
        assert ended.outcome == fabricvp.Outcome.REFUSED and says in ended.detail
