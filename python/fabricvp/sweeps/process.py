# SPDX-License-Identifier: Apache-2.0
"""One point in a process of its own, with limits of wall time and memory."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import io
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import cloudpickle

from .code_hash import CachedFunction, cannot_be_sent
from .task import PointOutcome, Record, Task

#: Bytes of what a point's process wrote that are kept.
LOG_BYTES = 64 << 10
#: Seconds between looks at a point's memory.
_PERIOD = 0.1
#: Seconds between looks at which processes there are: on large computers, thousands.
_SCAN_PERIOD = 1.0


class Cancelled(Exception):
    """The sweep ends before this point."""


class Flag(Protocol):
    """Something that is set once the sweep ends, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether it is."""


@dataclass(frozen=True)
class Limits:
    """What one point may take: seconds of wall time, bytes of memory. None: no limit."""

    time_s: float | None = None
    memory: int | None = None


def pack(task: Task) -> bytes:
    """A task with what a process on any machine needs to know of this one. Raises `InputError` for a function or an
    argument that cannot be pickled."""
    try:
        file = io.BytesIO()
        _Pickler(file).dump(task)
        return pickle.dumps((sys.path, sys.argv, file.getvalue()))
    except (TypeError, AttributeError, RecursionError, pickle.PicklingError) as error:
        raise cannot_be_sent(error) from None


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    """Takes functions of a script with a cache, too, which other processes do not find by name."""

    def reducer_override(self, value: Any) -> Any:
        """As that of `pickle.Pickler`."""
        if isinstance(value, CachedFunction) and value.__module__ == "__main__":
            return _cached, (value.__wrapped__, value.cache_parameters())
        return super().reducer_override(value)


def _cached(function: Callable[..., Any], parameters: dict[str, Any]) -> Callable[..., Any]:
    cached: Callable[..., Any] = functools.lru_cache(**parameters)(function)
    return cached


def unpack(descriptor: int) -> Task:
    """The task in a file, in the process that is to measure it."""
    with open(descriptor, "rb") as file:
        file.seek(0)
        sys_path, command, data = pickle.load(file)
    sys.path[:] = [*sys_path, *(path for path in sys.path if path not in sys_path)]  # of another machine, maybe
    sys.argv[:] = command
    task: Task = pickle.loads(data)
    return task


def start(module: str, *arguments: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Runs a module of this package in a session of its own, with descriptors as arguments and this process as the last
    one. What it starts has its session, unless it begins another."""
    return subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.{module}", *map(str, arguments), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=arguments,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )


def begin_worker() -> tuple[Task, int]:
    """In a process that `start()` has begun with a file of a task and one more descriptor: both of them. It ends if
    the parent has."""
    task_file, other, parent = (int(text) for text in sys.argv[1:])
    if not end_with(parent):
        os._exit(1)
    return unpack(task_file), other


def end_with(parent: int) -> bool:
    """Lets this process end when its parent does; whether that still lives."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no point outlives its sweep
    return os.getppid() == parent


def run_packed(packed: bytes, limits: Limits, cancelled: Flag | None = None) -> Record:
    """Measures a task in a new process, which is gone when this returns, as are those that it has started, unless they
    have begun sessions of their own. Raises `Cancelled` soon after ``cancelled`` is set."""
    with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as log:
        request.write(packed)
        request.flush()
        begin = time.monotonic()
        process = start("_worker", request.fileno(), result.fileno(), log=log)
        try:
            ended = os.pidfd_open(process.pid)
            try:
                over = wait_within(ended, process.pid, begin, limits, cancelled)
            finally:
                os.close(ended)
        finally:
            end_session(process.pid)
            process.wait()
        record = over or result_of(process.returncode, result)
        record.wall_s = time.monotonic() - begin
        record.log = tail_of(log)
        return record


def wait_within(readable: int, leader: int, begin: float, limits: Limits, cancelled: Flag | None) -> Record | None:
    """Waits until a descriptor can be read; a record if the processes of the session of ``leader``, which has run since
    ``begin``, come to a limit before. Raises `Cancelled`."""
    ready = select.poll()
    ready.register(readable, select.POLLIN)
    while not ready.poll(_PERIOD * 1000):
        if cancelled is not None and cancelled.is_set():
            raise Cancelled
        if limits.time_s is not None and time.monotonic() - begin > limits.time_s:
            return Record(PointOutcome.TIMED_OUT, f"longer than {limits.time_s:g} s")
        if limits.memory is not None and _memory(leader, limits.memory) > limits.memory:
            return Record(PointOutcome.OUT_OF_MEMORY, f"more than {limits.memory / (1 << 20):.0f} MiB")
    return None


def result_of(status: int, file: IO[bytes]) -> Record:
    """What a point's process has left, as `write_result()` does; ``status`` is -N after signal N."""
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


def _processes() -> Iterator[tuple[int, int]]:
    """All processes with their sessions."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                yield int(name), os.getsid(int(name))


def _session(leader: int) -> Iterator[int]:
    """Processes of a session that have not ended."""
    for process, session in _processes():
        if session == leader:
            with contextlib.suppress(OSError, IndexError):
                state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    yield process


class _Sessions:
    """Processes by session, as they were at most `_SCAN_PERIOD` ago: one look for all points that run side by side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[int, list[int]] = {}
        self._until = 0.0

    def of(self, leader: int) -> list[int]:
        """Processes of a session. Some may have ended; those that it has just started may be missing."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._found = {}
                for process, session in _processes():
                    self._found.setdefault(session, []).append(process)
                self._until = time.monotonic() + _SCAN_PERIOD
            known = self._found.get(leader, [])
        return [process for process in {leader, *known} if _is_of(process, leader)]


def _is_of(process: int, leader: int) -> bool:
    """Whether a process is there, and no other one that has got its number."""
    try:
        return os.getsid(process) == leader
    except OSError:
        return False


_SESSIONS = _Sessions()


def _memory(leader: int, enough: int) -> int:
    """Bytes of memory of a session's processes; what they share counts once, if it matters for ``enough``."""
    page = os.sysconf("SC_PAGE_SIZE")
    processes = _SESSIONS.of(leader)
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


def end_session(leader: int) -> None:
    """Ends what a point has left running in its session."""
    while remaining := list(_session(leader)):
        for each in remaining:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.002)


#: What is said about a branch: its process (STARTED), and its exit status, -N after signal N (ENDED).
STARTED, ENDED = b"s", b"e"
_SAID = struct.Struct("<cq")


def tell(pipe: int, kind: bytes, value: int) -> None:
    """Says one thing about a branch."""
    os.write(pipe, _SAID.pack(kind, value))


def told(pipe: int) -> tuple[bytes, int]:
    """What has been said about a branch; nothing and 0 once the pipe has no writer."""
    said = os.read(pipe, _SAID.size)
    kind, value = _SAID.unpack(said) if said else (b"", 0)
    return kind, value


def write_result(record: Record, file: IO[bytes]) -> None:
    """For `result_of()`."""
    pickle.dump({f.name: getattr(record, f.name) for f in dataclasses.fields(record)}, file)
    file.flush()


def tail_of(*logs: IO[bytes]) -> str:
    """The end of logs, one behind the other; they may still be written to, and be read by several threads."""
    parts = []
    for file in logs:
        size = os.fstat(file.fileno()).st_size
        parts.append(os.pread(file.fileno(), LOG_BYTES, max(0, size - LOG_BYTES)))
    return b"".join(parts)[-LOG_BYTES:].decode(errors="replace")
