# SPDX-License-Identifier: Apache-2.0
"""Runs a campaign and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas
from scipy.stats import binomtest

from ...errors import InputError
from ..drawing import stacked
from ..frame import Run
from .kinds import PROTECTION
from .linux_measure import LINUX, LinuxInjections, images, measure_linux
from .measure import CLUSTER, FLIPS, WITH_ECC, Campaign, Injected, Injection, Injections, measure
from .outcomes import Fate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INJECTIONS, QUICK_INJECTIONS = 10_000, 500
LINUX_INJECTIONS, LINUX_QUICK_INJECTIONS = 2_500, 110
CHUNK = 50  #: injections of a point; for each point a machine starts, which is much for Linux
ECC_SHARE = 4  #: one more injection for so many, into memories of a machine with ECC
AGAIN = 3  #: that are made twice
MEASURES: dict[str, Callable[[Any], Injected]] = {CLUSTER: measure, LINUX: measure_linux}
#: No result, or a wrong one, of which nothing tells the software.
BAD = (Fate.HANG, Fate.UNNAMED_HANG, Fate.SILENT, Fate.CRASH)


def study(run: Run) -> None:
    """Adds everything to the report of ``run``. Raises `InputError` for bad options."""
    options = run.options
    on_linux = options.machine == LINUX
    if options.machine not in (CLUSTER, LINUX):
        raise InputError(f"--machine: a campaign runs on {CLUSTER} or {LINUX}, not on '{options.machine}'")
    full, quick = (LINUX_INJECTIONS, LINUX_QUICK_INJECTIONS) if on_linux else (INJECTIONS, QUICK_INJECTIONS)
    count = options.injections if options.injections is not None else quick if run.quick else full
    if count < 1:
        raise InputError(f"--injections: {count} is not a number of 1 or more")
    kinds = tuple(options.kinds or ())
    flips = tuple(kind for kind in FLIPS if not kinds or kind in kinds)
    if options.ecc:
        _check_ecc(options.number, on_linux, flips)
    made_by = images() if on_linux else ()

    def point(first: int, number: int, ecc_kinds: tuple[str, ...] = ()) -> Campaign:
        if on_linux:
            return LinuxInjections(first, number, options.seed, kinds, images=made_by)
        return Injections(first, number, options.seed, ecc_kinds or kinds, ecc=bool(ecc_kinds))

    if options.number is not None:
        _one(run, point(options.number, 1, flips if options.ecc else ()))
        return
    points = [point(first, min(CHUNK, count - first)) for first in range(0, count, CHUNK)]
    if not on_linux and flips:
        more = -(-count // ECC_SHARE)
        points += [point(first, min(CHUNK, more - first), flips) for first in range(0, more, CHUNK)]
    found: list[Injected] = run.map("injections", MEASURES[options.machine], points, lambda p: p.count, _name)
    first = point(0, min(AGAIN, count))
    again: Injected = run.map("the same again", MEASURES[options.machine], [first], name=_name, fresh=True)[0]
    injections = [each for point in found for each in point.injections]
    _check(run, points, found, first, again)
    _rows(run, injections)
    prefix = "linux_" if on_linux else ""
    run.report.conclude(*_sentences(injections))
    run.report.plot(f"{prefix}fates", fates_plot(injections), "What became of faults, by structure and kind")
    run.report.table(
        f"{prefix}outcomes", outcomes_table(injections), "Injections by structure, kind and what became of them", 80
    )
    run.report.table(f"{prefix}shares", shares_table(injections), "Shares with 95 % intervals (Wilson), by structure")
    if any(map(has_ecc, injections)):
        run.report.table(
            "protection",
            protection_table(injections),
            "Bits that flip in memories, without and with ECC: 95 % intervals",
        )
    if on_linux and (hangs := [i for i in injections if i.fate in (Fate.HANG, Fate.UNNAMED_HANG)]):
        run.report.table(f"{prefix}hangs", injections_table(hangs), "Each hang, and what is said of it", 20)
    run.report.table(f"{prefix}injections", injections_table(injections), "Each injection", 20)


def _check_ecc(number: int | None, on_linux: bool, flips: tuple[str, ...]) -> None:
    """Raises `InputError` where there is no injection with ECC to repeat."""
    if number is None:
        raise InputError("--ecc needs --number: a campaign makes injections with ECC beside the others")
    if on_linux:
        raise InputError(f"--ecc: memories of {LINUX} have none")
    if not flips:
        raise InputError(f"--ecc: --kinds has none of those with ECC: {', '.join(FLIPS)}")


def _one(run: Run, point: Campaign) -> None:
    """Only one injection of a campaign, and whether it ends the same a second time."""
    if point.first < 0:
        raise InputError(f"--number: {point.first} is not a number of 0 or more")
    function = MEASURES[run.options.machine]
    found: Injected = run.map("injection", function, [point], name=_name)[0]
    again: Injected = run.map("the same again", function, [point], name=_name, fresh=True)[0]
    injection = found.injections[0]
    _check(run, [point], [found], point, again)
    run.report.conclude(f"Number {_called(injection)}: {injection.fate}. {injection.detail}".rstrip())
    run.report.table("injection", injections_table([injection]), "The injection", 1)


def _check(run: Run, points: Sequence[Campaign], found: list[Injected], first: Campaign, again: Injected) -> None:
    report, on_cluster = run.report, run.options.machine == CLUSTER
    injections = [each for point in found for each in point.injections]
    crashed, unnamed = ([i for i in injections if i.fate == fate] for fate in (Fate.CRASH, Fate.UNNAMED_HANG))
    report.check("no fault ends the simulator", not crashed, _listed(crashed) or f"{len(injections)} injections")
    named = "by the watchdog" if on_cluster else "by a watchdog, or Linux and its adapter say who waits"
    report.check("every hang is named", not unnamed, _listed(unnamed) or named)
    if on_cluster:
        corrupt = [i for i in injections if i.fate == Fate.SILENT and has_ecc(i)]
        report.check("no silent corruption where there is ECC", not corrupt, _listed(corrupt) or "one and two bits")
    report.check(
        "the run without a fault is the same in every process",
        all(
            point.undisturbed == next(other.undisturbed for p, other in zip(points, found) if p.ecc == mine.ecc)
            for mine, point in zip([*points, first], [*found, again])
        ),
        f"{len(found) + 1} processes",
    )
    report.check(
        "the same injections again end the same",
        list(again.injections) == injections[: len(again.injections)],
        f"{len(again.injections)} of them",
    )


def _listed(injections: list[Injection]) -> str:
    return "; ".join(f"{_called(i)}: {i.detail}" for i in injections[:5])


def _called(injection: Injection) -> str:
    """By number, which injections with ECC have of their own."""
    return f"{injection.number}{WITH_ECC if has_ecc(injection) else ''}: {injection.kind} of {injection.target}"


def has_ecc(injection: Injection) -> bool:
    """Whether the machine had ECC: `--number` repeats the injection with `--ecc` then."""
    return injection.structure.endswith(WITH_ECC)


def _rows(run: Run, injections: list[Injection]) -> None:
    fates = Counter(i.fate for i in injections)
    for fate in Fate:
        low, high = interval(fates[fate], len(injections))
        run.report.row(
            f"share of faults: {fate}",
            "%",
            100 * fates[fate] / len(injections),
            None,
            f"{fates[fate]} of {len(injections)}; 95 %: {100 * low:.1f} … {100 * high:.1f} %",
        )


def interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    found = binomtest(count, total).proportion_ci(0.95, "wilson")
    return float(found.low), float(found.high)


def _grouped(injections: list[Injection]) -> dict[tuple[str, str], list[Injection]]:
    groups: dict[tuple[str, str], list[Injection]] = {}
    for injection in injections:
        groups.setdefault((injection.structure, injection.kind), []).append(injection)
    order = list(dict.fromkeys(structure for structure, _ in groups))
    return dict(sorted(groups.items(), key=lambda item: order.index(item[0][0])))


def outcomes_table(injections: list[Injection]) -> pandas.DataFrame:
    """A row for each structure and kind: numbers by what became of them."""
    rows = []
    for (structure, kind), members in _grouped(injections).items():
        fates = Counter(i.fate for i in members)
        rows.append({"structure": structure, "kind": kind, "injections": len(members)} | {f: fates[f] for f in Fate})
    return pandas.DataFrame(rows)


def shares_table(injections: list[Injection]) -> pandas.DataFrame:
    """A row for each structure: shares in percent, with their intervals."""
    structures: dict[str, list[Injection]] = {}
    for injection in injections:
        structures.setdefault(injection.structure, []).append(injection)
    rows = []
    for structure, members in {**structures, "all": injections}.items():
        row: dict[str, object] = {"structure": structure, "injections": len(members)}
        for fate in Fate:
            row[fate] = _share(sum(i.fate == fate for i in members), len(members))
        rows.append(row)
    return pandas.DataFrame(rows)


def _share(count: int, total: int) -> str:
    low, high = interval(count, total)
    return f"{100 * count / total:.1f} % ({100 * low:.1f} … {100 * high:.1f})"


def protection_table(injections: list[Injection]) -> pandas.DataFrame:
    """A row for each memory without and with its code: the share of flips that end the run wrong or that are reported,
    and the share that corrupts silently (architectural vulnerability factors of what is in use)."""
    rows = []
    for structure in PROTECTION:
        for name in (structure, f"{structure}{WITH_ECC}"):
            members = [i for i in injections if i.structure == name and i.kind in FLIPS]
            if not members:
                continue
            fates = Counter(i.fate for i in members)
            total = len(members)
            rows.append(
                {
                    "structure": name,
                    "flips": total,
                    "corrected": fates[Fate.CORRECTED],
                    "reported": _share(fates[Fate.REPORTED], total),
                    "silent corruption": _share(fates[Fate.SILENT], total),
                    "any effect": _share(total - fates[Fate.MASKED] - fates[Fate.CORRECTED], total),
                }
            )
    return pandas.DataFrame(rows)


def injections_table(injections: list[Injection]) -> pandas.DataFrame:
    """A row for each injection, which `--number`, and `--ecc` where ecc is yes, repeat."""
    return pandas.DataFrame(
        [
            {
                "number": i.number,
                "ecc": "yes" if has_ecc(i) else "no",
                "structure": i.structure,
                "kind": i.kind,
                "target": i.target,
                "arguments": i.arguments,
                "at_us": round(i.at_ps / 1e6, 3),
                "outcome": str(i.fate),
                "detail": i.detail,
                "end_us": round(i.end_ps / 1e6, 3),
            }
            for i in injections
        ]
    )


def fates_plot(injections: list[Injection]) -> Figure:
    """A bar for each structure and kind, of shares."""
    from matplotlib.figure import Figure

    groups = _grouped(injections)
    figure = Figure(figsize=(10, 1.5 + 0.27 * len(groups)), layout="constrained")
    axes = figure.subplots()
    names = [f"{structure}: {kind}" for structure, kind in groups]
    shown = [fate for fate in Fate if any(i.fate == fate for i in injections)]
    parts = {
        str(fate): [100 * sum(i.fate == fate for i in members) / len(members) for members in groups.values()]
        for fate in shown
    }
    stacked(axes, names, parts)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the injections")
    figure.legend(loc="outside lower center", ncols=4, fontsize="small")
    return figure


def _sentences(injections: list[Injection]) -> list[str]:
    total = len(injections)
    fates = Counter(i.fate for i in injections)
    parts = ", ".join(f"{fates[fate]} {fate}" for fate in Fate if fates[fate])
    bad = Counter(i.structure for i in injections if i.fate in BAD)
    sentences = [f"Of {total:,} faults: {parts}."]
    if bad:
        worst = ", ".join(f"{structure} {number}" for structure, number in sorted(bad.items()))
        sentences.append(f"Without a result, or with a wrong one that nothing tells of, by structure: {worst}.")
    return sentences


def _name(point: Campaign) -> str:
    return f"injections {point.first} to {point.first + point.count - 1}{', with ECC' if point.ecc else ''}"
