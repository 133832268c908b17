# SPDX-License-Identifier: Apache-2.0
"""Fabrics between GPUs and networks between nodes of common shapes, as configuration.

    from fabricvp import topology

    shape = topology.clusters(2, 4, inner={"lane_rate": "16 GB/s"}, outer={"lane_rate": "2 GB/s"})
    platform = fabricvp.Platform.from_text(shape.machine(gpu={"memory": {"capacity": "512 MiB"}}))
    print(shape.machine())                 # the same as YAML, for a file

A shape names its switches, links and devices; devices are GPUs (`machine()`) or traffic generators
(`traffic_machine()`) of one node, or channel adapters of nodes (`network()`, `nodes_machine()`) or traffic generators
of a network (`network_machine()`). Options of links (``lanes``, ``lane_rate``, … or ``rate``, ``width``, …) and
switches (``latency``, …) are those that `fabricvp reference` lists below `node.fabric` and `network`; what is not given
has its default."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .errors import InputError

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """Switches, links and numbered devices. Links name their ends; a device is its number."""

    title: str
    devices: int
    switches: list[dict[str, Any]]
    links: list[dict[str, Any]]  #: ``from`` and ``to`` are names of switches, or numbers of devices
    cyclic: bool = False  #: its switches form rings, on whose shortest ways packets could wait for each other

    def fabric(self, device: str = "gpu") -> dict[str, Any]:
        """What a node's `fabric` is: devices are called ``device`` and their number."""

        def name(end: str | int) -> str:
            return f"{device}{end}" if isinstance(end, int) else end

        return {"switches": [dict(switch) for switch in self.switches], "links": self._links(name)}

    def network(self, device: str = "node{}.hca0") -> dict[str, Any]:
        """What a machine's `network` is: in ``device``, the braces become the number of the device. Where shortest ways
        could deadlock, ways go up and down."""

        def name(end: str | int) -> str:
            return device.format(end) if isinstance(end, int) else end

        switches = [{key: value for key, value in switch.items() if key != "cluster"} for switch in self.switches]
        return {**({"routing": "up_down"} if self.cyclic else {}), "switches": switches, "links": self._links(name)}

    def network_machine(self, generator: Options | None = None, *, network: Options | None = None) -> str:
        """YAML of a machine whose network has a traffic generator at every device, each with the parameters
        ``generator``; ``network`` holds further parameters of the network."""
        generators = [{"name": f"generator{n}", **(generator or {})} for n in range(self.devices)]
        parts = {**self.network("generator{}"), "generators": generators, **(network or {})}
        return f"# {self.title}\n" + "\n".join(_yaml({"network": parts}, 0)) + "\n"

    def nodes_machine(self, base: str, *, node: Options | None = None, network: Options | None = None) -> str:
        """YAML of a machine with a computer at every device: those of ``base``, a shipped configuration or a file whose
        computers have one adapter, as many as there are devices. ``node`` and ``network`` hold further parameters of
        each and of the network."""
        parts = {
            "base": base,
            **({"node": dict(node)} if node else {}),
            "nodes": self.devices,
            "network": {**self.network("node{}.hca0"), **(network or {})},
        }
        return f"# {self.title}\n" + "\n".join(_yaml(parts, 0)) + "\n"

    def _links(self, name: Callable[[str | int], str]) -> list[dict[str, Any]]:
        return [{**link, "from": name(link["from"]), "to": name(link["to"])} for link in self.links]

    def machine(self, *, gpu: Options | None = None, node: Options | None = None, fabric: Options | None = None) -> str:
        """YAML of a machine with a GPU at every device: all behind one PCIe switch, each with the parameters ``gpu``.
        ``node`` and ``fabric`` hold further parameters of the node and its fabric. Whether a node can hold as many is
        checked when the machine is built."""
        parts: dict[str, Any] = {
            "host": {"memory": "1 GiB", "hart": {"clock": "4 GHz"}},
            "pcie": {"switches": [{"name": "pcie_switch0"}]},
            "gpus": [{"below": "pcie_switch0", **(gpu or {})} for _ in range(self.devices)],
        }
        return self._text(parts | dict(node or {}), {**self.fabric("gpu"), **(fabric or {})})

    def traffic_machine(
        self, generator: Options | None = None, *, node: Options | None = None, fabric: Options | None = None
    ) -> str:
        """YAML of a machine with a traffic generator at every device, each with the parameters ``generator``."""
        generators = [{"name": f"device{n}", **(generator or {})} for n in range(self.devices)]
        return self._text(dict(node or {}), {**self.fabric("device"), "generators": generators, **(fabric or {})})

    def _text(self, node: dict[str, Any], fabric: dict[str, Any]) -> str:
        return f"# {self.title}\n" + "\n".join(_yaml({"node": {**node, "fabric": fabric}}, 0)) + "\n"


def star(devices: int, *, link: Options | None = None, switch: Options | None = None) -> Shape:
    """One switch with all devices."""
    _check_minimum("star", devices=(devices, 1))
    return Shape(
        f"a star of {devices}", devices, _switches(1, switch), [_link(n, "switch0", link) for n in range(devices)]
    )


def ring(
    devices: int, *, link: Options | None = None, outer: Options | None = None, switch: Options | None = None
) -> Shape:
    """As many switches in a ring, a device at each; ``outer`` are options of the links between switches (else
    ``link``)."""
    _check_minimum("ring", devices=(devices, 3))
    switches = _switches(devices, switch)
    links = [_link(n, f"switch{n}", link) for n in range(devices)]
    links += [_link(f"switch{n}", f"switch{(n + 1) % devices}", outer or link) for n in range(devices)]
    return Shape(f"a ring of {devices}", devices, switches, links, cyclic=True)


def mesh(
    columns: int,
    rows: int,
    *,
    torus: bool = False,
    link: Options | None = None,
    outer: Options | None = None,
    switch: Options | None = None,
) -> Shape:
    """A switch with a device at each crossing of a grid; device ``row * columns + column``. With ``torus`` its rows and
    columns of three and more are closed to rings."""
    _check_minimum("mesh", columns=(columns, 1), rows=(rows, 1))
    devices = columns * rows
    links = [_link(n, f"switch{n}", link) for n in range(devices)]
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if column + 1 < columns:
                links.append(_link(f"switch{here}", f"switch{here + 1}", outer or link))
            elif torus and columns > 2:
                links.append(_link(f"switch{here}", f"switch{row * columns}", outer or link))
            if row + 1 < rows:
                links.append(_link(f"switch{here}", f"switch{here + columns}", outer or link))
            elif torus and rows > 2:
                links.append(_link(f"switch{here}", f"switch{column}", outer or link))
    return Shape(
        f"a {'torus' if torus else 'mesh'} of {columns} × {rows}",
        devices,
        _switches(devices, switch),
        links,
        cyclic=True,
    )


def fat_tree(
    leaves: int,
    devices_each: int,
    spines: int,
    *,
    link: Options | None = None,
    outer: Options | None = None,
    switch: Options | None = None,
) -> Shape:
    """Leaf switches with devices, each joined to every spine switch. With as many spines as devices a leaf, and equal
    links, it is without blocking (Leiserson 1985; a folded Clos network)."""
    _check_minimum("fat tree", leaves=(leaves, 1), devices_each=(devices_each, 1), spines=(spines, 1))
    switches = [{"name": f"spine{s}", **(switch or {})} for s in range(spines)] + [
        {"name": f"leaf{n}", **(switch or {})} for n in range(leaves)
    ]
    links = [_link(leaf * devices_each + n, f"leaf{leaf}", link) for leaf in range(leaves) for n in range(devices_each)]
    links += [_link(f"leaf{leaf}", f"spine{s}", outer or link) for leaf in range(leaves) for s in range(spines)]
    return Shape(
        f"a fat tree of {leaves} leaves with {devices_each} devices below {spines} spines",
        leaves * devices_each,
        switches,
        links,
    )


def clusters(
    count: int,
    devices_each: int,
    *,
    inner: Options | None = None,
    outer: Options | None = None,
    switch: Options | None = None,
) -> Shape:
    """Clusters of devices on a switch of their own, every two of which have a link: ``inner`` are options of the links
    inside, ``outer`` of those between clusters. `configs/netcrafter_quad.yaml` is 2 × 2."""
    _check_minimum("clusters", count=(count, 1), devices_each=(devices_each, 1))
    switches = [{"name": f"cluster{c}", "cluster": c, **(switch or {})} for c in range(count)]
    links = [_link(c * devices_each + n, f"cluster{c}", inner) for c in range(count) for n in range(devices_each)]
    links += [_link(f"cluster{a}", f"cluster{b}", outer or inner) for a, b in combinations(range(count), 2)]
    return Shape(f"{count} × {devices_each} clusters", count * devices_each, switches, links)


def dragonfly(
    groups: int,
    switches_each: int,
    devices_each: int,
    *,
    global_each: int = 1,
    link: Options | None = None,
    local: Options | None = None,
    outer: Options | None = None,
    switch: Options | None = None,
) -> Shape:
    """Groups of switches, in each of which every two have a link (options ``local``, else ``link``), and every two
    groups have one (``outer``, else ``local``); each switch has ``devices_each`` devices and at most ``global_each``
    links to other groups (Kim et al., ISCA 2008)."""
    _check_minimum(
        "dragonfly",
        groups=(groups, 2),
        switches_each=(switches_each, 1),
        devices_each=(devices_each, 1),
        global_each=(global_each, 1),
    )
    if groups - 1 > switches_each * global_each:
        raise InputError(
            f"dragonfly: {groups} groups need {groups - 1} links each, {switches_each} switches with {global_each} have"
            f" {switches_each * global_each}"
        )
    switches = [{"name": f"group{g}_switch{s}", **(switch or {})} for g in range(groups) for s in range(switches_each)]
    links = [_link(n, switches[n // devices_each]["name"], link) for n in range(groups * switches_each * devices_each)]
    for g in range(groups):
        links += [
            _link(f"group{g}_switch{a}", f"group{g}_switch{b}", local or link)
            for a, b in combinations(range(switches_each), 2)
        ]
    for a, b in combinations(range(groups), 2):
        there, back = (b - a - 1) // global_each, (groups - (b - a) - 1) // global_each
        links.append(_link(f"group{a}_switch{there}", f"group{b}_switch{back}", outer or local or link))
    return Shape(
        f"a dragonfly of {groups} groups of {switches_each} switches with {devices_each} devices",
        groups * switches_each * devices_each,
        switches,
        links,
        cyclic=True,
    )


def _check_minimum(what: str, **given: tuple[int, int]) -> None:
    for name, (value, minimum) in given.items():
        if not isinstance(value, int) or value < minimum:
            raise InputError(f"{what}: {name}={value!r} must be a whole number of at least {minimum}")


def _switches(count: int, options: Options | None) -> list[dict[str, Any]]:
    return [{"name": f"switch{n}", **(options or {})} for n in range(count)]


def _link(source: str | int, destination: str | int, options: Options | None) -> dict[str, Any]:
    return {"from": source, "to": destination, **(options or {})}


def _yaml(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Lines of block style; items of lists, and groups of plain values, in one line each."""
    indent = "  " * depth
    for key, inner in value.items():
        if isinstance(inner, Mapping) and any(isinstance(v, (Mapping, list)) for v in inner.values()):
            yield f"{indent}{key}:"
            yield from _yaml(inner, depth + 1)
        elif isinstance(inner, list) and inner and isinstance(inner[0], Mapping):
            yield f"{indent}{key}:"
            for item in inner:
                yield f"{indent}  - {_flow(item)}"
        else:
            yield f"{indent}{key}: {_flow(inner)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value)
    if not text or any(c in text for c in ",:{}[]#&*!|>'\"%@`\n") or text != text.strip():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return text
