# SPDX-License-Identifier: Apache-2.0
"""Runs both ping-pongs and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from ..perturbations import CAPTION, perturbed, spread_table
from . import published
from .service import GROUPS, WORKERS, Service, ServiceResult, measure

US = 1e6


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    rounds, size = (16, 16 << 10) if run.quick else (200, 64 << 10)
    small = {"CPU": Service(f"serve=hart rounds={rounds}"), "one work-group": Service(f"serve=kernel rounds={rounds}")}
    replies = {"CPU": f"{WORKERS['CPU']} replies={GROUPS}"}
    large = {
        who: Service(
            f"{replies.get(who, how)} groups={GROUPS} bytes={GROUPS * size} rounds={1 if run.quick else 2}", cost=10
        )
        for who, how in WORKERS.items()
    }
    values = run.map("services", measure, [*small.values(), *large.values()], lambda s: s.cost, lambda s: s.options)
    quick = dict(zip(small, values))
    found = dict(zip(large, values[len(small) :]))
    again = run.map("the same again", measure, [small["one work-group"]], name=lambda s: s.options, fresh=True)[0]
    row = run.report.row
    row(
        "a notification there and back, answered by a CPU",
        "µs",
        quick["CPU"].each * US,
        None,
        "both ends poll their memory",
    )
    row(
        "a notification there and back, answered by one work-group",
        "µs",
        quick["one work-group"].each * US,
        published.ROUND_TRIP,
        published.PAPER,
    )
    lines = []
    for who, f in found.items():
        gbps = 2 * 8e-9 * f.bytes / f.each
        row(
            f"there by one queue pair and back by {GROUPS}, answered by {who}",
            "Gb/s",
            gbps,
            published.PINGPONG[who],
            f"{published.PAPER}: 180 MB; here {f.bytes >> 10} KiB, both ways counted",
        )
        lines.append({"answered_by": who, "bytes": f.bytes, "us": f.each * US, "gbps": gbps})
    run.report.table(
        "throughput",
        pandas.DataFrame(lines).round(6),
        "Batches from the master's host memory to the worker's GPU memory and back; bytes both ways by the time from"
        " sending to the last notification.",
    )
    values += _spread(run, small, quick, {} if run.quick else large, found)
    check = run.report.check
    check(
        "every byte has come back",
        all(f.correct for f in values),
        f"{len(values)} runs, batches of even and odd rounds differ",
    )
    check(
        "no doorbell is dropped, nothing is retransmitted",
        not sum(f.error_count for f in values),
        "retries, dropped doorbells, unreadable entries, on both nodes",
    )
    check(
        "a second run is the same to the picosecond", again == quick["one work-group"], small["one work-group"].options
    )
    most = max(line["gbps"] for line in lines)
    check("no more than the link carries, both ways", most < 2 * 54.55, f"at most {most:.1f} Gb/s")
    run.report.conclude(
        f"A notification comes back after {quick['one work-group'].each * US:.2f} µs if a work-group answers it"
        f" (published: 10), after {quick['CPU'].each * US:.2f} if a CPU does.",
        "There and back, "
        + ", ".join(
            f"{line['answered_by']}: {line['gbps']:.1f} Gb/s (published:"
            f" {published.PINGPONG[str(line['answered_by'])]:g})"
            for line in lines
        )
        + ".",
    )


def _spread(
    run: Run,
    small: dict[str, Service],
    quick: dict[str, ServiceResult],
    large: dict[str, Service],
    found: dict[str, ServiceResult],
) -> list[ServiceResult]:
    """Notifications and transfers on machines with perturbed clocks. Gives all runs."""
    notified = perturbed(run, small, quick, measure)
    moved = perturbed(run, large, found, measure, lambda s: s.cost) if large else {}
    lines = {
        **{
            f"a notification there and back, answered by {who}, µs": [f.each * US for f in results]
            for who, results in notified.items()
        },
        **{
            f"there by one queue pair and back by {GROUPS}, answered by {who}, Gb/s": [
                2 * 8e-9 * f.bytes / f.each for f in results
            ]
            for who, results in moved.items()
        },
    }
    run.report.table("spread", spread_table(lines), CAPTION)
    return [f for results in (*notified.values(), *moved.values()) for f in results]
