# SPDX-License-Identifier: Apache-2.0
"""Records every workload, executes it on the other fabric, plays it there, and reports."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas

from ..frame import Run
from ..gpu_workloads.workloads import PUBLISHED, WORKLOADS
from .measure import Result, Task, geometric_mean, run_task

QUICK = ("spmv", "pagerank", "transpose", "atax")  #: workloads with --quick
#: Sizes with --quick where those of other experiments are too small: there a launch is a tenth of the kernel.
SIZES = {"transpose": 1024}
GOAL = 4.0  #: speed-up that the geometric mean is to reach


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    names = list(options.only or (QUICK if run.quick else PUBLISHED))
    folder = Path(options.out) / "recordings"
    folder.mkdir(parents=True, exist_ok=True)

    def size(name: str) -> int:
        return SIZES.get(name, WORKLOADS[name].quick) if run.quick else 0

    def file(name: str) -> str:
        return str(folder / f"{name}.recording")

    def stage(label: str, tasks: list[Task]) -> list[Result]:
        # Never kept: recordings have to be there, and times are of this host.
        return run.map(
            label,
            run_task,
            tasks,
            lambda t: WORKLOADS[t.workload].seconds / (4 if t.play else 1),
            lambda t: t.workload,
            fresh=True,
        )

    recorded = stage("recording", [Task(n, options.recorded, size(n), file(n)) for n in names])
    executed = stage("executing", [Task(n, options.machine, size(n)) for n in names])
    again = stage(
        "playing where it was recorded", [Task(n, options.recorded, size(n), file(n), play=True) for n in names]
    )
    played = stage("playing", [Task(n, options.machine, size(n), file(n), play=True) for n in names])
    smallest = min(range(len(names)), key=lambda i: played[i].requests)
    twice = stage(
        "the same again",
        [Task(names[smallest], options.machine, size(names[smallest]), file(names[smallest]), play=True)],
    )[0]

    table = pandas.DataFrame([_line(*row) for row in zip(names, recorded, again, executed, played)])
    errors = table["error_%"].abs()
    gain = geometric_mean(list(table["speed_up"]))
    run.report.row(
        "speed-up of the measured part, geometric mean",
        "1",
        gain,
        source=f"processor time of execution over that of the replay; the goal is {GOAL:g}",
    )
    run.report.row(
        "error of simulated time, mean",
        "%",
        errors.mean(),
        source=f"replay on {options.machine} against execution there, absolute values",
    )
    run.report.row("error of simulated time, largest", "%", errors.max(), source=f"{names[int(errors.argmax())]}")
    run.report.row(
        "error where it was recorded, mean",
        "%",
        table["error_where_recorded_%"].abs().mean(),
        source=f"on {options.recorded}",
    )
    for name, error, ratio in zip(names, table["error_%"], table["speed_up"]):
        run.report.row(f"{name}: error", "%", error)
        run.report.row(f"{name}: speed-up", "1", ratio)
    run.report.conclude(
        f"Recordings of {len(names)} workloads made on {options.recorded} and played on {options.machine} are off by"
        f" {errors.mean():.1f} % of the executed time on average, by {errors.max():.1f} % at most"
        f" ({names[int(errors.argmax())]}), and take {gain:.1f} times less of the host's time (geometric mean; the goal"
        f" was {GOAL:g})."
    )
    run.report.table(
        "replay",
        table.round(6),
        "Simulated time of the kernels, executed and played, and what both cost the host. Requests and flits of the"
        " replay are shares of what was executed: code prefetches are left out.",
        40,
    )
    _checks(run, names, recorded, executed, again, played, played[smallest], twice)


def _line(name: str, recorded: Result, again: Result, executed: Result, played: Result) -> dict[str, object]:
    return {
        "workload": name,
        "executed_us": executed.simulated * 1e6,
        "played_us": played.simulated * 1e6,
        "error_%": 100 * (played.simulated / executed.simulated - 1),
        "slow_down": executed.simulated / recorded.simulated,
        "played_slow_down": played.simulated / recorded.simulated,
        "error_where_recorded_%": 100 * (again.simulated / recorded.simulated - 1),
        "requests": executed.requests,
        "played_requests_%": 100 * played.requests / max(1.0, executed.requests),
        "played_slow_flits_%": 100 * played.slow_flits / max(1.0, executed.slow_flits),
        "executed_s": executed.seconds,
        "played_s": played.seconds,
        "speed_up": executed.seconds / played.seconds,
        "recording_MB": recorded.bytes / 1e6,
    }


def _checks(
    run: Run,
    names: list[str],
    recorded: list[Result],
    executed: list[Result],
    again: list[Result],
    played: list[Result],
    first: Result,
    twice: Result,
) -> None:
    check = run.report.check
    wrong = [n for n, *took in zip(names, recorded, executed) if not all(t.correct for t in took)]
    check(
        "results of software are right",
        not wrong,
        ", ".join(wrong) or f"{2 * len(names)} runs, each against an independent reference",
    )
    lost = [
        f"{n}: {t.in_flight:.0f}"
        for n, *all_of in zip(names, recorded, executed, again, played)
        for t in all_of
        if t.in_flight
    ]
    check("packets sent are delivered or reported as failed", not lost, "; ".join(lost) or "in every run")
    odd = [n for n, *both in zip(names, again, played) if any(t.wrong or not t.correct for t in both)]
    check(
        "every byte played arrives as it was sent",
        not odd,
        ", ".join(odd) or f"{2 * len(names)} replays, both ends of each transaction",
    )
    same = dataclasses.replace(first, seconds=0) == dataclasses.replace(twice, seconds=0)
    check("a second replay is the same", same, "every figure")
