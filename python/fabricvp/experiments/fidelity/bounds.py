# SPDX-License-Identifier: Apache-2.0
"""Published statements that are bounds: a ratio to the number in them says nothing."""

from __future__ import annotations

import re
from typing import NamedTuple


class Bound(NamedTuple):
    """What a source says of a figure: it lies between ``low`` and ``high``, in the figure's unit."""

    experiment: str
    figure: str  #: pattern of its name
    low: float
    high: float


BOUNDS = (
    Bound("lanes", r"SwitchTime 10 cycles .*mean change", -1.0, 1.0),  # "no gain": none of a percent
    Bound("lanes", r"SwitchTime (200|500) cycles .*mean change", -2.0, 2.0),  # "less than 2 % lost"
)


def within_bound(experiment: str, figure: str, measured: float) -> bool | None:
    """Whether a figure is as its source says; None where that is a value and no bound."""
    for bound in BOUNDS:
        if bound.experiment == experiment and re.search(bound.figure, figure):
            return bound.low <= measured <= bound.high
    return None
