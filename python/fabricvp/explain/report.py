# SPDX-License-Identifier: Apache-2.0
"""An explanation as at most ten lines."""

from __future__ import annotations

from .durations import duration
from .ranking import BUSY, Explanation, Finding

MAX_FINDINGS = 5


def report(explanation: Explanation, top: int) -> str:
    """Title, verdict, up to ``top`` resources, and what was waited for: ten lines at most."""
    e = explanation
    lines = [
        f"{e.title}: {duration(e.seconds)}" + (f" of {duration(e.run_seconds)}" if e.seconds < e.run_seconds else "")
    ]
    if not e.busy:
        lines.append(f"no resource was busy for {100 * BUSY:.0f} % of the time: the region waits for latency")
    shown = e.findings[: min(top, MAX_FINDINGS)]
    lines += [f"{number}. {_line(each)}" for number, each in enumerate(shown, 1)]
    return "\n".join([*lines, *e.latencies])


def _line(f: Finding) -> str:
    text = f"{100 * f.share:3.0f} %  {f.resource} {f.block}"
    if f.alike > 1:
        text += f" (busiest of {f.alike})"
    if f.critical_share < f.share:
        text += f", {100 * f.critical_share:.0f} % explained by no busier resource"
    if f.queue:
        text += f"; {f.queue}"
    if f.changes:
        settings = " ".join(f"--set '{each.setting}'" for each in f.changes)
        text += f"; try {settings} (now {', '.join(each.parameter.value for each in f.changes)})"
    return text
