# SPDX-License-Identifier: Apache-2.0
"""Statements that were published about workloads, and whether they come out: 1 if so, 0 if not."""

from __future__ import annotations

from typing import NamedTuple

import pandas

ISCA = "NetCrafter, ISCA 2025"
TRIMMED = ("mis", "spmv", "gups")  #: of which the evaluation says so
POOLED = ("pagerank", "syr2k")
PARTS = ("stitching", "selective-pooling", "sequencing")
READ = 0.01  #: to which bars of a chart can be read


class Ordering(NamedTuple):
    """What was published, in words, and what was found."""

    text: str
    holds: bool
    source: str  #: with the speed-ups behind it


def orderings(gains: pandas.DataFrame) -> list[Ordering]:
    """Those whose workloads and design points were run. ``gains``: speed-ups over the baseline, a line for each
    workload and a column for each point."""

    def there(names: tuple[str, ...], points: tuple[str, ...]) -> list[str]:
        return [name for name in names if name in gains.index and set(points) <= set(gains.columns)]

    def values(name: str, points: tuple[str, ...]) -> str:
        return ISCA + "; " + ", ".join(f"{at} {gains.loc[name, at]:.3f}" for at in points)

    found = []
    if "all" in gains:
        least = gains["all"].idxmin()
        held = bool(gains.loc[least, "all"] >= 1 - READ)
        found.append(Ordering("no workload loses by all parts", held, values(least, ("all",)) + f" of {least}"))
    for name in there(TRIMMED, ("trimming", *PARTS)):
        most = bool(gains.loc[name, "trimming"] > gains.loc[name, list(PARTS)].max())
        found.append(Ordering(f"trimming gains the most in {name}", most, values(name, ("trimming", *PARTS))))
    for name in there(TRIMMED, ("sector-cache",)):
        helps = bool(gains.loc[name, "sector-cache"] > 1)
        found.append(Ordering(f"a sector cache everywhere helps {name}", helps, values(name, ("sector-cache",))))
    poolings = ("stitching", "pooling", "selective-pooling")
    for name in there(POOLED, poolings):
        stitching, plain, selective = (gains.loc[name, at] for at in poolings)
        found.append(Ordering(f"plain pooling hurts {name}", bool(plain < stitching), values(name, poolings)))
        if plain < stitching:
            found.append(Ordering(f"selective pooling repairs {name}", bool(selective > plain), values(name, poolings)))
    return found
