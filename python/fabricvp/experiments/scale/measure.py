# SPDX-License-Identifier: Apache-2.0
"""One fabric under synthetic traffic: what a packet-hop (a packet on a link) and a device cost the host.

The traffic's costs are taken between two moments of a run under way, so that building, first allocations and the filling of
buffers do not count. `python -m fabricvp.experiments.scale.measure` prints the ratio of the largest to the smallest fabric."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ... import topology
from ...platform import Platform
from ..machines import use

#: by devices: (leaf switches, devices on each, spine switches). As many spines as devices a leaf: without blocking.
SHAPES = {4: (2, 2, 2), 16: (4, 4, 4), 64: (8, 8, 8), 256: (16, 16, 16), 1024: (64, 16, 16)}
PATTERNS = ("uniform", "neighbour", "transpose", "halo")
GENERATOR = {"outstanding": 16, "writes": 0.3, "page_tables": 0.1, "one_sector": 0.5, "service": "100 ns"}
PAGE = 4096  #: bytes that /proc counts in


@dataclass(frozen=True)
class Load:
    """What to run: ``hops`` is about how many packet-hops are measured, after half as many."""

    devices: int
    pattern: str
    hops: int


@dataclass
class Cost:
    """What it cost. What depends on the host: ``seconds``, ``memory``, ``built``; everything else is the same in every run."""

    load: Load
    hops: int  #: measured
    events: int  #: calendar events in that time
    simulated: float  #: s of simulated time
    sent: float
    received: float
    failed: float
    under_way: float
    wrong: float  #: lines that came otherwise than they were sent, responses that nobody waited for
    seconds: float  #: processor time
    memory: float  #: bytes resident that the machine took, when the traffic had been measured
    built: float  #: s to build the machine

    @property
    def same(self) -> tuple[float, ...]:
        """What every run of it has to give."""
        return (self.hops, self.events, self.simulated, self.sent, self.received, self.failed, self.under_way, self.wrong)


def carry(load: Load) -> Cost:
    """Runs it. Raises `InputError` if the fabric cannot be built."""
    shape = topology.fat_tree(*SHAPES[load.devices])
    for number, switch in enumerate(s for s in shape.switches if s["name"].startswith("leaf")):
        switch["cluster"] = number + 1
    text = shape.traffic_machine({**GENERATOR, "pattern": load.pattern})
    before, begin = _resident(), time.process_time()
    with Platform.from_text(text) as platform:
        built = time.process_time() - begin
        use(f"{load.devices} devices, {load.pattern}", platform)
        step = _step(platform)
        platform.run(load.hops / 2 * step)
        counts = _counts(platform)
        begin = time.process_time()
        platform.run(load.hops * step)
        seconds = time.process_time() - begin
        memory = _resident() - before
        later = _counts(platform)
        values = platform.statistics.snapshot("node0.fabric.")

        def total(what: str) -> float:
            return sum(v for path, v in values.items() if path.endswith(what))

        return Cost(load, int(later[0] - counts[0]), int(later[1] - counts[1]), platform.now, total(".packets_sent"), total(".packets_received"),
                    total(".packets_failed"), values["node0.fabric.packets_under_way"], total(".corrupt") + total(".unexpected"), seconds, memory, built)


def _step(platform: Platform) -> float:
    """Simulated seconds a packet-hop, from a short run."""
    trial = 1e-6
    platform.run(trial)
    return trial / max(1.0, _counts(platform)[0])


def _counts(platform: Platform) -> tuple[float, float]:
    """Packet-hops and calendar events so far."""
    values = platform.statistics.snapshot("node0.fabric.")
    return sum(v for path, v in values.items() if path.endswith(".sent.packets")), platform.statistics["sim.events"]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def main() -> None:
    """For the bench: cost a packet-hop of 4 and of 1,024 devices, each in a process of its own, in turns."""
    rounds, hops = (int(text) for text in sys.argv[1:])
    small, large = min(SHAPES), max(SHAPES)
    found: dict[int, list[float]] = {small: [], large: []}
    events = {}
    for _ in range(rounds):
        for devices in (small, large):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                cost = pool.apply(carry, (Load(devices, "uniform", hops),))
            found[devices].append(cost.seconds / cost.hops)
            events[devices] = cost.events / cost.hops
    nanoseconds = {devices: 1e9 * sorted(values)[len(values) // 2] for devices, values in found.items()}
    print(json.dumps({"value": nanoseconds[large] / nanoseconds[small], "ns_per_hop": nanoseconds, "events_per_hop": events}))


if __name__ == "__main__":
    main()
