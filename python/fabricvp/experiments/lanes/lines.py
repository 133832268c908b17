# SPDX-License-Identifier: Apache-2.0
"""Lines of the tables of the study of lanes."""

from __future__ import annotations

import pandas

from ..gpu_workloads.measure import Measured
from .points import ALL, DOUBLED, FIXED, SAMPLE
from .saturation import gain_bound, one_sided_share, samples_of

Runs = dict[tuple[str, str], Measured]  #: by workload and design point


def gains_of(found: Runs, names: list[str], columns: list[str]) -> pandas.DataFrame:
    """Speed-up over fixed lanes, by workload and design point."""
    return pandas.DataFrame(
        {
            at: {n: found[n, FIXED].kernel_time_s / found[n, at].kernel_time_s for n in names}
            for at in columns
            if at != FIXED
        }
    )


def _busiest(m: Measured) -> tuple[float, float]:
    """Of the busiest link: the busier direction's and the other's part of the kernels' time."""
    there = max(m.busy, key=lambda d: m.busy[d])
    scale = m.kernels_s / m.kernel_time_s if m.kernel_time_s else 0.0
    return scale * m.busy[there], scale * m.busy[" → ".join(reversed(there.split(" → ")))]


def workload_line(found: Runs, name: str, gains: pandas.DataFrame, share: float) -> dict[str, object]:
    fixed, reversed_run = found[name, FIXED], found[name, "milic2017"]
    busier, other = _busiest(fixed)
    return {
        "workload": name,
        "name in the paper": ALL[name].published,
        "busier_%": 100 * busier,
        "other_%": 100 * other,
        "one_saturated_%": 100 * share,
        "bound": gain_bound(share),
        "kernel_samples": fixed.kernel_time_s / max(1.0, fixed.launches / 4) / (SAMPLE * 1e-6),
        "reversals": reversed_run.reversal.get("reversals", 0.0),
        "restored_lanes": reversed_run.reversal.get("restored_lanes", 0.0),
        "milic2017": gains.loc[name, "milic2017"],
        "doubled": gains.loc[name, DOUBLED],
    }


def run_line(what: str, m: Measured) -> dict[str, object]:
    return {
        "run": what,
        "size": m.point.size,
        "correct": m.correct,
        "kernel_time_us": 1e6 * m.kernel_time_s,
        "busiest_%": 100 * max(m.busy.values()),
        "packets": m.packets_of_devices["sent"],
        "failed": m.packets_of_devices["failed"],
        "reversals": m.reversal.get("reversals"),
        "restored_lanes": m.reversal.get("restored_lanes"),
        "lane_time_reversing_us": 1e6 * m.reversal["reversal_time"] if m.reversal else None,
        "wall_s": m.wall_s,
    }


def block_line(name: str, size: str, runs: Runs) -> dict[str, object]:
    """A workload where first touch moves blocks of ``size``."""
    fixed = runs[name, FIXED]
    busier, other = _busiest(fixed)
    gains = gains_of(runs, [name], [DOUBLED, "milic2017"])
    return {
        "workload": name,
        "block": size,
        "kernel_time_us": 1e6 * fixed.kernel_time_s,
        "busier_%": 100 * busier,
        "other_%": 100 * other,
        "one_saturated_%": 100 * one_sided_share(samples_of(fixed)),
        "doubled": gains.loc[name, DOUBLED],
        "milic2017": gains.loc[name, "milic2017"],
    }
