# SPDX-License-Identifier: Apache-2.0
"""The event calendar against stock SystemC notifications: 1,000 timers, 8 foreign threads waking every microsecond."""

import tools
from registry import Result, measurement


def systemc(rounds):
    """S, the yardstick of all rates: timed events of stock SystemC in a second of processor time."""
    return tools.rows("calendar_bench", rounds, "systemc")[0]["value"]


@measurement("calendar_vs_systemc", "event calendar, against SystemC", "timed events/s", goal="ratio ≥ 5")
def calendar_vs_systemc():
    row = tools.rows("calendar_bench", tools.sized(15, 1))[0]
    return Result(row["value"], row["baseline"], row["unit"])
