# SPDX-License-Identifier: Apache-2.0
"""The tables that pages of docs/experiments show, made of an experiment's `result.json`. `fabricvp docs refresh` writes
them into the pages. An experiment with long ones has them in a module `pages` of its package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .compnet_latency import pages as compnet_latency
from .compnet_training import pages as compnet_training
from .crossed import pages as crossed
from .faults import pages as faults
from .fidelity import pages as fidelity
from .gpu_workloads import pages as gpu_workloads
from .gpurdma import pages as gpurdma
from .gpurdma_ordering import pages as gpurdma_ordering
from .lanes import pages as lanes
from .locality import pages as locality
from .microbenchmarks import pages as microbenchmarks
from .netcrafter import pages as netcrafter
from .netcrafter_load import pages as netcrafter_load
from .netcrafter_sensitivity import pages as netcrafter_sensitivity
from .netcrafter_training import pages as netcrafter_training
from .page_layout import (
    BACKENDS,
    EMPTY,
    Frames,
    NoTable,
    PageTable,
    bytes_of,
    fixed,
    pivoted,
    significant,
    spread,
    spread_grid,
)
from .pcie_congestion import pages as pcie_congestion
from .rdma import pages as rdma
from .replay import pages as replay
from .what_if import pages as what_if

if TYPE_CHECKING:
    import pandas


def _cpus(backend: str) -> str:
    return "CPUs alone" if backend == "CPU only" else backend


def _jacobi(value: str, scale: float, with_driver: bool) -> Callable[[Frames], PageTable]:
    """By size; in parentheses with a driver's time."""

    def table(frames: Frames) -> PageTable:
        frame = frames["sizes"]
        drivers = sorted(set(frame["driver_us"]))
        plain, driven = (
            frame[frame["driver_us"] == d].assign(shown=lambda f: f[value] * scale) for d in (0, drivers[-1])
        )
        heading, three = "rows and columns of a node", significant(3)

        def make(part: pandas.DataFrame) -> PageTable:
            return pivoted(part, heading, "backend", "size", "shown", three, BACKENDS, _cpus, lambda size: f"{size}²")

        first, second = make(plain), make(driven)
        if not with_driver:
            return first
        beside = {row[0]: row for row in second.rows}
        rows = [
            (
                row[0],
                *(
                    f"{a} ({b})" if b and row[0] != "CPUs alone" else a
                    for a, b in zip(row[1:], beside.get(row[0], row)[1:])
                ),
            )
            for row in first.rows
        ]
        return PageTable(first.columns, rows)

    return table


def _doorbells(frames: Frames) -> PageTable:
    frame = frames["doorbells"]
    rows = []
    for rings, name in ((False, "all queues read"), (True, "doorbells")):
        part = frame[frame["doorbells"] == rings].sort_values("groups")
        rows += [
            (f"misses a request, {name}", *map(fixed(2), part["misses_a_request"])),
            (f"round trip, µs, {name}", *map(significant(3), part["round_trip_us"])),
        ]
    counts = sorted(set(frame["groups"]))
    return PageTable(("one hart", *(f"{n} work-groups" for n in counts)), rows)


def _scaling(value: str, heading: str, most: str = "") -> Callable[[Frames], PageTable]:
    def table(frames: Frames) -> PageTable:
        frame = frames["scaling"].sort_values("groups", kind="stable")
        frame = frame.assign(
            who=[b if h == 0 else f"{h} hart{'s' * (h > 1)}" for b, h in zip(frame["backend"], frame["harts"])]
        )
        found = pivoted(
            frame, heading, "who", "groups", value, significant(3), ("1 hart", "2 harts", "4 harts", "8 harts"),
            column_name=lambda n: "1 work-group" if n == 1 else str(n), missing="–",
        )  # fmt: skip
        if not most:
            return found
        best = {who: part["requests_per_us"].max() for who, part in frame.groupby("who")}
        rows = [(*row, f"{significant(3)(best[row[0]])} M") for row in found.rows]
        return PageTable((*found.columns, most), rows)

    return table


def _locking(frames: Frames) -> PageTable:
    frame = frames["loads"]
    frame = frame[frame["max_ways"] == frame["max_ways"].max()] if frame["max_ways"].nunique() > 1 else frame
    rows, before = [], None
    for (groups, load), part in frame.groupby(["groups", "load"]):
        plain, locked = (part[part["locked"] == which].iloc[0] for which in (False, True))
        traffic = plain["memory_GB_s"]
        rows.append(
            (
                EMPTY if groups == before else f"{groups} work-groups talk" if before is None else str(groups),
                str(load) if load else "–",
                f"{traffic:.1f}" if traffic < 10 else f"{traffic:.0f}",
                *(f"{100 * line['residency']:.0f} %" for line in (plain, locked)),
                *(f"{line['round_trip_us']:.2f}" for line in (plain, locked)),
            )
        )
        before = groups
    heads = ("", "streams", "HBM, GB/s", "looks that find their line: not locked", "locked")
    return PageTable((*heads, "round trip, µs: not locked", "locked"), rows)


def _reduction(value: str, heading: str, with_launches: bool) -> Callable[[Frames], PageTable]:
    """By size of the vector and number of nodes; below a backend, what it takes with a driver's time for launches."""

    def table(frames: Frames) -> PageTable:
        frame = frames["reduction"].sort_values(["bytes", "nodes"], kind="stable")
        frame = frame.assign(at=[*zip(frame["bytes"], frame["nodes"])])
        first = {size: min(part["nodes"]) for size, part in frame.groupby("bytes")}
        found = pivoted(
            frame, heading, "backend", "at", value, significant(3), BACKENDS, _cpus,
            lambda at: f"{bytes_of(at[0])}: {at[1]} nodes" if at[1] == first[at[0]] else str(at[1]),
        )  # fmt: skip
        if not with_launches:
            return found
        places, rows = list(dict.fromkeys(frame["at"])), []
        for row in found.rows:
            rows.append(row)
            for _, launch in frames["launches"].iterrows():
                if launch["backend"] == row[0]:
                    figures = [EMPTY] * len(places)
                    figures[places.index((launch["bytes"], launch["nodes"]))] = significant(3)(launch["time_us"])
                    rows.append((f"… {launch['driver_us']:.0f} µs a launch for the driver", *figures))
        return PageTable(found.columns, rows)

    return table


def _reduction_waits(frames: Frames) -> PageTable:
    """GHN ÷ ComP-Net in energy, by how the program's hart waits for kernels."""
    frame = frames["waits"].sort_values(["bytes", "nodes"], kind="stable")
    frame = frame.assign(cores=frame["CPU cores"] + frame["CP cores"])
    rows, places = [], list(dict.fromkeys(zip(frame["bytes"], frame["nodes"])))
    for wait in ("sleep", "poll"):
        for key, what in (("mJ", "all parts"), ("cores", "cores alone")):
            by = frame[frame["wait"] == wait].set_index(["backend", "bytes", "nodes"])[key]
            ratios = (fixed(2)(by[("GHN", *at)] / by[("ComP-Net", *at)]) for at in places)
            rows.append((f"the host {wait}s, {what}", *ratios))
    heads = [f"{bytes_of(size)}: {nodes} nodes" for size, nodes in places]
    return PageTable(("energy, GHN ÷ ComP-Net", *heads), rows)


def _scale(value: str, heading: str, written: Callable[[float], str]) -> Callable[[Frames], PageTable]:
    def table(frames: Frames) -> PageTable:
        frame = frames["scale"]
        least = frame["devices"].min()
        return pivoted(
            frame, heading, "devices", "pattern", value, written,
            row_name=lambda n: f"{n:,} devices" if n == least else f"{n:,}",
            column_name=lambda p: f"`{p}`" if p in ("gups", "pagerank") else str(p),
        )  # fmt: skip

    return table


def _scale_memory(frames: Frames) -> PageTable:
    frame = frames["scale"]
    names = {"uniform": "generators (uniform)", "gups": "players of `gups`"}
    frame = frame[frame["pattern"].isin(names)]
    return pivoted(
        frame, "KiB a device", "pattern", "devices", "KiB_per_device", fixed(0), row_name=lambda p: names[p],
        column_name=lambda n: f"{n:,}",
    )  # fmt: skip


#: Experiment → table of its page → how it is made.
PAGE_TABLES: dict[str, dict[str, Callable[[Frames], PageTable]]] = {
    "compnet-jacobi": {
        "time": _jacobi("iteration_us", 1, True),
        "energy": _jacobi("iteration_uJ", 1e-3, False),
        "spread": spread_grid("rows and columns of a node", 3),
    },
    "compnet-latency": {
        "round_trips": compnet_latency.round_trips,
        "distance": compnet_latency.distance,
        "work_groups": compnet_latency.work_groups,
        "wider_cores": compnet_latency.wider_cores,
        "queues": compnet_latency.queues,
        "waits": compnet_latency.waits,
        "attachments": compnet_latency.attachments,
        "spread": spread,
    },
    "compnet-locking": {"load": _locking, "spread": spread},
    "compnet-reduction": {
        "time": _reduction("time_us", "µs an all-reduce", True),
        "energy": _reduction("mJ", "mJ an all-reduce, all nodes", False),
        "waits": _reduction_waits,
        "spread": spread,
    },
    "compnet-scaling": {
        "round_trips": _scaling("round_trip_us", "round trip, µs", "requests a second, at most"),
        "streams": _scaling("messages_per_us", "million messages a second without replies"),
        "doorbells": _doorbells,
        "spread": spread_grid("round trip", 3),
    },
    "compnet-training": {
        "all_reduces": compnet_training.all_reduces,
        "speed_ups": compnet_training.speed_ups,
        "spread": spread_grid("training over HDN", rows="column", columns="row"),
    },
    "crossed": {"summary": crossed.summary, "settings": crossed.settings},
    "gpu-workloads": {
        "workloads": gpu_workloads.workloads,
        "syr2k_rows": gpu_workloads.syr2k_rows,
        "tlb_reach": gpu_workloads.tlb_reach,
        "queues": gpu_workloads.queues,
    },
    "gpurdma-matvec": {"matvec": gpurdma.matvec, "costs": gpurdma.costs, "spread": spread},
    "gpurdma-modern": {
        "latency": gpurdma.modern_latency,
        "fences": gpurdma.modern_fences,
        "rates": gpurdma.modern_rates,
        "spread": spread,
    },
    "gpurdma-ordering": {
        "kept_lines": gpurdma_ordering.kept_lines,
        "overtaking": gpurdma_ordering.overtaking,
        "load": gpurdma_ordering.load,
    },
    "gpurdma-pingpong": {"pingpong": gpurdma.pingpong, "spread": spread},
    "gpurdma-placement": {
        "placement": gpurdma.placement,
        "steps": gpurdma.steps,
        "forms": gpurdma.forms,
        "stages": gpurdma.stages,
        "spread": spread,
    },
    "gpurdma-throughput": {
        "bandwidth": gpurdma.bandwidth,
        "posting": gpurdma.posting,
        "rates": gpurdma.throughput_rates,
        "spread": spread,
    },
    "gpurdma-what-if": {
        "latency": gpurdma.what_if_latency,
        "rates": gpurdma.what_if_rates,
        "cpu": gpurdma.what_if_cpu,
        "spread": spread_grid("times as long as with both queues in the GPU: queue pair, completion queue in", 3),
    },
    "faults": {
        "outcomes": faults.outcomes,
        "shares": faults.shares,
        "protection": faults.protection,
        "linux_outcomes": faults.linux_outcomes,
        "linux_shares": faults.linux_shares,
    },
    "fidelity": {
        "accuracy": fidelity.accuracy,
        "summary": fidelity.summary,
        "figures": fidelity.figures,
        "machines": fidelity.machines,
        "results": fidelity.results,
        "costs": fidelity.costs,
    },
    "lanes": {
        "synthetic": lanes.synthetic,
        "workloads": lanes.workloads,
        "apart": lanes.apart,
        "blocks": lanes.blocks,
        "pairs": lanes.pairs,
        "sample_times": lanes.sample_times,
    },
    "locality": {"summary": locality.summary, "declared": locality.declared, "times": locality.times},
    "microbenchmarks": {**microbenchmarks.TABLES},
    "netcrafter": {"speed_ups": netcrafter.speed_ups},
    "netcrafter-mgpusim": {"speed_ups": netcrafter.speed_ups},
    "netcrafter-load": {"load": netcrafter_load.load},
    "netcrafter-training": {"training": netcrafter_training.training},
    "netcrafter-sensitivity": {
        "parts": netcrafter_sensitivity.parts,
        "window": netcrafter_sensitivity.window,
        "timer": netcrafter_sensitivity.timer,
        "walks": netcrafter_sensitivity.walks,
        "riders": netcrafter_sensitivity.riders,
        "predictor": netcrafter_sensitivity.predictor,
        "predictions": netcrafter_sensitivity.predictions,
        "links": netcrafter_sensitivity.links,
        "tlbs": netcrafter_sensitivity.tlbs,
        "placement": netcrafter_sensitivity.placement,
    },
    "pcie-congestion": {
        "parameters": pcie_congestion.parameters,
        "errors": pcie_congestion.errors,
        "schedules": pcie_congestion.schedules,
    },
    "rdma": {"latency": rdma.latency, "message_rate": rdma.message_rate, "spans": rdma.spans, "memory": rdma.memory},
    "replay": {"errors": replay.errors},
    "scale": {
        "events": _scale("events_per_hop", "calendar events a packet-hop", fixed(3)),
        "processor_time": _scale("ns_per_hop", "processor time of a packet-hop, ns", fixed(0)),
        "memory": _scale_memory,
    },
    "what-if": {"means": what_if.means, "published_ratio": what_if.published_ratio},
}


def page_tables(experiment: str, frames: Frames) -> dict[str, PageTable]:
    """The tables of the experiment's page that can be made of this result."""
    made = {}
    for name, make in PAGE_TABLES.get(experiment, {}).items():
        try:
            made[name] = make(frames)
        except NoTable:  # made with options that leave something out
            continue
    return made
