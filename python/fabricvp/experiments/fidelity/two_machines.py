# SPDX-License-Identifier: Apache-2.0
"""Published figures beside ours on two machines: one with the parameters of the study's own, and one of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas


class Pair(NamedTuple):
    """One figure as two experiments name it."""

    words: str
    as_published: tuple[str, str]  #: experiment and figure on the machine with the study's parameters
    today: tuple[str, str]


def _netcrafter(words: str, figure: str) -> Pair:
    return Pair(words, ("netcrafter-mgpusim", figure), ("netcrafter", figure))


PAIRS = (
    _netcrafter("slow-down by the slow link, mean", "ideal: speed-up, arithmetic mean"),
    _netcrafter("slow-down by the slow link, largest", "ideal: speed-up, largest"),
    _netcrafter("speed-up by all parts, mean", "all: speed-up, arithmetic mean"),
    _netcrafter("speed-up by all parts, largest", "all: speed-up, largest"),
    _netcrafter("page-table flits between clusters, %", "baseline: page-table flits between clusters, mean"),
    _netcrafter("flits with 25 or 75 % padding, %", "baseline: flits between clusters with 25 or 75 % padding, mean"),
)
COLUMNS = ("figure", "published", "as_published", "today")


def machines(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> pandas.DataFrame:
    """A line for each of `PAIRS` that both results have. ``rows``: those of results by experiment."""
    by_name = {(experiment, row["figure"]): row for experiment, found in rows.items() for row in found}
    lines = [
        (pair.words, one["published"], one["measured"], other["measured"])
        for pair in PAIRS
        if (one := by_name.get(pair.as_published)) and (other := by_name.get(pair.today))
    ]
    return pandas.DataFrame(lines, columns=list(COLUMNS))
