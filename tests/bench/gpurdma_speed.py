# SPDX-License-Identifier: Apache-2.0
"""RDMA messages a second of processor time: 8-byte writes between two nodes, posted and polled by lanes of a GPU."""
import os
import pathlib
import statistics
import tempfile

import tools
from registry import Result, measurement

FEW = 1_024  #: of the run whose time is taken off: start-up and end


def seconds(options, messages):
    with tempfile.TemporaryDirectory() as folder:
        command = [tools.FABRICVP, "run", tools.TREE / "configs" / "gpurdma_pair.yaml", "--quiet", "--console", "none", "--out", pathlib.Path(folder) / "out",
                   "--append", f"nodes=2 runs=1 size=8 messages={messages} {options}"]
        before = os.times()
        tools.seconds(command)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system


def rate(options, teams, messages):
    return statistics.median(teams * messages / (seconds(options, messages + FEW) - seconds(options, FEW)) for _ in range(tools.sized(3, 1)))


@measurement("gpurdma_messages_per_s", "RDMA by 32 lanes, 16 a doorbell, a completion for 16", "messages/s", goal="≥ 0.035 S")
def messages():
    return Result(rate("teams=2 lanes=16 batch=16 signal=16 window=256 reuse=1", 2, tools.sized(40_960, 8_192)), None, "messages/s",
                  note="two queue pairs of 16 lanes, entries reused, all in the GPU; processor time, start-up taken off")


@measurement("gpurdma_plain_messages_per_s", "RDMA by one lane, one message after the other", "messages/s")
def plain():
    return Result(rate("", 1, tools.sized(8_192, 2_048)), None, "messages/s")
