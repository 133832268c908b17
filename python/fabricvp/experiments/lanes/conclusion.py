# SPDX-License-Identifier: Apache-2.0
"""The verdict in words, from what was measured."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from .points import DOUBLED, FIXED, POLICIES

if TYPE_CHECKING:
    import pandas

    from ..gpu_workloads.measure import Measured


SHOWN = 0.001  #: smallest difference that the verdict shows


def percent(gain: float) -> str:
    """A speed-up as what is won or lost; one that rounds to nothing has no sign."""
    text = f"{100 * (gain - 1):+.1f}"
    return f"{text[1:] if float(text) == 0 else text} %"


def verdict(gains: pandas.DataFrame, found: dict[tuple[str, str], Measured], names: list[str]) -> list[str]:
    """Paragraphs."""
    policies = [p for p in POLICIES if p in gains]
    mean = {p: fmean(gains[p]) for p in (DOUBLED, *policies)}
    best = max(policies, key=lambda p: mean[p])
    first = (
        f"Over {len(names)} {'workload' if len(names) == 1 else 'workloads'} with settled pages the milic2017 policy"
        f" {_changes(gains['milic2017'])}. Links of twice the bandwidth change it by {percent(mean[DOUBLED])} on"
        " average. Published: +15 % (or +14 %), up to +80 %, and +50 %."
    )
    idle = [n for n in names if max(found[n, FIXED].busy.values()) < 0.5]
    second = (
        f"Links are less than half busy in {', '.join(idle)}: there is nothing to gain from lanes. " if idle else ""
    )
    if max(mean[p] for p in policies) - min(mean[p] for p in policies) < SHOWN:
        return [first, second + f"The rules do not differ on average: all have {percent(mean[best])}."]
    second += (
        "Among the rules, "
        + ", ".join(f"{p} has {percent(mean[p])}" for p in policies)
        + f", so {best} is the best on average"
    )
    second += "." if best == "predictive" else "; our own, predictive, is not."
    return [first, second]


def _changes(gains: pandas.Series) -> str:
    """What a policy does to the kernels' speed: a range only where the ends of it differ as they are written."""
    if gains.max() - gains.min() < SHOWN:
        only = percent(fmean(gains))
        return (
            "does not change the kernels' speed"
            if abs(fmean(gains) - 1) < SHOWN / 2
            else f"changes the kernels' speed by {only} on each"
        )
    return (
        f"changes the kernels' speed by {percent(fmean(gains))} on average, from {percent(gains.min())}"
        f" ({gains.idxmin()}) to {percent(gains.max())} ({gains.idxmax()})"
    )
