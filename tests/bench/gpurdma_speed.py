# SPDX-License-Identifier: Apache-2.0
"""RDMA messages a second of processor time: 8-byte writes between two nodes, posted and polled by lanes of a GPU."""

import statistics

import tools
from registry import Result, measurement

FEW = 1_024  #: of the run whose time is taken off: start-up and end


def seconds(options, messages):
    return tools.processor_seconds_of_run("gpurdma_pair.yaml", f"runs=1 size=8 messages={messages} {options}")


def rate(options, poster_groups, messages):
    return statistics.median(
        poster_groups * messages / (seconds(options, messages + FEW) - seconds(options, FEW))
        for _ in range(tools.sized(3, 1))
    )


@measurement(
    "gpurdma_messages_per_s", "RDMA by 32 lanes, 16 a doorbell, a completion for 16", "messages/s", goal="≥ 0.035 S"
)
def messages():
    return Result(
        rate("poster_groups=2 lanes=16 batch=16 signal=16 window=256 reuse=1", 2, tools.sized(40_960, 8_192)),
        None,
        "messages/s",
        note="two queue pairs of 16 lanes, entries reused, all in the GPU; processor time, start-up taken off",
    )


@measurement("gpurdma_plain_messages_per_s", "RDMA by one lane, one message after the other", "messages/s")
def plain():
    return Result(rate("", 1, tools.sized(8_192, 2_048)), None, "messages/s")
