# SPDX-License-Identifier: Apache-2.0
"""What must hold in every experiment on workloads, whatever it measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from .frame import Report
from .gpu_workloads.measure import Measured, conservation_error


def check_workloads(report: Report, runs: Mapping[str, Measured], again: Measured) -> None:
    """Adds the checks: results are right, sent = delivered + reported as failed, and ``again``, which repeats one of
    ``runs``, is the same in every figure. ``runs`` are by what they are called."""
    wrong = [name for name, m in runs.items() if not m.correct]
    report.check(
        "results are right", not wrong, ", ".join(wrong) or f"{len(runs)} runs, each against an independent reference"
    )
    check_conservation(report, runs)
    name, first = next((name, m) for name, m in runs.items() if m.point == again.point)
    same = dataclasses.replace(first, wall_s=0) == dataclasses.replace(again, wall_s=0)
    report.check("a second run is the same", same, f"{name}, every figure")


def check_conservation(report: Report, runs: Mapping[str, Measured], prefix: str = "") -> None:
    """Adds the check that packets that were sent have arrived, or their device was told that they failed, once each;
    ``prefix`` begins its name."""
    lost = [f"{name}: {text}" for name, m in runs.items() if (text := conservation_error(m))]
    sent, failed = (sum(m.packets_of_devices.get(kind, 0.0) for m in runs.values()) for kind in ("sent", "failed"))
    report.check(
        f"{prefix}sent = delivered + reported as failed",
        not lost,
        "; ".join(lost)
        or f"{sent:,.0f} packets between GPUs in the measured parts, {failed:,.0f} failed; "
        "none in flight when a workload had ended",
    )
