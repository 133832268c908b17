# SPDX-License-Identifier: Apache-2.0
"""A picture of what joins the nodes of a machine and the devices in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from .drawing import MARGIN, Drawing, Graph, draw_fabric, draw_network, draw_pcie, frame, heading, svg_document

Draw = Callable[..., Drawing]

_NODES_A_ROW = 4
_INSIDE: dict[str, Draw] = {"pcie": draw_pcie, "fabric": draw_fabric}
_BETWEEN: dict[str, Draw] = {"network": draw_network, "ethernet": draw_network}


def _column(parts: Iterable[tuple[Graph, Draw]], x: int, y: int) -> Drawing:
    """Framed drawings below each other, all as wide as the widest; its height is where the next one would begin."""
    drawn = []
    for graph, draw in parts:
        drawn.append((y, draw(graph, x + MARGIN, y + 40), graph["path"]))
        y += drawn[-1][1].height + 64 + MARGIN
    width = max((drawing.width for _, drawing, _ in drawn), default=0) + 2 * MARGIN
    return Drawing("".join(frame(top, width, d.height + 64, name, x) + d.svg for top, d, name in drawn), width, y)


def overview_svg(topology: Mapping[str, Any], title: str, named: bool = False) -> str:
    """PCIe trees and fabrics of the nodes, four nodes a row, above the networks between them. What is on the hosts'
    buses is left out. ``named``: lines of links have an attribute that tells which one they are."""
    nodes: list[Mapping[str, Any]] = topology["nodes"]
    rows = [(nodes[i : i + _NODES_A_ROW], _INSIDE) for i in range(0, len(nodes), _NODES_A_ROW)]
    body, y, width = heading(title), 56, 0
    for holders, kinds in [*rows, ([topology], _BETWEEN)]:
        x, bottom = MARGIN, y
        for holder in holders:
            parts = [(holder[kind], partial(draw, named=named)) for kind, draw in kinds.items() if kind in holder]
            column = _column(parts, x, y)
            body, x, bottom = body + column.svg, x + column.width + MARGIN, max(bottom, column.height)
        y, width = bottom, max(width, x)
    return svg_document(width, y, body)
