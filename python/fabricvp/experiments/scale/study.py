# SPDX-License-Identifier: Apache-2.0
"""Runs every size under every pattern and reports."""

from __future__ import annotations

from pathlib import Path

import pandas
from matplotlib.figure import Figure

from ..frame import Run
from .measure import GENERATOR, PATTERNS, RECORDED, SHAPES, Cost, Load, record, run_load

HOPS, QUICK_HOPS = 1_000_000, 200_000
TARGET = 1.5  #: cost of a packet-hop of the largest over the smallest


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    options = run.options
    sizes = options.devices or (tuple(SHAPES)[:4] if run.quick else tuple(SHAPES))
    patterns = list(options.patterns or ((*PATTERNS[:2], "gups") if run.quick else (*PATTERNS, *RECORDED)))
    folder = Path(options.out) / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    played = [p for p in patterns if p in RECORDED]
    files = dict(
        zip(
            played,
            run.map(
                "recording",
                _record,
                [(app, str(folder / f"{app}.recording")) for app in played],
                name=lambda task: task[0],
                fresh=True,
            ),
        )
    )
    loads = [
        Load(n, pattern, QUICK_HOPS if run.quick else HOPS, files.get(pattern, ""))
        for pattern in patterns
        for n in sorted(sizes)
    ]
    found: list[Cost] = run.map("fabrics", run_load, loads, lambda load: 1 + load.devices / 200, _name, fresh=True)
    again: Cost = run.map("the same again", run_load, loads[:1], name=_name, fresh=True)[0]
    report = run.report
    wrong = [
        f"{_name(c.load)}: {c.sent:.0f} sent, {c.received:.0f} arrived, {c.failed:.0f} failed, {c.in_flight:.0f} under"
        f" way, {c.wrong:.0f} wrong"
        for c in found
        if c.sent != c.received + c.failed + c.in_flight or c.wrong
    ]
    report.check(
        "packets sent are delivered, reported as failed or in flight, and hold what was sent",
        not wrong,
        "; ".join(wrong) or f"{len(found)} fabrics",
    )
    report.check(
        "a second run is the same", again.same == found[0].same, f"{_name(again.load)}: packets, events, simulated time"
    )
    frame = pandas.DataFrame(
        [
            {
                "pattern": c.load.pattern,
                "devices": c.load.devices,
                "packet_hops": c.hops,
                "ns_per_hop": round(1e9 * c.seconds / c.hops, 1),
                "events_per_hop": round(c.events / c.hops, 4),
                "KiB_per_device": round(c.memory / c.load.devices / 1024, 1),
                "build_s": round(c.built, 3),
                "simulated_us": round(1e6 * c.simulated, 2),
            }
            for c in found
        ]
    )
    for pattern in patterns:
        rows = frame[frame["pattern"] == pattern].set_index("devices")
        small, large = rows.index[0], rows.index[-1]
        report.row(
            f"{pattern}: host time a packet-hop, {large} devices over {small}",
            "1",
            rows["ns_per_hop"].iloc[-1] / rows["ns_per_hop"].iloc[0],
            None,
            f"target at most {TARGET}; {rows['ns_per_hop'].iloc[-1]:.0f} against {rows['ns_per_hop'].iloc[0]:.0f} ns,"
            " of this host",
        )
        report.row(
            f"{pattern}: calendar events a packet-hop, {large} devices over {small}",
            "1",
            rows["events_per_hop"].iloc[-1] / rows["events_per_hop"].iloc[0],
            None,
            "the same on every host",
        )
        report.row(
            f"{pattern}: memory a device, {large} devices",
            "KiB",
            rows["KiB_per_device"].iloc[-1],
            None,
            "resident, terminal, ports, switches and packets",
        )
    report.conclude(*_sentences(frame))
    report.plot("cost", _cost_plot(frame), "What a packet-hop costs, and a device, against the number of devices")
    report.table(
        "scale",
        frame,
        "Fat trees of clusters: leaf switches with their devices, as many spine switches as devices a leaf (1,024: 64"
        f" leaves of 16). Each device has {GENERATOR['outstanding']} requests in flight; {' and '.join(RECORDED)} are"
        " recordings of four GPUs, which all tiles of four play across the tree.",
        shown=80,
    )


def _record(task: tuple[str, str]) -> str:
    return record(*task)


def _name(load: Load) -> str:
    return f"{load.devices} devices, {load.pattern}"


def _sentences(frame: pandas.DataFrame) -> list[str]:
    sentences = []
    for pattern, rows in frame.groupby("pattern", sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        ratio = last["ns_per_hop"] / first["ns_per_hop"]
        sentences.append(
            f"{pattern}: a packet-hop costs {last['ns_per_hop']:.0f} ns with {last['devices']} devices and"
            f" {first['ns_per_hop']:.0f} ns with {first['devices']}, {ratio:.2f} times as much (target {TARGET}:"
            f" {'met' if ratio <= TARGET else 'MISSED'}), and {last['events_per_hop']:.2f} against"
            f" {first['events_per_hop']:.2f} calendar events; a device takes {last['KiB_per_device']:,.0f} KiB."
        )
    return sentences


def _cost_plot(frame: pandas.DataFrame) -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, key, label in zip(
        panels,
        ("ns_per_hop", "events_per_hop", "KiB_per_device"),
        ("ns of the host", "calendar events", "KiB a device"),
    ):
        for pattern, rows in frame.groupby("pattern", sort=False):
            panel.plot(rows["devices"], rows[key], marker="o", label=pattern)
        panel.set_xscale("log", base=2)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("devices")
        panel.set_ylabel(label)
    panels[0].legend(fontsize="small")
    return figure
