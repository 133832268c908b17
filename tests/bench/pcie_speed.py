# SPDX-License-Identifier: Apache-2.0
"""TLP-hops a second on a saturated Gen3 x16 tree of eight endpoints at 256-byte payload, on one core."""

import statistics

import tools
from registry import Result, measurement


@measurement("pcie_tlp_hops_per_s", "PCIe tree, eight endpoints, saturated", "TLP-hops/s", goal="≥ 0.45 S")
def pcie_tlp_hops():
    rows = tools.rows("pcie_bench", tools.sized(256, 8), rounds=5)
    events = rows[0]["events_per_hop_saturated"], rows[0]["events_per_hop_idle"]
    return Result(
        statistics.median(row["value"] for row in rows),
        None,
        "TLP-hops/s",
        note="calendar events a TLP-hop: {:.2f} saturated, {:.2f} idle".format(*events),
    )
