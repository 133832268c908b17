# SPDX-License-Identifier: Apache-2.0
"""Where the latency of loads went: parts of the machine, queueing apart from service, by how far loads had to go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .roles import PARTS

if TYPE_CHECKING:
    import pandas

REACHES = ("own memory", "same cluster", "other cluster")


@dataclass
class Attribution:
    """Sums over loads by reach ("" where a cache answered); seconds."""

    loads: dict[str, int] = field(default_factory=dict)
    queueing: dict[tuple[str, str], float] = field(default_factory=dict)  #: by (reach, part)
    service: dict[tuple[str, str], float] = field(default_factory=dict)
    read_latency: float = 0.0  #: latency of everything that brings lanes a value, from the same spans

    def add(self, paths: pandas.DataFrame, part_of: Callable[[str, str], str]) -> None:
        """Adds what `Spans.paths()` gives; ``part_of`` tells the part of a component and stage, as `roles.PartFinder`
        does."""
        for (what, reach, component, stage), queueing, service in zip(
            paths.index, paths["queueing"].tolist(), paths["service"].tolist()
        ):
            if what in ("load", "atomic", "load reserved", "store conditional"):
                self.read_latency += queueing + service
            if what != "load":
                continue
            key = (reach, part_of(component, stage))
            self.queueing[key] = self.queueing.get(key, 0.0) + queueing
            self.service[key] = self.service.get(key, 0.0) + service
        for (what, reach), count in paths["accesses"].groupby(level=[0, 1]).first().items():
            if what == "load":
                self.loads[reach] = self.loads.get(reach, 0) + int(count)

    def mean(self, reach: str) -> float:
        """Mean latency of the loads that went so far, in seconds."""
        times = sum(t for kind in (self.queueing, self.service) for (r, _), t in kind.items() if r == reach)
        return times / self.loads[reach] if self.loads.get(reach) else 0.0


def records(workload: str, a: Attribution) -> list[dict[str, object]]:
    """Lines of a table: mean nanoseconds that a load spent in each part."""
    rows: list[dict[str, object]] = []
    for reach in REACHES:
        loads, mean = a.loads.get(reach, 0), a.mean(reach)
        for part in PARTS:
            queueing, service = a.queueing.get((reach, part), 0.0), a.service.get((reach, part), 0.0)
            if loads and queueing + service > 0:
                rows.append(
                    {
                        "workload": workload,
                        "memory": reach,
                        "loads": loads,
                        "mean_ns": round(1e9 * mean, 2),
                        "part": part,
                        "queueing_ns": round(1e9 * queueing / loads, 3),
                        "service_ns": round(1e9 * service / loads, 3),
                        "share_%": round(100 * (queueing + service) / (mean * loads), 2),
                    }
                )
    return rows
