# SPDX-License-Identifier: Apache-2.0
"""One workload on one machine: what its measured kernels did, from the statistics of the regions that the firmware
marks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._renamed import renamed_members
from ...conditions import Marker
from ...errors import InputError
from ...platform import Platform
from ...results import Outcome
from ..frame import Figure, Missing
from ..machines import record_machine
from .attribution import Attribution
from .roles import Counts, PartFinder, Roles, roles_of
from .timeline import lanes_over_time, launches_over_time, reversal, series

CLASSES = (
    "read_request",
    "read_response",
    "write_request",
    "write_response",
    "page_table_request",
    "page_table_response",
)
PADDINGS = (0, 25, 50, 75, 100)
NEEDED = (16, 32, 48, 64)
PLACES = ("local", "same_cluster", "other_cluster")
REVERSAL = {
    "reversals": 1.0,
    "restored_lanes": 1.0,
    "samples": 1.0,
    "reversal_time": 1e-12,
}  #: statistics of links whose lanes reverse, and their units
CONTROLLER = (
    "packets",
    "left",
    "wire_flits",
    "buffer_flits",
    "padding_bytes",
    "stitched",
    "stitched_ends",
    "trimmed",
    "prioritized",
    "pooled",
    "saved_flits.stitching",
    "saved_flits.ends",
    "saved_flits.trimming",
)
#: Packets that devices handed to the fabric in the measured regions, that arrived, that their devices were told to have
#: failed, and that were under way when regions began and ended.
CONSERVED = ("sent", "received", "failed", "in flight before", "in flight after")
AT_THE_END = "in flight at the end"  #: beside these: when the workload had ended, and nothing should be any more


@dataclass(frozen=True)
class Point:
    """What to run. ``size`` 0 is the workload's default. With ``spans``, where the latency of loads went is recorded,
    too."""

    workload: str
    machine: str
    size: int = 0
    placement: str = ""
    dispatch: str = ""
    spans: bool = False
    overrides: tuple[tuple[str, str], ...] = ()  #: of parameters of the machine
    timeline: bool = False  #: what every link carried over time, and on how many lanes, is kept, too
    option: str = ""  #: of the application beside its size, as `--option` of `fabricvp run` takes it
    node: int | None = (
        None  #: that runs the workload, while the others run what their images say; None: a machine's only one
    )

    @property
    def place(self) -> int:
        """Number of the node."""
        return self.node or 0


@renamed_members(right="correct", picture="svg_figure", returning_s="read_latency_s")
@dataclass
class Measured:
    """Sums over the measured regions of one run; times in seconds."""

    point: Point
    correct: bool
    kernels_s: float  #: simulated time of the measured regions, with launches and what the host does between kernels
    wall_s: float
    wavefront_instructions: float
    transactions: float
    l1_misses: float
    accesses: dict[
        tuple[int, str], float
    ]  #: by (GPU, place): lines read, written or changed by atomics behind its L1 caches
    page_table_reads: dict[tuple[int, str], float]
    clusters: int  #: that the GPUs are in. With fewer than two nothing crosses, and what follows is empty
    needed: dict[int, float]  #: reads of lines in the other cluster, by bytes needed of the line
    flits: dict[tuple[str, int], float]  #: on the links between clusters, by class and padding in %
    packets: dict[str, float]  #: there, by class
    utilisation: dict[str, float]  #: of these links, by direction: busy part of the kernels' time
    load: dict[str, list[float]] = field(
        default_factory=dict
    )  #: of the longest region, by direction: bytes in each window. Of links
    #: between clusters; with `Point.timeline` of all
    window_s: float = 0.0
    lanes: dict[str, list[float]] = field(
        default_factory=dict
    )  #: with `Point.timeline`, where lanes reverse: lanes in each window
    busy: dict[str, float] = field(default_factory=dict)  #: part of the kernels' time, by direction of every link
    reversal: dict[str, float] = field(
        default_factory=dict
    )  #: sums over all links whose lanes reverse: turns, returns, samples, turning_s
    launches: float = 0.0  #: of kernels, on all GPUs
    remote_read_s: dict[str, float] = field(default_factory=dict)  #: mean, by place that reads went to
    links: dict[str, float] = field(default_factory=dict)  #: bytes sent, by direction of every link
    controllers: dict[str, float] = field(
        default_factory=dict
    )  #: sums of NetCrafter's controllers, where there are any
    predictions: dict[str, float] = field(
        default_factory=dict
    )  #: sums of the predictors of reuse in L1 caches, where there are any
    packets_of_devices: dict[str, float] = field(
        default_factory=dict
    )  #: `CONSERVED`, summed over devices; empty without a fabric
    svg_figure: str = ""  #: SVG of the fabric with what its links carried
    attribution: Attribution | None = None  #: with `Point.spans`
    read_latency_s: float = (
        0.0  #: latency of everything that brings lanes a value, by the compute units' own statistics
    )
    kernel_time_s: float = 0.0  #: of it that in which a kernel ran on at least one GPU
    starts: dict[int, list[float]] = field(
        default_factory=dict
    )  #: with `Point.timeline`: when kernels were launched, in s, by GPU


def machine(point: Point, build: Callable[..., Platform] = Platform.from_config) -> Platform:
    """The machine of a point with its workload, not yet run. ``build`` may be `fabricvp.spawn`. Raises `InputError`."""
    append = f"app={point.workload}" + (f" size={point.size}" if point.size else "")
    append += f" {point.option}" if point.option else ""
    for key, policy in (("placement", point.placement), ("dispatch", point.dispatch)):
        append += f" {key}={policy}" if policy else ""
    where = "node" if point.node is None else f"node{point.node}"
    overrides = {f"{where}.images.firmware": "firmware:gpu_apps.elf", f"{where}.images.append": append}
    if point.node is not None:
        overrides["simulation.until"] = where
    return build(point.machine, overrides=overrides | dict(point.overrides))


def measure(point: Point) -> Measured:
    """Runs a workload. Raises `InputError` if the machine cannot run it, or if it ends without a verdict."""
    with machine(point) as platform:
        return observe(platform, point)


def observe(platform: Platform, point: Point) -> Measured:
    """Runs the machine of a point to its end. Raises as `measure()`."""
    return observe_all(platform, [point])[0]


def observe_all(
    platform: Platform, points: Sequence[Point], on_begin: Callable[[], None] = lambda: None
) -> list[Measured]:
    """The same for a machine that runs several workloads one after the other. ``begun()`` is called when the first
    measured region begins."""
    found: list[Measured] = []
    node = points[0].place
    roles = roles_of(platform, node)
    if points[0].spans and any(other.gpus for other in platform.nodes if other.index != node):
        raise InputError(f"{points[0].machine}: accesses of all nodes' GPUs are recorded together: give --no-spans")
    for point in points:
        record_machine(f"{point.workload} on {point.machine}", platform)

    def regions() -> _Regions:
        return _Regions(roles, PartFinder(roles), wall_before=platform.statistics["sim.wall_s"])

    current = regions()
    while True:
        result = platform.run(
            until=[Marker("kernels", "reset", node), Marker("kernels", "dump", node), Marker(kind="note", node=node)]
        )
        if result.outcome != Outcome.EVENT or len(found) == len(points):
            break
        if "reset" in result.detail:
            if not found and not current.kernels:
                on_begin()
            current.begin(platform, result.time, points[len(found)])
        elif "dump" in result.detail:
            current.end(platform, result.time)
        elif current.kernels and "app " in result.detail:
            found.append(_summed(platform, points[len(found)], "app ok" in result.detail, current))
            if roles.directions:
                found[-1].packets_of_devices[AT_THE_END] = platform.statistics[roles.in_flight]
            current = regions()
    if len(found) < len(points):
        point = points[len(found)]
        raise InputError(
            f"{point.workload} on {point.machine} ended without a verdict: {result.outcome} {result.detail}; "
            f"the console ends with {platform.nodes[node].console.output[-300:]!r}"
        )
    return found


@dataclass
class _Regions:
    """Sums over the measured regions of one workload."""

    roles: Roles
    parts: PartFinder
    wall_before: float = 0.0
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    kernels: float = 0.0
    window: float = 0.0  #: of ``load``, bytes by link in the longest region
    load: dict[str, list[float]] = field(default_factory=dict)
    lanes: dict[str, list[float]] = field(default_factory=dict)
    starts: dict[int, list[float]] = field(default_factory=dict)
    attribution: Attribution | None = None
    timeline: bool = False
    began: float = 0.0
    longest: float = 0.0
    before: float = 0.0  #: packets under way when regions began

    def begin(self, platform: Platform, time: float, point: Point) -> None:
        self.began, self.timeline = time, point.timeline
        if self.roles.directions:
            self.before += platform.statistics[self.roles.in_flight]
        if point.spans:
            self.attribution = self.attribution or Attribution()
            platform.spans.start(max_accesses=0)

    def end(self, platform: Platform, time: float) -> None:
        length = time - self.began
        self.kernels += length
        for path, value in platform.statistics.snapshot(self.roles.node + ".").items():
            self.sums[path] += value
        if self.attribution:
            self.attribution.add(platform.spans.paths(), self.parts)
            platform.spans.stop()
        if length > self.longest:
            self.longest = length
            self.window, self.load = series(
                platform,
                {
                    d.name: d.statistics["load"]
                    for d in (self.roles.directions if self.timeline else self.roles.between_clusters)
                },
            )
            if self.timeline and reversal(platform.statistics.series_names()):
                window, lane_time = series(platform, {d.name: lanes_over_time(d) for d in self.roles.directions})
                self.lanes = {name: [v / window / 1e12 for v in values] for name, values in lane_time.items()}
            if self.timeline:
                self.starts = {number: launches_over_time(platform, gpu) for number, gpu in enumerate(self.roles.gpus)}


def _summed(platform: Platform, point: Point, correct: bool, regions: _Regions) -> Measured:
    roles, kernels = regions.roles, regions.kernels
    counts = Counts(regions.sums)
    places = PLACES[1:] if roles.clusters > 1 else PLACES[1:2] if len(roles.gpus) > 1 and roles.directions else ()
    accesses, tables = {}, {}
    for number, gpu in enumerate(roles.gpus):
        port = f"{gpu}.fabric."
        # The host and the copy engine reach memory through L2, too.
        host_reads, host_writes = (
            sum(counts.of(f"{gpu}.host_interface.{way}.lines_{kind}") for way in ("window", "sdma.memory"))
            for kind in ("read", "written")
        )
        written = (
            counts.total([gpu], r"memory\.l2\.bank\d+\.(writes|atomics)")
            - counts.of(port + "incoming_writes")
            - host_writes
        )
        accesses[number, "local"] = counts.of(port + "local_reads") - host_reads + written
        tables[number, "local"] = counts.of(port + "local_page_table_reads")
        for place in places:
            accesses[number, place] = sum(counts.of(f"{port}{place}.{kind}") for kind in ("reads", "writes", "atomics"))
            tables[number, place] = counts.of(f"{port}{place}.page_table_reads")
    remote = {}
    for place in places:
        reads = counts.total(roles.gpus, rf"fabric\.{place}\.read_latency\.count")
        if reads:
            remote[place] = counts.total(roles.gpus, rf"fabric\.{place}\.read_latency\.sum") / reads / 1e12
    between = roles.between_clusters
    sent = [d.statistics["sent"] for d in between]
    fabric = platform.nodes[point.place].fabric
    reversible = {
        path.rsplit(".", 1)[0]
        for path in regions.sums
        if re.fullmatch(rf"{roles.node}\.fabric\.lanes_\w+\.reversals", path)
    }
    egresses = [f"{d.path}_egress" for d in between if f"{d.path}_egress.wire_flits" in regions.sums]
    return Measured(
        point,
        correct,
        kernels,
        platform.statistics["sim.wall_s"] - regions.wall_before,
        counts.total(roles.gpus, "wavefront_instructions"),
        counts.total(roles.gpus, r"l1\.transactions"),
        counts.total(roles.gpus, r"memory\.unit\d+\.l1\.misses"),
        accesses,
        tables,
        roles.clusters,
        {n: counts.total(roles.gpus, rf"fabric\.other_cluster\.reads_needing_{n}") for n in NEEDED if between},
        {(c, p): counts.total(sent, rf"{c}\.padded_{p}_flits") for c in CLASSES for p in PADDINGS if between},
        {c: counts.total(sent, rf"{c}\.packets") for c in CLASSES if between},
        {d.name: counts.of(d.statistics["busy"]) / 1e12 / kernels for d in between},
        regions.load,
        regions.window,
        regions.lanes,
        {d.name: counts.of(d.statistics["busy"]) / 1e12 / kernels for d in roles.directions},
        {
            name: unit * sum(counts.of(f"{link}.{name}") for link in reversible)
            for name, unit in REVERSAL.items()
            if reversible
        },
        counts.total(roles.gpus, r".*launches\.launch_to_start\.count"),
        remote,
        {d.name: counts.of(d.statistics["bytes"]) for d in roles.directions},
        controllers={name: sum(counts.of(f"{e}.{name}") for e in egresses) for name in CONTROLLER if egresses},
        predictions=_predictions(roles, counts, regions.sums),
        packets_of_devices=_conserved(roles, counts, regions.before),
        svg_figure=(
            fabric.draw(values=dict(regions.sums), seconds=kernels, title=f"{point.workload}: measured kernels")
            if fabric.exists
            else ""
        ),
        attribution=regions.attribution,
        kernel_time_s=counts.of(f"{roles.node}.kernels.time") / 1e12,
        starts=regions.starts,
        read_latency_s=counts.total(roles.gpus, r"memory\.unit\d+\.load_latency\.sum") / 1e12,
    )


#: Statistics of a predictor of reuse.
PREDICTOR = ("trimmed", "kept_whole", "reused", "unused")


def _predictions(roles: Roles, counts: Counts, sums: Mapping[str, float]) -> dict[str, float]:
    if not any(".l1.trim_predictor." in name for name in sums):
        return {}
    return {n: counts.total(roles.gpus, rf"memory\.unit\d+\.l1\.trim_predictor\.{n}") for n in PREDICTOR}


def _conserved(roles: Roles, counts: Counts, before: float) -> dict[str, float]:
    if not roles.directions:
        return {}
    devices = [v.path for v in roles.vertices if not v.is_switch]
    totals = [
        sum(counts.of(f"{device}.packets_{what}") for device in devices) for what in ("sent", "received", "failed")
    ]
    return dict(zip(CONSERVED, (*totals, before, counts.of(roles.in_flight))))


def conservation_error(m: Measured) -> str:
    """What of the packets that devices sent neither arrived nor was reported as failed; empty if that is none."""
    found = m.packets_of_devices
    if not found:
        return ""
    if found[AT_THE_END]:
        return (
            f"{m.point.workload} on {m.point.machine}: {found[AT_THE_END]:.0f} packets have neither arrived nor failed"
            " at the end"
        )
    came, went = (
        found["sent"] + found["in flight before"],
        found["received"] + found["failed"] + found["in flight after"],
    )
    return (
        ""
        if came == went
        else f"{m.point.workload} on {m.point.machine}: {came:.0f} sent, {went:.0f} arrived, failed or in flight"
    )


#: Why figures of what crosses between clusters may be missing.
NO_CLUSTERS = Missing("no link of the machine joins clusters")


def _share(part: float, whole: float, of: str) -> Figure:
    """In %."""
    return 100 * part / whole if whole else Missing(f"there were no {of}")


def as_record(m: Measured) -> dict[str, Any]:
    """A run as one line of a table. What could not be measured is `Missing`."""
    flits, lines, packets = sum(m.flits.values()), sum(m.needed.values()), sum(m.packets.values())
    everywhere = sum(m.accesses.values())
    tables = sum(count for c, count in m.packets.items() if c.startswith("page_table"))
    table_flits = sum(n for (c, _), n in m.flits.items() if c.startswith("page_table"))
    padded = sum(n for (_, p), n in m.flits.items() if p in (25, 75))

    def place(name: str) -> Figure:
        if all(p != name for _, p in m.accesses):
            return NO_CLUSTERS if name == "other_cluster" else Missing("no fabric joins GPUs")
        return _share(sum(n for (_, p), n in m.accesses.items() if p == name), everywhere, "accesses behind L1 caches")

    def crossing(part: float, whole: float, of: str) -> Figure:
        return _share(part, whole, of) if m.clusters > 1 else NO_CLUSTERS

    def read_time(name: str) -> Figure:
        return m.remote_read_s[name] * 1e6 if name in m.remote_read_s else Missing("nothing was read there")

    return {
        "workload": m.point.workload,
        "machine": m.point.machine,
        "correct": m.correct,
        "kernels_us": m.kernels_s * 1e6,
        "kernel_time_us": m.kernel_time_s * 1e6,
        "wavefront_instructions": m.wavefront_instructions,
        "l1_transactions": m.transactions,
        "l1_mpki": (
            1e3 * m.l1_misses / m.wavefront_instructions if m.wavefront_instructions else Missing("no wavefront ran")
        ),
        **{f"{name}_%": place(name) for name in PLACES},
        "page_table_%_of_slow_packets": crossing(tables, packets, "packets between clusters"),
        "page_table_%_of_slow_flits": crossing(table_flits, flits, "flits between clusters"),
        "flits_padded_25_or_75_%": crossing(padded, flits, "flits between clusters"),
        "lines_needing_16_bytes_%": crossing(m.needed.get(16, 0.0), lines, "lines read from other clusters"),
        "slow_link_busy_%": 100 * max(m.utilisation.values()) if m.utilisation else NO_CLUSTERS,
        "same_cluster_read_us": read_time("same_cluster"),
        "other_cluster_read_us": read_time("other_cluster"),
        "wall_s": m.wall_s,
    }


def for_table(record: dict[str, Any]) -> dict[str, Any]:
    """With nothing in the place of what is missing."""
    return {key: None if isinstance(value, Missing) else value for key, value in record.items()}
