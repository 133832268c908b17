# SPDX-License-Identifier: Apache-2.0
"""Orderings that were published, and whether they come out: 1 if so, 0 if not."""

from __future__ import annotations

from statistics import geometric_mean

import pandas

from ..frame import Figure, Missing
from .plan import VERDICTS

ISCA = "NetCrafter, ISCA 2025"
Ordering = tuple[str, Figure, float | None, str]  #: figure, measured, published, source


def evaluate(frame: pandas.DataFrame) -> list[Ordering]:
    """Rows: what is said, 1 or 0, what was published, the times behind it."""

    def time(sweep: str, setting: str, workload: str, at: str) -> float:
        rows = frame[
            (frame["sweep"] == sweep)
            & (frame["setting"] == setting)
            & (frame["workload"] == workload)
            & (frame["point"] == at)
        ]["kernels_us"]
        return float(rows.iloc[0]) if len(rows) else float("nan")

    def gains(sweep: str, setting: str, at: str) -> list[float]:
        return list(
            frame[(frame["sweep"] == sweep) & (frame["setting"] == setting) & (frame["point"] == at)]["speed_up"]
        )

    def ordering(text: str, smaller: float, larger: float, what: str, published: float | None = 1) -> Ordering:
        if smaller != smaller or larger != larger:
            return text, Missing("its points were not run"), published, ISCA
        return text, float(smaller < larger), published, f"{ISCA}; {what} {smaller:.4g} against {larger:.4g}"

    def repairs(text: str, times: tuple[float, float, float], published: float | None = 1) -> Ordering:
        """Whether selective pooling gives back what plain pooling takes, where it takes something."""
        stitching, plain, selective = times
        if plain <= stitching:
            return text, Missing("plain pooling does not hurt: there is nothing to repair"), published, ISCA
        return ordering(text, selective, plain, "µs", published)

    stitching, plain, selective = (
        time(s, n, "pagerank", at)
        for s, n, at in (
            ("parts", "as it is", "stitching"),
            ("window", "32 cycles", "pooling"),
            ("window", "32 cycles", "selective-pooling"),
        )
    )
    found = [
        ordering("plain pooling of 32 cycles hurts PR, which stitching alone does not", stitching, plain, "µs"),
        repairs("selective pooling repairs it", (stitching, plain, selective)),
    ]
    # Readings of the description. What is published is one of them, so they do not count as published figures.
    for setting in dict.fromkeys(frame[frame["sweep"] == "timer"]["setting"]):
        for workload in VERDICTS[:2]:
            stitching, plain, selective = (
                time("timer", setting, workload, at) for at in ("stitching", "pooling", "selective-pooling")
            )
            found += [
                ordering(f"{setting}: plain pooling hurts {workload}", stitching, plain, "µs", None),
                repairs(f"{setting}: selective pooling repairs {workload}", (stitching, plain, selective), None),
            ]
    first = gains("parts", "as it is", "data-first")
    found.append(
        ordering(
            "priority for as many data packets hurts a workload", min(first) if first else float("nan"), 1.0, "speed-up"
        )
    )
    tables = gains("parts", "as it is", "sequencing")
    if first and tables:
        found.append(
            ordering(
                "priority for page tables gains more than for as much data",
                geometric_mean(first),
                geometric_mean(tables),
                "speed-up",
            )
        )
    near, far = gains("rates", "128 : 128", "all"), gains("rates", "128 : 16", "all")
    if near and far:
        found.append(
            ordering(
                "NetCrafter gains more at 8 : 1 than where all links are alike",
                geometric_mean(near),
                geometric_mean(far),
                "speed-up",
            )
        )
    found += [
        *_windows({w: gains("window", f"{w} cycles", "selective-pooling") for w in (32, 64, 128)}),
        *_flits(*(gains("flit", f"{n} bytes", "all") for n in (8, 16))),
        *_rates({s: gains("rates", s, "all") for s in dict.fromkeys(frame[frame["sweep"] == "rates"]["setting"])}),
    ]
    return found


def _windows(by_cycles: dict[int, list[float]]) -> list[Ordering]:
    if not all(by_cycles.values()):
        return []
    means = {cycles: geometric_mean(gains) for cycles, gains in by_cycles.items()}
    values = ", ".join(f"{cycles}: {mean:.4g}" for cycles, mean in means.items())
    longer = max(means[64], means[128]) < means[32]
    return [("longer windows than 32 cycles gain less", float(longer), 1, f"{ISCA}; speed-up, {values}")]


def _flits(narrow: list[float], usual: list[float]) -> list[Ordering]:
    if not (narrow and usual):
        return []
    eight, sixteen = geometric_mean(narrow), geometric_mean(usual)
    less = 1 < eight < sixteen
    return [("flits of 8 bytes gain, and less than those of 16", float(less), 1, f"{ISCA}; {eight:.4g}, {sixteen:.4g}")]


def _rates(by_setting: dict[str, list[float]]) -> list[Ordering]:
    if len(by_setting) < 3 or not all(by_setting.values()):
        return []
    means = {setting: geometric_mean(gains) for setting, gains in by_setting.items()}
    least = min(means, key=lambda setting: means[setting])
    held = float(means[least] > 1)
    return [("NetCrafter gains at every rate of the links", held, 1, f"{ISCA}; {least}: {means[least]:.4g}")]


def sentences(results: list[Ordering]) -> list[str]:
    """The same for people."""
    judged = [(text, measured) for text, measured, _, _ in results if not isinstance(measured, Missing)]
    if not judged:
        return []
    return [
        "Published orderings: " + "; ".join(f"{text}: {'yes' if measured else 'NO'}" for text, measured in judged) + "."
    ]
