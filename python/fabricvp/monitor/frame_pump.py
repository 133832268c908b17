# SPDX-License-Identifier: Apache-2.0
"""A thread that takes frames of a run, at a bounded rate, and passes commands on.

It never touches the machine: it exchanges texts with a `RunMonitor`, which the simulation thread serves between two
events (`platform/run_monitor.h` has their format)."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Protocol

from .description import PERIOD

if TYPE_CHECKING:
    from .._fabricvp import Session

#: Commands that would hold the next run, where no run is going on.
_OF_A_RUN = {"pause", "continue", "step"}


class Run(Protocol):
    def description(self) -> str: ...
    def frame(self, timeout: float) -> str | None:
        """The next frame, or None if none comes within so many seconds. Raises `EOFError` when the machine is gone."""

    def send(self, command: str) -> str | None:
        """Passes a command on. Gives what is wrong with it."""

    def close(self) -> None: ...


class LocalRun:
    """Of the machine in this process."""

    def __init__(self, core: Session) -> None:
        self._monitor, self._is_running = core.monitor(), core.running
        self._is_open = True

    def description(self) -> str:
        return self._monitor.description()

    def frame(self, timeout: float) -> str | None:
        return self._monitor.frame(timeout)

    def send(self, command: str) -> str | None:
        if json.loads(command).get("do") in _OF_A_RUN and not self._is_running():
            return "no run is going on: platform.run() begins one"
        self._monitor.send(command)
        return None

    def is_open(self) -> bool:
        """Whether frames still come."""
        return self._is_open

    def close(self) -> None:
        self._is_open = False
        self._monitor.leave()


class RemoteRun:
    """Of a machine in another process, where `serve_run()` is at the other end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _ask(self, *request: Any) -> Any:
        try:
            self._connection.send(request)
            return self._connection.recv()
        except OSError as error:
            raise EOFError from error

    def description(self) -> str:
        return str(self._ask("description"))

    def frame(self, timeout: float) -> str | None:
        found: str | None = self._ask("frame", timeout)
        return found

    def send(self, command: str) -> str | None:
        wrong: str | None = self._ask("send", command)
        return wrong

    def close(self) -> None:
        with contextlib.suppress(EOFError):
            self._ask("close")
        self._connection.close()


def serve_run(run: Run, connection: Connection) -> None:
    """Begins a thread that answers a `RemoteRun` until it goes away."""

    def serve() -> None:
        try:
            while True:
                what, *arguments = connection.recv()
                connection.send(getattr(run, what)(*arguments))
        except (EOFError, OSError):
            connection.close()
            run.close()

    threading.Thread(target=serve, name="fabricvp view", daemon=True).start()


class FramePump:
    """Calls ``show(frame)`` for each frame and ``refuse(id, what is wrong)`` for commands that cannot be, in its
    thread."""

    def __init__(self, run: Run, show: Callable[[dict[str, Any]], None], refuse: Callable[[Any, str], None]) -> None:
        self._run, self._show, self._refuse = run, show, refuse
        self._commands: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._hurry = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="fabricvp view", daemon=True)
        self._thread.start()

    def send(self, command: dict[str, Any]) -> None:
        """Of any thread."""
        self._commands.put(command)
        self._hurry.set()

    def is_open(self) -> bool:
        """Whether frames still come."""
        return self._thread.is_alive() and not self._closing

    def close(self) -> None:
        """Takes the last frame, and ends."""
        self._closing = True
        self._hurry.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            with contextlib.suppress(EOFError):  # the machine is gone
                while not self._closing:
                    self._pass_commands()
                    self._take_frame(PERIOD)
                    self._hurry.wait(PERIOD)
                    self._hurry.clear()
                self._take_frame(0.0)
        finally:  # so that a next view can be opened
            self._run.close()

    def _take_frame(self, timeout: float) -> None:
        if (frame := self._run.frame(timeout)) is not None:
            self._show(json.loads(frame))

    def _pass_commands(self) -> None:
        while not self._commands.empty():
            command = self._commands.get()
            if (wrong := self._run.send(json.dumps(command))) is not None:
                self._refuse(command.get("id"), wrong)
