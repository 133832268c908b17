# SPDX-License-Identifier: Apache-2.0
"""RDMA messages a second of processor time: 8-byte writes between two nodes, posted and polled by a hart's program."""

import statistics

import tools
from registry import Result, measurement

FEW = 2_000  #: of the run whose time is taken off: start-up and end


def seconds(options, messages):
    return tools.processor_seconds_of_run(
        "rdma_pair.yaml", f"rate={messages} {options} check=0 exchange=0 latency=0 bandwidth=0"
    )


def rate(options, messages):
    return statistics.median(
        messages / (seconds(options, messages + FEW) - seconds(options, FEW)) for _ in range(tools.sized(3, 1))
    )


@measurement(
    "rdma_messages_per_s", "RDMA, inline writes, 16 a doorbell, a completion for 16", "messages/s", goal="≥ 0.07 S"
)
def messages():
    return Result(
        rate("batch=16 signal=16 inline=28", tools.sized(60_000, 6_000)),
        None,
        "messages/s",
        note="one queue pair; processor time, start-up taken off",
    )


@measurement("rdma_plain_messages_per_s", "RDMA, signalled writes one a doorbell, payload fetched", "messages/s")
def plain():
    return Result(rate("batch=1 signal=1 inline=0", tools.sized(30_000, 6_000)), None, "messages/s")
