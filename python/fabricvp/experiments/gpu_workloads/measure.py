# SPDX-License-Identifier: Apache-2.0
"""One workload on one machine: what its measured kernels did, from the statistics of the regions that the firmware marks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...conditions import Marker
from ...errors import InputError
from ...platform import Platform
from ...results import Outcome
from .attribution import Attribution

CLASSES = ("read_request", "read_response", "write_request", "write_response", "page_table_request", "page_table_response")
PADDINGS = (0, 25, 50, 75, 100)
NEEDED = (16, 32, 48, 64)
PLACES = ("local", "same_cluster", "other_cluster")


@dataclass(frozen=True)
class Point:
    """What to run. ``size`` 0 is the workload's default. With ``spans``, where the latency of loads went is recorded, too."""

    workload: str
    machine: str
    size: int = 0
    placement: str = ""
    dispatch: str = ""
    spans: bool = False
    overrides: tuple[tuple[str, str], ...] = ()  #: of parameters of the machine


@dataclass
class Measured:
    """Sums over the measured regions of one run; times in seconds."""

    point: Point
    right: bool
    kernels_s: float  #: simulated time of the measured kernels
    wall_s: float
    wavefront_instructions: float
    transactions: float
    l1_misses: float
    accesses: dict[tuple[int, str], float]  #: by (GPU, place): lines read, written or changed by atomics behind its L1 caches
    page_table_reads: dict[tuple[int, str], float]
    needed: dict[int, float]  #: reads of lines in the other cluster, by bytes needed of the line
    flits: dict[tuple[str, int], float]  #: on the links between clusters, by class and padding in %
    packets: dict[str, float]  #: there, by class
    utilisation: dict[str, float]  #: of these links, by direction: busy part of the kernels' time
    load: dict[str, list[float]] = field(default_factory=dict)  #: of the longest region, by direction: bytes in each window
    window_s: float = 0.0
    remote_read_s: dict[str, float] = field(default_factory=dict)  #: mean, by place
    links: dict[str, float] = field(default_factory=dict)  #: bytes sent, by link and direction
    picture: str = ""  #: SVG of the fabric with what its links carried
    attribution: Attribution | None = None  #: with `Point.spans`
    returning_s: float = 0.0  #: latency of everything that brings lanes a value, by the compute units' own statistics


def machine(point: Point, build: Callable[..., Platform] = Platform.from_config) -> Platform:
    """The machine of a point with its workload, not yet run. ``build`` may be `fabricvp.spawn`. Raises `InputError`."""
    append = f"app={point.workload}" + (f" size={point.size}" if point.size else "")
    for key, policy in (("placement", point.placement), ("dispatch", point.dispatch)):
        append += f" {key}={policy}" if policy else ""
    return build(point.machine, overrides={"node.images.firmware": "firmware:gpu_apps.elf", "node.images.append": append, **dict(point.overrides)})


def measure(point: Point) -> Measured:
    """Runs a workload. Raises `InputError` if the machine cannot run it, or if it ends without a verdict."""
    with machine(point) as platform:
        return observe(platform, point)


def observe(platform: Platform, point: Point) -> Measured:
    """Runs the machine of a point to its end. Raises as `measure()`."""
    return observe_all(platform, [point])[0]


def observe_all(platform: Platform, points: Sequence[Point], begun: Callable[[], None] = lambda: None) -> list[Measured]:
    """The same for a machine that runs several workloads one after the other. ``begun()`` is called when the first measured
    region begins."""
    found: list[Measured] = []
    current = _Regions(wall_before=platform.statistics["sim.wall_s"])
    while True:
        result = platform.run(until=[Marker("kernels", "reset"), Marker("kernels", "dump"), Marker(kind="note")])
        if result.outcome != Outcome.EVENT or len(found) == len(points):
            break
        if "reset" in result.detail:
            if not found and not current.kernels:
                begun()
            current.begin(platform, result.time, points[len(found)])
        elif "dump" in result.detail:
            current.end(platform, result.time)
        elif current.kernels and "app " in result.detail:
            found.append(_summed(platform, points[len(found)], "app ok" in result.detail, current))
            current = _Regions(wall_before=platform.statistics["sim.wall_s"])
    if len(found) < len(points):
        point = points[len(found)]
        raise InputError(f"{point.workload} on {point.machine} ended without a verdict: {result.outcome} {result.detail}; "
                         f"the console ends with {platform.nodes[0].console.output[-300:]!r}")
    return found


@dataclass
class _Regions:
    """Sums over the measured regions of one workload."""

    wall_before: float = 0.0
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    kernels: float = 0.0
    window: float = 0.0  #: of ``load``, bytes by link in the longest region
    load: dict[str, list[float]] = field(default_factory=dict)
    attribution: Attribution | None = None
    began: float = 0.0
    longest: float = 0.0

    def begin(self, platform: Platform, time: float, point: Point) -> None:
        self.began = time
        if point.spans:
            self.attribution = self.attribution or Attribution()
            platform.spans.start(keep=0)

    def end(self, platform: Platform, time: float) -> None:
        length = time - self.began
        self.kernels += length
        for path, value in platform.statistics.snapshot("node0.").items():
            self.sums[path] += value
        if self.attribution:
            self.attribution.add(platform.spans.paths(), switches(platform))
            platform.spans.stop()
        if length > self.longest:
            self.longest = length
            self.window, self.load = _loads(platform)


def switches(platform: Platform) -> set[str]:
    """Names of the fabric's switches."""
    return {way.source for way in platform.nodes[0].fabric.traffic()} - {gpu.name.rsplit(".", 1)[-1] for gpu in platform.nodes[0].gpus}


def _loads(platform: Platform) -> tuple[float, dict[str, list[float]]]:
    """Bytes in each window on the links between clusters."""
    window, found = 0.0, {}
    for name in platform.statistics.series_names():
        link = re.fullmatch(r"node0\.fabric\.(cluster\d+\.to_cluster\d+)\.transmitter\.load", name)
        if link:
            starts, values = platform.statistics.series(name)
            window = float(starts[1] - starts[0]) if len(starts) > 1 else 0.0
            found[link[1]] = [float(v) for v in values]
    return window, found


def _summed(platform: Platform, point: Point, right: bool, regions: _Regions) -> Measured:
    sums, kernels = regions.sums, regions.kernels

    def total(pattern: str) -> float:
        matches = re.compile(pattern).fullmatch
        return sum(value for path, value in sums.items() if matches(path))

    gpus = sorted({int(m[1]) for m in map(re.compile(r"node0\.gpu(\d+)\.core\.fabric\..*").fullmatch, sums) if m})
    accesses, tables = {}, {}
    for gpu in gpus:
        port = f"node0.gpu{gpu}.core.fabric."
        # The host reaches memory through L2, too.
        host_reads, host_writes = (sums[f"node0.gpu{gpu}.bar_memory.lines_{kind}"] for kind in ("read", "written"))
        written = total(rf"node0\.gpu{gpu}\.core\.memory\.router\.l2_bank\d+\.(writes|atomics)") - sums[port + "served_writes"] - host_writes
        accesses[gpu, "local"], tables[gpu, "local"] = sums[port + "local_reads"] - host_reads + written, sums[port + "local_page_table_reads"]
        for place in PLACES[1:]:
            accesses[gpu, place] = sum(sums[f"{port}{place}.{kind}"] for kind in ("reads", "writes", "atomics"))
            tables[gpu, place] = sums[f"{port}{place}.page_table_reads"]
    slow = r"node0\.fabric\.cluster\d+\.to_cluster\d+\."
    links = {m[1]: value for path, value in sums.items()
             if (m := re.fullmatch(r"node0\.fabric\.(.+)\.transmitter\.bytes", path))}
    busy = {m[1]: value for path, value in sums.items() if (m := re.fullmatch(r"node0\.fabric\.(cluster\d+\.to_cluster\d+)\.transmitter\.busy", path))}
    remote = {}
    for place in PLACES[1:]:
        count = total(rf"node0\.gpu\d+\.core\.fabric\.{place}\.read_latency\.count")
        remote[place] = total(rf"node0\.gpu\d+\.core\.fabric\.{place}\.read_latency\.sum") / count / 1e12 if count else 0.0
    return Measured(
        point, right, kernels, platform.statistics["sim.wall_s"] - regions.wall_before,
        total(r"node0\.gpu\d+\.core\.wavefront_instructions"), total(r"node0\.gpu\d+\.core\.l1\.transactions"),
        total(r"node0\.gpu\d+\.core\.memory\.unit\d+\.l1\.misses"), accesses, tables,
        {n: total(rf"node0\.gpu\d+\.core\.fabric\.other_cluster\.reads_needing_{n}") for n in NEEDED},
        {(c, p): total(rf"{slow}sent\.{c}\.padded_{p}_flits") for c in CLASSES for p in PADDINGS},
        {c: total(rf"{slow}sent\.{c}\.packets") for c in CLASSES},
        {link: value / 1e12 / kernels for link, value in busy.items()}, regions.load, regions.window, remote, links,
        picture=platform.nodes[0].fabric.draw(values=dict(sums), seconds=kernels, title=f"{point.workload}: measured kernels"),
        attribution=regions.attribution, returning_s=total(r"node0\.gpu\d+\.core\.memory\.unit\d+\.load_latency\.sum") / 1e12)


def as_record(m: Measured) -> dict[str, Any]:
    """A run as one line of a table."""
    everywhere = sum(m.accesses.values()) or 1.0
    flits = sum(m.flits.values())
    lines = sum(m.needed.values())
    packets = sum(m.packets.values())
    tables = sum(count for c, count in m.packets.items() if c.startswith("page_table"))
    return {
        "workload": m.point.workload, "machine": m.point.machine, "right": m.right, "kernels_us": m.kernels_s * 1e6,
        "wavefront_instructions": m.wavefront_instructions, "l1_transactions": m.transactions,
        "l1_mpki": 1e3 * m.l1_misses / m.wavefront_instructions if m.wavefront_instructions else None,
        **{f"{place}_%": 100 * sum(n for (_, p), n in m.accesses.items() if p == place) / everywhere for place in PLACES},
        "page_table_%_of_slow_packets": 100 * tables / packets if packets else None,
        "flits_padded_25_or_75_%": 100 * sum(n for (_, p), n in m.flits.items() if p in (25, 75)) / flits if flits else None,
        "lines_needing_16_bytes_%": 100 * m.needed[16] / lines if lines else None,
        "slow_link_busy_%": 100 * max(m.utilisation.values(), default=0.0),
        "same_cluster_read_us": m.remote_read_s["same_cluster"] * 1e6, "other_cluster_read_us": m.remote_read_s["other_cluster"] * 1e6,
        "wall_s": m.wall_s,
    }
