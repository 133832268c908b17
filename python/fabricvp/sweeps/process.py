# SPDX-License-Identifier: Apache-2.0
"""One point in a process of its own, with limits of wall time and memory."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import cloudpickle

from .code_hash import cannot_be_sent
from .task import PointOutcome, Record, Task

#: Bytes of what a point's process wrote that are kept.
LOG_BYTES = 64 << 10
#: Seconds between looks at a point's memory.
_PERIOD = 0.1


class Cancelled(Exception):
    """The sweep ends before this point."""


@dataclass(frozen=True)
class Limits:
    """What one point may take: seconds of wall time, bytes of memory. None: no limit."""

    time_s: float | None = None
    memory: int | None = None


def pack(task: Task) -> bytes:
    """A task with what a process on any machine needs to know of this one. Raises `InputError` for a function or an
    argument that cannot be pickled."""
    try:
        return pickle.dumps((sys.path, sys.argv, cloudpickle.dumps(task)))
    except (TypeError, AttributeError, RecursionError, pickle.PicklingError) as error:
        raise cannot_be_sent(error) from None


def run_packed(packed: bytes, limits: Limits, cancelled: threading.Event | None = None) -> Record:
    """Measures a task in a new process (and those that it starts), which are gone when this returns. Raises `Cancelled`
    soon after ``cancelled`` is set."""
    with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as log:
        request.write(packed)
        request.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "fabricvp.sweeps._worker", str(request.fileno()), str(result.fileno())]
            + [str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[request.fileno(), result.fileno()],
            start_new_session=True,  # all that it starts has its session
            env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        try:
            over = _wait(process, begin, limits, cancelled)
        finally:
            _end_session(process)
        record = over or _result(process.returncode, result)
        record.wall_s = time.monotonic() - begin
        record.log = _tail(log)
        return record


def _wait(
    process: subprocess.Popen[bytes], begin: float, limits: Limits, cancelled: threading.Event | None
) -> Record | None:
    """Waits for the process's end; a record if a limit came first."""
    ended = select.poll()
    descriptor = os.pidfd_open(process.pid)
    try:
        ended.register(descriptor, select.POLLIN)
        while not ended.poll(_PERIOD * 1000):
            if cancelled is not None and cancelled.is_set():
                raise Cancelled
            if limits.time_s is not None and time.monotonic() - begin > limits.time_s:
                return Record(PointOutcome.TIMED_OUT, f"longer than {limits.time_s:g} s")
            if limits.memory is not None and _memory(process.pid, limits.memory) > limits.memory:
                return Record(PointOutcome.OUT_OF_MEMORY, f"more than {limits.memory / (1 << 20):.0f} MiB")
    finally:
        os.close(descriptor)
    return None


def _result(status: int, file: IO[bytes]) -> Record:
    file.seek(0)
    data = file.read()
    if status == 0 and data:
        fields: dict[str, Any] = pickle.loads(data)
        return Record(**fields)
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return Record(
            PointOutcome.CRASHED, f"its process was ended by {name}", killed_from_outside=-status == signal.SIGKILL
        )
    return Record(PointOutcome.CRASHED, f"its process ended with status {status}")


def _session(leader: int) -> Iterator[int]:
    """Processes of a session that have not ended."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                state, _, _, session = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state != "Z":
                    yield int(name)


def _memory(leader: int, enough: int) -> int:
    """Bytes of memory of a session's processes; what they share counts once, if it matters for ``enough``."""
    page = os.sysconf("SC_PAGE_SIZE")
    processes = list(_session(leader))
    resident = 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError):
            resident += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * page
    if resident <= enough or len(processes) < 2:
        return resident
    shared_once = 0
    for process in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    shared_once += int(line.split()[1]) << 10
    return shared_once


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Ends what a point has left running."""
    while remaining := list(_session(process.pid)):
        for each in remaining:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.002)
    process.wait()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LOG_BYTES))
    return file.read().decode(errors="replace")
