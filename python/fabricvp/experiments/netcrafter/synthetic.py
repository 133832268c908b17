# SPDX-License-Identifier: Apache-2.0
"""The same packets with and without the controllers: generators on four devices in two clusters send a fixed number of
requests whatever the fabric does, so flits can be compared packet by packet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import topology
from ...platform import Platform
from ..frame import Report
from ..machines import record_machine

GENERATOR = {
    "pattern": "uniform",
    "outstanding": 64,
    "writes": 0.3,
    "page_tables": 0.15,
    "one_sector": 0.5,
    "service": "100 ns",
}
MECHANISMS = ("stitching", "ends", "trimming")
TIME = "20 ms"  #: of simulation, far more than the requests take


@dataclass(frozen=True)
class FixedTraffic:
    """``parts`` are keys of a switch's `stage` with their values."""

    name: str
    parts: tuple[tuple[str, str], ...]
    requests: int  #: that each device sends
    packet: tuple[tuple[str, str], ...] = ()  #: keys of `fabric.packet` with their values

    @property
    def alone(self) -> FixedTraffic:
        """The same traffic without controllers."""
        return FixedTraffic(
            "without controllers" + "".join(f", {key} {value}" for key, value in self.packet),
            (),
            self.requests,
            self.packet,
        )


@dataclass(frozen=True)
class TrafficResult:
    """What happened to it. Flits are sums over both directions between the clusters."""

    traffic: FixedTraffic
    flits: float  #: on the wire
    saved: dict[str, float]  #: flits, by mechanism
    sent: float  #: packets, by all devices
    received: float
    failed: float
    #: requests without a response, lines that came otherwise than they were sent, unexpected responses
    wrong: float
    memory: float = 0.0  #: bytes of a controller: cluster queue and stitching buffer; 0 without controllers


def run_traffic(point: FixedTraffic) -> TrafficResult:
    """Runs it."""
    shape = topology.clusters(
        2,
        2,
        inner={"lane_rate": "16 GB/s"},
        outer={"lane_rate": "2 GB/s"},
        switch={"stage": {key: _value(text) for key, text in point.parts}} if point.parts else None,
    )
    with Platform.from_text(
        shape.traffic_machine(
            {**GENERATOR, "requests": point.requests}, fabric={"packet": dict(point.packet)} if point.packet else None
        )
    ) as platform:
        record_machine(f"fixed traffic, {point.name}", platform)
        platform.run(TIME)
        values = platform.statistics.snapshot("node0.fabric.")
        fabric = platform.nodes[0].fabric
        devices = [v.path for v in fabric.vertices if not v.is_switch]
        between = [d for d in fabric.directions if d.crosses_clusters]

        def total(what: str) -> float:
            return sum(values[f"{device}.{what}"] for device in devices)

        return TrafficResult(
            point,
            values["node0.fabric.inter_cluster.flits"],
            {m: sum(values.get(f"{d.path}_egress.saved_flits.{m}", 0.0) for d in between) for m in MECHANISMS},
            total("packets_sent"),
            total("packets_received"),
            total("packets_failed"),
            point.requests * len(devices)
            - total("responses")
            + total("corrupt")
            + total("unexpected")
            + total("refused"),
            max((values.get(f"{d.path}_egress.overhead.bytes", 0.0) for d in between), default=0.0),
        )


def check_fixed_traffic(report: Report, carried: Sequence[TrafficResult]) -> None:
    """Adds the checks: every packet arrived as it was sent, and what each point spares beside its `FixedTraffic.alone`,
    which must be among them, is the sum of what its mechanisms saved, to the flit."""
    lost = [
        f"{c.traffic.name}: {c.sent:.0f} sent, {c.received:.0f} arrived, {c.failed:.0f} failed, {c.wrong:.0f} wrong"
        for c in carried
        if c.sent != c.received + c.failed or c.wrong
    ]
    report.check(
        "fixed traffic arrives once and as it was sent",
        not lost,
        "; ".join(lost) or f"{sum(c.sent for c in carried):,.0f} packets",
    )
    without = {c.traffic: c.flits for c in carried}
    off = [
        f"{c.traffic.name}: {without[c.traffic.alone]:.0f} - {c.flits:.0f}, {sum(c.saved.values()):.0f}"
        for c in carried
        if without[c.traffic.alone] - c.flits != sum(c.saved.values())
    ]
    report.check(
        "on fixed traffic, flits saved are the sum by mechanism",
        not off,
        "; ".join(off) or f"{len(carried)} runs, to the flit",
    )


def _value(text: str) -> object:
    return text == "true" if text in ("true", "false") else text
