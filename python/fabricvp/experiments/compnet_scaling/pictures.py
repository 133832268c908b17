# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..compnet import COLORS

if TYPE_CHECKING:
    import pandas


def _curves(frame: pandas.DataFrame, key: str, label: str) -> Figure:
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for (scheme, harts), part in frame.groupby(["scheme", "harts"], sort=False):
        color = COLORS["lanes"] if not harts else COLORS["command processor"]
        axes.plot(part["groups"], part[key], marker=".", color=color, alpha=1 if not harts else 0.3 + 0.7 * harts / 8, linestyle="--" if not harts else "-",
                  label=f"{scheme}, {harts} harts" if harts else scheme)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="work-groups that communicate", ylabel=label)
    axes.legend(fontsize="x-small")
    return figure


def rates(frame: pandas.DataFrame) -> Figure:
    """Requests by work-groups."""
    return _curves(frame, "requests_per_us", "million requests a second, one node")


def round_trips(frame: pandas.DataFrame) -> Figure:
    """Round trips by work-groups."""
    return _curves(frame, "round_trip_us", "round trip, µs")
