# SPDX-License-Identifier: Apache-2.0
"""The saturated quad of the fabric's bench with NetCrafter at the link between clusters; half of the reads need one
sector."""

import functools
import statistics

import tools
from registry import Result, measurement


@functools.lru_cache(maxsize=1)
def rows():
    return tools.rows("netcrafter_bench", tools.sized(150_000, 5_000), rounds=5)


@measurement(
    "fabric_packet_hops_netcrafter_per_s", "GPU fabric with NetCrafter, all parts on", "packet-hops/s", goal="≥ 0.6 S"
)
def packet_hops():
    shares = (
        "{stitched_share:.0%} of the packets between clusters ride, {trimmed_share:.0%} are trimmed,"
        " {saved_flits_share:.0%} of the flits are saved"
    )
    return Result(
        statistics.median(row["value"] for row in rows()), None, "packet-hops/s", note=shares.format(**rows()[0])
    )


@measurement("fabric_events_per_hop_netcrafter", "calendar events a packet-hop with NetCrafter", "events", goal="≤ 2.5")
def events():
    return Result(rows()[0]["events_per_hop"], None, "events")
