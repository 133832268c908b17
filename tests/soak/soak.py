# SPDX-License-Identifier: Apache-2.0
"""Random machines, programs, faults and seeds, for as long as is asked: `soak.py --minutes 60 [--seed N]`.

Each round has a number, and what it does follows from that alone: `soak.py --seed N --rounds 1` repeats round N. A
round fails where the simulator crashes, a result is wrong, statistics do not balance, two runs differ, a hang is not
named by the watchdog, or memory grows. Status 1 if any round failed."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from checks import grows, impossible, unbalanced
from machines import Drawn, random_machine, random_network

TIMEOUT_S = 3600  # of a run that takes seconds


class Failed(Exception):
    """What a round found."""


#: Runs a machine and writes what it printed, its statistics, and its counters from the beginning on.
RUN = """
import json, sys, fabricvp
given = json.load(open("given.json"))
with fabricvp.Platform.from_config("machine.yaml") as p:
    if given["program"]:
        p.load_app(given["program"], **given["app"])
    if given["observed"]:
        p.start_profile()
        p.start_coverage()
    result = p.run(given["time"])
    if given["observed"]:
        p.write_profile("profile.html")
        p.write_coverage("coverage.info")
    values = {path: value for path, value in p.statistics.items() if path != "sim.wall_s"}
    seen = {"outcome": str(result.outcome), "detail": result.detail, "output": p.nodes[0].console.output,
            "statistics": values, "totals": p.statistics.totals()}
json.dump(seen, open("seen.json", "w"))
"""


def child(folder: Path, script: str, drawn: Drawn, *arguments: str) -> str:
    """What a script printed. \throws Failed unless it ends well"""
    (folder / "machine.yaml").write_text(drawn.yaml)
    (folder / "script.py").write_text(script)
    try:
        done = subprocess.run(
            [sys.executable, "script.py", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "FABRICVP_CHECK_STATISTICS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"it did not end in {TIMEOUT_S} s: {drawn}") from None
    if done.returncode != 0:
        raise Failed(f"status {done.returncode}: {done.stderr[-1500:]}\n{drawn}")
    return done.stdout


def run(folder: Path, drawn: Drawn, outcome: str, observed: bool = False) -> dict[str, Any]:
    """What RUN has seen. \throws Failed unless the run ends as it should"""
    given = {"program": drawn.program, "app": drawn.app, "time": drawn.time, "observed": observed}
    (folder / "given.json").write_text(json.dumps(given))
    child(folder, RUN, drawn)
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    if seen["outcome"] != outcome:
        raise Failed(f"{seen['outcome']}: {seen['detail']}\n{drawn}")
    return seen


def check_balance(seen: dict[str, Any], drawn: Drawn) -> None:
    """\throws Failed where statistics do not balance"""
    statistics = seen["statistics"]
    network = {path: value for path, value in statistics.items() if path.startswith("network.")}  # has no regions
    if wrong := [*unbalanced({**network, **seen["totals"]}, drawn.losses), *impossible(statistics)]:
        raise Failed("; ".join(wrong[:5]) + f"\n{drawn}")


def machine_round(number: int, folder: Path) -> str:
    """A program on a random machine gives its right result, and the same run, observed, the same statistics."""
    drawn = random_machine(number)
    seen = run(folder, drawn, "power_off")
    if not any(line.split()[:2] == [drawn.program, "ok"] for line in seen["output"].splitlines()):
        raise Failed(f"{drawn.program} is not ok:\n{seen['output']}\n{drawn}")
    check_balance(seen, drawn)
    if number % 3 == 0 and (again := run(folder, drawn, "power_off", observed=True)) != seen:
        different = [p for p, v in seen["statistics"].items() if again["statistics"].get(p) != v]
        raise Failed(f"a second run, profiled, differs: {different[:5]}\n{drawn}")
    return (
        f"{drawn.program} on {drawn.yaml.count('below: switch0')} GPUs, {drawn.yaml.count('kind: bit_errors')} faults"
    )


def network_round(number: int, folder: Path) -> str:
    """All packets of random traffic arrive, or are counted as dropped."""
    drawn = random_network(number)
    seen = run(folder, drawn, "time_limit")
    check_balance(seen, drawn)
    values = seen["statistics"]
    sent = sum(v for p, v in values.items() if p.startswith("network.generator") and p.endswith(".sent"))
    return f"{sent:g} packets, {values['network.packets.dropped']:g} of them dropped"


def fault_round(number: int, folder: Path) -> str:
    """Injections of the fault campaign end in a class that a machine may have."""
    from fabricvp.experiments.faults.measure import Injections, measure
    from fabricvp.experiments.faults.outcomes import Fate
    from fabricvp.experiments.points import PointFailed, run_points

    first = random.Random(f"faults {number}").randrange(10**6)  # kinds take turns by number
    try:
        found = run_points(measure, [Injections(first, 4, number)], 1, lambda index: None)[0].injections
    except PointFailed as failure:
        raise Failed(str(failure)) from None
    for i in found:
        if i.fate in (Fate.CRASH, Fate.UNNAMED_HANG):
            raise Failed(
                f"injection {i.number} of seed {number}: {i.fate}: {i.kind} at {i.target}, {i.arguments}: {i.detail}"
            )
    return ", ".join(f"{i.kind}: {i.fate}" for i in found)


REPEATED = """
import sys, fabricvp
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
with fabricvp.Platform.from_config("machine.yaml") as p:
    p.load_app(sys.argv[1], size=int(sys.argv[2]))
    for i in range(int(sys.argv[3])):
        if i:
            p.reset()
        result = p.run("2 s")
        assert result.outcome == fabricvp.Outcome.POWER_OFF, result
        print(resident(), flush=True)
"""


def memory_round(number: int, folder: Path) -> str:
    """A machine that is reset again and again needs no more memory."""
    drawn = random_machine(number)
    printed = child(folder, REPEATED, drawn, drawn.program, str(drawn.app["size"]), "24")
    resident = [int(line) for line in printed.split() if line.isdigit()]
    if growth := grows(resident):
        raise Failed(f"{growth}: {[r >> 20 for r in resident]} MiB\n{drawn}")
    return f"{drawn.program}, {len(resident)} times: {resident[-1] >> 20} MiB"


#: Kinds of rounds, which take turns.
ROUNDS = (
    machine_round,
    network_round,
    machine_round,
    fault_round,
    machine_round,
    network_round,
    machine_round,
    memory_round,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="begin rounds for so long (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="number of the first round (default 1)")
    parser.add_argument("--rounds", type=int, default=0, help="so many rounds instead")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    failures = []
    end = time.monotonic() + 60 * given.minutes
    number = given.seed
    while number - given.seed < given.rounds if given.rounds else time.monotonic() < end:
        kind = ROUNDS[number % len(ROUNDS)]
        name = kind.__name__.partition("_")[0]
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                text = kind(number, Path(folder))
            except Failed as failure:
                text = f"FAILED: {failure}"
                failures.append(number)
        print(f"{number} {name} ({time.monotonic() - began:.0f} s): {text}", flush=True)
        counts[name] += 1
        number += 1
    print(f"{sum(counts.values())} rounds: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    for failed in failures:
        print(f"FAILED: round {failed}; tests/soak/soak.py --seed {failed} --rounds 1 repeats it")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
