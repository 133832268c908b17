# SPDX-License-Identifier: Apache-2.0
"""Pictures of machines, from topology.json of a run or `fabricvp describe CONFIG --topology` (platform/topology.h has
the format). Layouts have a fixed plan, so that the same topology gives the same file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .alike_nodes import alike, shared_title
from .errors import InputError
from .printable import printable
from .topology_file import read_topology

Graph = Mapping[str, Any]
Traffic = Mapping[str, Any]  #: an item of a graph's "traffic"

_BLOCK, _SWITCH, _PLAIN, _HART, _GENERATOR = "#e8f5e9", "#e3f2fd", "#eceff1", "#fff3e0", "#fce4ec"
_EDGE, _WIRE, _CROSSING = "#37474f", "#78909c", "#d84315"


@dataclass(frozen=True)
class Drawing:
    """A part of a picture, with the size that it takes."""

    svg: str
    width: int
    height: int


# What all pictures are made of


def _box(left: int, top: int, width: int, height: int, colour: str) -> str:
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6" fill="{colour}" stroke="{_EDGE}"/>\n'


def _text(x: int, y: int, text: str, look: str = "") -> str:
    return f'<text x="{x}" y="{y}"{look}>{escape(text)}</text>\n'


def _labelled_box(centre: int, top: int, size: tuple[int, int], colour: str, name: str, lines: Sequence[str]) -> str:
    """A name, and small lines below it."""
    width, height = size
    first = top + (19 if height > 50 else 18)
    parts = [_box(centre - width // 2, top, width, height, colour), _text(centre, first, name, ' font-weight="bold"')]
    parts += [_text(centre, first + 16 + 15 * n, line, ' font-size="11"') for n, line in enumerate(lines)]
    return "".join(parts)


def _wire(points: str, colour: str = _WIRE, width: str = "2", title: str = "", link: str = "") -> str:
    path = f'<path d="{points}" fill="none" stroke="{colour}" stroke-width="{width}"'
    if link:
        path += f' data-link="{escape(link)}"'
    return f"{path}><title>{escape(title)}</title></path>\n" if title else f"{path}/>\n"


def _note(x: int, y: int, anchor: str, text: str, size: int = 10, background: str = "white") -> str:
    """Small text with an edge of background around it: twice, because not every viewer knows `paint-order`."""
    look = f' font-size="{size}" text-anchor="{anchor}"'
    return _text(x, y, text, f'{look} fill="{background}" stroke="{background}" stroke-width="4"') + _text(
        x, y, text, look
    )


def svg_document(width: int, height: int, body: str) -> str:
    """The file, white behind what is drawn."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="13" text-anchor="middle">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{body}</svg>\n'
    )


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:.4g} GB/s"


def _rates(link: Mapping[str, Any]) -> str:
    there, back = (_rate(d["bytes_per_second"]) for d in link["directions"])
    return there if there == back else f"{there} / {back}"


def _size(size: int) -> str:
    unit = 0
    while size >= 1024 and size % 1024 == 0 and unit < 4:
        size //= 1024
        unit += 1
    return f"{size} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[unit]}"


def _amount(size: float) -> str:
    unit = 0
    while size >= 999.5 and unit < 4:
        size /= 1000
        unit += 1
    return f"{size:.3g} {('B', 'kB', 'MB', 'GB', 'TB')[unit]}"


def _busy_colour(busy: float) -> str:
    """From grey over yellow to red."""
    grey, yellow, red = (176, 190, 197), (249, 178, 51), (198, 40, 40)
    share = min(max(busy, 0.0), 1.0)
    low, high, part = (grey, yellow, 2 * share) if share < 0.5 else (yellow, red, 2 * share - 1)
    return "#" + "".join(f"{int(a + (b - a) * part):02x}" for a, b in zip(low, high))


def _busy_width(busy: float) -> float:
    return 1.5 + 8 * min(max(busy, 0.0), 1.0)


# PCIe trees: the root complex on top, every switch centred above what hangs on it

_PCIE_BOX, _PCIE_GAP, _PCIE_LEVEL = (96, 44), 12, 74


def _pcie_notes(graph: Graph) -> dict[str, str]:
    notes = {block["name"]: block["kind"].replace("_", " ") for block in graph["blocks"]}
    for link in graph["links"]:
        if "generation" in link:
            notes[link["to"]] = f"Gen{link['generation']} x{link['lanes']}"
    return notes


def _link_name(graph: Graph, number: int, named: bool) -> str:
    """Of a link whose line a page changes: `platform/run_monitor.h` calls it so."""
    return f"{graph['path']}/{number}" if named else ""


def draw_pcie(graph: Graph, x: int, y: int, named: bool = False) -> Drawing:
    """A PCIe tree whose upper left corner is there. ``named``: lines of links tell which one they are."""
    below: dict[str, list[str]] = {}
    for link in graph["links"]:
        below.setdefault(link["from"], []).append(link["to"])
    places: dict[str, tuple[int, int]] = {}  # name → centre and level

    def place(name: str, level: int, left: int) -> int:
        right = left
        for child in below.get(name, []):
            right = place(child, level + 1, right)
        centres = [places[child][0] for child in below.get(name, [])]
        places[name] = ((centres[0] + centres[-1]) // 2 if centres else left + _PCIE_BOX[0] // 2, level)
        return max(right, left + _PCIE_BOX[0] + _PCIE_GAP)

    root = graph["blocks"][0]["name"]
    width, height = place(root, 0, 0) - _PCIE_GAP, 0
    notes, wires, boxes = _pcie_notes(graph), "", ""
    parents = {link["to"]: link["from"] for link in graph["links"]}
    numbers = {link["to"]: number for number, link in enumerate(graph["links"])}
    colours = {"root_complex": _PLAIN, "switch": _SWITCH}
    for block in graph["blocks"]:
        name = block["name"]
        centre, top = x + places[name][0], y + places[name][1] * _PCIE_LEVEL
        height = max(height, top + _PCIE_BOX[1] - y)
        if name in parents:
            above = top - _PCIE_LEVEL + _PCIE_BOX[1]
            middle = top - (_PCIE_LEVEL - _PCIE_BOX[1]) // 2
            points = f"M {x + places[parents[name]][0]} {above} V {middle} H {centre} V {top}"
            wires += _wire(points, link=_link_name(graph, numbers[name], named))
        boxes += _labelled_box(centre, top, _PCIE_BOX, colours.get(block["kind"], _BLOCK), name, [notes[name]])
    return Drawing(wires + boxes, width, height)


# Fabrics of GPUs: devices at the bottom, below the switches that they hang on; links between switches above them

_BOX, _FABRIC_GAP = (124, 44), 44


def _place_fabric(graph: Graph) -> tuple[dict[str, int], int]:
    """The centre of every block, and the width of all: devices in the order of their switches, then the others."""
    blocks = {block["name"]: block for block in graph["blocks"]}
    is_switch = {name: block["kind"] == "switch" for name, block in blocks.items()}
    centres: dict[str, int] = {}
    left = 0
    for name in (name for name, block in blocks.items() if is_switch[name]):
        first = left
        for link in graph["links"]:
            for here, there in ((link["from"], link["to"]), (link["to"], link["from"])):
                if there == name and not is_switch[here] and here not in centres:
                    centres[here] = left + _BOX[0] // 2
                    left += _BOX[0] + _FABRIC_GAP
        if left == first:
            left += _BOX[0] + _FABRIC_GAP
        centres[name] = (first + left - _FABRIC_GAP) // 2
        left += _FABRIC_GAP
    for name in blocks:
        if name not in centres:
            centres[name] = left + _BOX[0] // 2
            left += _BOX[0] + _FABRIC_GAP
    return centres, left


def _direction_line(points: str, carried: Mapping[str, float], label: str) -> str:
    busy = carried["busy"]
    title = f"{label}: {carried['bytes']:.0f} bytes, {carried['flits']:.0f} flits, busy {100 * busy:.1f} %"
    return _wire(points, _busy_colour(busy), f"{_busy_width(busy):.1f}", title)


def _vertical_directions(
    link: Mapping[str, Any], carried: Sequence[Mapping[str, float]], device_first: bool, device: int, above: int,
    bottom: int, top: int,
) -> tuple[str, str]:  # fmt: skip
    """The lines and labels of a device's link: its way up left, its way down right."""
    up, down = carried if device_first else carried[::-1]
    name = link["from"] if device_first else link["to"]
    lines = "".join(
        _direction_line(f"M {device + shift} {bottom} L {above + shift} {top}", what, label)
        for shift, what, label in ((-7, up, f"from {name}"), (7, down, f"to {name}"))
    )
    y = bottom - 22
    labels = (
        _note(device - 15, y, "end", f"↑ {_amount(up['bytes'])}")
        + _note(device - 15, y + 13, "end", f"{100 * up['busy']:.0f} %")
        + _note(device + 15, y, "start", f"↓ {_amount(down['bytes'])}")
        + _note(device + 15, y + 13, "start", f"{100 * down['busy']:.0f} %")
        + _note((device + above) // 2, (bottom + top) // 2, "middle", _rates(link))
    )
    return lines, labels


def _arched_directions(
    link: Mapping[str, Any], carried: Sequence[Mapping[str, float]], start: int, end: int, edge: int, across: int,
    high: bool,
) -> tuple[str, str]:  # fmt: skip
    """The lines and labels of a link that leaves two boxes by the same side: one direction above the other."""
    there, back = carried
    outer = -7 if start < end else 7
    lines = labels = ""
    for forth, what, label in (
        (True, there, f"{link['from']} to {link['to']}"),
        (False, back, f"{link['to']} to {link['from']}"),
    ):
        x, y = (outer if forth else -outer), (-7 if forth == high else 7)
        lines += _direction_line(f"M {start + x} {edge} V {across + y} H {end - x} V {edge}", what, label)
        rate = _rate(link["directions"][0 if forth else 1]["bytes_per_second"])
        labels += _note(
            (start + end) // 2,
            across + (-14 if forth == high else 21),
            "middle",
            f"{'→' if forth == (start < end) else '←'} {_amount(what['bytes'])}, {100 * what['busy']:.0f} % of {rate}",
        )
    return lines, labels


def draw_fabric(graph: Graph, x: int, y: int, traffic: Traffic | None = None, named: bool = False) -> Drawing:
    """A fabric whose upper left corner is there. With ``traffic``, each direction of each link is a line of its own,
    with what it carried; without, links are the wider the faster they are, and their lines tell which one they are if
    ``named``."""
    centres, width = _place_fabric(graph)
    is_switch = {block["name"]: block["kind"] == "switch" for block in graph["blocks"]}
    arcs = sum(is_switch[link["from"]] and is_switch[link["to"]] for link in graph["links"])
    arc_height, link_height = (58, 110) if traffic else (34, 64)
    switch_top = y + arcs * arc_height + (14 if arcs else 0)
    device_top = switch_top + _BOX[1] + link_height
    height = device_top + _BOX[1] - y
    wires = boxes = ""
    level = arcs
    for number, link in enumerate(graph["links"]):
        start, end = link["from"], link["to"]
        own_name = _link_name(graph, number, named)
        carried = traffic["links"][number] if traffic else None
        rate = link["directions"][0]["bytes_per_second"]
        stroke = f"{1.5 + 1.2 * max(0.0, math.log2(max(rate, 1) / 8e9)):.1f}"
        colour = _CROSSING if link["crosses_clusters"] else _WIRE
        if is_switch[start] != is_switch[end]:
            device, switch = (end, start) if is_switch[start] else (start, end)
            down, up = x + centres[device], x + centres[switch]
            if carried:
                lines, labels = _vertical_directions(
                    link, carried, is_switch[end], down, up, device_top, switch_top + _BOX[1]
                )
                wires += lines
                boxes += labels
            else:
                wires += _wire(f"M {down} {device_top} L {up} {switch_top + _BOX[1]}", colour, stroke, link=own_name)
                wires += _note(down, device_top - 6, "middle", _rates(link), 11, "#fafafa")
            continue
        high = is_switch[start]
        edge = switch_top if high else device_top + _BOX[1]
        shift = 0
        if high and arcs > 1:  # links of one switch do not hide each other
            shift = int((2 * level - arcs - 1) * min(32, 84 // arcs) / 2)
        if high:
            across = switch_top - level * arc_height + (14 if carried else 0)
            level -= 1
        else:
            across = edge + (28 if carried else 12)
        if carried:
            lines, labels = _arched_directions(
                link, carried, x + centres[start] + shift, x + centres[end] + shift, edge, across, high
            )
            wires += lines
            boxes += labels
            if not high:
                height = max(height, across + 30 - y)
        else:
            points = f"M {x + centres[start]} {edge} V {across} H {x + centres[end]} V {edge}"
            wires += _wire(points, colour, stroke, link=own_name)
            wires += _text(x + (centres[start] + centres[end]) // 2, across + 16, _rates(link), ' font-size="11"')
    for block in sorted(graph["blocks"], key=lambda b: b["name"]):
        note, colour = {
            "device": (f"device {block.get('number')}", _BLOCK),
            "generator": ("generator", _GENERATOR),
            "switch": (f"switch, cluster {block['cluster']}", _SWITCH),
        }[block["kind"]]
        top = switch_top if block["kind"] == "switch" else device_top
        boxes += _labelled_box(x + centres[block["name"]], top, _BOX, colour, block["name"], [note])
    return Drawing(wires + boxes, width, height + 20)  # for links below


def busiest_traffic(graph: Graph, region: str | None = None) -> Traffic:
    """Of a graph's intervals, that of a region's label; without one, that of the regions during which links carried
    most bytes, or of the whole run where no region saw any. Raises `InputError` for a label that
    firmware has not marked."""
    intervals: list[Traffic] = graph["traffic"]
    whole, *labels = intervals
    if region is not None:
        for interval in labels:
            if interval["region"] == region:
                return interval
        known = ", ".join(interval["region"] for interval in labels) or "none"
        raise InputError(f"no region of interest '{region}': there are {known}")

    best = max(labels, key=lambda interval: (carried_bytes(interval), interval["seconds"]), default=whole)
    return best if carried_bytes(best) > 0 else whole


def carried_bytes(traffic: Traffic) -> float:
    """What all links carried in an interval, both directions."""
    return float(sum(d["bytes"] for link in traffic["links"] for d in link if d))


def _interval_name(traffic: Traffic) -> str:
    if traffic["region"] is None:
        return "the whole run"
    name = f'"{traffic["region"]}"'
    return f"region {name}" if traffic["regions"] == 1 else f"{traffic['regions']} regions {name}"


def fabric_svg(graph: Graph, traffic: Traffic, title: str = "") -> str:
    """A picture of what a fabric carried: width and colour of a line are the share of the time in which it was busy."""
    margin, head, steps, sample = 24, 74, 5, 96
    drawing = draw_fabric(graph, margin, head, traffic)
    legend = head + drawing.height + 14
    width = max(drawing.width + 2 * margin, 2 * margin + steps * sample + 40)
    left = ' text-anchor="start"'
    interval = f"{title or _interval_name(traffic)}, {traffic['seconds'] * 1e6:.6g} µs"
    meaning = "bytes on the lanes each way; width and colour: share of the time that this direction was busy"
    body = _text(margin, 30, graph["path"], f'{left} font-size="17" font-weight="bold"')
    body += _text(margin, 52, interval, left) + _text(margin, legend, meaning, f'{left} font-size="11"')
    for step in range(steps):
        busy, at = step / (steps - 1), margin + step * sample
        body += _wire(f"M {at} {legend + 24} h 44", _busy_colour(busy), f"{_busy_width(busy):.1f}")
        body += _note(at + 50, legend + 28, "start", f"{100 * busy:.0f} %")
    return svg_document(width, legend + 62, body + drawing.svg)


# Networks between nodes: adapters and generators at the bottom, above them their switches, and so on

_NETWORK_GAP, _NETWORK_LEVEL = 24, 76


def _network_levels(graph: Graph) -> list[list[str]]:
    """Names by level: ends are at level 0, a switch is one above the lowest block that it is linked to."""
    levels = [[block["name"] for block in graph["blocks"] if block["kind"] != "switch"]]
    switches = [block["name"] for block in graph["blocks"] if block["kind"] == "switch"]
    neighbours: dict[str, set[str]] = {}
    for link in graph["links"]:
        neighbours.setdefault(link["from"], set()).add(link["to"])
        neighbours.setdefault(link["to"], set()).add(link["from"])
    while levels[-1]:
        placed = {name for level in levels for name in level}
        below = set(levels[-1])
        levels.append([s for s in switches if s not in placed and neighbours.get(s, set()) & below])
    return levels[:-1]


def _network_notes(graph: Graph) -> dict[str, str]:
    return {block["name"]: f"LID {block['lid']}" if "lid" in block else block["kind"] for block in graph["blocks"]}


def _cable(link: Mapping[str, Any]) -> str:
    end: Mapping[str, Any] = next((d for d in link["directions"] if d), {})
    return f"{end['rate']} {end['width']}" if "rate" in end else "Ethernet"


def draw_network(graph: Graph, x: int, y: int, named: bool = False) -> Drawing:
    """A network or an Ethernet whose upper left corner is there. ``named``: lines of links tell which one they are."""
    levels = _network_levels(graph)
    width = max(map(len, levels), default=1) * (_BOX[0] + _NETWORK_GAP) - _NETWORK_GAP
    height = len(levels) * (_BOX[1] + _NETWORK_LEVEL) - _NETWORK_LEVEL + 24
    places = {
        name: (number, x + width * (2 * column + 1) // (2 * len(level)))
        for number, level in enumerate(levels)
        for column, name in enumerate(level)
    }

    def top(name: str) -> int:
        return y + (len(levels) - 1 - places[name][0]) * (_BOX[1] + _NETWORK_LEVEL)

    lines = boxes = ""
    for number, link in enumerate(graph["links"]):
        if link["from"] not in places or link["to"] not in places:
            continue
        low, high = sorted((link["from"], link["to"]), key=lambda name: places[name][0])
        a, b = places[low][1], places[high][1]
        if places[low][0] == places[high][0]:
            edge = top(low) + _BOX[1]
            points = f"M {a} {edge} Q {(a + b) // 2} {edge + 40} {b} {edge}"
        else:
            points = f"M {a} {top(low)} L {b} {top(high) + _BOX[1]}"
        title = f"{link['from']} to {link['to']}: {_cable(link)}"
        lines += _wire(points, title=title, link=_link_name(graph, number, named))
    notes = _network_notes(graph)
    for name in sorted(places):
        colour = _SWITCH if places[name][0] else _BLOCK
        boxes += _labelled_box(places[name][1], top(name), _BOX, colour, name, [notes[name]])
    return Drawing(lines + boxes, width, height)


# Whole machines: one frame for each host, tree, fabric and network

_COLUMNS, _HOST_BOX, _HOST_GAP, MARGIN, _BUS = 6, (148, 58), 14, 24, 40


def _host_boxes(host: Mapping[str, Any]) -> tuple[list[tuple[str, list[str], str]], list[tuple[str, list[str], str]]]:
    """Name, lines and colour of every hart (the first rows of them), and of everything on the bus."""
    shown = 3 * _COLUMNS
    harts = [
        (hart["name"], [hart["isa"].split("_")[0], f"{hart['hertz'] / 1e6:.4g} MHz"], _HART) for hart in host["harts"]
    ]
    if len(harts) > shown:
        harts[shown - 1 :] = [(f"… {harts[-1][0]}", [f"{len(harts) - shown + 1} more"], _HART)]
    targets = [
        (target["name"], [f"{target['base']:#x}", _size(target["size"])], _BLOCK if target["memory"] else _SWITCH)
        for target in host["targets"]
    ]
    return harts, targets


def _rows(count: int) -> int:
    return -(-count // _COLUMNS)


def _draw_rows(boxes: Iterable[tuple[str, list[str], str]], left: int, top: int, bus_edge: int) -> str:
    """Boxes in rows, with a line from each to the bus that runs beside the boxes of other rows."""
    wires = shapes = ""
    for number, (name, lines, colour) in enumerate(boxes):
        row, column = divmod(number, _COLUMNS)
        x, y = left + column * (_HOST_BOX[0] + _HOST_GAP), top + row * (_HOST_BOX[1] + _HOST_GAP)
        wires += _wire(f"M {x} {y + _HOST_BOX[1] // 2} H {x - _HOST_GAP // 2} V {bus_edge}")
        shapes += _labelled_box(x + _HOST_BOX[0] // 2, y, _HOST_BOX, colour, name, lines)
    return wires + shapes


def frame(top: int, width: int, height: int, name: str, left: int = MARGIN) -> str:
    """A named frame around a part of a picture."""
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="10" fill="#fafafa" stroke="#90a4ae"/>\n'
    ) + _text(left + 16, top + 25, name, ' text-anchor="start" font-size="15" font-weight="bold"')


def heading(title: str) -> str:
    """A picture's title."""
    return _text(MARGIN, 34, title, ' text-anchor="start" font-size="18" font-weight="bold"')


def machine_svg(topology: Mapping[str, Any], title: str) -> str:
    """The whole machine: networks between nodes, then fabrics and PCIe trees, then hosts, with harts above the bus and
    what is on the bus below it. Nodes that are alike are drawn once."""
    frame_width = 2 * MARGIN + _COLUMNS * (_HOST_BOX[0] + _HOST_GAP)
    width, y, body = frame_width + 2 * MARGIN, 56, ""

    def add(drawing: Drawing, name: str) -> None:
        nonlocal width, y, body
        framed = max(frame_width, drawing.width + 2 * MARGIN)
        body += frame(y, framed, drawing.height + 64, name) + drawing.svg
        width = max(width, framed + 2 * MARGIN)
        y += drawing.height + 64 + MARGIN

    for between in ("network", "ethernet"):
        if between in topology:
            add(draw_network(topology[between], 2 * MARGIN, y + 40), topology[between]["path"])
    groups = alike(topology["nodes"])
    for kind, draw in (("fabric", draw_fabric), ("pcie", draw_pcie)):
        for nodes in groups:
            if kind in nodes[0]:
                graph = nodes[0][kind]
                add(draw(graph, 2 * MARGIN, y + 40), shared_title(nodes, graph["path"]))
    for nodes in groups:
        harts, targets = _host_boxes(nodes[0]["host"])
        left, step = 2 * MARGIN + _HOST_GAP, _HOST_BOX[1] + _HOST_GAP
        bus_top = y + 40 + _rows(len(harts)) * step + 8
        targets_top = bus_top + _BUS + 22
        height = targets_top + _rows(len(targets)) * step + 10 - y
        bus_width = frame_width - 2 * MARGIN
        body += frame(y, frame_width, height, shared_title(nodes, f"{nodes[0]['name']}.host"))
        body += _draw_rows(harts, left, y + 40, bus_top)
        body += _draw_rows(targets, left, targets_top, bus_top + _BUS)
        body += _box(left - _HOST_GAP, bus_top, bus_width, _BUS, _PLAIN)
        body += _text(left - _HOST_GAP + bus_width // 2, bus_top + 25, "bus", ' font-weight="bold"')
        y += height + MARGIN
    return svg_document(width, y, heading(title) + body)


# Graphs for Graphviz


def _dot_edge(here: str, there: str, label: str = "") -> str:
    return f'"{here}" -- "{there}"' + (f' [label="{label}"];\n' if label else ";\n")


def _dot_node(name: str, *lines: str) -> str:
    return f'"{name}" [label="' + "\\n".join(lines) + '"];\n'


def _dot_of_node(node: Mapping[str, Any]) -> Iterable[str]:
    host = node["host"]
    bus = host["bus"]
    yield f'"{bus}" [label="bus", shape=ellipse];\n'
    for hart in host["harts"]:
        yield _dot_node(hart["path"], hart["name"])
        yield _dot_edge(hart["path"], bus)
    for target in host["targets"]:
        yield _dot_node(target["path"], target["name"], f"{target['base']:#x}", _size(target["size"]))
        yield _dot_edge(bus, target["path"])
    if tree := node.get("pcie"):
        parents = {link["to"]: f"{tree['path']}.{link['from']}" for link in tree["links"]}
        notes = _pcie_notes(tree)
        for block in tree["blocks"]:
            path = f"{tree['path']}.{block['name']}"
            yield _dot_node(path, block["name"], notes[block["name"]])
            yield _dot_edge(parents.get(block["name"], bus), path)
    if fabric := node.get("fabric"):
        above = tree["path"] if tree else node["name"]
        paths = {}
        for block in fabric["blocks"]:
            name = block["name"]
            paths[name] = f"{above if block['kind'] == 'device' else fabric['path']}.{name}"
            yield _dot_node(paths[name], name, *([f"cluster {block['cluster']}"] if block["kind"] == "switch" else []))
        for link in fabric["links"]:
            yield _dot_edge(paths[link["from"]], paths[link["to"]], _rates(link))


def graphviz_text(topology: Mapping[str, Any]) -> str:
    """The machine as a graph for `dot`: blocks, and what links them."""
    text = 'graph machine {\n  node [shape=box, fontname="sans-serif"];\n'
    for node in topology["nodes"]:
        text += f'  subgraph "cluster_{node["name"]}" {{\n    label="{node["name"]}";\n'
        text += "".join(f"    {line}" for line in _dot_of_node(node)) + "  }\n"
    for graph in (topology[key] for key in ("network", "ethernet") if key in topology):
        notes = _network_notes(graph)
        for name, note in notes.items():
            text += "  " + _dot_node(f"{graph['path']}.{name}", name, note)
        for link in graph["links"]:
            text += "  " + _dot_edge(f"{graph['path']}.{link['from']}", f"{graph['path']}.{link['to']}", _cable(link))
    return text + "}\n"


# Folders of runs


def made(folder: Path) -> Path:
    """A folder, made if it is not there. Raises `InputError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
    return folder


def draw_run(folder: Path, to: Path | None = None, region: str | None = None) -> list[Path]:
    """Draws machine.svg, and fabric.svg, fabric.node1.svg … of each node with a fabric, from the folder of a run into
    it or another one, which is made. The fabric's traffic is that of `busiest_traffic()`. Gives the files; raises
    `InputError`, also for a region where there is no fabric to show it."""
    topology = read_topology(folder)
    if region is not None and not any("fabric" in node for node in topology["nodes"]):
        raise InputError(f"--region {region}: no node of {folder} has a fabric, whose traffic a region's would be")
    pictures = {"machine.svg": machine_svg(topology, printable(folder.resolve().name))}
    for number, node in enumerate(topology["nodes"]):
        if "fabric" in node:
            name = f"fabric.node{number}.svg" if number else "fabric.svg"
            pictures[name] = fabric_svg(node["fabric"], busiest_traffic(node["fabric"], region))
    to = made(to or folder)
    return [save(text, to / name) for name, text in pictures.items()]


def save(text: str, file: Path) -> Path:
    """Writes a picture. Raises `InputError`."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})") from None
    return file
