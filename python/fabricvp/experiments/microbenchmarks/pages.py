# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on microbenchmarks."""

from __future__ import annotations

from ..page_layout import EMPTY, Frames, PageTable, as_published, bytes_of, fixed, pivoted, significant

#: Kernels of `arithmetic` as the page calls them.
INSTRUCTIONS = {
    "alu": "addition, 64 bits",
    "mul": "multiplication, 64 bits",
    "fma32": "multiply-add, 32 bits",
    "fma64": "multiply-add, 64 bits",
}


def figures(frames: Frames) -> PageTable:
    """What was measured beside parameters and real GPUs."""
    rows = [
        (
            str(line["figure"]),
            significant(3)(line["measured"]),
            as_published(line["published"]) or EMPTY,
            str(line["unit"]),
            str(line["source"]),
        )
        for _, line in frames["rows"].iterrows()
    ]
    return PageTable(("figure", "measured", "a real GPU", "unit", "source"), rows)


def latency(frames: Frames) -> PageTable:
    """Cycles of a load by footprint."""
    rows = [
        (
            bytes_of(int(line["bytes"])),
            str(line["level"] or EMPTY),
            fixed(1)(line["cycles"]),
            EMPTY if line["parameters"] != line["parameters"] else fixed(0)(line["parameters"]),
        )
        for _, line in frames["latency"].iterrows()
    ]
    return PageTable(("bytes", "level", "cycles a hop", "sum of parameters"), rows)


def far_latency(frames: Frames) -> PageTable:
    """Cycles of a load elsewhere."""
    frame = frames["far_latency"].assign(fits=lambda f: ["half of the L1" if x else "more" for x in f["fits_L1"]])
    return pivoted(frame, "memory of", "memory", "fits", "cycles", fixed(0))


def bandwidth(frames: Frames) -> PageTable:
    """Streams by level, compute units and wavefronts."""
    frame = frames["bandwidth"]
    frame = frame.assign(
        what=[
            f"{level}, {kind}s, {n} compute units"
            for level, kind, n in zip(frame["level"], frame["kind"], frame["compute_units"])
        ]
    ).sort_values("wavefronts", kind="stable")
    peaks = dict(zip(frame["what"], frame["peak"]))
    found = pivoted(
        frame, "bytes a cycle", "what", "wavefronts", "bytes_per_cycle", fixed(0), sorted(peaks), missing="–",
        column_name=lambda n: f"{n} wavefront{'s' * (n > 1)}",
    )  # fmt: skip
    return PageTable((*found.columns, "peak"), [(*row, fixed(0)(peaks[row[0]])) for row in found.rows])


def links(frames: Frames) -> PageTable:
    """Streams to memory elsewhere."""
    frame = frames["links"]
    rows = [
        (
            str(line["memory"]),
            f"{line['kind']}s",
            str(int(line["compute_units"])),
            str(int(line["wavefronts"])),
            fixed(1)(line["bytes_per_cycle"]),
            fixed(1)(line["peak"]),
        )
        for _, line in frame.iterrows()
    ]
    return PageTable(("memory of", "", "compute units", "wavefronts", "bytes a cycle", "link"), rows)


def arithmetic(frames: Frames) -> PageTable:
    """Cycles an instruction, by wavefronts of a compute unit."""
    frame = frames["arithmetic"]
    frame = frame.assign(
        what=[
            f"{INSTRUCTIONS[i]}, {'a chain' if f == 'chain' else 'four chains'}"
            for i, f in zip(frame["instruction"], frame["form"])
        ]
    )
    return pivoted(
        frame, "cycles an instruction", "what", "wavefronts", "cycles", fixed(2),
        column_name=lambda n: f"{n} wavefront{'s' * (n > 1)}",
    )  # fmt: skip


def lds(frames: Frames) -> PageTable:
    """Cycles of the LDS by stride."""
    frame = frames["lds"]
    frame = frame[frame["stride"] > 0].sort_values("stride", kind="stable")
    frame = frame.assign(what=[f"{k}s, {w} wavefronts" for k, w in zip(frame["kind"], frame["wavefronts"])])
    return pivoted(frame, "cycles an instruction", "what", "stride", "cycles", fixed(1), column_name=bytes_of)


def coalescing(frames: Frames) -> PageTable:
    """Cycles of the L1 by stride."""
    frame = frames["coalescing"]
    lines = [str(int(n)) for n in frame["lines"]]
    return PageTable(
        ("bytes between lanes", *(str(int(n)) for n in frame["stride"])),
        [("lines", *lines), ("cycles a load", *(fixed(2)(n) for n in frame["cycles"]))],
    )


def atomics(frames: Frames) -> PageTable:
    """Atomic additions by stride."""
    frame = frames["atomics"].sort_values("compute_units", kind="stable")
    chain = dict(zip(frame["stride"], frame["chain_cycles"]))
    found = pivoted(
        frame, "bytes between lanes", "stride", "compute_units", "lanes_per_cycle", fixed(2),
        column_name=lambda n: f"lanes a cycle, {n} compute unit{'s' * (n > 1)}",
    )  # fmt: skip
    return PageTable(
        (*found.columns, "cycles, one after the other"), [(*row, fixed(0)(chain[int(row[0])])) for row in found.rows]
    )


def barriers(frames: Frames) -> PageTable:
    """Cycles from a barrier to the next."""
    frame = frames["barriers"]
    return PageTable(
        ("wavefronts", *(str(int(n)) for n in frame["wavefronts"])),
        [("cycles", *(fixed(1)(n) for n in frame["cycles"]))],
    )


def dispatch(frames: Frames) -> PageTable:
    """Launches of a kernel that does nothing."""
    rows = [
        (
            f"{int(line['work_groups']):,}",
            str(int(line["wavefronts"])),
            fixed(2)(line["launch_us"]),
            fixed(2)(line["cycles_per_work_group"]),
        )
        for _, line in frames["dispatch"].iterrows()
    ]
    return PageTable(("work-groups", "wavefronts of each", "launch, µs", "cycles a work-group"), rows)


def associativity(frames: Frames) -> PageTable:
    """Cycles of a load by lines of one set."""
    frame = frames["associativity"]
    rows = [
        (f"{line['level']}, {int(line['ways'])} ways", str(int(line["lines"])), fixed(1)(line["cycles"]))
        for _, line in frame.iterrows()
    ]
    return PageTable(("cache", "lines of one set", "cycles a load"), rows)


def tlb(frames: Frames) -> PageTable:
    """Cycles of a load by pages."""
    frame = frames["tlb"]
    return PageTable(
        (f"pages, {int(frame['entries'].iloc[0])} entries", *(str(int(n)) for n in frame["pages"])),
        [("cycles a load", *(fixed(1)(n) for n in frame["cycles"]))],
    )


def hashing(frames: Frames) -> PageTable:
    """Lines a cycle by stride."""
    rows = [
        (
            str(line["level"]),
            f"{int(line['stride']):,}",
            str(int(line["in_use"])),
            fixed(2)(line["lines_per_cycle"]),
            fixed(2)(line["peak"]),
        )
        for _, line in frames["hashing"].iterrows()
    ]
    return PageTable(("level", "bytes between lanes", "banks or channels", "lines a cycle", "peak"), rows)


def fairness(frames: Frames) -> PageTable:
    """Two kernels on one resource."""
    rows = [
        (str(line["shared"]), *(fixed(1)(line[c]) for c in ("alone", "first", "second")), fixed(2)(line["overlap"]))
        for _, line in frames["fairness"].iterrows()
    ]
    return PageTable(("shared", "one alone, bytes a cycle", "first of two", "second", "overlap"), rows)


#: Tables of the page.
TABLES = {
    make.__name__: make
    for make in (
        figures,
        latency,
        far_latency,
        bandwidth,
        links,
        arithmetic,
        lds,
        coalescing,
        atomics,
        barriers,
        dispatch,
        associativity,
        tlb,
        hashing,
        fairness,
    )
}
