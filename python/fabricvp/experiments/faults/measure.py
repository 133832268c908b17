# SPDX-License-Identifier: Apache-2.0
"""Injections into one run: it is forked at the time of each, and every branch goes on to its own end.

A branch runs to its end even where the fault has no effect (docs/explanation/decisions/early_end.md)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...data import firmware_path
from ...errors import InputError, RemoteError
from ...nodes import node_index
from ...platform import Platform
from ...remote import RemotePlatform
from ...results import NodeState, Outcome, RunResult
from ...units import NEVER, to_picoseconds
from ..machines import record_machine
from .kinds import PROTECTION, Drawn, Kind, Place, Step, kinds_of
from .outcomes import Ending, Fate, classify, counters_of, lines_of
from .places import byte_in_use, live_times, live_unit_cache, live_wavefront

#: All that the machine does, small: every part checks its own result, and each node's GPUs have wavefronts for 3 % of
#: the time. Random updates of a table are not among it, since how many of them are lost depends on time.
OPTIONS = (
    "entries=0 size=2048 link_modes=netcrafter_lanes bytes=4096 messages=8 rows=64 columns=64 iterations=8"
    " pcie_errors=reported"
)
CLUSTER = "cluster"  #: a machine, and its program
BEGIN = "gpu3 "  #: on the console of node 0, when buses are numbered and GPUs found
WITH_ECC = " with ECC"  #: behind the name of a structure that has it
FLIPS = ("bit flip", "two bits flip")
STEP = "50 ms"  #: after which is looked whether a node has failed
WALL_LIMIT_S = 1800  #: of such a step; one that takes longer counts as a failure of the simulator


@dataclass(frozen=True)
class Campaign:
    """A point: injections ``first`` to ``first + count - 1`` of a campaign. ``kinds`` restricts it (none: all). With
    ``ecc`` all memories that can have a code have it, and bits that flip there are all that is hit."""

    first: int
    count: int
    seed: int
    kinds: tuple[str, ...] = ()
    ecc: bool = False
    machine: str = CLUSTER


@dataclass(frozen=True)
class Injections(Campaign):
    """A point of the machine `CLUSTER`."""

    program: str = CLUSTER
    options: str = OPTIONS
    begin: str = BEGIN
    watchdog: str = "100 ms"
    limit: str = "6 s"  #: programs wait for a GPU up to a second, several times one after the other
    grace: str = "250 ms"  #: after a node has failed


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


@dataclass
class Window:
    """The time in which faults happen, in picoseconds of ``platform``, which stands at its begin."""

    platform: Platform
    begin: int
    end: int

    @cached_property
    def live(self) -> list[list[int]]:
        """Times at which a node has live wavefronts, by node."""
        with self.platform.fork() as probe:
            times: list[list[int]] = probe.call(live_times, self.end)
        return times


#: Makes the plan of kinds that the machine offers, and the time in which they happen.
Plan = Callable[[Sequence[Kind], Window], Sequence[Planned]]


def measure(point: Injections) -> Injected:
    """Runs a point. Raises `InputError` if the machine cannot be built or lacks such kinds."""

    def plan(kinds: Sequence[Kind], window: Window) -> list[Planned]:
        if point.ecc:
            kinds = [
                replace(kind, structure=f"{kind.structure}{WITH_ECC}")
                for kind in kinds
                if kind.structure in PROTECTION and kind.name in FLIPS
            ]
        return drawn_plan(point, kinds, window)

    return run_plan(point, plan)


def drawn_plan(point: Campaign, kinds: Sequence[Kind], window: Window) -> list[Planned]:
    """The point's injections. Raises `InputError` if there are no such kinds."""
    wanted = [kind for kind in kinds if not point.kinds or kind.name in point.kinds]
    if missing := set(point.kinds) - {kind.name for kind in wanted}:
        known = ", ".join(dict.fromkeys(kind.name for kind in kinds))
        raise InputError(f"--kinds: {point.machine} has no kind '{min(missing)}'; there are: {known}")
    return [_drawn(point.seed, number, wanted, window) for number in range(point.first, point.first + point.count)]


def _drawn(seed: int, number: int, kinds: Sequence[Kind], window: Window) -> Planned:
    """An injection by its number: kinds take turns, all else is drawn."""
    draws = random.Random(f"{seed} {number}")
    kind = kinds[number % len(kinds)]
    share, drawn = draws.random(), kind.drawn(draws)
    at = window.begin + int(share * (window.end - window.begin))
    if drawn.place in (Place.WAVEFRONT, Place.UNIT):
        if times := window.live[node_index(drawn.target.partition(".")[0])]:
            at = times[int(share * len(times))]
    return Planned(number, kind.name, kind.structure, drawn, at)


def run_plan(point: Injections, plan: Plan) -> Injected:
    """Runs the machine of a point once without a fault, and a branch for each injection of the plan. Raises
    `RuntimeError` if it fails without a fault."""
    image = str(firmware_path(point.program))
    overrides = {"simulation.watchdog": point.watchdog}
    if point.ecc:
        overrides |= {key: "true" for keys in PROTECTION.values() for key in keys}
    with Platform.from_config(point.machine, overrides=overrides) as platform:
        for node in platform.nodes:
            platform.load_images(node.index, firmware=image, append="" if node.index else point.options)
        record_machine(point.machine + (" with ECC" if point.ecc else ""), platform)
        platform.run(point.limit, until=point.begin)
        begin = platform.now_ps
        with platform.fork() as branch:
            undisturbed = ending_of(branch, branch.run(point.limit))
        if undisturbed.outcome != Outcome.POWER_OFF:
            raise RuntimeError(f"the run without a fault ended otherwise: {undisturbed.outcome}, {undisturbed.detail}")
        kinds = kinds_of(platform.faults(), len(platform.nodes))
        planned = plan(kinds, Window(platform, begin, undisturbed.time_ps))
        return inject_all(
            platform, planned, undisturbed, lambda branch: _run(branch, point.limit, point.grace), classify
        )


def inject_all(
    platform: Platform,
    planned: Sequence[Planned],
    undisturbed: Ending,
    run: Callable[[RemotePlatform], Ending],
    judge: Callable[[Ending, Ending], tuple[Fate, str]],
) -> Injected:
    """A branch for each injection, at its time: ``run`` runs it to its end, and ``judge`` gives class and detail."""
    found = []
    for p in sorted(planned, key=lambda p: (p.at_ps, p.number)):
        if p.at_ps > platform.now_ps:
            platform.run(f"{p.at_ps - platform.now_ps} ps")
        hit, fate, detail, end = _branch(platform, p.drawn, undisturbed, run, judge)
        found.append(Injection(p.number, p.kind, p.structure, hit.target, _text(hit), p.at_ps, fate, detail, end))
    return Injected(tuple(sorted(found, key=lambda each: each.number)), undisturbed)


def _branch(
    platform: Platform,
    drawn: Drawn,
    undisturbed: Ending,
    run: Callable[[RemotePlatform], Ending],
    judge: Callable[[Ending, Ending], tuple[Fate, str]],
) -> tuple[Drawn, Fate, str, int]:
    """What was hit by an injection, now; class, detail and end."""
    with platform.fork() as branch:
        now = platform.now_ps
        placed = _placed(branch, drawn)
        if placed is None:
            return drawn, Fate.MASKED, "nothing is in use there", undisturbed.time_ps
        drawn = placed
        try:
            for step in drawn.steps:
                inject(branch, drawn.target, step.kind, f"{now + step.delay_ps} ps", **dict(step.arguments))
            ending = run(branch)
        except (RemoteError, TimeoutError, RuntimeError) as error:
            return drawn, Fate.CRASH, f"{type(error).__name__}: {error}", 0
    return (drawn, *judge(undisturbed, ending), ending.time_ps)


def _run(branch: RemotePlatform, limit: str, grace: str) -> Ending:
    """Runs to the end, or to the limit. Where a node has failed, the others have only so much time left: what waits for
    it without a limit of its own would wait for ever."""
    left, step, granted = (to_picoseconds(time) for time in (limit, STEP, grace))
    while True:
        result = branch.run.start(f"{min(step, left)} ps").result(WALL_LIMIT_S)
        left -= step
        if any(node.outcome.state == NodeState.FAILED for node in branch.nodes):
            left, granted = min(left, granted), NEVER
        if result.outcome != Outcome.TIME_LIMIT or left <= 0:
            return ending_of(branch, result)


def _placed(branch: RemotePlatform, drawn: Drawn) -> Drawn | None:
    """The injection with the place that it hits; None if there is none at this time."""
    if drawn.place == Place.TARGET:
        return drawn
    step = drawn.steps[0]
    found: tuple[str, dict[str, str]] | None
    if drawn.place == Place.MEMORY:
        offset = branch.call(byte_in_use, drawn.target, drawn.fraction)
        found = None if offset is None else (drawn.target, {"offset": str(offset)})
    elif drawn.place == Place.UNIT:
        cache = branch.call(live_unit_cache, drawn.target, drawn.fraction)
        found = None if cache is None else (cache, {})
    else:
        lane = branch.call(live_wavefront, node_index(drawn.target.partition(".")[0]), drawn.fraction)
        found = None if lane is None else (lane[0], {"slot": str(lane[1]), "lane": str(lane[2])})
    if found is None:
        return None
    return Drawn(found[0], (Step(step.kind, step.delay_ps, (*step.arguments, *found[1].items())),))


def inject(branch: RemotePlatform, target: str, kind: str, at: str, **arguments: str) -> None:
    """Lets a step happen."""
    if kind == "reset":
        branch.nodes[node_index(target)].reset()
    else:
        branch.inject(target, kind, at, **arguments)


def ending_of(platform: RemotePlatform, result: RunResult) -> Ending:
    """How a run of the machine ended."""
    return Ending(
        result.outcome,
        result.detail if result.outcome != Outcome.TIME_LIMIT else harts_of(platform),
        tuple(node.outcome.state == NodeState.FAILED for node in platform.nodes),
        tuple(lines_of(node.console.output) for node in platform.nodes),
        counters_of(platform.statistics.totals()),
        platform.now_ps,
    )


def harts_of(platform: RemotePlatform) -> str:
    """Where those of nodes stand that have not ended."""
    running = (node for node in platform.nodes if node.outcome.state == NodeState.RUNNING)
    return "; ".join(f"{hart.name} at pc {hart.pc:#x} ({hart.state})" for node in running for hart in node.harts)


def _text(drawn: Drawn) -> str:
    first = drawn.steps[0]
    arguments = ", ".join(f"{name}={value}" for name, value in first.arguments)
    return f"{arguments} ({len(drawn.steps)} times)" if len(drawn.steps) > 1 else arguments
