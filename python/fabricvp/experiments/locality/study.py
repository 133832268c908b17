# SPDX-License-Identifier: Apache-2.0
"""Runs every application once, analyses its kernels, and compares."""

from __future__ import annotations

import pandas

from ...compiler import Options, toolchain
from ...compiler.locality import KernelLocality, dominant
from ...compiler.locality.lasp import localities
from ...compiler.locality.report import locality_of_source
from ...errors import InputError
from ..frame import Run
from .declared import QUICK, SIZES, Launch, Point, measure

PAGES = {1: "strided", 2: "rows", 3: "rows", 4: "columns", 5: "columns"}
BINDINGS = {1: "aligned", 2: "rows", 3: "columns", 4: "rows", 5: "columns"}


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    names = run.options.only or list(QUICK if run.quick else SIZES)
    points = [Point(name, run.options.machine, SIZES[name]) for name in names]
    launches = dict(zip(names, run.map("applications", measure, points, name=lambda p: p.workload)))
    again = run.map("the same again", measure, points[:1], name=lambda p: p.workload, fresh=True)[0]
    run.report.check("declarations are the same again", again == launches[names[0]], names[0])
    kernels = {launch.kernel: analysed(launch.kernel) for found in launches.values() for launch in found}
    lines = [line for name, found in launches.items() for launch in found for line in compared(name, launch, kernels)]
    missing = [
        f"{launch.kernel}: {at}" for found in launches.values() for launch in found for at in absent(launch, kernels)
    ]
    run.report.check(
        "every buffer is a pointer of its kernel", not missing, ", ".join(missing) or f"{len(lines)} buffers"
    )
    frame = pandas.DataFrame(lines)
    by_kernel = frame.drop_duplicates(["workload", "kernel"])
    source = "analysis of index expressions"
    run.report.row("buffers", "1", len(frame), None, "of the first measured launch of each kernel")
    run.report.row("buffers with the declared placement of pages", "1", int(frame["same_pages"].sum()), None, source)
    run.report.row("kernels", "1", len(by_kernel), None, "of each workload")
    same = (by_kernel["declared_work_groups"] == by_kernel["analysed_work_groups"]).sum()
    run.report.row("kernels with the declared schedule of work-groups", "1", int(same), None, source)
    run.report.table(
        "buffers",
        frame,
        "What applications declare, and what the analysis finds. Bytes are those of a row of data or of a stride."
        " Work-groups follow the largest buffer, as in LADM.",
        shown=400,
    )


def analysed(kernel: str) -> KernelLocality:
    """The table of one of the package's kernels. Raises `InputError` where its source is not at hand."""
    path = toolchain.gpu_folder() / "kernels" / f"{kernel}.c"
    try:
        source = path.read_text()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return locality_of_source(source, str(path), Options())[kernel]


def absent(launch: Launch, kernels: dict[str, KernelLocality]) -> list[int]:
    """Offsets of buffers where the kernel's structure of arguments has no pointer."""
    pointers = {m.offset for m in kernels[launch.kernel].members if m.pointer}
    return [at for at in launch.buffers if at not in pointers]


def compared(workload: str, launch: Launch, kernels: dict[str, KernelLocality]) -> list[dict[str, object]]:
    """A line for each buffer of a launch that the kernel accesses."""
    table = kernels[launch.kernel]
    words = {
        m.name: int.from_bytes(launch.arguments[m.offset : m.offset + m.integer], "little")
        for m in table.members
        if m.integer
    }
    found = localities(table, launch.items, launch.group, words)
    given = [m for m in table.members if m.offset in launch.buffers and table.accesses.get(m.name)]
    lines: list[dict[str, object]] = []
    for m in given:
        declared, own = launch.buffers[m.offset], found[m.name]
        pages = PAGES.get(own.row, "unclassified")
        lines.append(
            {
                "workload": workload,
                "kernel": launch.kernel,
                "argument": m.name,
                "declared_pages": declared.pages,
                "declared_bytes": declared.pitch,
                "row": own.row,
                "index": dominant(table.accesses[m.name]).text,
                "analysed_pages": pages,
                "analysed_bytes": own.pitch,
                "same_pages": declared.pages == pages and declared.pitch == own.pitch,
                "declared_work_groups": launch.binding,
            }
        )
    # The largest decides, and of several the first.
    largest = max(given, key=lambda m: launch.buffers[m.offset].size, default=None)
    row = found[largest.name].row if largest else 0
    for line in lines:
        line["analysed_work_groups"] = BINDINGS.get(row, "kernel")
    return lines
