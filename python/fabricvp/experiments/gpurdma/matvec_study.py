# SPDX-License-Identifier: Apache-2.0
"""Runs the service for every batch and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import plots, published
from .service import GROUPS, WORKERS, Service, ServiceResult, measure

US = 1e6
VECTOR = 128  #: bytes
ITEMS = 1024  #: of each work-group
SLIDES_LAUNCH = "20 us"
PARTS = "… whose work-groups each get their part"
SLIDES = "ComP-Net slides: 20 µs a launch by a vendor's driver"
EXTRA = {name for name, *_ in published.CPU_COSTS[1:]}  #: of the smallest batch alone


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    batches = [n for n in published.MATVEC if not run.quick or n in (480, 1920)]

    def service(who: str, vectors: int, launch: str = "0 us", options: str = "") -> Service:
        return Service(
            f"{WORKERS[who]} groups={GROUPS} multiply=1 items={ITEMS} bytes={vectors * VECTOR}"
            f" rounds={2 if run.quick or vectors > 2000 else 6} {options}".rstrip(),
            launch,
            vectors / 1000 + 2,
        )

    points = {
        (name, n): service(who, n, launch)
        for n in batches
        for name, who, launch in (
            ("a kernel for each batch", "CPU", "0 us"),
            (f"… and {SLIDES_LAUNCH} a launch", "CPU", SLIDES_LAUNCH),
            ("one kernel", "one kernel", "0 us"),
            (PARTS, "each work-group by itself", "0 us"),
        )
    }
    points |= {
        (cost, batches[0]): service("CPU", batches[0], launch, options)
        for cost, options, launch, _ in published.CPU_COSTS[1:]
    }
    found = dict(
        zip(
            points,
            run.map(
                "batches",
                measure,
                list(points.values()),
                lambda s: s.cost,
                lambda s: f"{s.options}, {s.launch} a launch",
            ),
        )
    )
    again = run.map(
        "the same again", measure, [points["one kernel", batches[0]]], name=lambda s: s.options, fresh=True
    )[0]
    lines = []
    for (name, n), f in found.items():
        if name in EXTRA:
            continue
        rate = n / f.each / 1e6
        known = published.MATVEC[n][name in ("one kernel", PARTS)]
        run.report.row(
            f"{name}, {n} vectors",
            "M/s",
            rate,
            known,
            published.MATVEC_SOURCE if "launch" not in name else f"{published.MATVEC_SOURCE}; {SLIDES}",
        )
        lines.append(
            {"worker": name, "vectors": n, "us": f.each * US, "million_vectors_per_s": rate, "published": known}
        )
    frame = pandas.DataFrame(lines)
    for n in batches:
        one, per_batch, driver = (
            found[name, n].each for name in ("one kernel", "a kernel for each batch", f"… and {SLIDES_LAUNCH} a launch")
        )
        cpu, gpu = published.MATVEC[n]
        run.report.row(
            f"one kernel over a kernel for each batch, {n} vectors",
            "1",
            per_batch / one,
            gpu / cpu,
            published.MATVEC_SOURCE,
        )
        run.report.row(
            f"the same with {SLIDES_LAUNCH} a launch, {n} vectors",
            "1",
            driver / one,
            gpu / cpu,
            f"{published.MATVEC_SOURCE}; {SLIDES}",
        )
    run.report.plot(
        "matvec", plots.matvec(frame), "Million vectors a second by batch: simulated (lines), published (marks)"
    )
    run.report.table(
        "matvec",
        frame.round(6),
        f"{GROUPS} work-groups of {ITEMS} work-items; the master waits for all results before it sends the next batch.",
    )
    _costs(run, {name: found[name, batches[0]].each for name, *_ in published.CPU_COSTS}, batches[0])
    all_found = [*found.values(), *_spread(run, points, found, batches[0])]
    check = run.report.check
    check(
        "every product is right",
        all(f.correct for f in all_found),
        f"{len(all_found)} runs, both parities of rounds, all vectors",
    )
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in all_found),
        "retries, dropped doorbells, unreadable entries, on both nodes",
    )
    check(
        "a second run is the same to the picosecond",
        again == found["one kernel", batches[0]],
        points["one kernel", batches[0]].options,
    )
    counts = {name: {found[name, n].launches for n in batches} for name, _ in points if name not in EXTRA}
    check(
        "one kernel is one launch",
        counts["one kernel"] == {1.0} and min(counts["a kernel for each batch"]) > 2,
        str(counts),
    )
    first, last = batches[0], batches[-1]
    rates = {key: n / found[key].each / 1e6 for key in found for n in (key[1],)}
    run.report.conclude(
        f"With {first} vectors a batch one kernel serves {rates['one kernel', first]:.1f} M vectors/s, a kernel for"
        f" each batch {rates['a kernel for each batch', first]:.1f}, with {SLIDES_LAUNCH} of a driver's time a launch"
        f" {rates[f'… and {SLIDES_LAUNCH} a launch', first]:.1f} (published: 11.7 and 2.6); with {last}"
        f" {rates['one kernel', last]:.1f} ({rates[PARTS, last]:.1f} if each work-group gets its part with a"
        f" notification of its own), {rates['a kernel for each batch', last]:.1f} and"
        f" {rates[f'… and {SLIDES_LAUNCH} a launch', last]:.1f} ({published.MATVEC[last][1]} and"
        f" {published.MATVEC[last][0]})."
    )


def _costs(run: Run, seconds: dict[str, float], vectors: int) -> None:
    """How much of the published time of a batch with a kernel of its own is explained by costs that have a source."""
    known = vectors / published.MATVEC[vectors][0]
    simulated = next(iter(seconds.values())) * US
    lines = [
        {
            "cost": name,
            "source": source,
            "us": seconds[name] * US,
            "of_the_missing": (seconds[name] * US - simulated) / (known - simulated),
        }
        for name, _, _, source in published.CPU_COSTS
    ]
    for line in lines[1:]:
        run.report.row(f"of the missing time, {line['cost']}", "1", float(line["of_the_missing"]))
    run.report.table(
        "costs",
        pandas.DataFrame(lines).round(6),
        f"A batch of {vectors} vectors with a kernel of its own took {known:.0f} us ({published.MATVEC_SOURCE})."
        " Costs of the CPU's side that have a source, one on top of the other, and their share of what is missing.",
    )


def _spread(
    run: Run, points: dict[tuple[str, int], Service], found: dict[tuple[str, int], ServiceResult], vectors: int
) -> list[ServiceResult]:
    """Batches of ``vectors`` on machines with perturbed clocks. Gives all runs."""
    names = ("a kernel for each batch", f"… and {SLIDES_LAUNCH} a launch", "one kernel", PARTS)
    by = perturbed(
        run,
        {name: points[name, vectors] for name in names},
        {name: found[name, vectors] for name in names},
        measure,
        lambda s: s.cost,
    )
    lines = {f"{name}, {vectors} vectors, M/s": [vectors / f.each / 1e6 for f in by[name]] for name in names}
    for figure, slow in (("a kernel for each batch", names[0]), (f"the same with {SLIDES_LAUNCH} a launch", names[1])):
        ratios = [a.each / b.each for a, b in zip(by[slow], by["one kernel"])]
        lines[f"one kernel over {figure}, {vectors} vectors"] = ratios
    run.report.table("spread", spread_table(lines), CAPTION)
    return [f for results in by.values() for f in results]
