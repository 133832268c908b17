# SPDX-License-Identifier: Apache-2.0
"""One workload: executed, recorded while it is executed, or played; what its measured part took. `python -m
fabricvp.experiments.replay.measure NAME … [--size N]` prints the geometric mean of workloads' speed-ups."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ...conditions import Marker
from ...errors import InputError
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

LABEL = "kernels"


@dataclass(frozen=True)
class Task:
    """What to do: play ``recording`` on ``machine``, or execute ``workload`` there and write it if there is one."""

    workload: str
    machine: str
    size: int = 0  #: 0: the workload's default
    recording: str = ""
    play: bool = False


@dataclass
class Result:
    """What the measured part took. ``seconds`` depends on the host; everything else is the same in every run."""

    simulated: float  #: s
    requests: float  #: that GPUs sent to others
    slow_flits: float  #: on links between clusters
    #: packets that devices had sent, and that had neither arrived nor been reported as failed when all had ended
    in_flight: float
    wrong: float  #: of a replay: lines that came otherwise than they were sent, unexpected responses
    correct: bool  #: of software: its result
    seconds: float = 0.0  #: processor time of the host
    bytes: int = 0  #: of the recording


def run_task(task: Task) -> Result:
    """Does it. Raises `InputError` where it cannot be done."""
    if task.play:
        with Platform.from_recording(task.recording, task.machine) as platform:
            record_machine(f"replay of {task.workload} on {task.machine}", platform)
            begin = time.process_time()
            result = platform.run()
            seconds = time.process_time() - begin
            return _found(platform, seconds, result.outcome == Outcome.POWER_OFF)
    with Platform.from_config(
        task.machine, app=task.workload, size=task.size or None, placement="lasp", dispatch="lasp"
    ) as platform:
        record_machine(f"{task.workload} on {task.machine}", platform)
        if task.recording:
            platform.record(task.recording)
        if platform.run(until=Marker(LABEL, "reset")).outcome != Outcome.EVENT:
            raise InputError(f"{task.workload} on {task.machine}: no part to be measured began")
        begin = time.process_time()
        ended = platform.run(until=Marker(LABEL, "dump"))
        seconds = time.process_time() - begin
        if ended.outcome != Outcome.EVENT:
            raise InputError(f"{task.workload} on {task.machine}: {ended.detail}")
        platform.run()
        found = _found(platform, seconds, bool(platform.app_ok))
        if task.recording:
            platform.finish_recording()
            found.bytes = Path(task.recording).stat().st_size
        return found


def _found(platform: Platform, seconds: float, correct: bool) -> Result:
    columns = platform.regions()
    region = columns[columns.columns[0]]
    values = platform.statistics.snapshot("node0.")

    def total(series: dict[str, float], what: str) -> float:
        return float(sum(v for path, v in series.items() if path.endswith(what)))

    measured = {str(k): float(v) for k, v in region.items()}
    devices = {k: v for k, v in measured.items() if k.startswith("node0.fabric.")}
    return Result(
        measured["time_s"],
        total(devices, ".requests_sent"),
        measured.get("node0.fabric.inter_cluster.flits", 0.0),
        values["node0.fabric.packets_in_flight"],
        sum(total(values, f".replay.{end}") for end in ("corrupt", "failed")),
        correct,
        seconds,
    )


def speed_ups(
    names: list[str], size: int = 0, recorded: str = "netcrafter_quad_ideal", machine: str = "netcrafter_quad"
) -> dict[str, float]:
    """Processor time of workloads' measured parts on ``machine`` over that of a replay, by workload; ``size`` 0 is the
    default."""
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        for name in names:
            file = f"{folder}/{name}.recording"
            pool.map(run_task, [Task(name, recorded, size, file)])
            executed, played = pool.map(
                run_task, [Task(name, machine, size), Task(name, machine, size, file, play=True)], chunksize=1
            )
            found[name] = executed.seconds / played.seconds
    return found


def geometric_mean(values: list[float]) -> float:
    """Of values above 0."""
    return math.exp(sum(math.log(v) for v in values) / len(values))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--size", type=int, default=0)
    given = parser.parse_args()
    ratios = speed_ups(given.names, given.size)
    print(json.dumps({"geometric_mean": geometric_mean(list(ratios.values())), "speed_ups": ratios}))
