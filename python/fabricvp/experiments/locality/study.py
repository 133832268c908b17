# SPDX-License-Identifier: Apache-2.0
"""Runs every application once, analyses its kernels, and compares."""

from __future__ import annotations

from collections.abc import Sequence

import pandas

from ...compiler import Options, toolchain
from ...compiler.debug import Member
from ...compiler.locality import KernelLocality, dominant
from ...compiler.locality.lasp import localities
from ...compiler.locality.report import locality_of_source
from ...errors import InputError
from ...launch import Locality
from ..frame import Run
from ..gpu_workloads import measure as workloads
from ..gpu_workloads.workloads import WORKLOADS
from .declared import QUICK, SIZES, Launch, Point, measure

PAGES = {1: "strided", 2: "rows", 3: "rows", 4: "columns", 5: "columns"}
BINDINGS = {1: "aligned", 2: "rows", 3: "columns", 4: "rows", 5: "columns"}
BINDING_NUMBERS = {1: 3, 2: 1, 3: 2, 4: 1, 5: 2}  # enum gpu_binding
PAGE, GPUS = 4096, 4  # of netcrafter_quad
#: By column of the table: policies of pages and work-groups.
POLICIES = {"contiguous": "contiguous", "declared": "lasp", "analysed": "lasp"}


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
    if run.options.times:
        times(run, names, kernels)


def times(run: Run, names: Sequence[str], kernels: dict[str, KernelLocality]) -> None:
    """Adds kernel times by each placement, at the quick sizes of the study of workloads."""
    chosen = [name for name in names if name in WORKLOADS]
    sized = [Point(name, run.options.machine, WORKLOADS[name].quick) for name in chosen]
    launches = run.map("declarations", measure, sized, name=lambda p: p.workload)
    points = [
        workloads.Point(
            p.workload, p.machine, p.size, policy, policy,
            option=analysed_placement(found, kernels) if what == "analysed" else "",
        )
        for p, found in zip(sized, launches)
        for what, policy in POLICIES.items()
    ]  # fmt: skip
    measured = iter(run.map("kernel times", workloads.measure, points, name=lambda p: f"{p.workload}, {p.placement}"))
    lines = []
    for p in sized:
        each = dict(zip(POLICIES, measured))
        run.report.check(f"{p.workload} is right", all(m.correct for m in each.values()), "by each placement")
        lines.append(
            {"workload": p.workload, "size": p.size}
            | {f"{what}_us": 1e6 * m.kernel_time_s for what, m in each.items()}
            | {f"{what}_remote_%": _remote(m) for what, m in each.items()}
        )
    frame = pandas.DataFrame(lines)
    gains = frame["analysed_us"] / frame["declared_us"]
    run.report.row("kernel time, analysed to declared, mean", "1", float(gains.mean()), None, "LASP either way")
    run.report.row("kernel time, analysed to declared, largest", "1", float(gains.max()), None, "LASP either way")
    run.report.table("times", frame.round(4), "Kernel times, and lines from other GPUs, by placement.", shown=40)


def _remote(m: workloads.Measured) -> float:
    lines = sum(m.accesses.values())
    return 100 * sum(n for (_, place), n in m.accesses.items() if place != "local") / lines if lines else 0.0


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


def found_in(launch: Launch, kernels: dict[str, KernelLocality]) -> tuple[list[Member], dict[str, Locality]]:
    """Buffers of a launch that its kernel accesses, and by name what it does with them."""
    table = kernels[launch.kernel]
    words = {
        m.name: int.from_bytes(launch.arguments[m.offset : m.offset + m.integer], "little")
        for m in table.members
        if m.integer
    }
    given = [m for m in table.members if m.offset in launch.buffers and table.accesses.get(m.name)]
    return given, localities(table, launch.items, launch.group, words)


def deciding(launch: Launch, given: list[Member]) -> Member | None:
    """The buffer that decides where work-groups run: the largest, and of several the first."""
    return max(given, key=lambda m: launch.buffers[m.offset].size, default=None)


def analysed_placement(launches: Sequence[Launch], kernels: dict[str, KernelLocality]) -> str:
    """Words of the kernel command line (firmware/programs/apps/declared.h): pages as the first kernel that accesses
    them asks, as LADM does, and work-groups of each kernel."""
    places: dict[int, Locality] = {}
    schedules = []
    for launch in launches:
        given, found = found_in(launch, kernels)
        for m in given:
            places.setdefault(launch.buffers[m.offset].number, found[m.name])
        if largest := deciding(launch, given):
            own = found[largest.name]
            schedules.append(f"{launch.kernel}:{BINDING_NUMBERS.get(own.row, 0)}:{batch_of(own)}")
    texts = (f"{number}:{own.row}:{own.pitch}" for number, own in sorted(places.items()))
    return f"places={','.join(texts)} schedules={','.join(schedules)}"


def batch_of(own: Locality) -> int:
    """Work-groups that touch what a GPU holds of a strided buffer, as gpu_batch_of() has it."""
    held = -(-max(own.pitch, PAGE) // (GPUS * PAGE)) * PAGE
    return max(1, held // (own.datablock or PAGE))


def compared(workload: str, launch: Launch, kernels: dict[str, KernelLocality]) -> list[dict[str, object]]:
    """A line for each buffer of a launch that the kernel accesses."""
    table = kernels[launch.kernel]
    given, found = found_in(launch, kernels)
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
    largest = deciding(launch, given)
    row = found[largest.name].row if largest else 0
    for line in lines:
        line["analysed_work_groups"] = BINDINGS.get(row, "kernel")
    return lines
