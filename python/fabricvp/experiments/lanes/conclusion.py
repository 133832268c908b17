# SPDX-License-Identifier: Apache-2.0
"""The verdict in words, from what was measured."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from .points import DOUBLED, FIXED, POLICIES

if TYPE_CHECKING:
    import pandas

    from ..gpu_workloads.measure import Measured


def percent(gain: float) -> str:
    """A speed-up as what is won or lost."""
    return f"{100 * (gain - 1):+.1f} %"


def verdict(gains: pandas.DataFrame, found: dict[tuple[str, str], Measured], names: list[str]) -> list[str]:
    """Paragraphs."""
    mean = {p: fmean(gains[p]) for p in (DOUBLED, *POLICIES)}
    best = max(POLICIES, key=lambda p: mean[p])
    published = gains["milic2017"]
    first = (
        f"Over {len(names)} workloads with settled pages the milic2017 policy changes the kernels' speed by"
        f" {percent(mean['milic2017'])} on average, from {percent(published.min())} ({published.idxmin()}) to"
        f" {percent(published.max())} ({published.idxmax()}); links of twice the bandwidth by {percent(mean[DOUBLED])}."
        " Published: +15 % (or +14 %), up to +80 %, and +50 %."
    )
    idle = [n for n in names if max(found[n, FIXED].busy.values()) < 0.5]
    second = (
        f"Links are less than half busy in {', '.join(idle)}: there is nothing to gain from lanes. " if idle else ""
    )
    second += (
        "Among the rules, "
        + ", ".join(f"{p} has {percent(mean[p])}" for p in POLICIES)
        + f", so {best} is the best on average"
    )
    second += "." if best == "predictive" else "; our own, predictive, is not."
    return [first, second]
