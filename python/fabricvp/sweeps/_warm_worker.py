# SPDX-License-Identifier: Apache-2.0
"""The process of a machine that points branch from: `python -m fabricvp.sweeps._warm_worker TASK SOCKET PARENT`.
Not for people.

Each message on the socket brings four descriptors: a task, a file for its record, its log, and a pipe on which the
branch says which process it is and this one how it has ended."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import traceback
from typing import TYPE_CHECKING

from ..remote import close_parent_connections
from .process import ENDED, STARTED, begin_worker, end_with, tell, unpack, write_result
from .task import Record

if TYPE_CHECKING:
    from .measure import Warm


def main() -> int:
    task, socket_file = begin_worker()
    from .measure import warm_up

    warm = warm_up(task)
    sys.stdout.flush()
    sys.stderr.flush()
    _serve(socket.socket(fileno=socket_file), warm)
    return 0


def _serve(connection: socket.socket, warm: Warm | Record) -> None:
    """Branches as it is asked to, until the sweep closes the connection."""
    running: dict[int, tuple[int, int]] = {}  #: a process by what tells its end, and the pipe that waits for it
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor != connection.fileno():
                poller.unregister(descriptor)
                pid, pipe = running.pop(descriptor)
                os.close(descriptor)
                _tell_end(pipe, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                continue
            message, files, _, _ = socket.recv_fds(connection, 1, 4)
            if not message:
                return
            request, result, log, pipe = files
            if isinstance(warm, Record):
                with open(result, "wb", closefd=False) as file:
                    write_result(warm, file)
                _tell_end(pipe, 0)
            else:
                pid = _branch(
                    warm, request, result, log, pipe, [connection.fileno(), *(p for _, p in running.values())]
                )
                ended = os.pidfd_open(pid)
                running[ended] = pid, pipe
                poller.register(ended, select.POLLIN)
            for file_number in (request, result, log):
                os.close(file_number)


def _tell_end(pipe: int, status: int) -> None:
    """Says how a branch has ended, if it is still waited for: one that came to a limit is not."""
    with contextlib.suppress(BrokenPipeError):
        tell(pipe, ENDED, status)
    os.close(pipe)


def _branch(warm: Warm, request: int, result: int, log: int, pipe: int, others: list[int]) -> int:
    """Gives the branch's process; the branch itself never returns."""
    from .measure import measure_on

    parent = os.getpid()
    warm.platform._core.before_fork()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        for descriptor in others:  # who waits for another branch must see its pipe end
            os.close(descriptor)
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        if not end_with(parent):
            os._exit(1)
        tell(pipe, STARTED, os.getpid())
        close_parent_connections()
        warm.platform._core.after_fork_in_child()
        record = measure_on(warm, unpack(request))
        with open(result, "wb") as file:
            write_result(record, file)
        status = 0
    except BaseException:  # what cannot be unpacked, say: nothing above prints it
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    exit_status = main()
    os._exit(exit_status)
