# SPDX-License-Identifier: Apache-2.0
"""Injections into one run: it is forked at the time of each, and every branch goes on to its own end.

A branch runs to its end even where the fault has no effect: architectural state is spread over blocks that have no
digest of it, so there is nothing inexpensive that two runs could be compared by earlier."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...data import firmware_path
from ...errors import InputError, RemoteError
from ...platform import Platform
from ...remote import RemotePlatform
from ...results import NodeState, Outcome, RunResult
from ..machines import record_machine
from .kinds import Drawn, Kind, kinds_of
from .outcomes import Ending, Fate, classify, counters_of, lines_of

#: All that the machine does, small: every part checks its own result. Random updates of a table are not among it, since
#: how many of them are lost depends on time.
OPTIONS = "entries=0 size=128 link_modes=netcrafter_lanes bytes=4096 messages=8 rows=16 columns=16 iterations=2"
BEGIN = "gpu3 "  #: on the console of node 0, when buses are numbered and GPUs found
WALL_LIMIT_S = 1800  #: of a branch; one that takes longer counts as a failure of the simulator


@dataclass(frozen=True)
class Injections:
    """A point: injections ``first`` to ``first + count - 1`` of a campaign. ``kinds`` restricts it (none: all)."""

    first: int
    count: int
    seed: int
    kinds: tuple[str, ...] = ()
    machine: str = "cluster"
    program: str = "cluster"
    options: str = OPTIONS
    begin: str = BEGIN
    watchdog: str = "100 ms"
    limit: str = "1500 ms"


@dataclass(frozen=True)
class Injection:
    """What was injected, and what became of it."""

    number: int
    kind: str
    structure: str
    target: str
    arguments: str
    at_ps: int
    fate: Fate
    detail: str
    end_ps: int  #: when the run with it ended; 0 if the simulator failed


@dataclass(frozen=True)
class Injected:
    """Of a point: the injections by number, and how the run without any ended."""

    injections: tuple[Injection, ...]
    undisturbed: Ending


@dataclass(frozen=True)
class Planned:
    """An injection to be: ``at_ps`` is absolute."""

    number: int
    kind: str
    structure: str
    drawn: Drawn
    at_ps: int


#: Makes the plan of kinds that the machine offers, and of begin and end of the time in which they happen.
Plan = Callable[[Sequence[Kind], int, int], Sequence[Planned]]


def measure(point: Injections) -> Injected:
    """Runs a point. Raises `InputError` if the machine cannot be built or lacks such kinds."""

    def plan(kinds: Sequence[Kind], begin: int, end: int) -> list[Planned]:
        wanted = [kind for kind in kinds if not point.kinds or kind.name in point.kinds]
        if missing := set(point.kinds) - {kind.name for kind in wanted}:
            known = ", ".join(dict.fromkeys(kind.name for kind in kinds))
            raise InputError(f"--kinds: {point.machine} has no kind '{min(missing)}'; there are: {known}")
        return [_drawn(point, number, wanted, begin, end) for number in range(point.first, point.first + point.count)]

    return run_plan(point, plan)


def _drawn(point: Injections, number: int, kinds: Sequence[Kind], begin: int, end: int) -> Planned:
    """An injection by its number: kinds take turns, all else is drawn."""
    draws = random.Random(f"{point.seed} {number}")
    kind = kinds[number % len(kinds)]
    at = begin + int(draws.random() * (end - begin))
    return Planned(number, kind.name, kind.structure, kind.drawn(draws), at)


def run_plan(point: Injections, plan: Plan) -> Injected:
    """Runs the machine of a point once without a fault, and a branch for each injection of the plan. Raises
    `RuntimeError` if it fails without a fault."""
    image = str(firmware_path(point.program))
    with Platform.from_config(point.machine, simulation__watchdog=point.watchdog) as platform:
        for node in platform.nodes:
            platform.load_images(node.index, firmware=image, append="" if node.index else point.options)
        record_machine(point.machine, platform)
        platform.run(point.limit, until=point.begin)
        begin = platform.now_ps
        with platform.fork() as branch:
            undisturbed = ending_of(branch, branch.run(point.limit))
        if undisturbed.outcome != Outcome.POWER_OFF:
            raise RuntimeError(f"the run without a fault ended otherwise: {undisturbed.outcome}, {undisturbed.detail}")
        kinds = kinds_of(platform.faults(), len(platform.nodes))
        found = []
        for p in sorted(plan(kinds, begin, undisturbed.time_ps), key=lambda p: (p.at_ps, p.number)):
            if p.at_ps > platform.now_ps:
                platform.run(f"{p.at_ps - platform.now_ps} ps")
            fate, detail, end = _branch(platform, p.drawn, undisturbed, point.limit)
            found.append(
                Injection(p.number, p.kind, p.structure, p.drawn.target, _text(p.drawn), p.at_ps, fate, detail, end)
            )
    return Injected(tuple(sorted(found, key=lambda each: each.number)), undisturbed)


def _branch(platform: Platform, drawn: Drawn, undisturbed: Ending, limit: str) -> tuple[Fate, str, int]:
    """Class, detail and end of one injection, now."""
    with platform.fork() as branch:
        now = platform.now_ps
        try:
            for step in drawn.steps:
                inject(branch, drawn.target, step.kind, f"{now + step.delay_ps} ps", **dict(step.arguments))
            result = branch.run.start(limit).result(WALL_LIMIT_S)
            ending = ending_of(branch, result)
        except (RemoteError, TimeoutError, RuntimeError) as error:
            return Fate.CRASH, f"{type(error).__name__}: {error}", 0
    return (*classify(undisturbed, ending), ending.time_ps)


def inject(branch: RemotePlatform, target: str, kind: str, at: str, **arguments: str) -> None:
    """Lets a step happen."""
    if kind == "reset":
        branch.nodes[int(target.removeprefix("node"))].reset()
    else:
        branch.inject(target, kind, at, **arguments)


def ending_of(platform: Platform, result: RunResult) -> Ending:
    """How a run of the machine ended."""
    return Ending(
        result.outcome,
        result.detail if result.outcome != Outcome.TIME_LIMIT else _harts(platform),
        tuple(node.outcome.state == NodeState.FAILED for node in platform.nodes),
        tuple(lines_of(node.console.output) for node in platform.nodes),
        counters_of(platform.statistics.totals()),
        platform.now_ps,
    )


def _harts(platform: Platform) -> str:
    """Where those of nodes stand that have not ended."""
    running = (node for node in platform.nodes if node.outcome.state == NodeState.RUNNING)
    return "; ".join(f"{hart.name} at pc {hart.pc:#x} ({hart.state})" for node in running for hart in node.harts)


def _text(drawn: Drawn) -> str:
    first = drawn.steps[0]
    arguments = ", ".join(f"{name}={value}" for name, value in first.arguments)
    return f"{arguments} ({len(drawn.steps)} times)" if len(drawn.steps) > 1 else arguments
