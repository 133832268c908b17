# SPDX-License-Identifier: Apache-2.0
"""One fabric under synthetic traffic, or under recordings of four GPUs side by side: what a packet-hop (a packet on a
link) and a device cost the host.

The traffic's costs are taken between two moments of a running simulation, so that building, first allocations and the
filling of buffers do not count. `python -m fabricvp.experiments.scale.measure` prints the ratio of the largest to the
smallest fabric."""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ... import topology
from ...errors import InputError
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

#: by devices: (leaf switches, devices on each, spine switches). As many spines as devices a leaf: without blocking.
SHAPES = {4: (2, 2, 2), 16: (4, 4, 4), 64: (8, 8, 8), 256: (16, 16, 16), 1024: (64, 16, 16)}
PATTERNS = ("uniform", "neighbour", "transpose", "halo")
GENERATOR = {"outstanding": 16, "writes": 0.3, "page_tables": 0.1, "one_sector": 0.5, "service": "100 ns"}
#: of the GPUs whose recordings are played: those of `netcrafter_quad`, with less memory
GPU = {
    "memory": {
        "capacity": "512 MiB",
        "unit": {"l1": {"size": "64 KiB"}},
        "l2": {"size": "4 MiB"},
        "l2_tlb": {"sets": 32, "ways": 16},
    }
}
RECORDED = {
    "gups": 65536,
    "pagerank": 4096,
}  #: applications and their sizes: single words all over memory; most reads from one way
PAGE = 4096  #: bytes that /proc counts in


@dataclass(frozen=True)
class Load:
    """What to run: ``hops`` is about how many packet-hops are measured, after half as many. With a ``recording`` of
    four GPUs, every four devices play it, and ``pattern`` only names it."""

    devices: int
    pattern: str
    hops: int
    recording: str = ""


@dataclass
class Cost:
    """What it cost. What depends on the host: ``seconds``, ``memory``, ``built``; everything else is the same in every
    run."""

    load: Load
    hops: int  #: measured
    events: int  #: calendar events in that time
    simulated: float  #: s of simulated time
    sent: float
    received: float
    failed: float
    in_flight: float
    wrong: float  #: lines that came otherwise than they were sent, unexpected responses
    seconds: float  #: processor time
    memory: float  #: bytes resident that the machine took, when the traffic had been measured
    built: float  #: s to build the machine

    @property
    def same(self) -> tuple[float, ...]:
        """What every run of it has to give."""
        return (
            self.hops,
            self.events,
            self.simulated,
            self.sent,
            self.received,
            self.failed,
            self.in_flight,
            self.wrong,
        )


def record(app: str, file: str) -> str:
    """Runs an application on the smallest fabric, with pages and work-groups by LASP, and writes a recording of it."""
    with Platform.from_text(
        _shape(4).machine(gpu=GPU), app=app, size=RECORDED[app], placement="lasp", dispatch="lasp"
    ) as platform:
        record_machine(f"recording of {app}", platform)
        platform.record(file)
        platform.run()
        if not platform.app_ok:
            raise InputError(f"{app} of {RECORDED[app]}: the result is wrong")
        platform.finish_recording()
    return file


def run_load(load: Load) -> Cost:
    """Runs it. Raises `InputError` if the fabric cannot be built."""
    shape = _shape(load.devices)
    before, begin = _resident(), time.process_time()
    with (
        _replicated(shape, load.recording)
        if load.recording
        else Platform.from_text(shape.traffic_machine({**GENERATOR, "pattern": load.pattern}))
    ) as platform:
        built = time.process_time() - begin
        record_machine(f"{load.devices} devices, {load.pattern}", platform)
        go = _play if load.recording else _generate
        go(platform, min(load.hops // 2, 10_000 * load.devices))
        counts = _counts(platform)
        seconds = go(platform, load.hops)
        memory = _resident() - before
        later = _counts(platform)
        values = platform.statistics.snapshot("node0.")

        def total(what: str) -> float:
            return sum(v for path, v in values.items() if path.endswith(what))

        return Cost(
            load,
            int(later[0] - counts[0]),
            int(later[1] - counts[1]),
            platform.now,
            total(".packets_sent"),
            total(".packets_received"),
            total(".packets_failed"),
            values["node0.fabric.packets_in_flight"],
            total(".corrupt") + total(".unexpected"),
            seconds,
            memory,
            built,
        )


def _shape(devices: int) -> topology.Shape:
    shape = topology.fat_tree(*SHAPES[devices])
    for number, switch in enumerate(s for s in shape.switches if s["name"].startswith("leaf")):
        switch["cluster"] = number + 1
    return shape


def _replicated(shape: topology.Shape, recording: str) -> Platform:
    """GPUs whose tiles lie across the tree, so that all that the recorded ones ask of each other goes over its
    spines."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(shape.machine(gpu=GPU))
        file.flush()
        return Platform.from_recording(
            recording, file.name, replica_placement="interleaved" if shape.devices > 4 else ""
        )


def _run(platform: Platform, time_limit: float) -> tuple[float, str]:
    """Simulates, and returns the processor time that this took in s, and how it ended. Reading statistics is not in
    it: of a thousand devices that takes as long as some hundred thousand packet-hops."""
    begin = time.process_time()
    outcome = platform.run(time_limit).outcome
    return time.process_time() - begin, outcome


def _generate(platform: Platform, hops: int) -> float:
    """Lets generators send about as many packet-hops. Returns the processor time in s."""
    before = _counts(platform)[0]
    trial = 1e-6
    seconds, _ = _run(platform, trial)
    step = trial / max(1.0, _counts(platform)[0] - before)
    return seconds + _run(platform, max(0.0, hops * step - trial))[0]


def _play(platform: Platform, hops: int) -> float:
    """Plays until there were as many packet-hops, or to the end of the recording. Returns the processor time in s."""
    until = _counts(platform)[0] + hops
    seconds, outcome = 0.0, Outcome.TIME_LIMIT
    while _counts(platform)[0] < until and outcome == Outcome.TIME_LIMIT:
        took, outcome = _run(platform, 1e-6)
        seconds += took
    return seconds


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
                cost = pool.apply(run_load, (Load(devices, "uniform", hops),))
            found[devices].append(cost.seconds / cost.hops)
            events[devices] = cost.events / cost.hops
    nanoseconds = {devices: 1e9 * sorted(values)[len(values) // 2] for devices, values in found.items()}
    print(
        json.dumps(
            {"value": nanoseconds[large] / nanoseconds[small], "ns_per_hop": nanoseconds, "events_per_hop": events}
        )
    )


if __name__ == "__main__":
    main()
