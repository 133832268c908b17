# SPDX-License-Identifier: Apache-2.0
"""What parts a machine has, by the model's own account: GPUs, links and their directions, clusters. Nothing here goes
by what a configuration calls its switches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ...fabric import Direction, Vertex

if TYPE_CHECKING:
    from ...platform import Platform

#: Parts of a GPU that a load passes, and what of its path below the GPU they are.
_GPU_PARTS = [
    (part, re.compile(pattern))
    for part, pattern in (
        ("translation", r"memory\.(unit\d+\.tlb|l2_tlb|gmmu)(\..*)?"),
        ("L1", r"memory\.(unit\d+|scalar_cache\d+)(\..*)?"),
        ("crossbar", r"memory\.router"),
        ("L2", r"memory\.l2\.bank\d+"),
        ("HBM", r"memory\.hbm(\..*)?"),
        ("GPU's port", r"fabric(\..*)?"),
        ("PCIe", r"(system|link)(\..*)?"),
    )
]
#: In the order in which a load passes them.
PARTS = [
    "translation",
    "L1",
    "crossbar",
    "GPU's port",
    "GPU's link",
    "link between switches",
    "switch's link to a GPU",
    "L2",
    "HBM",
    "PCIe",
    "switch",
    "other",
    "unaccounted",
]


@dataclass(frozen=True)
class Roles:
    """The parts of a node."""

    gpus: tuple[str, ...]  #: paths, by number
    directions: tuple[Direction, ...] = ()
    vertices: tuple[Vertex, ...] = ()
    node: str = "node0"

    @property
    def in_flight(self) -> str:
        """Statistic: packets that devices have sent and that have not ended."""
        return f"{self.node}.fabric.packets_in_flight"

    @cached_property
    def between_clusters(self) -> tuple[Direction, ...]:
        """Directions of links that join different clusters."""
        return tuple(d for d in self.directions if d.crosses_clusters)

    @cached_property
    def clusters(self) -> int:
        """How many clusters the GPUs are in; 0 where nothing links them."""
        return len({v.cluster for v in self.vertices if not v.is_switch})


def roles_of(platform: Platform, node: int = 0) -> Roles:
    """Asks a node of a machine."""
    fabric = platform.nodes[node].fabric
    gpus = tuple(gpu.name for gpu in platform.nodes[node].gpus)
    linked = (tuple(fabric.directions), tuple(fabric.vertices)) if fabric.exists else ((), ())
    return Roles(gpus, *linked, node=f"node{node}")


@dataclass
class PartFinder:
    """Says to which part of the machine a component belongs."""

    roles: Roles
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, component: str, stage: str) -> str:
        """One of `PARTS`, for a component's path and the stage of an access in it."""
        key = (component, stage)
        if key not in self._known:
            self._known[key] = stage if stage == "unaccounted" else self._find(component)
        return self._known[key]

    def _find(self, component: str) -> str:
        switches = {v.name for v in self.roles.vertices if v.is_switch}
        for d in self.roles.directions:
            if any(_inside(component, d.path + stage) for stage in ("", "_egress", "_ingress")):
                return (
                    "link between switches"
                    if d.between_switches
                    else "switch's link to a GPU"
                    if d.source in switches
                    else "GPU's link"
                )
        for v in self.roles.vertices:
            if _inside(component, v.path):
                return "switch" if v.is_switch else "GPU's port"
        for gpu in self.roles.gpus:
            if _inside(component, gpu):
                below = component[len(gpu) + 1 :]
                return next((part for part, pattern in _GPU_PARTS if pattern.fullmatch(below)), "other")
        return "PCIe" if _inside(component, f"{self.roles.node}.pcie") else "other"


def _inside(component: str, path: str) -> bool:
    return component == path or component.startswith(path + ".")


class Counts:
    """Sums of statistics. What a machine must count and does not is an error here, not a zero."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def of(self, path: str) -> float:
        """A statistic. Raises `LookupError` if there is none of that name."""
        if path not in self._values:
            raise LookupError(f"the machine counts no '{path}': the experiment asks for what the model calls otherwise")
        return self._values[path]

    def total(self, prefixes: Iterable[str], pattern: str) -> float:
        """Sum over the statistics whose path is one of ``prefixes``, a dot, and what matches ``pattern``. Raises
        `LookupError` if one of the prefixes has none."""
        matches, found = re.compile(pattern).fullmatch, 0.0
        for prefix in prefixes:
            values = [
                value
                for path, value in self._values.items()
                if path.startswith(prefix + ".") and matches(path[len(prefix) + 1 :])
            ]
            if not values:
                raise LookupError(
                    f"the machine counts no '{prefix}.{pattern}': the experiment asks for what the model calls"
                    " otherwise"
                )
            found += sum(values)
        return found
