# SPDX-License-Identifier: Apache-2.0
"""The tables of the page."""

from __future__ import annotations

from ..page_layout import Frames, NoTable, PageTable, code, fixed, significant


def declared(frames: Frames) -> PageTable:
    """A line for each buffer with a declaration, of it or of its kernel's work-groups, beside the analysis."""
    frame = frames["buffers"]
    known = frame[(frame["declared_pages"] != "unclassified") | (frame["declared_work_groups"] != "kernel")]
    rows = [
        (
            code(line["workload"]),
            code(f"{line['kernel']}: {line['argument']}"),
            str(line["row"]),
            _layout(line["declared_pages"], line["declared_bytes"]),
            "the same" if line["same_pages"] else _layout(line["analysed_pages"], line["analysed_bytes"]),
            line["declared_work_groups"],
            "the same"
            if line["declared_work_groups"] == line["analysed_work_groups"]
            else line["analysed_work_groups"],
        )
        for _, line in known.iterrows()
    ]
    titles = ("pages declared", "pages analysed", "work-groups declared", "work-groups analysed")
    return PageTable(("workload", "kernel: buffer", "row", *titles), rows)


def summary(frames: Frames) -> PageTable:
    """How many buffers and kernels of each workload agree."""
    rows = []
    for workload, part in frames["buffers"].groupby("workload", sort=False):
        kernels = part.drop_duplicates("kernel")
        same = (kernels["declared_work_groups"] == kernels["analysed_work_groups"]).sum()
        classes = ", ".join(f"{row}: {count}" for row, count in sorted(part["row"].value_counts().items()))
        rows.append(
            (code(workload), classes, f"{part['same_pages'].sum()} of {len(part)}", f"{same} of {len(kernels)}")
        )
    return PageTable(
        ("workload", "buffers by row", "buffers with the same pages", "kernels with the same schedule"), rows
    )


def times(frames: Frames) -> PageTable:
    """Kernel times and remote lines by placement."""
    if "times" not in frames:
        raise NoTable("made without --times")
    three, one, two = significant(3), fixed(1), fixed(2)
    ways = ("contiguous", "declared", "analysed")
    rows = [
        (
            code(line["workload"]), f"{line['size']:,}", *(three(line[f"{way}_us"]) for way in ways),
            two(line["analysed_us"] / line["declared_us"]), *(one(line[f"{way}_remote_%"]) for way in ways),
        )
        for _, line in frames["times"].iterrows()
    ]  # fmt: skip
    titles = (*(f"{way}, µs" for way in ways), "analysed ÷ declared", *(f"{way}: remote lines, %" for way in ways))
    return PageTable(("workload", "size", *titles), rows)


def _layout(pages: str, size: int) -> str:
    return f"{pages}, {size:,} B" if size else pages
