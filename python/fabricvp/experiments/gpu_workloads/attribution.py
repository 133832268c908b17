# SPDX-License-Identifier: Apache-2.0
"""Where the latency of loads went: parts of the machine, queueing apart from service, by how far loads had to go."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

#: Parts in the order in which a load passes them, and what their components' paths and stages look like.
_RULES = [(part, re.compile(pattern)) for part, pattern in (
    ("translation", r".*\.core\.memory\.(unit\d+\.tlb|tlb|mmu)\b.*"),
    ("L1", r".*\.core\.memory\.(unit\d+|scalar_cache\d+)\b.*"),
    ("crossbar", r".*\.core\.memory\.router request"),
    ("GPU's port", r".*\.fabric\.[^ .]+ .*"),
    ("GPU's link", r".*\.fabric\.[^ .]+\.link .*"),
    ("link between switches", r".*\.fabric\.[^ .]+\.to_SWITCH .*"),
    ("switch's link to a GPU", r".*\.fabric\.[^ .]+\.to_[^ .]+ .*"),
    ("L2", r".*\.core\.memory\.router\.l2_bank\d+ .*"),
    ("HBM", r".*\.core\.memory\.dram\b.*"),
    ("PCIe", r".*(\.pcie\.|\.gpu\d+\.(system|link)).*"),
)]
PARTS = [part for part, _ in _RULES] + ["switch", "other", "unaccounted"]
REACHES = ("own memory", "same cluster", "other cluster")


@dataclass
class Attribution:
    """Sums over loads by reach ("" where a cache answered); seconds."""

    loads: dict[str, int] = field(default_factory=dict)
    queueing: dict[tuple[str, str], float] = field(default_factory=dict)  #: by (reach, part)
    service: dict[tuple[str, str], float] = field(default_factory=dict)
    returning: float = 0.0  #: latency of everything that brings lanes a value, from the same spans

    def add(self, paths: pandas.DataFrame, switches: set[str]) -> None:
        """Adds what `Spans.paths()` gives."""
        for (what, reach, component, stage), queueing, service in zip(paths.index, paths["queueing"].tolist(), paths["service"].tolist()):
            if what in ("load", "atomic", "load reserved", "store conditional"):
                self.returning += queueing + service
            if what != "load":
                continue
            key = (reach, part_of(component, stage, frozenset(switches)))
            self.queueing[key] = self.queueing.get(key, 0.0) + queueing
            self.service[key] = self.service.get(key, 0.0) + service
        for (what, reach), count in paths["accesses"].groupby(level=[0, 1]).first().items():
            if what == "load":
                self.loads[reach] = self.loads.get(reach, 0) + int(count)

    def mean(self, reach: str) -> float:
        """Mean latency of the loads that went so far, in seconds."""
        times = sum(t for kind in (self.queueing, self.service) for (r, _), t in kind.items() if r == reach)
        return times / self.loads[reach] if self.loads.get(reach) else 0.0


@functools.cache
def part_of(component: str, stage: str, switches: frozenset[str]) -> str:
    """The part of the machine that a stage belongs to. ``switches`` are the names of the fabric's switches."""
    if stage == "unaccounted":
        return stage
    name = component.rsplit(".", 1)[-1]
    if ".fabric." in component and name in switches:
        return "switch"
    if name.startswith("to_") and name[3:] in switches:
        component = component[: -len(name)] + "to_SWITCH"
    text = f"{component} {stage}"
    return next((part for part, pattern in _RULES if pattern.fullmatch(text)), "other")


def records(workload: str, a: Attribution) -> list[dict[str, object]]:
    """Lines of a table: mean nanoseconds that a load spent in each part."""
    rows: list[dict[str, object]] = []
    for reach in REACHES:
        loads, mean = a.loads.get(reach, 0), a.mean(reach)
        for part in PARTS:
            queueing, service = a.queueing.get((reach, part), 0.0), a.service.get((reach, part), 0.0)
            if loads and queueing + service > 0:
                rows.append({"workload": workload, "memory": reach, "loads": loads, "mean_ns": round(1e9 * mean, 2), "part": part,
                             "queueing_ns": round(1e9 * queueing / loads, 3), "service_ns": round(1e9 * service / loads, 3),
                             "share_%": round(100 * (queueing + service) / (mean * loads), 2)})
    return rows
