# SPDX-License-Identifier: Apache-2.0
"""Nodes of a machine that differ in their names alone: pictures show them once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_PARTS = ("fabric", "pcie", "host")


def alike(nodes: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Nodes in groups of those that differ in their names alone."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for node in nodes:
        parts = {kind: {k: v for k, v in node[kind].items() if k != "traffic"} for kind in _PARTS if kind in node}
        groups.setdefault(json.dumps(parts).replace(f'"{node["name"]}.', '"node.'), []).append(node)
    return list(groups.values())


def shared_title(nodes: Sequence[Mapping[str, Any]], path: str) -> str:
    """The path of a part of the first node, and which others have the same."""
    others = [node["name"] for node in nodes[1:]]
    if not others:
        return path
    named = ", ".join(others) if len(others) < 4 else f"{others[0]} … {others[-1]}"
    return f"{path} (the same in {named})"
