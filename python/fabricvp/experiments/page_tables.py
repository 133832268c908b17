# SPDX-License-Identifier: Apache-2.0
"""The tables that pages of docs/experiments show, made of the tables of an experiment's `result.json`. `fabricvp docs
refresh` writes them into the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .writing import number

if TYPE_CHECKING:
    import pandas

#: Tables of a result by name.
Frames = Mapping[str, "pandas.DataFrame"]
#: The order of rows, and of what a reader looks for first.
BACKENDS = ("CPU only", "HDN", "GDS", "GHN", "GHN, APU", "ComP-Net", "GPU-native")
EMPTY = ""


@dataclass(frozen=True)
class PageTable:
    """A table as a page shows it: every cell is text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table's lines."""
        lines = [self.columns, None, *self.rows]
        return "\n".join("|" + "---|" * len(self.columns) if row is None else _line(row) for row in lines)


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def significant(digits: int) -> Callable[[float], str]:
    """Writes a figure with that many digits, zeros at the end included."""

    def written(value: float) -> str:
        if value != value:
            return "–"
        if abs(value) >= 10 ** (digits - 1):
            return f"{value:,.0f}"
        return f"{value:#.{digits}g}".rstrip(".")

    return written


def fixed(places: int) -> Callable[[float], str]:
    """Writes a figure with that many places behind the point."""
    return lambda value: "–" if value != value else f"{value:,.{places}f}"


def pivoted(
    frame: pandas.DataFrame,
    heading: str,
    rows: str,
    columns: str,
    value: str,
    written: Callable[[float], str],
    order: Iterable[Any] = (),
    row_name: Callable[[Any], str] = str,
    column_name: Callable[[Any], str] = str,
    missing: str = EMPTY,
) -> PageTable:
    """A line for each value of ``rows``, a column for each of ``columns``, in ``order`` or as they come."""
    known = {(r, c): v for r, c, v in zip(frame[rows], frame[columns], frame[value])}
    across = list(dict.fromkeys(frame[columns]))
    down = list(dict.fromkeys(frame[rows]))
    wanted = list(order)
    down.sort(key=lambda name: wanted.index(name) if name in wanted else len(wanted))
    cells = [[written(known[r, c]) if (r, c) in known else missing for c in across] for r in down]
    return PageTable((heading, *map(column_name, across)), [(row_name(r), *line) for r, line in zip(down, cells)])


def as_it_is(frame: pandas.DataFrame) -> PageTable:
    """All columns of a table of the result."""
    return PageTable(
        [str(c) for c in frame.columns], [[number(v) for v in line] for line in frame.itertuples(index=False)]
    )


def _cpus(backend: str) -> str:
    return "CPUs alone" if backend == "CPU only" else backend


def _bytes(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"


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


def _latency_sizes(frames: Frames) -> PageTable:
    frame = frames["sizes"]
    frame = frame[frame["bytes"].isin([8, 64, 1024, 4096, 65536])]
    return pivoted(frame, "round trip, µs", "backend", "bytes", "round_trip_us", significant(3), column_name=_bytes)


def _latency_distance(frames: Frames) -> PageTable:
    heading = "at each end of the link to the root complex"
    return pivoted(
        frames["bus"], heading, "backend", "bus_ns", "round_trip_us", fixed(2), column_name=lambda ns: f"{ns} ns"
    )


def _latency_groups(frames: Frames) -> PageTable:
    frame = frames["threads"]
    many = int(frame["groups"].max())
    frame = frame[frame["groups"] == many]
    return pivoted(
        frame, f"{many} work-groups, µs", "backend", "threads", "round_trip_us", significant(3),
        column_name=lambda n: "1 thread" if n == 1 else str(n),
    )  # fmt: skip


def _latency_cores(frames: Frames) -> PageTable:
    """Columns are pairs of cores, narrow to wide; lines a backend with few and with many work-groups."""
    frame = frames["cores"]
    rows = []
    for (backend, groups), part in frame.groupby(["backend", "groups"], sort=False):
        figures = part.sort_values("instructions_a_cycle")["round_trip_us"]
        name = f"{backend}, one work-group" if groups == 1 else f"… {groups} work-groups"
        rows.append((name, *map(significant(3), figures)))
    return PageTable(("µs, instructions a cycle", "1", "1.5 (command processor), 2 (CPU)", "2, 4"), rows)


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
            lambda at: f"{_bytes(at[0])}: {at[1]} nodes" if at[1] == first[at[0]] else str(at[1]),
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


def _speed_ups(frames: Frames) -> PageTable:
    """A line for each workload, a column for each design point but the baseline."""
    frame = frames["speedups"]
    points = [c for c in frame.columns if c not in ("workload", "baseline")]
    rows = [(f"`{line['workload']}`", *(f"{line[p]:.3f}" for p in points)) for _, line in frame.iterrows()]
    for name, mean in (
        ("arithmetic mean", lambda s: s.mean()),
        ("geometric mean", _geometric),
        ("median", lambda s: s.median()),
    ):
        rows.append((name, *(f"{mean(frame[p]):.3f}" for p in points)))
    return PageTable(("workload", *(p.replace("-", " ") for p in points)), rows)


def _geometric(series: pandas.Series) -> float:
    return float(series.prod() ** (1 / len(series)))


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
    "compnet-jacobi": {"time": _jacobi("iteration_us", 1, True), "energy": _jacobi("iteration_uJ", 1e-3, False)},
    "compnet-latency": {
        "round_trips": _latency_sizes,
        "distance": _latency_distance,
        "work_groups": _latency_groups,
        "wider_cores": _latency_cores,
    },
    "compnet-locking": {"load": _locking},
    "compnet-reduction": {
        "time": _reduction("time_us", "µs an all-reduce", True),
        "energy": _reduction("mJ", "mJ an all-reduce, all nodes", False),
    },
    "compnet-scaling": {
        "round_trips": _scaling("round_trip_us", "round trip, µs", "requests a second, at most"),
        "streams": _scaling("messages_per_us", "million messages a second without replies"),
    },
    "netcrafter": {"speed_ups": _speed_ups},
    "scale": {
        "events": _scale("events_per_hop", "calendar events a packet-hop", fixed(3)),
        "processor_time": _scale("ns_per_hop", "processor time of a packet-hop, ns", fixed(0)),
        "memory": _scale_memory,
    },
}


def page_tables(experiment: str, frames: Frames) -> dict[str, PageTable]:
    """The tables of the experiment's page."""
    return {name: make(frames) for name, make in PAGE_TABLES.get(experiment, {}).items()}
