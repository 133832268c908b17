# SPDX-License-Identifier: Apache-2.0
"""Traffic whose gain arithmetic knows: generators around one link of 8 and 8 lanes of 8 GB/s, all other links wide
enough.

Packets have the published sizes. Where a flit has 4 bytes, an acknowledgement takes 4 bytes for the 76 of a write,
which is as good as one way only; where it has the published 16, it takes 16 for 80."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...platform import Platform
from ..gpu_workloads.roles import roles_of
from ..gpu_workloads.timeline import lanes_over_time, series
from ..machines import record_machine

LANE, LANES = 8e9, 8  #: bytes a second; each way
WRITE, ACKNOWLEDGEMENT = 76, 4  #: bytes of packets
NARROW, WIDE = 4, 16  #: bytes of a flit


@dataclass(frozen=True)
class Traffic:
    """Generators to the left and to the right of the link, who sends what to whom, and what of it is looked at."""

    name: str
    policy: str
    flit: int
    senders: tuple[tuple[str, Mapping[str, Any]], ...]  #: ("left" or "right", options of a generator), by number
    begin_us: float = 0.0  #: of what is measured
    length_us: float = 0.0  #: 0: until the requests of generator 0 have been answered
    switch: bool = (
        True  #: the link joins two switches; otherwise it is that of generator 0, and all others are on its switch
    )

    def __hash__(self) -> int:
        return hash((self.name, self.policy))


@dataclass
class TrafficResult:
    """What the link carried in the part that is measured, from left to right and back."""

    traffic: Traffic
    seconds: float
    bytes: tuple[float, float]
    reversals: float
    samples: float
    requests: float  #: until the end
    responses: float
    wrong: float  #: responses that failed, were corrupted or unexpected
    in_flight: float  #: in the end
    window_s: float = 0.0
    lanes: list[float] = field(default_factory=list)  #: from left to right, in each window
    load: tuple[list[float], list[float]] = ((), ())  # type: ignore[assignment]  #: bytes in each window


def text(traffic: Traffic) -> str:
    """The machine as YAML."""
    wide = {"lanes": 64, "lane_rate": "8 GB/s"}
    link = {"lanes": LANES, "lane_rate": "8 GB/s", "reversible": {"policy": traffic.policy}}
    names = [f"g{i}" for i in range(len(traffic.senders))]
    fabric: dict[str, Any] = {
        "packet": {"flit": f"{traffic.flit} B"},
        "device": {"latency": "0 ns", "serving": 4096, "input": {"entries": 16384}},
        "generators": [
            {"name": n, "service": "1 ns", "writes": 1, "random_intervals": False, **options}
            for n, (_, options) in zip(names, traffic.senders)
        ],
    }
    buffers = {"latency": "10 cycles", "input": {"entries": 16384}, "output_entries": 16384}
    if traffic.switch:
        fabric["switches"] = [{"name": side, "cluster": 0, **buffers} for side in ("left", "right")]
        fabric["links"] = [{"from": "left", "to": "right", **link}] + [
            {"from": n, "to": side, **wide} for n, (side, _) in zip(names, traffic.senders)
        ]
    else:
        fabric["switches"] = [{"name": "hub", "cluster": 0, **buffers}]
        fabric["links"] = [{"from": "hub", "to": names[0], **link}] + [
            {"from": n, "to": "hub", **wide} for n in names[1:]
        ]
    import yaml

    return yaml.safe_dump({"node": {"fabric": fabric}}, sort_keys=False)


def run_traffic(traffic: Traffic) -> TrafficResult:
    """Runs it: to the part that is measured, through it, and until everything has been answered."""
    with Platform.from_text(text(traffic), name=traffic.name) as platform:
        record_machine(f"{traffic.name}, {traffic.policy}", platform)
        roles = roles_of(platform)
        directions = roles.directions[:2]
        if traffic.begin_us:
            platform.run(f"{traffic.begin_us} us")
        before = platform.statistics.snapshot("node0.fabric.")
        if traffic.length_us:
            platform.run(f"{traffic.length_us} us")
            seconds, after = traffic.length_us * 1e-6, platform.statistics.snapshot("node0.fabric.")
        else:
            seconds = _finish(platform, traffic, ["g0"]) - traffic.begin_us * 1e-6
            after = platform.statistics.snapshot("node0.fabric.")
        _finish(platform, traffic, [f"g{i}" for i in range(len(traffic.senders))])
        last = platform.statistics.snapshot("node0.fabric.")
        window, load = series(platform, {d.name: d.statistics["load"] for d in directions})
        reversal = lanes_over_time(directions[0]) in platform.statistics.series_names()
        lanes_window, lanes = series(platform, {"": lanes_over_time(directions[0])}) if reversal else (window, {"": []})

    def during(path: str) -> float:
        return after.get(path, 0.0) - before.get(path, 0.0)

    def of_generators(*names: str) -> float:
        return sum(last[f"{v.path}.{n}"] for v in roles.vertices if not v.is_switch for n in names)

    controller = next((path.rsplit(".", 1)[0] for path in last if path.endswith(".reversals")), "")
    return TrafficResult(
        traffic,
        seconds,
        (during(directions[0].statistics["bytes"]), during(directions[1].statistics["bytes"])),
        during(f"{controller}.reversals"),
        during(f"{controller}.samples"),
        of_generators("requests"),
        of_generators("responses"),
        of_generators("refused", "corrupt", "unexpected"),
        last[roles.in_flight],
        window,
        [v / lanes_window / 1e12 for v in lanes[""]],
        tuple(load[d.name] for d in directions),
    )  # type: ignore[arg-type]


def _finish(platform: Platform, traffic: Traffic, names: list[str]) -> float:
    """Runs until every request of these generators has its response. Gives when that was, to a microsecond."""
    wanted = {n: int(traffic.senders[int(n[1:])][1].get("requests", 0)) for n in names}
    for _ in range(20_000):
        found = platform.statistics.snapshot("node0.fabric.g")
        if all(found[f"node0.fabric.{n}.responses"] >= number for n, number in wanted.items()):
            return platform.now
        platform.run("1 us")
    raise RuntimeError(f"{traffic.name}: not everything was answered")
