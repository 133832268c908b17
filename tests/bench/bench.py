# SPDX-License-Identifier: Apache-2.0
"""bench.py [KEY...]: measures the speed of the simulator, prints a table and writes build/bench.json.

Each measurement alternates ours with its baseline in one run and takes medians, so the ratios mean something on any
machine. Given keys, only those are measured anew; the other results in the file stay.
"""
import importlib
import json
import sys
import traceback

from rich.console import Console
from rich.table import Table

import tools
from registry import MEASUREMENTS, Result, Unavailable

MODULES = ["calendar_speed", "iss_speed", "boot_speed", "congestion_speed", "pcie_speed", "fabric_speed", "gpu_speed"]


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def main(wanted):
    for module in MODULES:
        importlib.import_module(module)
    unknown = set(wanted) - {m.key for m in MEASUREMENTS}
    if unknown:
        print(f"bench: no measurement {', '.join(sorted(unknown))}; there are: {', '.join(m.key for m in MEASUREMENTS)}", file=sys.stderr)
        return 2
    tools.WORK.mkdir(parents=True, exist_ok=True)
    file = tools.TREE / "build" / "bench.json"
    results = json.loads(file.read_text()) if wanted and file.exists() else {}
    console = Console(width=max(120, Console().width))
    failed = False
    table = Table(title="Speed of the simulator")
    for column, side in (("measurement", "left"), ("ours", "right"), ("baseline", "right"), ("unit", "left"), ("ratio", "right"), ("goal", "left")):
        table.add_column(column, justify=side)
    notes = []
    for m in MEASUREMENTS:
        if wanted and m.key not in wanted:
            continue
        console.print(f"measuring {m.key} …")
        try:
            result = m.run()
        except Unavailable as why:
            result = Result(None, None, m.unit, note=str(why))
        except Exception as error:
            traceback.print_exc()
            failed = True
            result = Result(None, None, m.unit, note=f"failed: {error}")
        results[m.key] = result.as_json()
        file.write_text(json.dumps(results, indent=2) + "\n")
        table.add_row(m.title, number(result.value), number(result.baseline), m.unit, number(result.ratio), m.goal)
        if result.note:
            notes.append(f"{m.key}: {result.note}")
    console.print(table)
    for note in notes:
        console.print(note, markup=False)
    console.print(f"written to {file.relative_to(tools.TREE)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
