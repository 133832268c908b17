# SPDX-License-Identifier: Apache-2.0
"""Packet-hops a second on a saturated quad in two clusters: traffic generators alone, and the memory systems of four
GPUs."""

import functools
import statistics

import tools
from registry import Result, measurement


@functools.lru_cache(maxsize=1)
def rows():
    return tools.rows("fabric_bench", tools.sized(150_000, 5_000), tools.sized(300, 10), rounds=5)


def result(value, events):
    return Result(
        statistics.median(row[value] for row in rows()),
        None,
        "packet-hops/s",
        note=f"calendar events a packet-hop: {rows()[0][events]:.2f}",
    )


@measurement("fabric_packet_hops_per_s", "GPU fabric, traffic generators alone", "packet-hops/s", goal="≥ 0.8 S")
def packet_hops():
    return result("value", "events_per_hop")


@measurement(
    "fabric_packet_hops_per_s_with_gpus",
    "GPU fabric with the memory systems of four GPUs",
    "packet-hops/s",
    goal="≥ 0.3 S",
)
def packet_hops_with_gpus():
    return result("with_gpus", "events_per_hop_with_gpus")
