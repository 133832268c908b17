# SPDX-License-Identifier: Apache-2.0
"""What reversible lanes can gain by arithmetic, and the traffic that shows whether they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas

from ..frame import Run
from .points import MICRO, POLICIES
from .synthetic import ACKNOWLEDGEMENT, LANE, LANES, NARROW, WIDE, WRITE, Traffic, TrafficResult, run_traffic

if TYPE_CHECKING:
    from collections.abc import Callable

FIXED = "none"
IDLE = {"start": "1000 s"}
FULL = LANES * LANE  #: bytes a second
#: Of writes from right to left that use 6 of 8 lanes once 10 lead to the right: acknowledgements of either use the
#: other way.
_RATIO = ACKNOWLEDGEMENT / WRITE
SIX_LANES = (6 * LANE - _RATIO * 10 * LANE) / (1 - _RATIO**2)
OUTSTANDING = 170  #: writes of each of three: together 41 kB, twice what fills the way there and back
PHASE_US = 400  #: long beside the two samples in which two lanes reverse


class Case(NamedTuple):
    """A comparison: rate of a policy over that of fixed lanes."""

    what: str
    traffic: Callable[[str], list[Traffic]]  #: of a policy; times or bytes of several are added
    bound: float  #: by arithmetic
    tolerance: float  #: within which a rule that finds the best split comes out
    published: float | None
    fixed_work: bool = False  #: compares times, otherwise bytes in equal time


def _interval(bytes_per_second: float) -> str:
    return f"{round(1e12 * WRITE / bytes_per_second)} ps"


def _to(peer: int, requests: int, **more: Any) -> dict[str, Any]:
    return {"pattern": "hot_spot", "hot_spot": peer, "hot_share": 1, "outstanding": 2048, "requests": requests, **more}


def _all_to_one(flit: int, requests: int, length_us: float, outstanding: int) -> Callable[[str], list[Traffic]]:
    senders = (("right", IDLE), *(("left", _to(0, requests, outstanding=outstanding)) for _ in range(3)))
    return lambda policy: [
        Traffic(f"all to one, flits of {flit} B", policy, flit, senders, 60, length_us, switch=False)
    ]


def _both(
    name: str, back: Mapping[str, Any], length_us: float, requests: int, begin_us: float
) -> Callable[[str], list[Traffic]]:
    senders = (("left", _to(1, requests)), ("right", IDLE), ("right", back), ("left", IDLE))
    return lambda policy: [Traffic(name, policy, NARROW, senders, begin_us, length_us)]


def _half(policy: str) -> list[Traffic]:
    """Even phases: to the right as much as there is, to the left six lanes. Odd ones: to the right what eight lanes
    carry."""

    def phase(**options: Any) -> dict[str, Any]:
        return {"pattern": "alternating", "phase": f"{PHASE_US} us", "outstanding": 2048, **options}

    def requests(rate: float) -> int:
        return int(PHASE_US * 1e-6 * rate / WRITE)

    senders = (
        ("left", phase(requests=requests(10.2 * LANE))),
        ("right", phase(requests=requests(SIX_LANES), interval=_interval(SIX_LANES))),
        ("right", IDLE),
        ("left", phase(requests=requests(FULL) - 500, interval=_interval(FULL))),
    )
    return [Traffic("half of the time", policy, NARROW, senders, 0, 2 * PHASE_US)]


def _half_fixed(policy: str) -> list[Traffic]:
    """The same work in both halves, one after the other: two machines whose times are added."""
    requests = int(PHASE_US * 1e-6 * FULL / WRITE)
    back = _to(3, int(PHASE_US * 1e-6 * SIX_LANES / WRITE), interval=_interval(SIX_LANES))
    first = (("left", _to(1, requests)), ("right", IDLE), ("right", back), ("left", IDLE))
    second = (("left", _to(1, requests, interval=_interval(FULL))), ("right", IDLE))
    return [
        Traffic("fixed work, first half", policy, NARROW, first),
        Traffic("fixed work, second half", policy, NARROW, second),
    ]


CASES = (
    Case("all write to one, acknowledged by 4 bytes", _all_to_one(NARROW, 90_000, 100, 512), 15 / 8, 0.01, 2.0),
    Case(
        "all write to one, acknowledged by a flit of 16 bytes",
        _all_to_one(WIDE, 130_000, 200, OUTSTANDING),
        13 / 8,
        0.02,
        2.0,
    ),
    Case(
        "one direction saturated, the other needs 6 of 8 lanes",
        _both("six of eight", _to(3, 120_000, interval=_interval(SIX_LANES)), 100, 150_000, 40),
        10 / 8,
        0.02,
        1.25,
    ),
    Case("the same for half of the time, bytes in equal time", _half, 1.125, 0.01, 1.125),
    Case("the same for half of the time, fixed work", _half_fixed, 10 / 9, 0.01, None, True),
    Case("both directions saturated", _both("both saturated", _to(3, 90_000), 60, 90_000, 20), 1.0, 0.01, 1.0),
)
OSCILLATES = CASES[1]


def synthetic(run: Run) -> dict[tuple[str, str], list[TrafficResult]]:
    """Runs all cases with all policies and reports. Gives what was carried, by case and policy."""
    chosen = [(case.what, policy, t) for case in CASES for policy in (FIXED, *POLICIES) for t in case.traffic(policy)]
    runs = run.map("synthetic traffic", run_traffic, [t for _, _, t in chosen], name=lambda t: f"{t.name}, {t.policy}")
    found: dict[tuple[str, str], list[TrafficResult]] = {}
    for (what, policy, _), carried in zip(chosen, runs):
        found.setdefault((what, policy), []).append(carried)
    rows = []
    for case in CASES:
        for policy in POLICIES:
            gain, here = _gain(case, found, policy), found[case.what, policy]
            within = abs(gain / case.bound - 1) <= case.tolerance
            rows.append(
                {
                    "traffic": case.what,
                    "policy": policy,
                    "gain": gain,
                    "bound": case.bound,
                    "tolerance_%": 100 * case.tolerance,
                    "within": within,
                    "reversals": sum(c.reversals for c in here),
                    "samples": sum(c.samples for c in here),
                }
            )
            run.report.row(
                f"{case.what}, {policy}: gain",
                "1",
                gain,
                case.published if policy == "milic2017" else None,
                (
                    f"{MICRO}; bound {case.bound:.4g}, {'within' if within else 'not within'}"
                    f" {100 * case.tolerance:.0f} % of it"
                    if policy == "milic2017"
                    else (
                        f"bound {case.bound:.4g}, {'within' if within else 'not within'} {100 * case.tolerance:.0f} %"
                        " of it"
                    )
                ),
            )
    run.report.table(
        "synthetic",
        pandas.DataFrame(rows).round(6),
        "What the saturated direction carries, over what it carries on fixed lanes. Turns and samples: in"
        " the part that is measured.",
    )
    _checks(run, runs)
    return found


def _gain(case: Case, found: dict[tuple[str, str], list[TrafficResult]], policy: str) -> float:
    fixed, reversed_run = found[case.what, FIXED], found[case.what, policy]
    if case.fixed_work:
        return sum(c.seconds for c in fixed) / sum(c.seconds for c in reversed_run)
    return sum(c.bytes[0] for c in reversed_run) / sum(c.bytes[0] for c in fixed)


def _checks(run: Run, runs: list[TrafficResult]) -> None:
    lost = [
        f"{c.traffic.name}, {c.traffic.policy}: {c.requests:.0f} sent, {c.responses:.0f} answered, {c.in_flight:.0f}"
        " in flight"
        for c in runs
        if c.requests != c.responses or c.in_flight
    ]
    run.report.check(
        "synthetic traffic: every request is answered once, nothing stays in flight",
        not lost,
        "; ".join(lost) or f"{sum(c.requests for c in runs):,.0f} requests in {len(runs)} runs",
    )
    wrong = [f"{c.traffic.name}, {c.traffic.policy}: {c.wrong:.0f}" for c in runs if c.wrong]
    run.report.check(
        "synthetic traffic: every byte arrives as it was sent",
        not wrong,
        "; ".join(wrong) or "signatures of all sectors compared",
    )
