# SPDX-License-Identifier: Apache-2.0
"""Runs the sweeps and reports."""

from __future__ import annotations

from statistics import geometric_mean

import pandas

from ..frame import Missing, Run
from ..gpu_workloads.measure import PREDICTOR, Measured, Point, as_record, for_table, measure
from ..invariants import check_workloads
from ..netcrafter.points import BASELINE, IDEAL, parts_of
from ..netcrafter.rows import saved_share
from ..netcrafter.synthetic import MECHANISMS, FixedTraffic, check_fixed_traffic, run_traffic
from . import orderings, plots
from .plan import SWEEPS, Case, cases, seconds

REQUESTS = 3_000  #: of each device, of the fixed traffic


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    names = run.options.only or list(SWEEPS)
    wanted = list(cases(names, run.quick))
    points = list(dict.fromkeys(case.point for case in wanted))
    found = dict(zip(points, run.map("points", measure, points, seconds, _name)))
    again = run.map("the same again", measure, [points[0]], name=_name, fresh=True)[0]
    frame = table(wanted, found)
    _checks(run, found, again)
    results = orderings.evaluate(frame)
    for figure, measured, published, source in results:
        run.report.row(figure, "1", measured, published, source)
    _rows(run, frame)
    run.report.conclude(*orderings.sentences(results), *_sentences(frame))
    for name in names:
        part = frame[frame["sweep"] == name]
        run.report.plot(name, plots.draw(part, SWEEPS[name]), SWEEPS[name].title)
    for name in names:
        run.report.table(
            name,
            frame[frame["sweep"] == name].drop(columns=["sweep", *(() if name == "predictor" else PREDICTOR)]),
            f"{SWEEPS[name].title}. Speed-up: over the baseline with the same setting.",
            shown=120,
        )


def table(wanted: list[Case], found: dict[Point, Measured]) -> pandas.DataFrame:
    """A line for each case."""
    runs = {(c.sweep, c.setting, c.point.workload, c.at): found[c.point] for c in wanted}
    rows = []
    for (sweep, setting, workload, at), m in runs.items():
        record = for_table(as_record(m))
        base = runs[sweep, setting, workload, BASELINE]
        saved = [share for k in MECHANISMS if not isinstance(share := saved_share(m, k), Missing)]
        rows.append(
            {
                "sweep": sweep,
                "setting": setting,
                "workload": workload,
                "size": m.point.size,
                "point": at,
                "kernels_us": round(1e6 * m.kernel_time_s, 3),
                "speed_up": round(base.kernel_time_s / m.kernel_time_s, 6),
                **{
                    key: None if record[key] is None else round(record[key], 3)
                    for key in (
                        "slow_link_busy_%",
                        "page_table_%_of_slow_packets",
                        "page_table_%_of_slow_flits",
                        "flits_padded_25_or_75_%",
                        "same_cluster_read_us",
                        "other_cluster_read_us",
                    )
                },
                "saved_%": round(sum(saved), 3) if saved else None,
                **{name: m.predictions.get(name) for name in PREDICTOR},
            }
        )
    return pandas.DataFrame(rows)


def _name(point: Point) -> str:
    changed = ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in dict.fromkeys(point.overrides))
    return f"{point.workload} of {point.size} on {point.machine}, {point.placement}, {point.dispatch}" + (
        f", {changed}" if changed else ""
    )


def _checks(run: Run, found: dict[Point, Measured], again: Measured) -> None:
    check_workloads(run.report, {_name(p): m for p, m in found.items()}, again)
    traffic = [
        FixedTraffic(f"all parts, flits of {n} bytes", parts_of("all"), REQUESTS, (("flit", f"{n} B"),))
        for n in (8, 16, 32)
    ]
    check_fixed_traffic(
        run.report,
        run.map("fixed traffic", run_traffic, [*(t.alone for t in traffic), *traffic], name=lambda t: t.name),
    )


def _rows(run: Run, frame: pandas.DataFrame) -> None:
    """Geometric means over a sweep's workloads."""
    for (sweep, setting, at), rows in frame[frame["point"] != BASELINE].groupby(
        ["sweep", "setting", "point"], sort=False
    ):
        if sweep == "size":
            for _, line in rows.iterrows():
                run.report.row(
                    f"size: {line['workload']} of {line['size']}, slow-down",
                    "1",
                    line["speed_up"],
                    None,
                    "over the all-fast fabric",
                )
            continue
        run.report.row(
            f"{sweep}, {setting}: {at}, speed-up, geometric mean",
            "1",
            geometric_mean(rows["speed_up"]),
            None,
            (
                "slow-down of the baseline"
                if at == IDEAL
                else f"{len(rows)} workloads, over the baseline with this setting"
            ),
        )


def _sentences(frame: pandas.DataFrame) -> list[str]:
    sentences = []

    def mean(sweep: str, setting: str, at: str) -> float:
        rows = frame[(frame["sweep"] == sweep) & (frame["setting"] == setting) & (frame["point"] == at)]["speed_up"]
        return geometric_mean(rows) if len(rows) else float("nan")

    for sweep in ("rates", "flit", "tlb", "queues"):
        settings = list(dict.fromkeys(frame[frame["sweep"] == sweep]["setting"]))
        if settings:
            sentences.append(
                f"All parts together, {SWEEPS[sweep].title.lower()}: "
                + ", ".join(f"{s} → {100 * (mean(sweep, s, 'all') - 1):+.1f} %" for s in settings)
                + "."
            )
    slow = frame[(frame["sweep"] == "size") & (frame["point"] == IDEAL)]
    if len(slow):
        sentences.append(
            "Slow-down against size: "
            + "; ".join(
                f"{name} " + ", ".join(f"{line['speed_up']:.2f} at {line['size']}" for _, line in rows.iterrows())
                for name, rows in slow.groupby("workload", sort=False)
            )
            + "."
        )
    return sentences
