# SPDX-License-Identifier: Apache-2.0
"""One experiment in a process of its own: what goes wrong there does not end the others."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

#: Seconds that an interrupted experiment has to end its points.
_GRACE_S = 60.0
#: Bytes at the end of a log in which its last line is looked for.
_TAIL_BYTES = 4096


def run_experiment(arguments: Sequence[str], log: Path, alive: Callable[[str], None]) -> int:
    """Runs `fabricvp experiment` with ``arguments``; what it prints goes to ``log``. Gives its exit status, negative
    for a signal. ``alive(line)`` is called about once a second with the last line of the log.

    The experiment does not outlive this process. It ends if an exception, such as `KeyboardInterrupt`, ends the
    wait."""
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(list(arguments), str(log), os.getpid()))
    process.start()
    try:
        while process.is_alive():
            process.join(1.0)
            alive(last_line(log))
    finally:
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGINT)
            process.join(_GRACE_S)
            process.kill()
            process.join()
    return process.exitcode or 0


def last_line(log: Path) -> str:
    """The last line of a log that is not empty; nothing where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _work(arguments: list[str], log: str, parent: int) -> None:
    os.setsid()  # Ctrl-C on the terminal is for the parent, which interrupts this process
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    from ..cli import main

    sys.exit(main(["experiment", *arguments]))
