# SPDX-License-Identifier: Apache-2.0
"""Which points are run: sweeps of settings, each at some design points, with small inputs of a few workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..gpu_workloads.measure import Point
from ..netcrafter.points import BASELINE, IDEAL, PAGE_SIZES, POINTS, Overrides, pages_of

MACHINE, IDEAL_MACHINE = "netcrafter_quad", "netcrafter_quad_ideal"
#: Sizes: (default, with --quick, seconds at the default). Much smaller than those of `netcrafter`, so that sweeps end
#: in minutes; every one of the main workloads still has more pages than a TLB has entries, or more lines than an L1,
#: and the slow link busy.
SIZES = {
    "gups": (1 << 20, 1 << 16, 5),
    "spmv": (8192, 2048, 2),
    "pagerank": (16384, 4096, 4),
    "mis": (65536, 8192, 4),
    "syr2k": (128, 64, 1),
    "mm2": (128, 64, 1),
    "mvt": (1024, 256, 3),
}
MAIN = ("gups", "spmv", "pagerank", "mis", "syr2k")
INTER_CLUSTER, INTRA_CLUSTER = 4, (0, 1, 2, 3)  #: links of the machine by number


@dataclass(frozen=True)
class Setting:
    """A value of what a sweep varies. ``with_controllers``: it concerns the controllers alone, so points without stay
    as they are."""

    name: str
    overrides: Overrides = ()
    with_controllers: bool = False
    placement: str = "lasp"
    dispatch: str = "lasp"


@dataclass(frozen=True)
class Sweep:
    """Settings, each run at some design points."""

    title: str
    settings: tuple[Setting, ...]
    quick: tuple[str, ...]  #: settings with --quick
    points: tuple[str, ...]
    workloads: tuple[str, ...] = MAIN
    reference: str = BASELINE  #: speed-ups are over this point at the same setting


@dataclass(frozen=True)
class Case:
    """One run of a sweep."""

    sweep: str
    setting: str
    at: str
    point: Point


def _rates(inside: int, between: int) -> Overrides:
    """GB/s each way on eight lanes."""
    return (
        *((f"node.fabric.links.{n}.lane_rate", f"{inside / 8:g} GB/s") for n in INTRA_CLUSTER),
        (f"node.fabric.links.{INTER_CLUSTER}.lane_rate", f"{between / 8:g} GB/s"),
    )


def _reach(sets: int, ways: int, cached: bool) -> Overrides:
    return (
        ("node.gpus.*.memory.l2_tlb.sets", str(sets)),
        ("node.gpus.*.memory.l2_tlb.ways", str(ways)),
        ("node.gpus.*.memory.gmmu.walk_cache_entries", "64" if cached else "0"),
    )


_STAGE = "node.fabric.switches.*.stage."
_WINDOWS = tuple(Setting(f"{w} cycles", ((_STAGE + "window", f"{w} cycles"),), True) for w in (8, 16, 32, 64, 128))
_TLBS = {"512": (32, 16), "1 K": (64, 16), "4 K": (256, 16), "all memory": (8192, 64)}


def _choice(name: str, **values: str) -> Setting:
    """Of the controllers, in what the published description leaves open."""
    return Setting(name, tuple((_STAGE + key, value) for key, value in values.items()), True)


def _predictor(history: int) -> Overrides:
    """That L1 caches predict reuse from so many lines of an instruction."""
    l1 = "node.gpus.*.memory.unit.l1."
    return ((l1 + "trim_predictor", "true"), (l1 + "trim_history", str(history)))


#: In which the published verdicts on pooling are looked for, and two that walk more or less.
VERDICTS = ("pagerank", "syr2k", "gups", "spmv")

SWEEPS: dict[str, Sweep] = {
    "parts": Sweep(
        "Each part alone, and the control of sequencing",
        (Setting("as it is"),),
        ("as it is",),
        (IDEAL, "stitching", "trimming", "sequencing", "data-first", "all"),
    ),
    "window": Sweep(
        "The pooling window; 0 is stitching without pooling",
        _WINDOWS,
        ("32 cycles", "128 cycles"),
        ("pooling", "selective-pooling"),
    ),
    "timer": Sweep(
        "From when the pooling window counts, and what virtual channels keep of the cluster queue",
        (
            *(
                _choice(f"{start}, {kept}", window_from=start, reserved=kept)
                for kept in ("half", "packet")
                for start in ("head", "arrival")
            ),
            _choice("head, half, whole window", window_from="head", reserved="half", whole_window="true"),
        ),
        ("head, half", "arrival, half"),
        ("stitching", "pooling", "selective-pooling", "all"),
        VERDICTS,
    ),
    "walks": Sweep(
        "Which page-table packets go first",
        tuple(_choice(name, sequencing=name) for name in ("page_tables", "read_critical")),
        ("page_tables", "read_critical"),
        ("sequencing", "all"),
        VERDICTS,
    ),
    "riders": Sweep(
        "Bytes of a sub-header, candidates that ride in a flit, and ends of packets among them",
        (
            *(_choice(f"sub-header {n} B", sub_header=f"{n} B") for n in (4, 2)),
            *(_choice(f"{n} candidates", candidates=str(n)) for n in (4, 2, 1)),
            _choice("1 end", sub_header="2 B", partial_candidates="1"),
        ),
        ("sub-header 4 B", "sub-header 2 B"),
        ("stitching", "all"),
        VERDICTS,
    ),
    "predictor": Sweep(
        "Which read responses are trimmed: none, by the published rule all of one needed sector, or of those as a"
        " predictor in L1 says",
        (
            Setting("never", ((_STAGE + "trimming", "false"),), True),
            Setting("published rule"),
            *(Setting(f"history of {n}", _predictor(n), True) for n in (1, 2, 4, 8)),
        ),
        ("published rule", "history of 2"),
        ("trimming", "all"),
        tuple(SIZES),
    ),
    "flit": Sweep(
        "The flit",
        tuple(Setting(f"{n} bytes", (("node.fabric.packet.flit", f"{n} B"),)) for n in (8, 16, 32)),
        ("8 bytes", "16 bytes"),
        ("stitching", "all"),
    ),
    "rates": Sweep(
        "GB/s inside and between clusters",
        tuple(
            Setting(f"{a} : {b}", _rates(a, b))
            for a, b in ((128, 16), (128, 32), (128, 64), (128, 128), (256, 16), (512, 16), (32, 32))
        ),
        ("128 : 16", "128 : 128"),
        ("all",),
    ),
    "tlb": Sweep(
        "Entries of a GPU's TLB, with and without page-walk caches",
        tuple(
            Setting(f"{name}{'' if cached else ', no walk cache'}", _reach(*size, cached))
            for cached in (True, False)
            for name, size in _TLBS.items()
        ),
        ("512", "all memory"),
        ("sequencing", "all"),
        ("gups", "pagerank", "mvt"),
    ),
    "policies": Sweep(
        "Where pages go and work-groups run",
        tuple(
            Setting(f"{p}, {d}", placement=p, dispatch=d)
            for p in ("contiguous", "interleaved", "lasp", "first_touch_recorded")
            for d in ("contiguous", "round_robin", "lasp")
        ),
        ("interleaved, round_robin", "lasp, lasp"),
        (IDEAL, "all"),
        ("spmv", "mis", "syr2k", "mvt"),
    ),
    "queues": Sweep(
        "Queues of a device",
        (Setting("one a channel"), Setting("by destination", (("node.fabric.device.queues_by_destination", "true"),))),
        ("one a channel", "by destination"),
        (IDEAL, "all"),
    ),
    "pages": Sweep(
        "Pages of the workloads' buffers",
        tuple(Setting(size, pages_of(size)) for size in PAGE_SIZES),
        PAGE_SIZES,
        (IDEAL, "sequencing", "all"),
    ),
    "size": Sweep("Slow-down against size", (), (), (IDEAL,), ("spmv", "mis", "syr2k", "mm2")),
}
#: Of the sweep `size`: (by default, with --quick). Rows of `syr2k` of 256 words lie in few sets of an L1; those of 240
#: and 272 do not.
AGAINST_SIZE = {
    "spmv": ((2048, 4096, 8192, 16384), (1024, 2048)),
    "mis": ((16384, 65536, 262144), (4096, 8192)),
    "syr2k": ((64, 128, 192, 240, 256, 272), (64, 80)),
    "mm2": ((64, 128, 256), (32, 64)),
}


def cases(names: list[str], quick: bool) -> Iterator[Case]:
    """Every run of some sweeps; several may be one and the same point."""
    for name in names:
        sweep = SWEEPS[name]
        if name == "size":
            yield from _sizes(sweep.points, quick)
        for setting in sweep.settings:
            if quick and setting.name not in sweep.quick:
                continue
            for workload in sweep.workloads[:2] if quick else sweep.workloads:
                for at in (BASELINE, *sweep.points):
                    yield Case(name, setting.name, at, _point(workload, setting, at, quick))


def _sizes(points: tuple[str, ...], quick: bool) -> Iterator[Case]:
    for workload, sizes in AGAINST_SIZE.items():
        for size in sizes[1 if quick else 0]:
            for at in (BASELINE, *points):
                yield Case(
                    "size",
                    str(size),
                    at,
                    Point(workload, IDEAL_MACHINE if at == IDEAL else MACHINE, size, "lasp", "lasp"),
                )


def seconds(point: Point) -> float:
    """Roughly, of a run."""
    size, _, took = SIZES[point.workload]
    return max(0.5, took * point.size / size)


def _point(workload: str, setting: Setting, at: str, quick: bool) -> Point:
    own = POINTS.get(at, ())
    given = () if setting.with_controllers and not any(".stage." in key for key, _ in own) else setting.overrides
    if not any(key.endswith(".pooling") for key, _ in own):  # there is no window then
        given = tuple(pair for pair in given if pair[0] not in _WINDOW_KEYS)
    given = tuple(pair for pair in given if pair not in _DEFAULTS)
    return Point(
        workload,
        IDEAL_MACHINE if at == IDEAL else MACHINE,
        SIZES[workload][1 if quick else 0],
        setting.placement,
        setting.dispatch,
        overrides=tuple(dict(own + given).items()),
    )


#: What the machine has anyway: the same point then has one name.
_DEFAULTS = {
    *_rates(128, 16),
    *_reach(32, 16, True),
    ("node.fabric.packet.flit", "16 B"),
    (_STAGE + "window", "32 cycles"),
    (_STAGE + "window_from", "arrival"),
    (_STAGE + "reserved", "half"),
    (_STAGE + "sub_header", "4 B"),
}
_WINDOW_KEYS = {_STAGE + key for key in ("window", "window_from", "whole_window")}
