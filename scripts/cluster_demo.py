# SPDX-License-Identifier: Apache-2.0
"""The whole machine of `make demo`: two nodes of four GPUs each, booted from U-Boot, with everything at work that the
platform has."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fabricvp
import pandas
from fabricvp import congestion, result_lines
from fabricvp.conditions import Marker
from fabricvp.drawing import busiest_traffic, carried_bytes, fabric_svg, read_topology
from fabricvp.experiments import Experiment, Report, machines
from fabricvp.experiments.points import core_seconds
from fabricvp.experiments.writing import Cost, write
from fabricvp.plot import use_palette
from matplotlib.figure import Figure

PROMPT = "=> "
#: Options of firmware/programs/cluster; the demo's test makes them smaller.
OPTIONS = {
    "entries": 1 << 18,
    "size": 4096,
    "bytes": 256 << 10,
    "messages": 512,
    "rows": 128,
    "columns": 256,
    "iterations": 20,
}
#: Of the links between GPUs, as firmware sets them.
SETTINGS = {"plain": "neither", "netcrafter": "NetCrafter", "lanes": "reversible lanes", "netcrafter_lanes": "both"}
#: What runs under each setting; then why NetCrafter helps or costs, beside the counters of `_reason()`.
WORKLOADS = {"gups": "random updates of a table", "spmv": "sparse matrix times vector"}
WHY = {
    "gups": "An update needs one word of a line, so trimming cuts what no lane reads",
    "spmv": "A lane reads a line word by word, so trimming turns one request for the line into several, one a sector",
}
PARTS = {
    **{name: f"{meaning} over four GPUs, by the settings of the links" for name, meaning in WORKLOADS.items()},
    "exchange": "messages among a node's GPUs over PCIe",
    "writes": "messages that kernels post by themselves (GPUrdma)",
    "jacobi": "Jacobi's method, halos from GPU to GPU (ComP-Net)",
}
#: What the run leaves besides an experiment's own files.
LEFT = {
    "page": "index.html",
    "topology": "machine.svg",
    "traffic of node 0's fabric": "fabric.svg",
    "packets between the nodes, for Wireshark": "packets.pcap",
    "trace of Jacobi's method, for ui.perfetto.dev": "trace.json",
    "statistics": "stats.json",
    "regions": "regions.json",
    "console": "console.node0.log",
}
_TRACED_S = 60e-6
_PATIENCE = "1 s"  #: simulated; some 70 ms are needed


def _digits(order: list[list[int]]) -> str:
    """An order as the firmware reads it: destinations of GPU 0 in sequence, those of GPU 1, …"""
    return "".join(str(d) for destinations in order for d in destinations)


def _boot(machine: Any, options: dict[str, Any], show: Callable[[str], None]) -> None:
    """U-Boot of every node to its prompt, then our program from the disk, in place of a kernel."""
    for node in machine.nodes:
        match = node.console.expect("Hit any key to stop autoboot")
        if node.index == 0:
            show(match.before + match.text)
        node.console.type("\n")
        node.console.expect(PROMPT)
    arguments = " ".join(f"{key}={value}" for key, value in options.items())
    for node in machine.nodes:
        for line in [
            "virtio scan",
            "virtio read ${kernel_addr_r} 0 800",
            "fdt addr ${fdtcontroladdr}",
            "fdt move ${fdtcontroladdr} ${fdt_addr_r} 10000",
            f"setenv bootargs {arguments}",
        ]:
            node.console.type(line + "\n")
            match = node.console.expect(PROMPT)
            if node.index == 0:
                show(match.before + match.text)
        node.console.type("booti ${kernel_addr_r} - ${fdt_addr_r}\n")


def _bars(values: dict[str, dict[str, float]], label: str) -> Figure:
    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    axes = figure.subplots()
    for n, (series, points) in enumerate(values.items()):
        width = 0.8 / len(values)
        axes.bar([i + n * width for i in range(len(points))], list(points.values()), width=width, label=series)
    first = next(iter(values.values()))
    axes.set_xticks([i + 0.4 - 0.4 / len(values) for i in range(len(first))], list(first))
    axes.set_ylabel(label)
    if len(values) > 1:
        axes.legend(fontsize="small")
    return figure


def _link_modes(texts: list[str], regions: list[dict[str, Any]]) -> pandas.DataFrame:
    """Each workload under each setting of the links on each node: its time, and what crossed between the clusters."""
    rows = []
    for number, text in enumerate(texts):
        node = f"node{number}"
        counted = (r["statistics"] for r in regions if (r["node"], r["label"]) == (number, "kernels"))
        for line, values in zip((r for r in result_lines(text) if r.name in WORKLOADS), counted, strict=True):
            crossing = {key: 0.0 for key in ("packets", "buffer_flits", "wire_flits", "saved_flits.trimming")}
            for path, value in values.items():
                if (match := re.fullmatch(rf"{node}\.fabric\.cluster\d+\.to_cluster\d+_egress\.(.+)", path)) and (
                    match[1] in crossing
                ):
                    crossing[match[1]] += value
            misses = sum(
                v for p, v in values.items() if re.fullmatch(rf"{node}\.gpu\d+\.memory\.unit\d+\.l1\.misses", p)
            )
            rows.append(
                {
                    "node": number,
                    "workload": line.name,
                    "links": line["links"],
                    "time_us": line["time_ns"] / 1e3,
                    "packets": crossing["packets"],
                    "flits": crossing["wire_flits"],
                    "flits_trimmed": crossing["saved_flits.trimming"],
                    "busy": values[f"{node}.fabric.inter_cluster.utilisation"],
                    "l1_misses": misses,
                }
            )
    return pandas.DataFrame(rows)


def _reason(workload: str, frame: pandas.DataFrame) -> str:
    """One sentence: what NetCrafter changes of a workload on node 0, and why."""
    of = frame[(frame["node"] == 0) & (frame["workload"] == workload)].set_index("links")
    plain, on = of.loc["plain"], of.loc["netcrafter"]
    return (
        f"{workload}: {plain['time_us']:.1f} → {on['time_us']:.1f} µs with NetCrafter. {WHY[workload]}:"
        f" {on['packets'] / plain['packets']:.2f} times the packets and {on['flits'] / plain['flits']:.2f} times the"
        f" flits cross a link between the clusters that was {plain['busy']:.0%} busy."
    )


def _report(
    report: Report,
    texts: list[str],
    regions: list[dict[str, Any]],
    outcome: Any,
    found: congestion.Search,
    options: dict[str, Any],
) -> None:
    for part, meaning in PARTS.items():
        for number, text in enumerate(texts):
            report.check(f"{part}, node {number}", re.search(rf"^{part} +ok$", text, re.MULTILINE) is not None, meaning)
    report.check(
        "both nodes powered off with success", outcome.outcome == "power_off", f"{outcome.outcome} {outcome.detail}"
    )
    modes = _link_modes(texts, regions)
    for mode in modes.to_dict("records"):
        report.row(
            f"{WORKLOADS[mode['workload']]} ({mode['workload']}), GPUs of node {mode['node']},"
            f" {SETTINGS[mode['links']]}",
            "µs",
            mode["time_us"],
            None,
            "kernels alone",
        )
    exchange = {line["order"]: line["time_ps"] / 1e6 for line in result_lines(texts[0], "exchange")}
    predicted = {"natural": found.natural_s, "best": found.best_s, "worst": found.worst_s}
    for name, value in exchange.items():
        report.row(
            f"exchange of {options['bytes'] >> 10} KiB each over PCIe, {name} order",
            "µs",
            value,
            None,
            f"in closed form {predicted[name] * 1e6:.1f}",
        )
    for line in result_lines(texts[0], "writes"):
        report.row(
            "what kernels write into the other node's GPU",
            "GB/s",
            line["messages"] * line["bytes"] / line["time_ps"] * 1e3,
            None,
            f"{line['messages']} messages of {line['bytes']} bytes, four work-groups",
        )
    for line in result_lines(texts[0], "jacobi"):
        who = {"cpu": "by the CPUs", "compnet": "by GPUs with ComP-Net"}.get(line["backend"], line["backend"])
        report.row(
            f"iteration of Jacobi's method on two nodes, {who}",
            "µs",
            line["time_ps"] / 1e6 / line["iterations"],
            None,
            f"{options['rows']} × {options['columns']} points a node",
        )
    for workload, of in modes.groupby("workload", sort=True) if len(modes) else ():
        reason = _reason(str(workload), modes)
        report.conclude(reason)
        times = {f"node {n}": dict(zip(part["links"].map(SETTINGS), part["time_us"])) for n, part in of.groupby("node")}
        report.plot(
            str(workload),
            _bars(times, "µs"),
            f"{WORKLOADS[str(workload)].capitalize()} over a node's four GPUs, by what firmware has set at the links"
            f" between them. {reason}",
        )
    if len(modes):
        report.table(
            "link_modes",
            modes,
            "What crossed between the clusters of a node while kernels were measured; L1 misses are all GPUs'",
        )
    if exchange:
        report.plot(
            "exchange",
            _bars({"on the tree": exchange, "in closed form": {k: predicted[k] * 1e6 for k in exchange}}, "µs"),
            "All to all over PCIe, by the order of messages. The search has evaluated all of them in closed form",
        )
        report.table(
            "orders",
            pandas.DataFrame(
                [
                    {"order": name, "of GPU 0, GPU 1, …": " ".join("→".join(map(str, d)) for d in order)}
                    for name, order in (
                        ("natural", congestion.natural_order("all", 4)),
                        ("best", found.best_order),
                        ("worst", found.worst_order),
                    )
                ]
            ),
            f"Orders of the {found.orders:,} that there are",
        )


def _draw_traffic(report: Report, folder: Path) -> None:
    """Adds a picture for each node whose fabric carried anything, of its regions with most bytes."""
    for number, node in enumerate(read_topology(folder)["nodes"]):
        traffic = busiest_traffic(node["fabric"])
        if carried_bytes(traffic) > 0:
            during = f'the regions "{traffic["region"]}"' if traffic["region"] else "the whole run"
            report.svg_figure(
                f"traffic_node{number}",
                fabric_svg(node["fabric"], traffic),
                f"What the fabric of node {number} carried during {during}",
            )


def run(folder: Path, show: Callable[[str], None], options: dict[str, Any] | None = None) -> Report:
    """Boots and runs the machine, and leaves `LEFT` in the folder."""
    use_palette()
    started, core_started, options = time.monotonic(), core_seconds(), {**OPTIONS, **(options or {})}
    found = congestion.search("cluster", "all", size=float(options["bytes"]))
    options |= {"best": _digits(found.best_order), "worst": _digits(found.worst_order)}
    report = Report()
    folder.mkdir(parents=True, exist_ok=True)
    with fabricvp.spawn("cluster") as machine:
        machines.record_machine("cluster", machine)
        _boot(machine, options, show)
        machine.start_capture(folder / "packets.pcap")
        outcome = machine.run(_PATIENCE, until=Marker("jacobi", "reset"))
        if outcome.outcome == "event":
            machine.start_trace(machine.now, machine.now + _TRACED_S)
            outcome = machine.run(_PATIENCE)
        machine.stop_capture()
        texts = [node.console.output.replace("\r", "") for node in machine.nodes]
        show(machine.nodes[0].console.unread)
        machine.write_results(folder)
    file = folder / "regions.json"  # none if firmware ended before it measured
    regions = json.loads(file.read_text()) if file.exists() else []
    _report(report, texts, regions, outcome, found, options)
    report.add_machines(machines.recorded_machines())
    report.svg_figure("topology", (folder / "machine.svg").read_text(), "The machine")
    _draw_traffic(report, folder)
    write(
        folder,
        Experiment(
            "cluster", "Two nodes of four GPUs", "Everything at work together, started by U-Boot.", lambda run: None
        ),
        report,
        "make demo",
        Cost(time.monotonic() - started, core_seconds() - core_started),
        options,
    )
    return report
