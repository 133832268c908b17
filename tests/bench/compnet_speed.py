# SPDX-License-Identifier: Apache-2.0
"""Messages a second of processor time that kernels leave to the command processor: 8 bytes between two nodes, one after
the other or there and back."""

import statistics

import tools
from registry import Result, measurement

SENDERS, WORK_GROUPS = 4, 32  #: work-groups of a node
FEW = 10  #: messages or rounds of the run whose time is taken off: start-up and end


def seconds(options):
    return tools.processor_seconds_of_run("compnet_pair.yaml", f"scheme=compnet threads=2 min=8 max=8 {options}")


def rate(options, key, count, messages):
    """Of runs with ``key`` of ``count``, of which each is ``messages`` messages."""
    return statistics.median(
        messages * count / (seconds(f"{options} {key}={count + FEW}") - seconds(f"{options} {key}={FEW}"))
        for _ in range(tools.sized(3, 1))
    )


@measurement("compnet_messages_per_s", "messages of kernels by the command processor", "messages/s", goal="≥ 0.025 S")
def messages():
    return Result(
        rate(f"work=rate groups={SENDERS}", "messages", tools.sized(4_000, 500), SENDERS),
        None,
        "messages/s",
        note=f"{SENDERS} work-groups of one node, unanswered, two harts serve; processor time, start-up taken off",
    )


@measurement("compnet_plain_messages_per_s", "the same, there and back by 32 work-groups", "messages/s")
def plain():
    return Result(
        rate(f"work=echo groups={WORK_GROUPS}", "rounds", tools.sized(300, 40), 2 * WORK_GROUPS),
        None,
        "messages/s",
        note="each waits for its response",
    )
