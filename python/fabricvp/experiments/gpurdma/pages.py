# SPDX-License-Identifier: Apache-2.0
"""Tables of the pages on RDMA that kernels control, beside published figures."""

from __future__ import annotations

import pandas

from ..page_layout import (
    EMPTY,
    Frames,
    PageTable,
    as_published,
    bold,
    bytes_of,
    figures_of,
    fixed,
    significant,
    times_on,
)
from . import published

PLACES = (("host", "host"), ("GPU", "host"), ("host", "GPU"), ("GPU", "GPU"))
HEADS = tuple(f"{pair}, {queue}" for pair, queue in PLACES)
TOPOLOGIES = {"switch": "GPU and adapter below one switch", "root": "each below a root port"}
#: Methods to post of which Gb/s were published, and what they are called here.
METHODS = {
    "one at a time": "one at a time",
    "pipelined": "pipelined",
    "queue pair a warp": "a queue pair a warp",
    "queue pair a block": "a queue pair a block",
}
ANSWERS = {
    "CPU": "transfer, answered by a CPU",
    "one kernel": "… by one kernel whose work-groups wait for one notification",
    "each work-group by itself": "… by each work-group as soon as its own part is there",
}
#: Parts of a message's path, with the components and stages that each has.
PATH = (
    ("PCIe: the doorbell to the adapter, and the completion to the GPU", r"(gpu0|hca0)\.link: |pcie\."),
    ("doorbell, in the adapter", r"send_queues: doorbell"),
    ("fetch of the WQE, a read of the GPU's memory", r"send_queues: fetch"),
    ("fetch of the payload, the same", r"requester: payload"),
    ("scheduling", r"requester: scheduling"),
    ("cable, both ways", r"network\.link: "),
    ("receive, at both sides", r"network: receive"),
    ("completion", r"completion_queues: cqe"),
)
WORKERS = (
    ("a kernel for each batch", None),
    ("… and 20 us a launch", None),
    ("published, GPI-2", 0),
    ("one kernel", None),
    ("… whose work-groups each get their part", None),
    ("published, GPUrdma", 1),
)
NEW, OLD = "H200, ConnectX-7", "K40c, Connect-IB"
_two = fixed(2)


def _at(frame: pandas.DataFrame, place: tuple[str, str]) -> pandas.Series:
    """The line of a placement."""
    pair, queue = place
    return frame[(frame["queue_pair"] == pair) & (frame["completion_queue"] == queue)].iloc[0]


def placement(frames: Frames) -> PageTable:
    """Time of a message by topology and place of the queues."""
    rows = []
    for topology, part in frames["placement"].groupby("topology", sort=False):
        rows.append((TOPOLOGIES[topology], *(_two(_at(part, place)["us"]) for place in PLACES)))
        if topology == "switch":
            known = (as_published(published.PLACEMENT[place]) for place in PLACES)
            rows.append(("… published (one-way transfer latency)", *known))
    return PageTable(("µs a message: queue pair, completion queue in", *HEADS), rows)


def steps(frames: Frames) -> PageTable:
    """A message's time by the lane's steps, below one switch."""
    frame = frames["placement"]
    frame = frame[frame["topology"] == "switch"]
    names = ("writing_us", "ringing_us", "polling_us", "message_us")
    rows = [(head, *(_two(_at(frame, place)[name]) for name in names)) for head, place in zip(HEADS, PLACES)]
    known = (as_published(published.STEPS[name]) for name in ("writing", "ringing", "polling"))
    rows.append(("… published, both in the GPU", *known, EMPTY))
    heads = ("writing the entry", "record and doorbell", "until the completion is seen")
    return PageTable(
        ("µs, below one switch", *heads, "of it from the store to the doorbell until the completion is in memory"), rows
    )


def forms(frames: Frames) -> PageTable:
    """A message's time by what a release of system scope waits for."""
    rows = []
    for _, line in frames["forms"].iterrows():
        us = (_two(line[head]) for head in HEADS)
        read = _two(line["lane_reads_host_us"])
        rows.append((line["form"], *us, "yes" if line["published_order"] else "no", read))
    known = (as_published(published.PLACEMENT[place]) for place in PLACES)
    rows.append(("published", *known, EMPTY, EMPTY))
    heads = (*HEADS, "order as published", "a lane's read of host memory")
    return PageTable(("µs a message, below one switch", *heads), rows)


def stages(frames: Frames) -> PageTable:
    """Where the time of a message goes, with both queues in the GPU."""
    frame = frames["spans"]
    frame = _places(frame[frame["topology"] == "switch"], ("GPU", "GPU"))
    times = times_on(PATH, frame["component"], frame["stage"], frame["ns"])
    rows = [(label, fixed(0)(ns)) for (label, _), ns in zip(PATH, times)]
    return PageTable(("stage, both queues in the GPU", "ns"), [*rows, ("sum", fixed(0)(sum(times)))])


def _places(frame: pandas.DataFrame, place: tuple[str, str]) -> pandas.DataFrame:
    pair, queue = place
    return frame[(frame["queue_pair"] == pair) & (frame["completion_queue"] == queue)]


def bandwidth(frames: Frames) -> PageTable:
    """Messages and bytes a second by method and size: messages up to 1 KiB, bytes from there on."""
    frame = frames["throughput"]
    frame = frame[frame["topology"] == "switch"]
    sizes = sorted(set(frame["bytes"]))
    columns = [(size, "million_per_s", "M/s") for size in sizes if size <= 1024]
    columns += [(size, "gbps", "Gb/s") for size in sizes if size >= 1024]
    rows: list[tuple[str, ...]] = [(EMPTY, *(unit for *_, unit in columns))]
    for method, part in frame.groupby("method", sort=False):
        by = part.set_index("bytes")
        rows.append(
            (
                str(method),
                *(significant(3)(by.loc[s, v]) if v != "gbps" else fixed(1)(by.loc[s, v]) for s, v, _ in columns),
            )
        )
    return PageTable((EMPTY, *(bytes_of(size) for size, *_ in columns)), rows)


def posting(frames: Frames) -> PageTable:
    """Steps of a lane that posts one message after the other."""
    found = figures_of(frames)
    lines = (
        ("one at a time: a message", "one at a time, 8 B: a message", published.NAIVE),
        ("… writing the entry", "one at a time, 8 B: writing", published.STEPS["writing"]),
        ("… record and doorbell", "one at a time, 8 B: ringing", published.STEPS["ringing"]),
        ("… until the completion is seen", "one at a time, 8 B: polling", published.STEPS["polling"]),
        ("what reused entries save", "what reused entries save", published.REUSE_SAVES),
    )
    rows = [(label, _two(found[figure]), as_published(known)) for label, figure, known in lines]
    return PageTable(("step, 8 B", "µs here", "published"), rows)


def throughput_rates(frames: Frames) -> PageTable:
    """Bandwidth where one was published."""
    frame = frames["throughput"]
    frame = frame[frame["topology"] == "switch"]
    found = {(m, s): g for m, s, g in zip(frame["method"], frame["bytes"], frame["gbps"])}
    rows = [
        (f"{METHODS[method]}, {bytes_of(size)}", fixed(1)(found[method, size]), as_published(known))
        for (method, size), known in published.GBPS.items()
        if (method, size) in found
    ]
    return PageTable(("Gb/s", "here", "published"), rows)


def pingpong(frames: Frames) -> PageTable:
    """Notifications and transfers there and back."""
    found, frame = figures_of(frames), frames["throughput"]
    notified = "a notification there and back, answered by"
    rows = [
        (
            "notification there and back, answered by one work-group",
            f"{_two(found[f'{notified} one work-group'])} µs",
            f"{as_published(published.ROUND_TRIP)} µs",
        ),
        ("… by a CPU", f"{_two(found[f'{notified} a CPU'])} µs", EMPTY),
    ]
    for who, gbps in zip(frame["answered_by"], frame["gbps"]):
        rows.append((ANSWERS[who], f"{fixed(1)(gbps)} Gb/s", f"{as_published(published.PINGPONG[who])} Gb/s"))
    return PageTable((EMPTY, "here", "published"), rows)


def matvec(frames: Frames) -> PageTable:
    """Vectors a second by batch."""
    frame = frames["matvec"]
    batches = sorted(set(frame["vectors"]))
    found = {(w, n): v for w, n, v in zip(frame["worker"], frame["vectors"], frame["million_vectors_per_s"])}
    rows = []
    for worker, known in WORKERS:
        if known is None:
            rows.append((worker.replace(" us ", " µs "), *(fixed(1)(found[worker, n]) for n in batches)))
        else:
            rows.append((worker, *(as_published(published.MATVEC[n][known]) for n in batches)))
    return PageTable(("M vectors/s", *(f"{n:,}" for n in batches)), rows)


def costs(frames: Frames) -> PageTable:
    """What costs of the CPU's side explain of the published time of a small batch."""
    rows = [
        (str(line["cost"]).replace(" us ", " µs "), _no_value(line["source"]), fixed(1)(line["us"]), _percent(line))
        for _, line in frames["costs"].iterrows()
    ]
    vectors = min(published.MATVEC)
    rows += [
        (f"published, {name}", EMPTY, f"{vectors / rate:.0f}", EMPTY)
        for name, rate in zip(("GPI-2", "GPUrdma"), published.MATVEC[vectors])
    ]
    return PageTable((f"{vectors} vectors", "source", "µs a batch", "of what is missing"), rows)


def _no_value(source: object) -> str:
    return source.replace(" us", " µs") if isinstance(source, str) else EMPTY


def _percent(line: pandas.Series) -> str:
    share = float(line["of_the_missing"])
    return f"{share:.0%}".replace("%", " %") if share else EMPTY


def modern_latency(frames: Frames) -> PageTable:
    """A write of 8 bytes on both machines."""
    found = figures_of(frames)

    there = "8 B there and back between two work-groups"

    def line(figure: str, known: float | None) -> tuple[str, ...]:
        new, old = (_two(found[f"{machine}: {figure}"]) for machine in (NEW, OLD))
        return figure, new, EMPTY if known is None else _two(known), old

    rows = [
        line("from the doorbell to the completion", published.SEEN),
        line("payload that does not stand in the entry: more", published.NOT_INLINE),
        line(f"{there}, a fence that never waits for PCIe", published.MODERN_ROUND_TRIP),
        line(f"{there}, a fence of system scope", None),
    ]
    return PageTable(("µs; a write of 8 bytes in the entry, one lane", NEW, "published", OLD), rows)


def modern_fences(frames: Frames) -> PageTable:
    """Issue and completion of a write on both machines, by what stands in front of the doorbell."""
    frame = frames["fences"]
    columns = ("issue_us", "us")
    by = {(m, f): (i, us) for m, f, i, us in zip(frame["machine"], frame["fence"], *(frame[c] for c in columns))}
    rows = []
    for fence in dict.fromkeys(frame["fence"]):
        known = published.FENCES.get(fence.split(" that ")[0])
        cells = (EMPTY, EMPTY) if known is None else tuple(map(_two, known))
        (issue, whole), old = by[NEW, fence], by[OLD, fence]
        rows.append((fence, _two(issue), cells[0], _two(whole), cells[1], *map(_two, old)))
    for fence, (issue, whole) in published.OTHER_FENCES.items():
        rows.append((fence, EMPTY, _two(issue), EMPTY, _two(whole), EMPTY, EMPTY))
    heads = (f"{NEW}: to issue it", "published", "until its completion is seen", "published")
    return PageTable(("µs; in front of the doorbell", *heads, f"{OLD}: to issue it", "until it is seen"), rows)


def modern_rates(frames: Frames) -> PageTable:
    """Messages a second on both machines, and how large messages have to be."""
    found, known = figures_of(frames), published.MODERN_RATES
    ceiling = "64 queue pairs, a work-group each"
    rows = []
    for figure in (
        "one lane",
        "one lane, 16 entries a doorbell",
        "one lane, 32 entries a doorbell",
        "32 lanes, one queue pair",
        "16 queue pairs, a work-group each, an entry a doorbell",
        "16 queue pairs, a work-group each",
        "32 queue pairs in one work-group",
        "64 queue pairs in one work-group",
        ceiling,
        "many queue pairs",
    ):
        new, old = (significant(3)(found[f"{machine}: {figure}"]) for machine in (NEW, OLD))
        beside = "260: an input" if figure == ceiling else as_published(known[figure]) if figure in known else EMPTY
        rows.append((figure, new, beside, old))
    for method, beside in (
        ("many queue pairs", f"{bytes_of(published.NINE_TENTHS)} (NVSHMEM)"),
        ("32 lanes, one queue pair", EMPTY),
    ):
        sizes = (found.get(f"{machine}: nine tenths of the line rate from, {method}") for machine in (NEW, OLD))
        new, old = ("–" if size is None or size != size else bytes_of(int(size)) for size in sizes)
        rows.append((f"nine tenths of the line rate from, {method}", new, beside, old))
    return PageTable(("million messages of 8 bytes a second", NEW, "published", OLD), rows)


def what_if_cpu(frames: Frames) -> PageTable:
    """A hart through the verbs library, by tree and generation."""
    rows = [
        (f"{line.tree}, generation {line.generation}", _two(line.us), _two(line.million_per_s), fixed(1)(line.gbps))
        for line in frames["cpu"].itertuples()
    ]
    return PageTable(("a hart through the library", "µs, 8 B", "M/s, 32 requests a call", "Gb/s, 16 KiB"), rows)


def _best_bold(values: list[float], largest: bool) -> list[str]:
    best = max(values) if largest else min(values)
    return [bold(_two(v)) if v == best else _two(v) for v in values]


def what_if_latency(frames: Frames) -> PageTable:
    """Time of a message by tree, generation and placement; the best is bold."""
    rows = []
    for (tree, generation), part in frames["what_if"].groupby(["tree", "generation"], sort=False):
        us = [float(_at(part, place)["us"]) for place in PLACES]
        rows.append((f"{tree}, generation {generation}", *_best_bold(us, largest=False)))
    return PageTable(("µs a message of 8 B, one at a time: queue pair, completion queue in", *HEADS), rows)


def what_if_rates(frames: Frames) -> PageTable:
    """Messages a second by tree and placement; in brackets generation 5 where it differs by a percent."""
    rows = []
    for tree, part in frames["what_if"].groupby("tree", sort=False):
        old, new = (
            [float(_at(part[part["generation"] == g], place)["million_per_s"]) for place in PLACES] for g in (3, 5)
        )
        cells = [
            text if abs(b / a - 1) < 0.01 else f"{text} ({_two(b)})"
            for text, a, b in zip(_best_bold(old, largest=True), old, new)
        ]
        rows.append((str(tree), *cells))
    return PageTable(("million messages a second, 32 lanes together", *HEADS), rows)
