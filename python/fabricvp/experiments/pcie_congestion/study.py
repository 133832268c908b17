# SPDX-License-Identifier: Apache-2.0
"""The experiment from micro-experiments to verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import congestion
from ...errors import InputError
from ..nodes import NodeRef, measured_nodes
from . import calibration, families, page_text, plots, published, schedule
from .simulated import Point, SetResult, chunks, run_point, same_size

if TYPE_CHECKING:
    from ..frame import Run

PAPER = "Martinasso et al., SC'16"
QUICK_SIZE, LONGEST = 256 << 10, 2 << 20


def _cost(point: Point) -> float:
    return point.cost


def study(run: Run) -> None:
    """Measures, compares, reports."""
    machine = run.options.machine
    place = NodeRef(machine, measured_nodes([machine], run.options.node, "endpoints")[machine])
    shape = congestion.tree(machine, node=place.index)
    if shape.endpoints() != 8:
        raise InputError(f"{place}: this experiment needs 8 endpoints, there are {shape.endpoints()}")
    measured = _calibrate(run, place, shape)
    size = _lengths(run, place, measured)
    _families(run, place, shape, measured, size)
    _schedules(run, place, shape, measured)
    run.report.text("What remains, and why", *page_text.WHAT_REMAINS)


def _calibrate(run: Run, place: NodeRef, shape: congestion.Tree) -> calibration.Calibration:
    import pandas

    variants: dict[str, dict[str, object]] = {"128 B TLPs, 64 B pieces": {}}
    if not run.quick:
        variants |= {
            "256 B TLPs, 64 B pieces": {"node.pcie.root.root_port.max_payload": 256},
            "128 B TLPs, not cut": {"node.pcie.root.peer_to_peer_payload": "128 B"},
            "256 B TLPs, 128 B pieces": {
                "node.pcie.root.root_port.max_payload": 256,
                "node.pcie.root.peer_to_peer_payload": "128 B",
            },
        }
    results = run.map("micro-experiments", run_point, [calibration.point(place, v) for v in variants.values()], _cost)
    found = [calibration.calibration(shape, ended) for ended in results]
    measured = found[0]
    report = run.report
    report.row(
        "B: a message alone, mean over all pairs",
        "GB/s",
        measured.bandwidth / 1e9,
        congestion.BANDWIDTH / 1e9,
        f"{PAPER}: 300 MB in 25.3 ms",
    )
    report.row("a message alone, below one switch", "GB/s", measured.direct / 1e9, None, "micro-experiment")
    report.row("a message alone, across the root complex", "GB/s", measured.crossing / 1e9, None, "micro-experiment")
    report.row("τ: penalty of crossing the root complex", "1", measured.tau, congestion.TAU, PAPER)
    report.check(
        "all calibration bytes arrived as sent",
        all(e.intact for ended in results for e in ended),
        f"{sum(map(len, results))} sets",
    )
    report.text("B and τ", *page_text.TAU)
    report.table(
        "tau",
        pandas.DataFrame(
            [
                {
                    "tree": name,
                    "direct GB/s": c.direct / 1e9,
                    "crossing GB/s": c.crossing / 1e9,
                    "B, GB/s": c.bandwidth / 1e9,
                    "τ": c.tau,
                }
                for name, c in zip(variants, found)
            ]
        ),
        "B and τ as measured on trees that differ in the size of TLPs. The first one is used from here on.",
    )
    return measured


def _lengths(run: Run, place: NodeRef, measured: calibration.Calibration) -> int:
    sizes = [4096 << k for k in range(8 if run.quick else 10)]
    results = run.map("message lengths", run_point, calibration.length_points(place, sizes), _cost)
    found = calibration.lengths(sizes, results, measured.bandwidth)
    enough, fluid = found.enough(), found.fluid_from()
    report = run.report
    report.row(
        "message whose doubling moves no factor by 1 %",
        "KiB",
        enough / 1024,
        None,
        f"{len(calibration.PROBES)} probe graphs",
    )
    report.row(
        "… largest move of a factor there",
        "%",
        100 * max(found.moves(min(sizes.index(enough), len(sizes) - 2))),
        None,
        "probe graphs",
    )
    report.row(
        "message from which the fluid model holds (factors within 5 %)", "KiB", fluid / 1024, None, "probe graphs"
    )
    report.row(
        "latency of a message across the root complex",
        "µs",
        measured.latency[True] * 1e6,
        None,
        "not in the closed forms",
    )
    report.check(
        "factors converge",
        max(found.moves(len(sizes) - 2)) < (0.05 if run.quick else 0.02),
        f"the last doubling, to {sizes[-1] // 1024} KiB, moves factors by at most"
        f" {100 * max(found.moves(len(sizes) - 2)):.2f} %",
    )
    report.text("How long messages must be", *page_text.lengths(enough, fluid))
    report.plot("lengths", plots.lengths(found), "Congestion factors of the probe graphs by message size.")
    return min(max(enough, QUICK_SIZE), QUICK_SIZE if run.quick else LONGEST)


def _families(run: Run, place: NodeRef, shape: congestion.Tree, measured: calibration.Calibration, size: int) -> None:
    report = run.report
    count = run.options.graphs or (60 if run.quick else 3000)
    graphs = congestion.random_graphs(shape, families.RANDOM_GRAPHS, run.options.seed)
    solvers = families.models(shape, measured)
    report.row("random graphs solved in closed form", "graphs", len(graphs), 22_259, PAPER)
    report.row(
        "… their communications",
        "communications",
        families.solve_all(solvers, graphs, size),
        100_000,
        f"{PAPER}: about",
    )
    sampled = families.sample(shape, graphs, count)
    points = chunks(place, same_size((s.graph for s in sampled), size))
    results = run.map("graphs on the tree", run_point, points, _cost)
    ended = [e for result in results for e in result]
    again = run.map("the same again", run_point, points[-1:], _cost)
    frame = families.compare(shape, solvers, sampled, ended, size)
    by_family, by_kind = (
        families.statistics(frame, "family"),
        families.statistics(frame[frame["family"] == "random"], "kind"),
    )
    for line in by_family.to_dict("records"):
        known = published.WITHIN.get(line["form"]) if line["family"] == "random" else None
        report.row(
            f"{line['family']}, {line['form']}: within ±15 %",
            "% of communications",
            line["within ±15"],
            known,
            f"{PAPER}: against hardware" if known else "closed form against tree",
        )
        report.row(
            f"{line['family']}, {line['form']}: within ±10 %",
            "% of communications",
            line["within ±10"],
            None,
            "closed form against tree",
        )
        report.row(
            f"{line['family']}, {line['form']}: median of |error|",
            "%",
            line["median of |error|"],
            None,
            "closed form against tree",
        )
    _check(run, shape, solvers, measured, size, sampled, ended, results[-1] == again[0])
    report.text("Error by family", *page_text.FAMILIES)
    report.table(
        "families",
        by_family.round(6),
        "Error of the predicted time of a communication, in %; regular families are complete up to relabelling, "
        "random ones a sample.",
        60,
    )
    report.plot(
        "error_histogram",
        plots.histogram(frame),
        "Error per communication of random graphs; positive: the form is too slow. Shaded: ±10 %.",
    )
    report.plot("error_families", plots.families(frame), "Errors by family: quartiles, and 5 to 95 % as whiskers.")
    report.plot(
        "predicted",
        plots.predicted(frame, size, measured.bandwidth),
        "Every communication: predicted and simulated. Shaded: ±10 %.",
    )
    report.table("kinds", by_kind.round(6), "Random graphs: error by what a communication shares with others.", 60)
    frame = (
        frame.assign(worst=frame["max-min, two rates"].abs())
        .sort_values("worst", ascending=False, kind="stable")
        .drop(columns="worst")
    )
    report.table(
        "communications",
        frame.round(6),
        "Every communication, those on which the max-min form with two rates errs most first.",
        15,
    )


def _check(
    run: Run,
    shape: congestion.Tree,
    solvers: dict,
    measured: calibration.Calibration,
    size: int,
    sampled: list[families.Sampled],
    ended: list[SetResult],
    same: bool,
) -> None:
    report = run.report
    report.check(
        "bytes delivered right",
        all(e.intact for e in ended),
        f"{sum(len(e.finish) for e in ended)} messages of {size // 1024} KiB compared byte by byte",
    )
    busiest = max(families.overload(shape, s.graph, e, size, measured) for s, e in zip(sampled, ended))
    report.check(
        "no link carries more than it can", busiest < 1.01, f"the busiest one {100 * busiest:.1f} % of a message alone"
    )
    off: dict[bool, list[float]] = {False: [], True: []}
    for s, e in zip(sampled, ended):
        if min(solvers["martinasso2016"].factors(s.graph)) < 1 - 1e-9:
            continue
        used = {direction for pair in s.graph for direction in shape.route(*pair)[0]}
        both_directions = any(direction ^ 1 in used for direction in used)
        for (a, b), seconds in zip(s.graph, e.finish):
            crosses = shape.route(a, b)[1]
            alone = size / (measured.crossing if crosses else measured.direct) + measured.latency[crosses]
            off[both_directions].append(abs(seconds / alone - 1))
    report.check(
        "conflict-free messages run at full rate",
        bool(off[False]) and max(off[False]) < 0.01,
        f"{len(off[False])} messages, at most {100 * max(off[False], default=0):.2f} % off a message alone",
    )
    report.check(
        "opposite traffic costs no more than its acknowledgements",
        max(off[True], default=0) < 0.1,
        f"{len(off[True])} conflict-free messages with traffic the other way, at most"
        f" {100 * max(off[True], default=0):.2f} % off",
    )
    report.check("a second run is the same to the picosecond", same, "the last part, in a new process")
    example = {
        form: congestion.solve(
            shape, {(0, 2): 3e8, (1, 4): 3e8, (3, 2): 3e8, (6, 4): 3e8}, 0.2, congestion.BANDWIDTH, form
        )
        for form in congestion.FORMS
    }
    right = all(
        abs(s.phases[0].factors[k] - f) < 1e-9
        for s in example.values()
        for k, f in (("0:2", 0.3), ("1:4", 0.3), ("3:2", 0.7), ("6:4", 0.7))
    )
    report.check(
        "the paper's worked example comes out as printed",
        right,
        "factors 3/10, 3/10, 7/10, 7/10 at τ = 0.2 in both forms",
    )


def _schedules(run: Run, place: NodeRef, shape: congestion.Tree, measured: calibration.Calibration) -> None:
    import pandas

    report, lines, times = run.report, [], {}
    for pattern in ("2d",) if run.quick else ("2d", "3d"):
        orders = schedule.orders(shape, measured, pattern)
        points = [make(place, orders[name]) for make in (schedule.stepped, schedule.free) for name in schedule.NAMES]
        results = run.map(f"{pattern} exchanges", run_point, points, _cost)
        report.check(
            f"{pattern} halo bytes delivered right", all(e.intact for r in results for e in r), f"{len(points)} runs"
        )
        stepped = {n: schedule.stepped_times(orders[n], r) for n, r in zip(schedule.NAMES, results)}
        free = {n: schedule.free_times(r) for n, r in zip(schedule.NAMES, results[3:])}
        times |= {f"{pattern}, in steps": stepped, f"{pattern}, free running": free}
        for how, found in (("in steps", stepped), ("free running", free)):
            for k, size in enumerate(schedule.SIZES):
                against = {n: 100 * (1 - found["best"][k] / found[n][k]) for n in ("natural", "worst")}
                lines.append(
                    {
                        "pattern": pattern,
                        "how": how,
                        "KB": size // 1000,
                        **{f"{n}, µs": 1e6 * found[n][k] for n in schedule.NAMES},
                        "gain over natural, %": against["natural"],
                        "gain over worst, %": against["worst"],
                    }
                )
                if size in (schedule.SIZES[0], schedule.SIZES[-1]):
                    for other, gain in against.items():
                        known = published.GAINS.get(pattern) if other == "natural" else None
                        report.row(
                            f"{pattern}, {size // 1000} KB, {how}: gain of the best order over the {other} one",
                            "%",
                            gain,
                            known,
                            f"{PAPER}: a whole exchange step of COSMO, two-sided MPI included" if known else "tree",
                        )
    report.text("COSMO's halo exchange", *page_text.SCHEDULES)
    report.table(
        "schedules",
        pandas.DataFrame(lines).round(6),
        "One halo exchange on the tree by order, size and how senders wait.",
    )
    report.plot("schedules", plots.schedules(times, schedule.SIZES), "One halo exchange on the tree.")
