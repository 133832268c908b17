# SPDX-License-Identifier: Apache-2.0
"""Sets of messages on the simulated tree. Nothing heavy is imported here: every point is a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...platform import Platform
from ..machines import record_machine
from ..nodes import NodeRef

#: The paper does not say which payload its machine was set to. 128 bytes is what PCI Express starts with; the root
#: ports' limit is what software gives to the whole tree.
PAYLOAD = 128
_PAUSE = "1 us"  # before a set starts, in which acknowledgements and credits of the previous one come home

#: A set of messages (source, destination, bytes).
MessageSet = Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Point:
    """Sets that run one after the other on a tree of their own."""

    place: NodeRef
    sets: list[MessageSet]
    overrides: dict[str, object] = field(default_factory=dict)
    one_channel: bool = False  #: a sender's messages follow each other

    @property
    def cost(self) -> float:
        """Estimate of the work, in bytes."""
        return float(sum(size for messages in self.sets for _, _, size in messages))


@dataclass(frozen=True)
class SetResult:
    """How a set went."""

    finish: list[float]  #: seconds from its start, one a message
    intact: bool  #: every byte arrived as it was sent
    tlp_hops: int
    events: int


def run_point(point: Point) -> list[SetResult]:
    """Builds the tree and runs the sets on it. Raises `InputError` for a machine without a tree."""
    ended = []
    settings = {"node.pcie.root.root_port.max_payload": PAYLOAD} | dict(point.overrides)
    with Platform.from_config(point.place.machine, overrides=settings) as platform:
        record_machine(
            " ".join([str(point.place), *(f"{key}={value}" for key, value in point.overrides.items())]), platform
        )
        pcie = platform.nodes[point.place.index].pcie
        for messages in point.sets:
            channel = (0,) if point.one_channel else ()
            done = pcie.transfer([(s, d, size, _PAUSE, *channel) for s, d, size in messages])
            finish = [float("inf") if d.arrived is None else d.arrived - d.start for d in done.deliveries]
            ended.append(SetResult(finish, done.intact, done.tlp_hops, done.events))
    return ended


def same_size(graphs: Iterable[Sequence[tuple[int, int]]], size: int) -> list[MessageSet]:
    """Graphs with messages of one size."""
    return [[(s, d, size) for s, d in graph] for graph in graphs]


def chunks(place: NodeRef, sets: Sequence[MessageSet], bytes_each: float = 150e6) -> list[Point]:
    """Points of about equal work. How sets are cut does not depend on the number of processes, so results do not."""
    points: list[Point] = []
    part: list[MessageSet] = []
    for messages in sets:
        part.append(messages)
        if Point(place, part).cost >= bytes_each:
            points.append(Point(place, part))
            part = []
    return points + ([Point(place, part)] if part else [])
