# SPDX-License-Identifier: Apache-2.0
"""topology.json of a run (platform/topology.h has the format), with a check that it holds what pictures and
explanations read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from .errors import InputError

# A shape is a type or several, a list with the shape of all items, a mapping with those of keys, where one with ? may
# be absent, or (None, shape) of what may be null: in a run of several processes, directions that no process has.
_NUMBER = (int, float)
_DIRECTION = {"port": str, "bytes_per_second": _NUMBER}
_BLOCK = {"name": str, "kind": str}


def _graph(block: dict[str, Any], link: dict[str, Any], carried: Any) -> dict[str, Any]:
    interval = {"region": (None, str), "seconds": _NUMBER, "links": [[carried]]}
    ends = {"from": str, "to": str, "directions": [(None, _DIRECTION)]}
    return {"path": str, "blocks": [_BLOCK | block], "links": [ends | link], "traffic": [interval]}


_CARRIED = (None, {"bytes": _NUMBER, "busy": _NUMBER})
_FLITS = {"bytes": _NUMBER, "busy": _NUMBER, "flits": _NUMBER}
_HART = {"name": str, "path": str, "isa": str, "hertz": _NUMBER}
_TARGET = {"name": str, "path": str, "base": int, "size": int, "memory": bool}
_CABLE = {"directions": [(None, _DIRECTION | {"rate": str, "width": str})]}
_TOPOLOGY = {
    "nodes": [
        {
            "name": str,
            "host": {"bus": str, "harts": [_HART], "targets": [_TARGET]},
            "pcie?": _graph({}, {"generation": int, "lanes": int}, _CARRIED),
            "fabric?": _graph({"cluster": int}, {"directions": [_DIRECTION], "crosses_clusters": bool}, _FLITS),
        }
    ],
    "network?": _graph({"lid": int}, _CABLE, _CARRIED),
    "ethernet?": _graph({}, {}, _CARRIED),
}
_FABRIC_KINDS = {"device", "generator", "switch"}


def read_topology(folder: Path) -> dict[str, Any]:
    """topology.json of a run. Raises `InputError`."""
    file = folder / "topology.json"
    try:
        topology = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
        json.dumps(topology, ensure_ascii=False).encode()  # names that no picture can have
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(topology, dict) or topology.get("version") != 1:
        raise InputError(f"{file}: not a topology of version 1")
    if wrong := next(_wrong_places(topology, _TOPOLOGY), None) or next(_loose_ends(topology), None):
        raise InputError(f"{file}: '{wrong}' is not as a run writes it")
    return topology


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _wrong_places(value: Any, shape: Any, at: str = "") -> Iterator[str]:
    """Places that are not of the shape, such as nodes.0.name."""
    if isinstance(shape, tuple) and shape[0] is None:
        if value is not None:
            yield from _wrong_places(value, shape[1], at)
    elif isinstance(shape, dict) and isinstance(value, dict):
        for name, inner in shape.items():
            key = name.removesuffix("?")
            if key in value:
                yield from _wrong_places(value[key], inner, f"{at}.{key}".lstrip("."))
            elif key == name:
                yield f"{at}.{key}".lstrip(".")
    elif isinstance(shape, list) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _wrong_places(item, shape[0], f"{at}.{number}")
    elif isinstance(shape, (dict, list)) or not isinstance(value, shape):
        yield at


def _loose_ends(topology: Mapping[str, Any]) -> Iterator[str]:
    """Places of links whose ends or traffic are not there, and of blocks that no fabric or tree has."""
    holders = [(f"nodes.{number}.", node) for number, node in enumerate(topology["nodes"])] + [("", topology)]
    for before, holder in holders:
        for kind in ("pcie", "fabric", "network", "ethernet"):
            if kind in holder:
                yield from (f"{before}{kind}.{wrong}" for wrong in _wrong_in_graph(holder[kind], kind))


def _wrong_in_graph(graph: Mapping[str, Any], kind: str) -> Iterator[str]:
    blocks = [block["name"] for block in graph["blocks"]]
    for number, link in enumerate(graph["links"]):
        if not {link["from"], link["to"]} <= set(blocks) or len(link["directions"]) != 2:
            yield f"links.{number}"
    for number, interval in enumerate(graph["traffic"]):
        is_whole, pairs = interval["region"] is None, interval["links"]
        if is_whole != (number == 0) or list(map(len, pairs)) != [2] * len(graph["links"]):
            yield f"traffic.{number}"
    if not graph["traffic"]:
        yield "traffic"
    if kind == "fabric" and not {block["kind"] for block in graph["blocks"]} <= _FABRIC_KINDS:
        yield "blocks"
    above = {link["to"]: link["from"] for link in graph["links"]}
    if kind == "pcie" and (
        len(set(blocks)) != len(blocks)
        or list(above) != blocks[1:]
        or any(above[name] not in blocks[:number] for number, name in enumerate(blocks[1:], 1))
    ):
        yield "links"
