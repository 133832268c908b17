# SPDX-License-Identifier: Apache-2.0
"""bench.py [KEY...]: measures the speed of the simulator, prints a table and writes build/bench.json.

Each measurement alternates ours with its baseline in one run and takes medians. It stands beside two yardsticks, taken
just before and after it, so that the ratios mean something on any machine: S, the timed events a second of stock
SystemC, and M, the random dependent reads of memory a second. Given keys, only those are measured anew; the other
results in the file stay. With --quick everything is tried once on little work: whether it runs, not how fast."""

import argparse
import importlib
import json
import pathlib
import sys
import traceback

import tools
from registry import MEASUREMENTS, Result, Unavailable
from rich.console import Console
from rich.table import Table

MODULES = [
    "calendar_speed",
    "iss_speed",
    "boot_speed",
    "congestion_speed",
    "pcie_speed",
    "fabric_speed",
    "netcrafter_speed",
    "scale_speed",
    "replay_speed",
    "network_speed",
    "rdma_speed",
    "gpurdma_speed",
    "compnet_speed",
    "ranks_speed",
    "linux_rdma_speed",
    "gpu_speed",
    "command_speed",
]
COLUMNS = (
    ("measurement", "left"),
    ("ours", "right"),
    ("baseline", "right"),
    ("unit", "left"),
    ("ratio", "right"),
    ("of S", "right"),
    ("of M", "right"),
    ("goal", "left"),
)


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def systemc():
    """S at present, None where it cannot be measured."""
    try:
        return sys.modules["calendar_speed"].systemc(tools.sized(5, 1))
    except Unavailable:
        return None


def memory():
    """M at present, None where it cannot be measured."""
    try:
        return tools.rows("memory_bench", *tools.sized((5,), (1, 100_000)))[0]["value"]
    except Unavailable:
        return None


def mean(before, after):
    return (before + after) / 2 if before and after else None


def measure(m):
    """Its result, and whether it failed."""
    before = systemc(), memory()
    try:
        result, failed = m.run(), False
    except Unavailable as why:
        return Result(None, None, m.unit, note=str(why)), False
    except Exception as error:
        traceback.print_exc()
        return Result(None, None, m.unit, note=f"failed: {error}"), True
    result.systemc, result.memory = map(mean, before, (systemc(), memory()))
    return result, failed


def arguments(argv):
    parser = argparse.ArgumentParser(prog="bench", description="measures the speed of the simulator")
    parser.add_argument("keys", nargs="*", metavar="KEY", help="only these measurements")
    parser.add_argument("--quick", action="store_true", help="try everything once on little work")
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        metavar="FILE",
        help="instead of build/bench.json (with --quick build/bench/quick.json)",
    )
    return parser.parse_args(argv)


def main(argv):
    asked = arguments(argv)
    tools.quick = asked.quick
    for module in MODULES:
        importlib.import_module(module)
    unknown = set(asked.keys) - {m.key for m in MEASUREMENTS}
    if unknown:
        print(
            f"bench: no measurement {', '.join(sorted(unknown))}; there are: {', '.join(m.key for m in MEASUREMENTS)}",
            file=sys.stderr,
        )
        return 2
    tools.WORK.mkdir(parents=True, exist_ok=True)
    file = asked.output or (tools.WORK / "quick.json" if asked.quick else tools.TREE / "build" / "bench.json")
    results = json.loads(file.read_text()) if asked.keys and file.exists() else {}
    console = Console(width=max(140, Console().width))
    any_failed = False
    table = Table(title="Speed of the simulator")
    for column, side in COLUMNS:
        table.add_column(column, justify=side)
    notes = []
    for m in MEASUREMENTS:
        if asked.keys and m.key not in asked.keys:
            continue
        console.print(f"measuring {m.key} …")
        result, failed = measure(m)
        any_failed |= failed
        results[m.key] = result.as_json()
        file.write_text(json.dumps(results, indent=2) + "\n")
        table.add_row(
            m.title,
            number(result.value),
            number(result.baseline),
            m.unit,
            number(result.ratio),
            number(result.of_systemc),
            number(result.of_memory),
            m.goal,
        )
        if result.note:
            notes.append(f"{m.key}: {result.note}")
    console.print(table)
    for note in notes:
        console.print(note, markup=False)
    console.print(
        "S: timed events a second of processor time of stock SystemC, 1,000 random timers, measured beside each row"
    )
    console.print(
        "M: dependent reads of 64 bytes a second of processor time, at random from 256 MiB, measured beside each row"
    )
    console.print(f"written to {file}")
    return 1 if any_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
