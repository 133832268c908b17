# SPDX-License-Identifier: Apache-2.0
"""Serves the page of a run on loopback, in a thread of its own.

The thread never touches the machine: it exchanges texts with a `RunMonitor`, which the simulation thread serves
between two events (`platform/run_monitor.h` has their format)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from .._fabricvp import RunMonitor

_HOST = "127.0.0.1"
_TOKEN_BYTES = 18
_CLOSE_TIMEOUT = 5.0  #: seconds of wall time in which clients get the last frame
_open_sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_inherited() -> None:
    """In a forked child: the port is the parent's."""
    for held in list(_open_sockets):
        held.close()


os.register_at_fork(after_in_child=_close_inherited)


class Monitor:
    """The page of a run, at ``url`` until `close()`."""

    def __init__(self, run: RunMonitor, title: str, port: int = 0) -> None:
        """Serves from now on. ``port`` is on loopback, 0 any free one. Raises `InputError` if it cannot be had, or if
        what serves pages is not installed."""
        try:
            import uvicorn

            from .application import Application
        except ImportError as error:
            raise InputError(f"monitor: needs 'pip install fabricvp[monitor]' ({error})") from None
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.url = f"http://{_HOST}:{self.port}/{token}/"
        self._run = run
        self._application = Application(run, title, token, self.port)
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._application,
                log_config=None,
                log_level="critical",
                access_log=False,
                lifespan="off",
                server_header=False,
                ws_max_size=1 << 16,
                timeout_graceful_shutdown=1,
            )
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fabricvp monitor", daemon=True)
        self._thread.start()
        self._started.wait()

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._started.set()
            await self._server.serve([self._socket])

        asyncio.run(serve())

    def is_open(self) -> bool:
        """Whether it still serves."""
        return self._socket.fileno() >= 0

    def close(self) -> None:
        """Gives clients the last frame, and ends. A run that the page holds or slows goes on."""
        if self._socket.fileno() < 0 or self._loop is None:
            return
        try:
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._application.finish(), self._loop).result(_CLOSE_TIMEOUT)
        finally:  # also where that fails, or is interrupted
            self._server.should_exit = True
            self._thread.join(_CLOSE_TIMEOUT)
            self._socket.close()
            self._run.leave()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Monitor at {self.url}>"


def _listen(port: int) -> socket.socket:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= 65535:
        raise InputError(f"monitor: port {port!r}: must be a number of 0 … 65535")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(f"monitor: port {port}: cannot listen on {_HOST} ({error.strerror})") from None
    _open_sockets.add(listener)
    return listener


def serve_command(run: RunMonitor, title: str, port: int) -> Monitor:
    """What `fabricvp run --monitor` calls: says where the page is."""
    monitor = Monitor(run, title, port)
    print(f"fabricvp: the run is shown at {monitor.url}", file=sys.stderr, flush=True)
    return monitor
