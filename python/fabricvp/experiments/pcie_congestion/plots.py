# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..drawing import mark_published
from . import published
from .families import FORMS

if TYPE_CHECKING:
    import pandas

    from .calibration import Lengths

#: Of forms and of orders: each colour has one meaning on the page.
_COLORS = dict(zip(FORMS, ("#b3541e", "#4a6fa5", "#1b7f5c")))
_ORDERS = {"best": "#c9a227", "natural": "#8a94a3", "worst": "#7d5ba6"}
_INK = "#1c2430"  #: of what is no form and no order


def _figure(columns: int, height: float = 3.4) -> tuple[Figure, list]:
    figure = Figure(figsize=(4.6 * columns, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def histogram(frame: pandas.DataFrame) -> Figure:
    """Error per communication, by form, for random graphs; how many are within ±15 %, and were published to be."""
    figure, axes = _figure(len(FORMS))
    random = frame[frame["family"] == "random"]
    for axis, form in zip(axes, FORMS):
        axis.axvspan(-10, 10, color="#e8eef5", zorder=0)
        for bound in (-15, 15):
            axis.axvline(bound, color="#9aa5b1", linewidth=0.8, linestyle=":")
        within = f"within ±15 %: {100 * (random[form].abs() <= 0.15).mean():.0f} %"
        if form in published.WITHIN:
            within += f" (published {published.WITHIN[form]} %)"
        axis.text(0.02, 0.97, within, transform=axis.transAxes, va="top", fontsize="small")
        axis.hist((100 * random[form]).clip(-50, 50), bins=100, range=(-50, 50), color=_COLORS[form])
        axis.set(
            title=form, xlabel="error of the predicted time, %", ylabel="communications" if form == FORMS[0] else ""
        )
    return figure


def predicted(frame: pandas.DataFrame, size: int, bandwidth: float) -> Figure:
    """Factors of all communications: predicted over simulated."""
    figure, axes = _figure(len(FORMS), 4.2)
    factor = size / (bandwidth * frame["tree_s"])
    for axis, form in zip(axes, FORMS):
        axis.plot([0, 1.1], [0, 1.1], color="#9aa5b1", linewidth=0.8)
        axis.fill_between([0, 1.1], [0, 1.1 / 1.1], [0, 1.1 / 0.9], color="#e8eef5")
        axis.scatter(
            factor, factor / (1 + frame[form]), s=4, alpha=0.25, color=_COLORS[form], rasterized=True, linewidths=0
        )
        axis.set(
            title=form,
            xlabel="bytes / (B · time) on the tree",
            ylabel="the same, predicted" if form == FORMS[0] else "",
            xlim=(0, 1.12),
            ylim=(0, 1.12),
        )
    return figure


def families(frame: pandas.DataFrame) -> Figure:
    """Errors by family and form as boxes over 5 … 95 %."""
    figure, (axis,) = _figure(1)
    figure.set_size_inches(9, 3.8)
    names = list(dict.fromkeys(frame["family"]))
    for offset, form in enumerate(FORMS):
        boxes = axis.boxplot(
            [100 * frame.loc[frame["family"] == name, form] for name in names],
            whis=(5, 95),
            widths=0.22,
            positions=[i + 0.27 * (offset - 1) for i in range(len(names))],
            showfliers=False,
            patch_artist=True,
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set(facecolor=_COLORS[form], label=form if box is boxes["boxes"][0] else None)
    axis.axhspan(-10, 10, color="#e8eef5", zorder=0)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel("error of the predicted time, %")
    axis.legend(frameon=False, fontsize=8)
    return figure


def lengths(found: Lengths) -> Figure:
    """How factors settle as messages grow."""
    figure, axes = _figure(2)
    kib = [size / 1024 for size in found.sizes]
    last = found.factors[-1]
    for k in range(len(last)):
        axes[0].plot(kib, [f[k] / last[k] for f in found.factors], color=_INK, alpha=0.4, linewidth=0.9)
    axes[0].axhspan(0.95, 1.05, color="#e8eef5", zorder=0)
    axes[0].set(
        xscale="log",
        xlabel="message, KiB",
        ylabel="factor / that of the longest messages",
        title="every probe communication",
    )
    axes[1].plot(kib[:-1], [100 * max(found.moves(i)) for i in range(len(kib) - 1)], marker="o", color=_INK)
    axes[1].axhline(1, color="#9aa5b1", linewidth=0.8)
    axes[1].set(
        xscale="log",
        yscale="log",
        xlabel="message, KiB",
        ylabel="largest move, %",
        title="doubling a message moves a factor by",
    )
    return figure


def schedules(times: dict[str, dict[str, list[float]]], sizes: tuple[int, ...]) -> Figure:
    """Exchange times of the orders, by message size; the published gain as marks over the best order."""
    figure, axes = _figure(len(times))
    for axis, (title, by_order) in zip(axes, times.items()):
        if gain := published.GAINS.get(title.partition(",")[0]):
            best = 0.27 * (list(by_order).index("best") - 1)
            mark_published(
                axis,
                [i + best for i in range(len(sizes))],
                [1e6 * t * (1 - gain / 100) for t in by_order["natural"]],
                f"published, {gain} % less than natural",
            )
        for offset, (name, seconds) in enumerate(by_order.items()):
            axis.bar(
                [i + 0.27 * (offset - 1) for i in range(len(sizes))],
                [1e6 * t for t in seconds],
                0.25,
                color=_ORDERS[name],
                label=name,
            )
        axis.set_xticks(range(len(sizes)), [f"{size // 1000} KB" for size in sizes])
        axis.set(title=title, ylabel="exchange, µs")
        axis.legend(frameon=False, fontsize=8)
    return figure
