# SPDX-License-Identifier: Apache-2.0
"""The event calendar against stock SystemC notifications: 1,000 timers, 8 foreign threads waking every microsecond."""
import json
import subprocess

import tools
from registry import Result, Unavailable, measurement


@measurement("calendar_vs_systemc", "event calendar, against SystemC", "timed events/s", goal="ratio ≥ 5")
def calendar_vs_systemc():
    bench = tools.BUILD / "bin" / "calendar_bench"
    if not bench.exists():
        raise Unavailable(f"{bench.relative_to(tools.TREE)} is not built")
    lines = subprocess.run([bench], check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()
    row = json.loads(next(line for line in lines if line.startswith("{")))
    return Result(row["value"], row["baseline"], row["unit"])
