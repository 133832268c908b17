# SPDX-License-Identifier: Apache-2.0
"""What a running kernel sees of data that RDMA writes (firmware/host/ordering), and the CRC that finds out."""

import re

import fabricvp
import pytest

COUNTS_LINE = re.compile(
    r"^rounds (\d+) wrong (\d+) stale (\d+) early (\d+) words (\d+) found (\d+) missed (\d+) alarms (\d+)", re.MULTILINE
)


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
        values = map(int, COUNTS_LINE.search(consoles[0]).groups())
        return dict(zip(("rounds", "wrong", "stale", "early", "words", "found", "missed", "alarms"), values))


def test_l1_keeps_old_data_until_an_acquire():
    seen = look("rounds=10 bytes=1024 flag=1 read=0")
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
    for read in 1, 2:
        assert look(f"rounds=10 bytes=1024 flag=1 read={read}")["wrong"] == 0


@pytest.mark.parametrize(
    "flag",
    [
        "bytes=56 flag=0",
        "bytes=100 flag=0",
        "bytes=4 flag=1",
        "bytes=260 flag=2",
        "bytes=64 flag=2 host_cq=1",
        "bytes=64 flag=1 flush=1",
    ],
)
def test_flags_and_sizes(flag):
    seen = look(f"rounds=8 {flag} read=1", "at_bank")
    assert seen["rounds"] == 8 and seen["wrong"] == seen["alarms"] == 0


def test_a_flag_overtakes_data_that_wait_for_a_busy_bank():
    options = "rounds=60 bytes=64 flag=1 read=1 load=59"
    early = look(options, "at_bank")
    assert early["early"] == early["wrong"] == early["found"] > 0 and early["missed"] == early["alarms"] == 0
    assert look(options)["wrong"] == 0
    assert look(f"{options} flush=1", "at_bank")["wrong"] == 0  # the writer's read pushes the data


@pytest.mark.parametrize(
    "options, says",
    [
        ("read=3", "read=3: 2 at most"),
        ("bytes=6", "bytes=6: a multiple of 4"),
        ("flag=0 flush=1", "flush=1: not with flag=0"),
    ],
)
def test_invalid_options_are_reported(options, says):
    with fabricvp.spawn(
        "gpurdma_pair", node__images__firmware="firmware:ordering.elf", node__images__append=options
    ) as platform:
        ended = platform.run("100 ms")
        assert ended.outcome == fabricvp.Outcome.REFUSED and says in ended.detail
