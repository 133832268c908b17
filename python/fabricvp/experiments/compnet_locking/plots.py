# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..drawing import row_of_panels

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def by_load(frame: pandas.DataFrame, key: str, label: str) -> Figure:
    """A panel for each number of work-groups that communicate: with lines locked and without, by load."""
    groups = sorted(frame["groups"].unique())
    figure, panels = row_of_panels(len(groups), 3.2, 3.2)
    for panel, count in zip(panels, groups):
        for lock, part in frame[frame["groups"] == count].groupby("locked"):
            panel.plot(
                part["load"],
                part[key],
                marker=".",
                color="#b3541e" if lock else "#4a6fa5",
                label="locked" if lock else "not locked",
            )
        panel.set_ylim(bottom=0)
        panel.set(title=f"{count} work-groups communicate", xlabel="work-groups that stream", ylabel=label)
    panels[0].legend(fontsize="x-small")
    return figure
