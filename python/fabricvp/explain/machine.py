# SPDX-License-Identifier: Apache-2.0
"""Parameters of a run by the paths of blocks: `node0.gpu1.memory.hbm` is `nodes.0.gpus.1.memory.hbm` of
config.resolved.yaml and `node.gpus.*.memory.hbm` of `--set`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import _fabricvp
from ..errors import InputError
from .quantities import changed, order, quantity

#: Lists whose items an advice changes together where they are alike: programs spread over all of them.
_ALIKE = ("gpus", "hcas")
_NODE = re.compile(r"node[0-9]+")


@dataclass(frozen=True)
class Parameter:
    """A parameter: its key as `--set` takes it, and the value that the run had."""

    key: str
    value: str

    @property
    def number(self) -> float:
        return quantity(self.value)


@dataclass(frozen=True)
class Change:
    """A parameter, and the value that should show an effect."""

    parameter: Parameter
    value: str

    @property
    def setting(self) -> str:
        """KEY=VALUE of `--set`."""
        return f"{self.parameter.key}={self.value}"


@dataclass(frozen=True)
class Link:
    """A serial link: the paths of the ports at its ends, and the names that its configuration has."""

    kind: str  #: pcie, fabric, network or ethernet
    node: str  #: whose it is; empty for those between nodes
    ports: tuple[str, ...]
    ends: frozenset[str]
    ordinal: int  #: among the links with these ends, in the order of the configuration


class Machine:
    """What a run's config.resolved.yaml and topology.json say. ``text`` is the file's, ``config`` what it holds."""

    def __init__(self, text: str, config: dict[str, Any], topology: dict[str, Any]) -> None:
        self._text = text
        self._config = config
        nodes = config.get("nodes")
        self._nodes: list[Any] = nodes if isinstance(nodes, list) else []
        self._resolved: dict[tuple[tuple[str, str], ...], bool] = {}
        self._links = {port: link for link in _links(topology) for port in link.ports}

    def find(self, block: str, name: str) -> Parameter | None:
        """A parameter of a block. A block without parameters of its own (a bank) has those of what it is part of."""
        parts = block.split(".")
        at: Any = self._config
        key: list[str] = []
        if _NODE.fullmatch(parts[0]):
            at, key = self._node(parts.pop(0)), ["node"]
        for part in parts:
            step = _step(at, part)
            if step is None:
                break
            names, at = step
            key += names
        value = at.get(name) if isinstance(at, dict) else None
        if value is None or isinstance(value, (dict, list)):
            return None
        return Parameter(self._settable(key, name, value, block), _text(value))

    def _node(self, name: str) -> dict[str, Any]:
        """A node's configuration; empty if there is none of that name."""
        number = int(name[4:]) if _NODE.fullmatch(name) else len(self._nodes)
        node = self._nodes[number] if number < len(self._nodes) else None
        return node if isinstance(node, dict) else {}

    def _settable(self, key: list[str], name: str, value: Any, block: str) -> str:
        """The widest key under which all have that value: of all nodes, of all GPUs or adapters; else this one's."""
        path = [*key, name]
        if key[:1] != ["node"]:
            return ".".join(path)
        together = ["*" if before in _ALIKE else part for before, part in zip(["", *path], path)]
        own = block.partition(".")[0]
        for holder, names in (("node", together), (own, together), ("node", path)):
            nodes = self._nodes if holder == "node" else [self._node(own)]
            found = [list(_values(node, names[1:])) for node in nodes]
            if all(values and all(each == value for each in values) for values in found):
                return ".".join([holder, *names[1:]])
        return ".".join([own, *path[1:]])

    def accepted(self, changes: list[Change]) -> list[Change]:
        """The changes, if the machine can be built with them; none if a value is out of its range, for instance."""
        settings = tuple((each.parameter.key, each.value) for each in changes)
        return changes if not self._resolves(()) or self._resolves(settings) else []

    def _resolves(self, settings: tuple[tuple[str, str], ...]) -> bool:
        """A run with plug-ins, or of another version, may not resolve at all: then nothing can be checked."""
        if settings not in self._resolved:
            try:
                _fabricvp.resolved_parameters(self._text, "config.resolved.yaml", list(settings))
                self._resolved[settings] = True
            except InputError:
                self._resolved[settings] = False
        return self._resolved[settings]

    def link_changes(self, port: str) -> list[Change]:
        """What makes the link of a port faster. A link is as fast as its slowest part: those that limit it change
        together."""
        link = self._links.get(port)
        if link is None:
            return []
        ends = [each for p in link.ports for each in [self.find(p, _SPEED[link.kind])] if each]
        cable = self._cable(link)
        if cable:
            ends.append(cable)
        if link.kind != "pcie":
            return self.accepted(_faster(ends, 2))
        widths = [each for p in link.ports for each in [self.find(p, "width")] if each]
        if min((each.number for each in widths), default=0) < 16:
            return self.accepted(_faster(widths, 2))
        return self.accepted(_next_generation(ends))

    def _cable(self, link: Link) -> Parameter | None:
        """The item of `links` that is this link's."""
        if link.kind == "pcie":
            return None
        holder: Any = self._node(link.node) if link.node else self._config
        links = next(_values(holder, [link.kind, "links"]), None)
        same = [
            (number, each)
            for number, each in enumerate(links if isinstance(links, list) else [])
            if isinstance(each, dict) and {str(each.get("from")), str(each.get("to"))} == link.ends
        ]
        name = _SPEED[link.kind]
        for number, each in same[link.ordinal :][:1]:
            if name in each:
                key = [*(["node"] if link.node else []), link.kind, "links", str(number)]
                return Parameter(self._settable(key, name, each[name], link.node), _text(each[name]))
        return None


_SPEED = {"pcie": "generation", "fabric": "lane_rate", "network": "rate", "ethernet": "rate"}


def _limiting(parameters: list[Parameter]) -> list[Parameter]:
    """Those with the least value, each key once."""
    least = min((order(each.value) for each in parameters), default=0)
    return list({each.key: each for each in parameters if order(each.value) == least}.values())


def _faster(parameters: list[Parameter], factor: float) -> list[Change]:
    values = [(each, changed(each.value, factor)) for each in _limiting(parameters)]
    return [Change(each, value) for each, value in values if value]


def _next_generation(parameters: list[Parameter]) -> list[Change]:
    return [Change(each, str(int(each.number) + 1)) for each in _limiting(parameters)]


def _links(topology: dict[str, Any]) -> Iterator[Link]:
    graphs = [(node.get("name", ""), kind, node[kind]) for node in topology.get("nodes", []) for kind in node]
    graphs += [("", kind, topology[kind]) for kind in ("network", "ethernet") if kind in topology]
    for node, kind, graph in graphs:
        if kind in _SPEED:
            before: Counter[frozenset[str]] = Counter()
            for link in graph["links"]:
                ports = tuple(each["port"] for each in link["directions"] if each)
                ends = frozenset((link["from"], link["to"]))
                yield Link(kind, node, ports, ends, before[ends])
                before[ends] += 1


def _step(at: Any, part: str) -> tuple[list[str], Any] | None:
    """From a block to the one below it of that name: the keys of that step, and what is there."""
    if not isinstance(at, dict):
        return None
    names = (part, part.rstrip("0123456789"), "port" if part.startswith("to_") else part)  # ports of a switch are alike
    for name in names:
        if isinstance(at.get(name), dict):
            return [name], at[name]
    for name, items in at.items():
        for number, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, dict) and item.get("name") == part:
                return [name, str(number)], item
    return None


def _values(at: Any, path: list[str]) -> Iterator[Any]:
    """What is at a path, with that of all items of a list at a `*`; None where there is nothing."""
    if not path:
        yield at
    elif isinstance(at, list):
        for item in at if path[0] == "*" else at[int(path[0]) :][:1] if path[0].isdecimal() else []:
            yield from _values(item, path[1:])
    else:
        yield from _values(at.get(path[0]) if isinstance(at, dict) else None, path[1:])


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
