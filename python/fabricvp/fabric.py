# SPDX-License-Identifier: Apache-2.0
"""The fabric between a node's GPUs: what its links carried.

fabric = platform.nodes[0].fabric
fabric.to_pandas()               # each direction of each link: bytes, flits, busy
fabric.draw("traffic.svg")       # the topology with it
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from ._renamed import renamed_attributes
from .drawing import busiest_traffic, fabric_svg, save
from .errors import InputError
from .units import PICOSECONDS

if TYPE_CHECKING:
    import pandas

    from .node import Node


@dataclass(frozen=True)
class LinkTraffic:
    """One direction of a link. ``bytes`` count padding; ``busy`` is a share of the time, 0 to 1."""

    source: str
    destination: str
    bytes: float
    flits: float
    busy: float


@dataclass(frozen=True)
class Direction:
    """One direction of a link by its role. ``statistics`` are paths by what they tell: "bytes" and "busy" (ps) of its
    lanes, "load" (a time series), "sent" (in front of what is counted by class of packet)."""

    source: str
    destination: str
    path: str  #: of the sending port
    between_switches: bool
    crosses_clusters: bool
    bytes_per_second: int
    statistics: Mapping[str, str]

    @property
    def name(self) -> str:
        """For people and tables."""
        return f"{self.source} → {self.destination}"


@dataclass(frozen=True)
class Vertex:
    """What links end at: a switch, a GPU or a traffic generator."""

    name: str
    path: str
    cluster: int
    is_switch: bool


class Fabric:
    """Links and switches between the GPUs of a node.

    What is shown is what the regions of interest saw that firmware has marked: those of the label during which links
    carried most bytes. Where no region saw any traffic, it is everything since statistics began to count. With
    ``values``, statistics by path such as ``region.statistics`` or a snapshot, and ``seconds``, the simulated time that
    they cover, it is that; ``title`` names it.

    All methods raise `InputError` if the node has no fabric, `ValueError` for values without seconds.
    """

    def __init__(self, node: Node) -> None:
        self._core, self._node = node._core, node.index

    @property
    def exists(self) -> bool:
        """Whether the node has one."""
        return _fabricvp.has_fabric(self._core, self._node)

    @property
    def directions(self) -> list[Direction]:
        """Both directions of every link with their roles, in the order of `traffic()`."""
        return [
            Direction(source, destination, path, switches, clusters, rate, paths)
            for source, destination, path, switches, clusters, rate, paths in _fabricvp.fabric_directions(
                self._core, self._node
            )
        ]

    @property
    def vertices(self) -> list[Vertex]:
        """GPUs by number, traffic generators, switches; with their clusters."""
        return [Vertex(*row) for row in _fabricvp.fabric_vertices(self._core, self._node)]

    def traffic(
        self, values: Mapping[str, float] | None = None, seconds: float = 0.0, title: str = ""
    ) -> list[LinkTraffic]:
        """What each direction carried; a link's two follow each other, links in the order of the configuration."""
        graph = self._graph()
        carried = self._carried(graph, values, seconds, title)
        return [
            LinkTraffic(*ends, way["bytes"], way["flits"], way["busy"])
            for link, ways in zip(graph["links"], carried["links"])
            for ends, way in zip(((link["from"], link["to"]), (link["to"], link["from"])), ways)
        ]

    def to_pandas(self, values: Mapping[str, float] | None = None, seconds: float = 0.0) -> pandas.DataFrame:
        """The same as a table."""
        import pandas

        return pandas.DataFrame(
            self.traffic(values, seconds), columns=["source", "destination", "bytes", "flits", "busy"]
        )

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        values: Mapping[str, float] | None = None,
        seconds: float = 0.0,
        title: str = "",
    ) -> str:
        """The topology as SVG, with bytes and utilisation on each direction of each link. ``path`` is where it is
        written, too. Raises `InputError` if it cannot be."""
        graph = self._graph()
        carried = self._carried(graph, values, seconds, title)
        text = fabric_svg(graph, carried, title or ("as given" if values is not None else ""))
        if path is not None:
            save(text, Path(path))
        return text

    def _repr_svg_(self) -> str:
        return self.draw()

    def _graph(self) -> dict[str, Any]:
        """The node's fabric in the topology, with what it has carried so far. Raises `InputError`."""
        node = json.loads(_fabricvp.topology(self._core))["nodes"][self._node]
        if "fabric" not in node:
            raise InputError(f"{node['name']} has no fabric")
        graph: dict[str, Any] = node["fabric"]
        return graph

    @staticmethod
    def _carried(
        graph: Mapping[str, Any], values: Mapping[str, float] | None, seconds: float, title: str
    ) -> Mapping[str, Any]:
        """An item of a graph's "traffic". Raises `ValueError` for values without seconds."""
        if values is None:
            return busiest_traffic(graph)
        if not seconds > 0:
            raise ValueError(f"values need the simulated time that they cover, not seconds={seconds}")

        def carried(statistics: Mapping[str, list[str]]) -> dict[str, float]:
            sums = {what: sum(values.get(path, 0.0) for path in paths) for what, paths in statistics.items()}
            return {**sums, "busy": sums["busy"] / PICOSECONDS / seconds}

        links = [[carried(d["statistics"]) for d in link["directions"]] for link in graph["links"]]
        return {"region": title, "regions": 1, "seconds": seconds, "links": links}

    def __repr__(self) -> str:
        return f"<Fabric of node {self._node}>"


__getattr__ = renamed_attributes(__name__, {"Way": "LinkTraffic"})
