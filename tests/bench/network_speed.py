# SPDX-License-Identifier: Apache-2.0
"""Packet-hops a second on a saturated InfiniBand network of traffic generators: two levels of switches, packets of 2
KiB."""

import statistics

import tools
from registry import Result, measurement


@measurement("network_packet_hops_per_s", "network between nodes, traffic generators", "packet-hops/s", goal="≥ 0.35 S")
def packet_hops():
    rows = tools.rows("network_bench", tools.sized(40_000, 100), rounds=5)
    return Result(
        statistics.median(row["value"] for row in rows),
        None,
        "packet-hops/s",
        note=f"calendar events a packet-hop: {rows[0]['events_per_hop']:.2f}",
    )
