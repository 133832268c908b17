# SPDX-License-Identifier: Apache-2.0
"""What a packet-hop costs on a fabric of 1,024 devices beside one of 4: traffic generators in a fat tree of
clusters."""

import json
import subprocess

import tools
from registry import Result, Unavailable, measurement


@measurement("fabric_cost_ratio_1024_vs_4", "cost of a packet-hop at 1,024 devices over 4", "1", goal="≤ 1.5")
def ratio():
    python = tools.LAUNCHER.parent / "python"
    if not python.exists():
        raise Unavailable(f"{python} is not there")
    command = [python, "-m", "fabricvp.experiments.scale.measure", *map(str, tools.sized((3, 1_000_000), (1, 20_000)))]
    found = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout.splitlines()[-1]
    )
    nanoseconds, events = (
        " and ".join(f"{value:.3g}" for value in found[key].values()) for key in ("ns_per_hop", "events_per_hop")
    )
    return Result(
        found["value"], None, "1", note=f"4 and 1,024 devices: {nanoseconds} ns, {events} calendar events a packet-hop"
    )
