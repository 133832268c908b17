# SPDX-License-Identifier: Apache-2.0
"""Packet-hops a second on a saturated quad in two clusters: traffic generators alone, and the memory systems of four GPUs."""
import functools
import json
import statistics
import subprocess

import tools
from registry import Result, Unavailable, measurement


@functools.lru_cache(maxsize=1)
def rows():
    bench = tools.BUILD / "bin" / "fabric_bench"
    if not bench.exists():
        raise Unavailable(f"{bench.relative_to(tools.TREE)} is not built")
    return [json.loads(subprocess.run([bench], check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()[-1])
            for _ in range(5)]


def result(value, events):
    return Result(statistics.median(row[value] for row in rows()), None, "packet-hops/s",
                  note=f"calendar events a packet-hop: {rows()[0][events]:.2f}")


@measurement("fabric_packet_hops_per_s", "GPU fabric, traffic generators alone", "packet-hops/s", goal="≥ 3,000,000")
def packet_hops():
    return result("value", "events_per_hop")


@measurement("fabric_packet_hops_per_s_with_gpus", "GPU fabric with the memory systems of four GPUs", "packet-hops/s", goal="≥ 1,000,000")
def packet_hops_with_gpus():
    return result("with_gpus", "events_per_hop_with_gpus")
