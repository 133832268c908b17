# SPDX-License-Identifier: Apache-2.0
"""Which node something is for, as users write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def node_index(node: int | str) -> int:
    """Number of a node that is named by its number or its path ("node1"). Raises `ValueError`."""
    if isinstance(node, str):
        if not re.fullmatch(r"node(0|[1-9][0-9]{0,6})", node):
            raise ValueError(f"no node is called {node!r}: give its number, or node0, node1, …")
        return int(node[4:])
    if isinstance(node, bool) or node < 0:
        raise ValueError(f"{node!r} is no node: give its number, or node0, node1, …")
    return int(node)


def by_node(value: Any) -> dict[int, Any]:
    """Values by node: a mapping from nodes (numbers or paths), or one value for node 0; nothing for None."""
    if isinstance(value, Mapping):
        return {node_index(node): each for node, each in value.items()}
    return {} if value is None else {0: value}
