# SPDX-License-Identifier: Apache-2.0
"""A platform that lives in another process.

The child keeps the real objects. What belongs to the running machine (nodes, memories, harts, consoles) is carried as a
reference and becomes a `Remote` here; everything else (numbers, bytes, results, data frames) is carried by value. An
operation on a `Remote` is done in the child, and an exception that it raises there is raised here, with the child's
traceback as a note.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import pickle
import signal
import socket
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from types import FunctionType
from typing import Any

import cloudpickle

from . import progress
from .errors import RemoteError

#: Name under which a child imports this program's script.
PARENT_MAIN = "__fabricvp_parent__"

#: True while a child does so.
importing_parent_main = False


class MissingMainGuard(RuntimeError):
    """A script starts machines when it is imported."""


def require_main_guard(what: str) -> None:
    """In a child that imports the parent's script, for a function in it, nothing may be started again."""
    if importing_parent_main:
        raise MissingMainGuard(
            f"{what} is called while a child process imports this script: put what the script does under "
            'if __name__ == "__main__":'
        )


_open_connections: weakref.WeakSet[Connection] = weakref.WeakSet()
_open_platforms: weakref.WeakSet[RemotePlatform] = weakref.WeakSet()


def live_class(name: str) -> type | None:
    """The class of an object that stays in the child, by the name that the child gives."""
    from .serving import LIVE_CLASSES

    return next((c for c in LIVE_CLASSES if c.__name__ == name), None)


def main_path() -> str:
    """The program's script, in which a child looks up classes and functions of `__main__`. Empty in a notebook."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(path) if path and os.path.isfile(path) else ""


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """References instead of the remote objects of one channel. Functions and classes that a child cannot import travel
    by value: those of a notebook, lambdas, and what functions define."""

    def __init__(self, file: io.BytesIO, channel: _Channel) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._channel = channel

    def reducer_override(self, obj: Any) -> Any:
        return NotImplemented if _is_imported(obj) else super().reducer_override(obj)

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Remote):
            return None
        if object.__getattribute__(obj, "_channel") is not self._channel:
            raise RemoteError("an object of one platform was passed to a platform in another process")
        return object.__getattribute__(obj, "_key")


def _is_imported(obj: Any) -> bool:
    """Whether a child has a class or function of `__main__` when it has imported the script."""
    if not isinstance(obj, (type, FunctionType)) or obj.__module__ != "__main__" or not main_path():
        return False
    found: Any = sys.modules["__main__"]
    for name in obj.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is obj


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, channel: _Channel) -> None:
        super().__init__(file)
        self._channel = channel

    def persistent_load(self, reference: tuple[int, str]) -> Remote:
        key, class_name = reference
        return Remote(self._channel, key, class_name)

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class("__main__" if module == PARENT_MAIN else module, name)


class _Channel:
    """Requests to one child and its responses, one at a time."""

    def __init__(self, connection: Connection, pid: int) -> None:
        self.connection = connection
        self.pid = pid
        self.pending: Pending | None = None
        self.interrupts = (
            0  # sent to the child so far; each request tells, so that late ones do not hit the next request
        )
        _open_connections.add(connection)

    def dumps(self, message: Any) -> bytes:
        buffer = io.BytesIO()
        _Pickler(buffer, self).dump(message)
        return buffer.getvalue()

    def send(self, *message: Any) -> Pending:
        if self.connection.closed:
            raise RemoteError(f"the platform in process {self.pid} was closed")
        if self.pending is not None:
            raise RuntimeError("the platform in the child process is busy: take the result of start() first")
        data = self.dumps((self.interrupts, progress.is_shown(), *message))
        try:
            self.connection.send_bytes(data)
        except (OSError, ValueError) as error:
            raise RemoteError(f"the platform's process {self.pid} is gone") from error
        self.pending = Pending(self)
        return self.pending

    def load(self) -> tuple[bool | None, Any]:
        """The next message: (None, (text, warning)) about a run's progress, or a response."""
        succeeded, value = _Unpickler(io.BytesIO(self.connection.recv_bytes()), self).load()
        return succeeded, value

    def request(self, *message: Any) -> Any:
        return self.send(*message).result()

    def receive(self) -> tuple[bool, Any]:
        """The response. What the child tells before about a run is shown."""
        try:
            response = self.load()
            if response[0] is None:
                with progress.line_here() as listener:
                    while response[0] is None:
                        listener(*response[1])
                        response = self.load()
            return bool(response[0]), response[1]
        except (EOFError, OSError) as error:
            self.pending = None
            raise RemoteError(f"the platform's process {self.pid} is gone") from error


class Pending:
    """An operation under way in a child process, from `method.start(...)`."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel
        self._response: tuple[bool, Any] | None = None

    def done(self) -> bool:
        """True if result() will not wait."""
        try:
            while self._response is None and self._channel.connection.poll():
                succeeded, value = self._channel.load()
                if succeeded is not None:
                    self._response = succeeded, value
        except (EOFError, OSError):
            return True  # result() says so
        return self._response is not None

    def _release(self) -> None:
        """The channel is free for the next operation."""
        if self._channel.pending is self:
            self._channel.pending = None

    def _wait(self, timeout: float) -> bool:
        """Waits so long, past what is told of progress."""
        end = time.monotonic() + timeout
        while not self.done():
            if not self._channel.connection.poll(max(0.0, end - time.monotonic())):
                return False
        return True

    def interrupt(self) -> None:
        """Ends the operation as Ctrl-C does: result() raises `KeyboardInterrupt`, unless it was done already."""
        if self._response is None:
            self._channel.interrupts += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._channel.pid, signal.SIGINT)

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the operation and gives its value, or raises what it raised.

        ``timeout`` is wall-clock seconds; `TimeoutError` leaves the operation under way. Ctrl-C interrupts the
        operation in the child, which stays usable, and then raises `KeyboardInterrupt`.
        """
        try:
            if timeout is not None and not self._wait(timeout):
                raise TimeoutError(f"no response from the platform's process within {timeout} s")
            if self._response is None:
                self._response = self._channel.receive()
        except KeyboardInterrupt:
            if self._response is None:
                self.interrupt()
                self._response = self._channel.receive()
            self._release()
            raise
        self._release()
        succeeded, value = self._response
        if not succeeded:
            raise value
        return value


class Remote:
    """Stands for an object of a platform in another process and has its interface (see the module's docstring)."""

    def __init__(self, channel: _Channel, key: int, class_name: str) -> None:
        object.__setattr__(self, "_channel", channel)
        object.__setattr__(self, "_key", key)
        object.__setattr__(self, "_class_name", class_name)

    def _request(self, operation: str, *arguments: Any) -> Any:
        return self._channel.request("operate", self._key, operation, *arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # protocols that probe (copy, pickle, numpy) mean this object
            raise AttributeError(name)
        method: Any = getattr(live_class(self._class_name), name, None)
        if getattr(method, "runs_in_caller", False):
            return functools.partial(method, self)
        if callable(method):
            return RemoteMethod(self, name)
        return self._request("getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._request("setattr", name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._request("getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._request("setitem", key, value)

    def __len__(self) -> int:
        return int(self._request("len"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._request("list"))

    def __contains__(self, key: Any) -> bool:
        return bool(self._request("contains", key))

    def __dir__(self) -> list[str]:
        return list(self._request("dir"))

    def __repr__(self) -> str:
        return f"<remote {self._request('repr')} in process {self._channel.pid}>"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Remote) and (self._channel, self._key) == (other._channel, other._key)

    def __hash__(self) -> int:
        return hash((id(self._channel), self._key))

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Any:
        return self._request("enter")

    def __exit__(self, *_: Any) -> None:
        self._request("exit")


class RemoteMethod:
    """A method of a remote object: calling it waits; `start(...)` begins it and gives a `Pending`."""

    def __init__(self, target: Remote, name: str) -> None:
        self._target, self._name = target, name
        self.__name__ = name
        self.__doc__ = getattr(live_class(target._class_name), name).__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._target._request("call", self._name, arguments, keywords)

    def start(self, *arguments: Any, **keywords: Any) -> Pending:
        target = self._target
        pending: Pending = target._channel.send("operate", target._key, "call", self._name, arguments, keywords)
        return pending


class RemotePlatform(Remote):
    """A `Platform` in a child process, from `spawn()` or `Platform.fork()`. Use it as the platform itself.

    Beside the platform's own interface it has `pid`, `call()`, `close()` and, on every method, `start(...)` which does
    not wait: several children run at the same time on several processors. Leaving a ``with`` block ends the child; so
    does the end of the parent. Python devices that are added must be picklable and live in the child.
    """

    def __init__(self, connection: Connection, pid: int, reap: Callable[[float], bool]) -> None:
        super().__init__(_Channel(connection, pid), 0, "Platform")
        object.__setattr__(self, "_reap", reap)
        object.__setattr__(self, "_at_close", [])
        _open_platforms.add(self)

    @property
    def pid(self) -> int:
        """Identity of the child process."""
        return int(self._channel.pid)

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Calls ``function(platform, *arguments, **keywords)`` in the child and gives its (picklable) value."""
        return self._channel.request("call", function, arguments, keywords)

    def fork(self) -> RemotePlatform:
        """Branches the machine in the child as it stands; see `Platform.fork()`. The branch belongs to this process."""
        connection, pid = self._with_connection("fork")
        return RemotePlatform(connection, pid, _wait_until_ended(pid))

    def _open_relay(self) -> Connection:
        """To a thread of the child that gives frames of the machine (`monitor.frame_pump.RemoteRun`)."""
        return self._with_connection("relay")[0]

    def _with_connection(self, request: str) -> tuple[Connection, Any]:
        """A request that gives the child one end of a connection. Gives the other end, and the response."""
        own_end, child_end = socket.socketpair()
        pending = self._channel.send(request)
        channel = socket.socket(fileno=os.dup(self._channel.connection.fileno()))
        with channel, child_end:
            socket.send_fds(channel, [b"f"], [child_end.fileno()])
        try:
            response = pending.result()
        except BaseException:
            own_end.close()
            raise
        connection = Connection(own_end.detach())
        _open_connections.add(connection)
        return connection, response

    def close(self) -> None:
        """Ends the child process; the machine in it is gone. May be called again."""
        connection = self._channel.connection
        if connection.closed:
            return
        while self._at_close:
            self._at_close.pop()()
        with contextlib.suppress(RemoteError, RuntimeError):
            self._channel.send("exit")
        busy = self._channel.pending is not None and not connection.poll(0.2)
        connection.close()
        if busy or not self._reap(2.0):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._channel.pid, signal.SIGKILL)
            self._reap(5.0)

    def __enter__(self) -> RemotePlatform:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._channel.connection.closed else "open"
        return f"<RemotePlatform in process {self._channel.pid}, {state}>"


def _wait_until_ended(pid: int) -> Callable[[float], bool]:
    """For processes whose parent is another child, or has ended."""

    def has_ended() -> bool:
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def wait(timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not has_ended() and time.monotonic() < end:
            time.sleep(0.005)
        return has_ended()

    return wait


def reap_child(pid: int) -> Callable[[float], bool]:
    """For children of this process: waits up to `timeout` seconds and tells whether the child has ended."""

    def wait(timeout: float) -> bool:
        end = time.monotonic() + timeout
        while True:
            try:
                if os.waitpid(pid, os.WNOHANG)[0] == pid:
                    return True
            except ChildProcessError:
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(0.005)

    return wait


def close_in_branches(connection: Connection) -> None:
    """It is of this process alone."""
    _open_connections.add(connection)


def close_parent_connections() -> None:
    """After a fork, in the child: the parent's children are not ours, and their pipes must not stay open here."""
    for connection in list(_open_connections):
        connection.close()
    _open_platforms.clear()


@atexit.register
def _close_all() -> None:
    for platform in list(_open_platforms):
        platform.close()


__all__ = ["Pending", "Remote", "RemoteMethod", "RemotePlatform"]
