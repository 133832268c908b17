# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on PCIe congestion, beside the paper's figures."""

from __future__ import annotations

from ...congestion import BANDWIDTH, TAU
from ..page_layout import EMPTY, Frames, PageTable, bold, fixed

TREES = {
    "128 B TLPs, 64 B pieces": "128-byte TLPs, cut to 64 bytes at the root complex",
    "256 B TLPs, 64 B pieces": "256-byte TLPs, 64-byte pieces",
    "256 B TLPs, 128 B pieces": "256-byte TLPs, 128-byte pieces",
    "128 B TLPs, not cut": "128-byte TLPs, not cut",
}
#: Forms as the page calls them.
FORMS = {"martinasso2016": "published", "max-min": "max-min", "max-min, two rates": "max-min, two rates"}
SHOWN_KB = (40, 254)  #: the smallest and the largest message of COSMO


def parameters(frames: Frames) -> PageTable:
    """B and τ by the sizes of TLPs."""
    frame = frames["tau"].set_index("tree")
    two = fixed(2)
    rows = []
    for tree, label in TREES.items():
        if tree in frame.index:
            line = frame.loc[tree]
            rates = [two(line[c]) for c in ("direct GB/s", "crossing GB/s", "B, GB/s")]
            tau = float(line["τ"])
            rows.append((label, *rates, f"{tau:.4f}" if abs(tau) >= 5e-5 else "0"))
    rows.append(("published for a CS-Storm", EMPTY, EMPTY, two(BANDWIDTH / 1e9), f"{TAU:g}"))
    return PageTable(("tree", "direct, GB/s", "crossing, GB/s", "B, mean of all pairs, GB/s", "τ"), rows)


def _error(value: float) -> str:
    return f"{value:.1f}" if value >= 0.05 else f"{value:.2g}"


def errors(frames: Frames) -> PageTable:
    """Error of each form by family of graphs; the best share of random graphs is bold."""
    frame = frames["families"]
    rows = []
    for family, part in frame.groupby("family", sort=False):
        best = part["within ±10"].nlargest(2).min() if family == "random" else float("inf")
        for i, (_, line) in enumerate(part.iterrows()):
            within = [fixed(1)(line[c]) if line[c] < 99.95 else "100" for c in ("within ±10", "within ±15")]
            if line["within ±10"] >= best:
                within[0] = bold(within[0])
            errs = [_error(line[c]) for c in ("median of |error|", "95th percentile", "largest")]
            rows.append((str(family) if i == 0 else EMPTY, FORMS[str(line["form"])], *errs, *within))
    heads = ("family", "form", "median", "95th percentile", "largest", "within ±10 %", "within ±15 %")
    return PageTable(heads, rows)


def schedules(frames: Frames) -> PageTable:
    """Time of the plane exchange by order, for the smallest and the largest message."""
    frame = frames["schedules"]
    frame = frame[(frame["pattern"] == "2d") & frame["KB"].isin(SHOWN_KB)]
    one = fixed(1)
    rows = []
    for how, part in frame.groupby("how", sort=False):
        for i, (_, line) in enumerate(part.iterrows()):
            times = (f"{one(line[f'{order}, µs'])} µs" for order in ("best", "natural", "worst"))
            gains = (f"{one(line[f'gain over {other}, %'])} %" for other in ("natural", "worst"))
            rows.append((str(how) if i == 0 else EMPTY, f"{line['KB']} KB", *times, *gains))
    return PageTable((EMPTY, "size", "best", "natural", "worst", "gain over natural", "over worst"), rows)
