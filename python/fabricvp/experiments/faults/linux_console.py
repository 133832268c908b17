# SPDX-License-Identifier: Apache-2.0
"""What became of a fault on nodes with Linux: a class, from what kernels and programs print, and from counters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...results import Outcome
from ...units import PICOSECONDS
from .outcomes import CORRECTED, TIMEOUT, Ending, Fate, differences, first_counter

ENDED = "programs ended"  #: the last line of a node whose programs have all ended
LATE_PS = 100_000_000_000  #: so much later programs end only where Linux has waited for a time-out of its own
BOOT = "OpenSBI v"  #: with which a node begins that starts again
#: What the query of a waiting node prints for each thread of a program.
WAITING = re.compile(r"^waits: \S+ of (?P<program>\S.*?) *: (?P<where>\S+)$")

_TIME = re.compile(r"\[ *\d+\.\d{6}\] ")
_ESCAPE = re.compile(r"\x1b\[\d*[a-zA-Z]")
_PROMPT = "~ # "
#: What rping prints at every regular end, and where that takes long.
_NO_RESULT = re.compile(
    r"^(client|server) DISCONNECT EVENT\.\.\.$|^wait for RDMA_READ_ADV state 10$"
    r"|^unhandled event: RDMA_CM_EVENT_TIMEWAIT_EXIT, ignoring$"
)
#: Errors that PCIe has corrected, as AER prints them, and the lines that belong to them.
_CORRECTABLE = re.compile(r"AER: (Multiple )?Correctable error|severity=Correctable")
_DETAIL = re.compile(
    r"AER: found no error details|: +device \[[0-9a-f:]+\] error status/mask=|^[\w-]+ [0-9a-f:.]+:    \[ *\d+\]"
)
#: What the network tells of ports that come back: no error.
_NOTICE = re.compile(r"link becomes ready$")
#: Of Linux's own watchdogs: soft lockups, tasks that do not wake, stalls of RCU.
_WATCHDOG = re.compile(r"soft lockup|blocked for more than \d+ seconds|rcu: INFO: .* detected stall")
#: What rping prints when data are not what it has sent.
_CHECK = re.compile(r"^data mismatch!")
#: What follows from that, at both ends.
_AFTER_CHECK = re.compile(r"^(client|server) \d+: status |^rping (client|server) failed|^wait for RDMA_\w+ state \d+$")
_ERRORS = re.compile(r"\.requester\.errors$")


@dataclass(frozen=True)
class LinuxEnding(Ending):
    """How a run ended, by what its nodes with Linux do."""

    restarted: tuple[bool, ...] = ()  #: by node: whether it has started again
    instructions: float = 0  #: of all harts, since the machine was made
    waits: tuple[str, ...] = ()  #: by node that has not ended: who waits for what, as its Linux and its adapter say


def linux_lines(output: str) -> tuple[str, ...]:
    """Lines that do not depend on time: without time stamps, prompts, one that has not ended, and what follows a reset.
    A message of the kernel may stand in the middle of another line."""
    found, begun = [], ""
    for line in output.split(BOOT)[0].split("\n")[:-1]:
        line = _ESCAPE.sub("", line.strip("\r"))
        if stamp := _TIME.search(line):
            begun += line[: stamp.start()]
            found.append(line[stamp.end() :])
        else:
            found.append((begun + line).removeprefix(_PROMPT))
            begun = ""
    return tuple(line.rstrip() for line in found if line.strip() and not _NO_RESULT.search(line))


def waiting_of(node: str, output: str, queue_pairs: Sequence[str]) -> str:
    """One line of what a node answers that is asked for its programs, and of its queue pairs; "" if it does not."""
    programs: dict[str, list[str]] = {}
    for line in output.split("\n"):
        if found := WAITING.match(line.strip("\r")):
            programs.setdefault(found["program"], []).append(found["where"])
    texts = [
        f"'{program}' {'runs' if '0' in where else 'sleeps in ' + ', '.join(dict.fromkeys(where))}"
        for program, where in programs.items()
    ]
    return f"{node}: {'; '.join([*texts, *queue_pairs])}" if texts else ""


def told(undisturbed: Ending, ending: Ending) -> list[str]:
    """Lines that tell of an error: of kernels, of programs, and their exit status."""
    found: list[str] = []
    added = [differences([before], [after])[0] for before, after in zip(undisturbed.lines, ending.lines)]
    wrong = any(_CHECK.search(line) for new in added for line in new)
    for new in added:
        correctable = False
        for line in new:
            correctable = bool(_CORRECTABLE.search(line) or correctable and _DETAIL.search(line))
            silent = wrong and (_CHECK.search(line) or _AFTER_CHECK.search(line))
            if not (correctable or silent or _WATCHDOG.search(line) or _NOTICE.search(line)):
                found.append(line)
    return found


def classify_linux(undisturbed: LinuxEnding, ending: LinuxEnding) -> tuple[Fate, str]:
    """The class, and one line that says why."""
    if ending.outcome == Outcome.WATCHDOG:
        return Fate.HANG, ending.detail
    more = {p: v for p, v in ending.counters.items() if v > undisturbed.counters.get(p, 0)}
    said, errors = told(undisturbed, ending), first_counter(_ERRORS, more)
    if said or errors:
        return Fate.REPORTED, said[0] if said else errors
    if watchdog := next((line for lines in ending.lines for line in lines if _WATCHDOG.search(line)), ""):
        return Fate.HANG, watchdog
    gone = [failed or restarted for failed, restarted in zip(ending.failed, ending.restarted)]
    if waiting := [n for n, lines in enumerate(ending.lines) if ENDED not in lines and not gone[n]]:
        named = [ending.waits[n] for n in waiting if ending.waits[n]]
        return (Fate.HANG, "; ".join(named)) if named else (Fate.UNNAMED_HANG, ending.detail)
    new, missing = differences(undisturbed.lines, ending.lines)
    if wrong := next(filter(_CHECK.search, new), ""):
        return Fate.SILENT, wrong
    if any(gone):
        n = gone.index(True)
        return Fate.REPORTED, f"node{n} {'has lost its power' if ending.failed[n] else 'has started again'}"
    if missing:
        return Fate.SILENT, f"missing: {missing[0]}"
    corrected = next(filter(_CORRECTABLE.search, new), "")
    if timeout := first_counter(TIMEOUT, more):
        return Fate.RECOVERED, timeout
    late = ending.time_ps - undisturbed.time_ps
    if late > LATE_PS and not corrected:  # each line on the console takes 10 ms
        return Fate.RECOVERED, f"programs have ended {late / PICOSECONDS:.1f} s later"
    if corrected := first_counter(CORRECTED, more) or corrected:
        return Fate.CORRECTED, corrected
    return Fate.MASKED, ""
