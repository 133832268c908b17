# SPDX-License-Identifier: Apache-2.0
"""Families of communication graphs, solved in closed form and run on the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ... import congestion
from .calibration import Calibration
from .simulated import SetResult

if TYPE_CHECKING:
    import pandas

#: As many as the paper tried; its rule for choosing them is not known.
RANDOM_GRAPHS = 22_259
#: The forms that are compared: the paper's; round robin with shared FIFOs; and the same, told both rates of a message
#: alone.
FORMS = ("martinasso2016", "max-min", "max-min, two rates")


@dataclass(frozen=True)
class Sampled:
    """A graph that is run on the tree; it stands for ``weight`` graphs of its family (relabelled ones)."""

    family: str
    graph: list[tuple[int, int]]
    weight: int = 1


def sample(shape: congestion.Tree, graphs: list[list[tuple[int, int]]], count: int) -> list[Sampled]:
    """The regular families up to relabelling, and the first ``count`` random graphs."""
    n = shape.endpoints()
    chosen = [
        Sampled(name, graph, weight)
        for name, family in (
            ("scatter", congestion.scatters(n)),
            ("gather", congestion.gathers(n)),
            ("all to all", congestion.all_to_all(n)),
        )
        for graph, weight in congestion.distinct(shape, family)
    ]
    return chosen + [Sampled("random", graph) for graph in graphs[:count]]


def models(shape: congestion.Tree, measured: Calibration) -> dict[str, object]:
    """A solver for each of `FORMS`."""
    return {
        "martinasso2016": congestion.model(shape, measured.tau, measured.bandwidth, "martinasso2016"),
        "max-min": congestion.model(shape, measured.tau, measured.bandwidth, "maxmin"),
        "max-min, two rates": congestion.model(shape, measured.tau, measured.direct, "maxmin", measured.crossing),
    }


def solve_all(solvers: dict[str, object], graphs: list[list[tuple[int, int]]], size: int) -> int:
    """Solves every graph in every form; gives the number of communications. The models raise if anything starves."""
    for graph in graphs:
        for solver in solvers.values():
            solver.solve([(s, d, float(size), 0.0) for s, d in graph])
    return sum(map(len, graphs))


def kind(shape: congestion.Tree, graph: Sequence[tuple[int, int]], index: int) -> str:
    """With whom a communication shares the tree: the mechanism that decides its factor."""
    routes = [shape.route(s, d)[0] for s, d in graph]
    users: dict[int, int] = {}
    for route in routes:
        for direction in route:
            users[direction] = users.get(direction, 0) + 1
    shared = [d for d in routes[index] if users[d] > 1]
    if not shared:
        return "alone"
    up = [d for d in shared if d % 2 == 0]
    if not up:
        return "shares downlinks"
    if up == [routes[index][0]] and len(shared) == 1:
        return "shares its source"
    return "shares uplinks and downlinks" if len(up) < len(shared) else "shares uplinks"


def compare(
    shape: congestion.Tree, solvers: dict[str, object], sampled: list[Sampled], ended: list[SetResult], size: int
) -> pandas.DataFrame:
    """One row a communication: seconds on the tree, and the relative error of each form (positive: the form is too
    slow)."""
    import pandas

    rows = []
    for number, (s, e) in enumerate(zip(sampled, ended)):
        predicted = {
            form: solver.solve([(a, b, float(size), 0.0) for a, b in s.graph])[1] for form, solver in solvers.items()
        }
        for i, (a, b) in enumerate(s.graph):
            rows.append(
                {
                    "family": s.family,
                    "graph": number,
                    "weight": s.weight,
                    "communications": len(s.graph),
                    "source": a,
                    "destination": b,
                    "crosses": shape.route(a, b)[1],
                    "kind": kind(shape, s.graph, i),
                    "tree_s": e.finish[i],
                    **{form: predicted[form][i] / e.finish[i] - 1 for form in FORMS},
                }
            )
    return pandas.DataFrame(rows)


def _quantile(values: pandas.Series, weights: pandas.Series, q: float) -> float:
    order = values.sort_values().index
    running = weights[order].cumsum()
    return float(values[order][running >= q * weights.sum()].iloc[0])


def statistics(frame: pandas.DataFrame, by: str) -> pandas.DataFrame:
    """Errors by form and a column, weighted by how many graphs each one stands for; all but counts in %."""
    import pandas

    lines = []
    for value, part in frame.groupby(by, sort=False):
        for form in FORMS:
            error, weight = part[form].abs(), part["weight"]
            lines.append(
                {
                    by: value,
                    "form": form,
                    "communications run": len(part),
                    "mean": 100 * float((part[form] * weight).sum() / weight.sum()),
                    "median of |error|": 100 * _quantile(error, weight, 0.5),
                    "95th percentile": 100 * _quantile(error, weight, 0.95),
                    "largest": 100 * float(error.max()),
                    "within ±10": 100 * float(weight[error <= 0.10].sum() / weight.sum()),
                    "within ±15": 100 * float(weight[error <= 0.15].sum() / weight.sum()),
                }
            )
    return pandas.DataFrame(lines)


def overload(
    shape: congestion.Tree, graph: list[tuple[int, int]], ended: SetResult, size: int, measured: Calibration
) -> float:
    """The busiest direction of a link: bytes per second until the last message's end, beside what one message alone
    gets."""
    load: dict[int, float] = {}
    for s, d in graph:
        for direction in shape.route(s, d)[0]:
            load[direction] = load.get(direction, 0.0) + size
    return max(load.values()) / (max(ended.finish) * measured.direct)
