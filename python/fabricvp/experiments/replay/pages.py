# SPDX-License-Identifier: Apache-2.0
"""The table of the page on recordings that are played over another fabric."""

from __future__ import annotations

import pandas

from ..page_layout import Frames, PageTable, code, fixed, in_percent


def errors(frames: Frames) -> PageTable:
    """Simulated time, executed and played, and how much less of the host's time a replay takes."""
    one, signed = fixed(1), in_percent(1, sign=True)

    def line(w: pandas.Series) -> tuple[str, ...]:
        recorded = w["executed_us"] / w["slow_down"]
        there = recorded * (1 + w["error_where_recorded_%"] / 100)
        return (
            code(w["workload"]),
            one(recorded),
            one(there),
            f"{signed(w['error_where_recorded_%'])} %",
            one(w["executed_us"]),
            one(w["played_us"]),
            f"{signed(w['error_%'])} %",
            one(w["speed_up"]),
            one(w["recording_MB"]),
        )

    heads = ("recorded, µs", "played there, µs", "error", "executed on the slow quad, µs", "played, µs", "error")
    return PageTable(
        ("workload", *heads, "speed-up", "recording, MB"), [line(w) for _, w in frames["replay"].iterrows()]
    )
