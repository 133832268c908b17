# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..compnet import COLORS
from ..drawing import plain_log

if TYPE_CHECKING:
    import pandas


def _curves(frame: pandas.DataFrame, key: str, label: str) -> Figure:
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for (backend, harts), part in frame.groupby(["backend", "harts"], sort=False):
        color = COLORS["GPU-native"] if not harts else COLORS["ComP-Net"]
        axes.plot(
            part["groups"],
            part[key],
            marker=".",
            color=color,
            alpha=1 if not harts else 0.3 + 0.7 * harts / 8,
            linestyle="--" if not harts else "-",
            label=f"{backend}, {harts} harts" if harts else backend,
        )
    plain_log(axes.xaxis, 2)
    plain_log(axes.yaxis)
    axes.set(xlabel="work-groups that communicate", ylabel=label)
    axes.legend(fontsize="x-small")
    return figure


def rates(frame: pandas.DataFrame) -> Figure:
    """Requests by work-groups."""
    return _curves(frame, "requests_per_us", "million requests a second, one node")


def streams(frame: pandas.DataFrame) -> Figure:
    """Messages without answers by work-groups."""
    return _curves(frame, "messages_per_us", "million messages a second, one node")


def round_trips(frame: pandas.DataFrame) -> Figure:
    """Round trips by work-groups."""
    return _curves(frame, "round_trip_us", "round trip, µs")
