# SPDX-License-Identifier: Apache-2.0
"""Runs all combinations and says which wins where."""

from __future__ import annotations

import pandas

from ..frame import Run
from . import plots
from .points import BACKENDS, PLACEMENTS, QUICK, STEPS, WORKLOADS, Point, Result, measure, points

#: Column → (its two or more settings in words, the one that others are held against).
FACTORS = {
    "netcrafter": "NetCrafter",
    "lanes": "reversible lanes",
    "backend": "who performs the network",
    "queues": "where queue pairs lie",
}


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    backends = ("ComP-Net", "HDN") if run.quick else tuple(BACKENDS)
    chosen = run.options.only or tuple(WORKLOADS)
    wanted = points(
        {w: o for w, o in (QUICK if run.quick else WORKLOADS).items() if w in chosen}, backends, tuple(PLACEMENTS)
    )
    found = dict(zip(wanted, run.map("combinations", measure, wanted, name=str)))
    again = run.map("one again", measure, [wanted[0]], name=str, fresh=True)[0]
    frame = _frame(found)
    for p, f in found.items():
        run.report.row(
            str(p), "µs/step", f.step_s * 1e6, None, f"{f.computing_s * 1e6:.2f} of them kernels on all GPUs"
        )
    gains = _gains(frame)
    for line in gains.itertuples(index=False):
        run.report.row(
            f"{line.workload}: {FACTORS[line.factor]}: {line.setting}",
            "% of time saved",
            line.saved,
            None,
            f"mean over all else, against {line.against}; {line.min:.1f} to {line.max:.1f}",
        )
    run.report.plot(
        "combinations",
        plots.combinations(frame),
        f"Time of a step, mean of {min(STEPS.values())} or more: the best at the bottom",
    )
    run.report.table(
        "gains", gains.round(6), "What each setting saves against another one, all else being the same.", shown=40
    )
    run.report.table(
        "combinations",
        frame.sort_values(["workload", "step_us"], kind="stable").round(6),
        "All combinations, the best first.",
        shown=80,
    )
    _check(run, found, again == found[wanted[0]])
    run.report.conclude(
        *(
            _verdict(workload, part, gains[gains["workload"] == workload])
            for workload, part in frame.groupby("workload", sort=False)
        )
    )


def _frame(found: dict[Point, Result]) -> pandas.DataFrame:
    return pandas.DataFrame(
        [
            {
                "workload": p.workload,
                "netcrafter": p.netcrafter,
                "lanes": p.lanes,
                "backend": p.backend,
                "queues": p.queues,
                "step_us": f.step_s * 1e6,
                "computing_us": f.computing_s * 1e6,
                "inter_cluster_KB": f.inter_cluster_bytes / 1e3,
                "slow_link_busy_%": 100 * f.utilisation,
                "network_packets": f.network_packets,
            }
            for p, f in found.items()
        ]
    )


def _gains(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Of every factor, each setting against the first one, paired by all other factors."""
    lines = []
    for workload, part in frame.groupby("workload", sort=False):
        for factor in FACTORS:
            others = [f for f in FACTORS if f != factor]
            table = part.pivot(index=others, columns=factor, values="step_us")
            base, *rest = dict.fromkeys(part[factor]) if factor in ("backend", "queues") else (False, True)
            for setting in rest:
                saved = 100 * (1 - table[setting] / table[base])
                lines.append(
                    {
                        "workload": workload,
                        "factor": factor,
                        "setting": _label(setting),
                        "against": _label(base),
                        "saved": float(saved.mean()),
                        "min": float(saved.min()),
                        "max": float(saved.max()),
                    }
                )
    return pandas.DataFrame(lines)


def _label(setting: object) -> str:
    return {True: "on", False: "off"}[setting] if isinstance(setting, bool) else str(setting)


def _check(run: Run, found: dict[Point, Result], same: bool) -> None:
    check = run.report.check
    wrong = [str(p) for p, f in found.items() if not f.correct]
    check(
        "both nodes find what the host finds, to the bit; of training, the same parameters, and the host's loss",
        not wrong,
        ", ".join(wrong) or f"{len(found)} combinations",
    )
    lost = [str(p) for p, f in found.items() if f.lost or f.in_flight]
    check(
        "nothing is lost or in flight at the end, between GPUs and between nodes",
        not lost,
        ", ".join(lost) or f"{sum(f.network_packets for f in found.values()):,.0f} packets between nodes",
    )
    # What computes does not depend on who performs the network.
    spread = {}
    for p, f in found.items():
        spread.setdefault((p.workload, p.netcrafter, p.lanes), []).append(f.computing_s)
    largest = max(max(times) / min(times) - 1 for times in spread.values())
    check("kernels take the same with every backend, within 10 %", largest < 0.10, f"{100 * largest:.1f} % at most")
    check("a second run is the same", same, "every figure")


def _verdict(workload: str, part: pandas.DataFrame, gains: pandas.DataFrame) -> str:
    best, worst = (part.loc[i] for i in (part["step_us"].idxmin(), part["step_us"].idxmax()))

    def label(p: pandas.Series) -> str:
        return (
            f"NetCrafter {_label(bool(p['netcrafter']))}, lanes {'reversible' if p['lanes'] else 'fixed'},"
            f" {p['backend']}, queues in the {p['queues']}"
        )

    ranked = gains.reindex(gains["saved"].abs().sort_values(ascending=False, kind="stable").index).iloc[0]
    crossing = part[~part["netcrafter"]]["slow_link_busy_%"].max()
    share = 100 * part["computing_us"].sum() / part["step_us"].sum()
    return (
        f"{workload}: best is {label(best)}: {best['step_us']:.2f} µs a step; worst is {label(worst)}:"
        f" {worst['step_us']:.2f} µs. What matters most is {FACTORS[ranked['factor']]} ({ranked['setting']} instead of"
        f" {ranked['against']}: {ranked['saved']:+.1f} % of the time saved on the average). Kernels on all GPUs take"
        f" {share:.0f} % of a step, and the link between clusters is busy for {crossing:.0f} % of it without"
        " NetCrafter."
    )
