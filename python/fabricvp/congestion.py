# SPDX-License-Identifier: Apache-2.0
"""The PCIe congestion model (Martinasso et al., SC'16) in closed form: how fast are messages that share a tree?

    from fabricvp import congestion

    solution = congestion.solve("cs_storm", {(0, 2): "300 MB", (1, 4): "300 MB", (3, 2): "300 MB", (6, 4): "300 MB"},
    tau=0.2) print(solution.phases[0].factors)    # {'0:2': 0.3, '1:4': 0.3, '3:2': 0.7, '6:4': 0.7}
    print(solution.finish["3:2"])        # 0.036 s

Endpoints are numbered as the configuration lists them (in `cs_storm` these are the numbers of its GPU processors),
without disks and network adapters; behind them come GPUs. Two forms: "martinasso2016" (the paper's rules) and "maxmin"
(shared ingress FIFOs with round robin per TLP)."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from . import _fabricvp, arguments
from ._renamed import check_value, renamed_arguments
from .errors import InputError
from .nodes import node_index
from .overrides import flatten

TAU = 0.1735  #: penalty of the root complex on a CS-Storm, as published
BANDWIDTH = 11.86e9  #: bytes a second: 300 MB in 25.3 ms, as published
SIZE = 300e6  #: bytes of a message, as published

Form = Literal["martinasso2016", "maxmin"]
FORMS: tuple[Form, ...] = ("martinasso2016", "maxmin")
Pattern = Literal["2d", "3d", "all"]
Tree = _fabricvp.PcieTree
#: Communications (source, destination).
Graph = Sequence[tuple[int, int]]


class Message(NamedTuple):
    """A message between two endpoints."""

    source: int
    destination: int
    bytes: float
    start: float = 0.0  #: seconds


@dataclass(frozen=True)
class Phase:
    """A time between two events, during which factors do not change."""

    end: float  #: seconds
    factors: dict[str, float]  #: "source:destination" → share of the bandwidth, for messages under way


@dataclass(frozen=True)
class Solution:
    """What `solve()` gives."""

    phases: list[Phase]
    finish: dict[str, float]  #: "source:destination" → seconds

    @property
    def end(self) -> float:
        """When the last message has arrived, in seconds."""
        return max(self.finish.values(), default=0.0)


@dataclass(frozen=True)
class Search:
    """What `search()` gives. An order lists, for each sender, its destinations in sequence."""

    orders: int  #: evaluated, all there are
    distinct_graphs: int  #: different step graphs among them
    solved_graphs: int  #: of these, different up to relabelling that leaves the tree the same
    best_s: float
    worst_s: float
    natural_s: float  #: each endpoint sends to its neighbours in ascending direction: left, right, other row
    mean_s: float
    best_order: list[list[int]]
    worst_order: list[list[int]]
    histogram: list[int]  #: orders by duration, equal bins from best_s to worst_s


def tree(machine: str | os.PathLike[str] | Tree, *, node: int | str = 0, **overrides: Any) -> Tree:
    """The PCIe tree of a machine's node: a YAML file, or the name of a stock machine. Raises `InputError`."""
    if isinstance(machine, Tree):
        return machine
    return Tree.from_config(os.fspath(machine), list(flatten(None, overrides).items()), node_index(node))


def model(
    machine: str | os.PathLike[str] | Tree,
    tau: float = TAU,
    bandwidth: float | str = BANDWIDTH,
    form: Form = "martinasso2016",
    crossing_bandwidth: float | str | None = None,
) -> _fabricvp.CongestionModel:
    """The model of a tree. ``tau`` is in [0, 0.5), ``bandwidth`` bytes a second or text with unit; so is
    ``crossing_bandwidth``, that of a message alone which crosses the root complex (None: the same; "maxmin" only).
    Raises `InputError`."""
    check_value("form", form, {"published": "martinasso2016"})
    rate, crossing = (
        arguments.bandwidth(b) if isinstance(b, str) else _finite("bandwidth", b)
        for b in (bandwidth, crossing_bandwidth or 0.0)
    )
    try:
        return _fabricvp.CongestionModel(tree(machine), tau, rate, form, crossing)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


def solve(
    machine: str | os.PathLike[str] | Tree,
    messages: Mapping[tuple[int, int], float | str] | Iterable[Message | tuple[Any, ...]],
    tau: float = TAU,
    bandwidth: float | str = BANDWIDTH,
    form: Form = "martinasso2016",
    *,
    in_steps: bool = True,
) -> Solution:
    """Runs messages to their ends.

    ``messages`` are `Message`s (or such tuples), or a mapping (source, destination) → bytes or text with unit. With
    ``in_steps`` each sender's k-th message starts in step k, and a step ends with its last message; without, messages
    start at their ``start``. A pair that is there twice gets a key such as "0:2#2". Raises `InputError`.
    """
    if isinstance(messages, Mapping):
        messages = [
            Message(s, d, arguments.size(b) if isinstance(b, str) else float(b)) for (s, d), b in messages.items()
        ]
    requested = [Message(*m) for m in messages]
    for m in requested:
        _finite("bytes of a message", m.bytes)
        _finite("start of a message", m.start)
    names = _names(requested)
    solver = model(machine, tau, bandwidth, form)
    try:
        phases, finish = (solver.solve_in_steps if in_steps else solver.solve)(
            [(m.source, m.destination, m.bytes, m.start) for m in requested]
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
    return Solution(
        [Phase(end, {names[k]: f for k, f in factors if f > 0}) for end, factors in phases], dict(zip(names, finish))
    )


def _finite(what: str, value: float) -> float:
    """A number. Raises `InputError` for infinity, to which a phase would last for ever, and for none."""
    if not math.isfinite(value):
        raise InputError(f"{what}: {value} is not a finite number")
    return float(value)


def _names(messages: Sequence[Message]) -> list[str]:
    names: list[str] = []
    before: Counter[str] = Counter()
    for m in messages:
        pair = f"{m.source}:{m.destination}"
        before[pair] += 1
        names.append(f"{pair}#{before[pair]}" if before[pair] > 1 else pair)
    return names


def search(
    machine: str | os.PathLike[str] | Tree,
    pattern: Pattern,
    tau: float = TAU,
    bandwidth: float | str = BANDWIDTH,
    size: float | str = SIZE,
    form: Form = "martinasso2016",
    bins: int = 50,
) -> Search:
    """All orders of an exchange, evaluated exactly: of the COSMO halo exchange on 8 GPUs ("2d": 4 × 2 grid, 20,736
    orders; "3d": cube, 1,679,616), or of "all" with all, on up to 5 endpoints. ``size`` is that of every message.
    Raises `InputError`."""
    shape = tree(machine)
    order = natural_order(pattern, shape.endpoints())
    if shape.endpoints() < len(order):
        raise InputError(f"the {pattern} exchange needs {len(order)} endpoints, this tree has {shape.endpoints()}")
    volume = arguments.size(size) if isinstance(size, str) else _finite("size", size)
    try:
        return Search(**model(shape, tau, bandwidth, form).search(order, volume, bins))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{pattern}, {shape.endpoints()} endpoints: {error}") from None


def natural_order(pattern: Pattern, endpoints: int = 8) -> list[list[int]]:
    """The natural order, which ignores congestion: neighbours as the pattern lists them, or in ascending order.
    Raises `InputError`."""
    if pattern == "all":
        return [[d for d in range(endpoints) if d != s] for s in range(endpoints)]
    return _fabricvp.exchange_neighbours(pattern)


def steps_of(order: Sequence[Sequence[int]]) -> list[list[tuple[int, int]]]:
    """The graph of each step of an order."""
    steps = max(map(len, order), default=0)
    return [[(s, d[k]) for s, d in enumerate(order) if k < len(d)] for k in range(steps)]


def scatters(endpoints: int) -> list[list[tuple[int, int]]]:
    """One source to every non-empty set of others."""
    return _fabricvp.all_scatters(endpoints)


def gathers(endpoints: int) -> list[list[tuple[int, int]]]:
    """Every non-empty set of others to one destination."""
    return _fabricvp.all_gathers(endpoints)


def all_to_all(endpoints: int) -> list[list[tuple[int, int]]]:
    """All to all, for every subset of at least two endpoints."""
    return _fabricvp.all_to_all_subsets(endpoints)


@renamed_arguments(most_edges="max_edges")
def random_graphs(shape: Tree, count: int, seed: int, max_edges: int = 8) -> list[list[tuple[int, int]]]:
    """Random graphs of 1 to ``max_edges`` communications, no two the same up to a relabelling that leaves the tree the
    same; the same seed gives the same graphs everywhere. Raises `InputError` if there are not that many."""
    try:
        return _fabricvp.random_graphs(shape, count, seed, max_edges)
    except ValueError as error:
        raise InputError(str(error)) from None


def distinct(shape: Tree, graphs: Iterable[Graph]) -> list[tuple[list[tuple[int, int]], int]]:
    """Graphs that differ up to a relabelling that leaves the tree the same, each with how many of ``graphs`` it stands
    for."""
    relabellings = shape.automorphisms()
    counts: dict[tuple[tuple[int, int], ...], int] = {}
    for graph in graphs:
        key = tuple(_fabricvp.canonical_graph(list(graph), relabellings))
        counts[key] = counts.get(key, 0) + 1
    return [(list(key), count) for key, count in counts.items()]
