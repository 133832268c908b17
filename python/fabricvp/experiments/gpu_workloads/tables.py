# SPDX-License-Identifier: Apache-2.0
"""Tables of what workloads did, for every experiment that runs them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas

from .measure import CLASSES, PADDINGS, PLACES, Measured


def by_gpu(runs: Iterable[Measured]) -> pandas.DataFrame:
    """Where the lines lie that each GPU reads, writes or changes behind its L1 caches, and page-table reads of its
    walkers."""
    rows = []
    for m in runs:
        for gpu in sorted({g for g, _ in m.accesses}):
            places = [place for place in PLACES if (gpu, place) in m.accesses]
            data = {place: m.accesses[gpu, place] for place in places}
            tables = {place: m.page_table_reads[gpu, place] for place in places}
            every = sum(data.values()) + sum(tables.values())
            rows.append(
                {
                    "workload": m.point.workload,
                    "gpu": gpu,
                    "requests": every,
                    "remote_requests": every - data["local"] - tables["local"],
                    **{f"{place}_%": round(100 * n / (sum(data.values()) or 1), 2) for place, n in data.items()},
                    "page_table_%": round(100 * sum(tables.values()) / every, 3) if every else 0.0,
                    "page_table_remote_%": round(
                        100 * (sum(tables.values()) - tables["local"]) / (sum(tables.values()) or 1), 2
                    ),
                }
            )
    return pandas.DataFrame(rows)


def padding(runs: Iterable[Measured]) -> pandas.DataFrame:
    """Flits between the clusters by packet class and padding."""
    rows = []
    for m in runs:
        for c in CLASSES:
            flits = sum(m.flits.get((c, p), 0.0) for p in PADDINGS)
            if flits:
                rows.append(
                    {
                        "workload": m.point.workload,
                        "class": c,
                        "packets": m.packets[c],
                        "flits": flits,
                        **{f"padded_{p}_%": round(100 * m.flits[c, p] / flits, 2) for p in PADDINGS},
                    }
                )
    return pandas.DataFrame(
        rows, columns=["workload", "class", "packets", "flits", *(f"padded_{p}_%" for p in PADDINGS)]
    )
