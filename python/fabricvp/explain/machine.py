# SPDX-License-Identifier: Apache-2.0
"""Parameters of a run by the paths of blocks: `node0.gpu1.memory.hbm` is `nodes.0.gpus.1.memory.hbm` of
config.resolved.yaml and `node.gpus.*.memory.hbm` of `--set`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .quantities import changed, order, quantity

#: Lists whose items an advice changes together: programs spread over all of them.
_ALIKE = ("gpus", "hcas")


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


class Machine:
    """What a run's config.resolved.yaml and topology.json say."""

    def __init__(self, config: dict[str, Any], topology: dict[str, Any]) -> None:
        self._config = config
        self._nodes: list[dict[str, Any]] = config.get("nodes") or []
        self._links = {port: link for link in _links(topology) for port in link.ports}

    def find(self, block: str, name: str) -> Parameter | None:
        """A parameter of a block. A block without parameters of its own (a bank) has those of what it is part of."""
        parts = block.split(".")
        at: Any = self._config
        key: list[str] = []
        if parts[0].startswith("node") and parts[0][4:].isdigit():
            number = int(parts.pop(0)[4:])
            if number >= len(self._nodes):
                return None
            at, key = self._nodes[number], ["node"]
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

    def _settable(self, key: list[str], name: str, value: Any, block: str) -> str:
        """`node.…` if all nodes have that value there, else this one's."""
        if key[:1] != ["node"]:
            return ".".join([*key, name])
        alike = all(_value(node, key[1:], name) == value for node in self._nodes)
        return ".".join(["node" if alike else block.partition(".")[0], *key[1:], name])

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
        if link.kind == "pcie":
            widths = [each for p in link.ports for each in [self.find(p, "width")] if each]
            if min((each.number for each in widths), default=0) < 16:
                return _faster(widths, 2)
            return _next_generation(ends)
        return _faster(ends, 2)

    def _cable(self, link: Link) -> Parameter | None:
        """The item of `links` that is this link's."""
        if link.kind == "pcie":
            return None
        holder = self._nodes[int(link.node[4:])] if link.node else self._config
        for number, each in enumerate((holder.get(link.kind) or {}).get("links") or []):
            if frozenset((each.get("from"), each.get("to"))) == link.ends and _SPEED[link.kind] in each:
                key = f"{'node.' if link.node else ''}{link.kind}.links.{number}.{_SPEED[link.kind]}"
                return Parameter(key, _text(each[_SPEED[link.kind]]))
        return None


_NEWEST_GENERATION = 6  #: of PCI Express
_SPEED = {"pcie": "generation", "fabric": "lane_rate", "network": "rate", "ethernet": "rate"}


def _limiting(parameters: list[Parameter]) -> list[Parameter]:
    """Those with the least value, each key once."""
    least = min((order(each.value) for each in parameters), default=0)
    return list({each.key: each for each in parameters if order(each.value) == least}.values())


def _faster(parameters: list[Parameter], factor: float) -> list[Change]:
    values = [(each, changed(each.value, factor)) for each in _limiting(parameters)]
    return [Change(each, value) for each, value in values if value]


def _next_generation(parameters: list[Parameter]) -> list[Change]:
    newer = [Change(each, str(int(each.number) + 1)) for each in _limiting(parameters)]
    return [each for each in newer if each.parameter.number < _NEWEST_GENERATION]


def _links(topology: dict[str, Any]) -> Iterator[Link]:
    graphs = [(node.get("name", ""), kind, node[kind]) for node in topology.get("nodes", []) for kind in node]
    graphs += [("", kind, topology[kind]) for kind in ("network", "ethernet") if kind in topology]
    for node, kind, graph in graphs:
        if kind in _SPEED and isinstance(graph, dict):
            for link in graph.get("links", []):
                ports = tuple(each["port"] for each in link["directions"])
                yield Link(kind, node, ports, frozenset((link["from"], link["to"])))


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
                return [name, "*" if name in _ALIKE else str(number)], item
    return None


def _value(node: dict[str, Any], key: list[str], name: str) -> Any:
    at: Any = node
    for part in key:
        if isinstance(at, list):
            number = 0 if part == "*" else int(part)
            at = at[number] if number < len(at) else None
        else:
            at = at.get(part) if isinstance(at, dict) else None
    return at.get(name) if isinstance(at, dict) else None


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
