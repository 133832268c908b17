# SPDX-License-Identifier: Apache-2.0
"""TLP-hops a second on a saturated Gen3 x16 tree of eight endpoints at 256-byte payload, on one core."""
import json
import statistics
import subprocess

import tools
from registry import Result, Unavailable, measurement


@measurement("pcie_tlp_hops_per_s", "PCIe tree, eight endpoints, saturated", "TLP-hops/s", goal="≥ 1,000,000")
def pcie_tlp_hops():
    bench = tools.BUILD / "bin" / "pcie_bench"
    if not bench.exists():
        raise Unavailable(f"{bench.relative_to(tools.TREE)} is not built")
    rows = [json.loads(subprocess.run([bench], check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()[-1])
            for _ in range(5)]
    events = rows[0]["events_per_hop_saturated"], rows[0]["events_per_hop_idle"]
    return Result(statistics.median(row["value"] for row in rows), None, "TLP-hops/s",
                  note="calendar events a TLP-hop: {:.2f} saturated, {:.2f} idle".format(*events))
