# SPDX-License-Identifier: Apache-2.0
"""The child's side of `remote`: keeps the real objects and does what the parent asks for."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import operator
import os
import pickle
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle

from . import (
    config,
    console,
    devices,
    disks,
    fabric,
    gpu,
    launch,
    memory,
    node,
    pcie,
    pcie_devices,
    platform,
    progress,
    remote,
    spans,
    statistics,
    streams,
)
from .errors import RemoteError
from .monitor import frame_pump, page_server
from .remote import PARENT_MAIN, close_parent_connections

#: Objects of these classes belong to the running machine: the parent gets references to them.
LIVE_CLASSES = (
    platform.Platform,
    node.Node,
    node.Hart,
    node.Registers,
    node.FloatRegisters,
    node.ControlRegisters,
    node.DeviceRegisters,
    memory.Memory,
    console.Console,
    config.ConfigGroup,
    statistics.Statistics,
    statistics.Region,
    devices.Device,
    devices.InterruptLine,
    devices.Timer,
    disks.Disk,
    fabric.Fabric,
    gpu.Gpu,
    gpu.GpuMemory,
    launch.PendingLaunch,
    streams.Stream,
    streams.Event,
    pcie.Pcie,
    pcie_devices.PcieDevice,
    spans.Spans,
    page_server.Monitor,
)

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "getattr": getattr,
    "setattr": setattr,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "contains": operator.contains,
    "len": len,
    "list": list,
    "dir": dir,
    "repr": repr,
    "enter": lambda target: target.__enter__(),
    "exit": lambda target: target.__exit__(None, None, None),
    "call": lambda target, name, arguments, keywords: getattr(target, name)(*arguments, **keywords),
}


#: Views of dictionaries travel as views of copies.
_VIEWS: dict[type, Callable[[Any], Any]] = {
    type({}.keys()): lambda keys: (_call_method, (dict.fromkeys(keys), "keys")),
    type({}.values()): lambda values: (_call_method, (dict(enumerate(values)), "values")),
    type({}.items()): lambda items: (_call_method, (dict(items), "items")),
}


def _call_method(target: Any, name: str) -> Any:
    return getattr(target, name)()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: io.BytesIO, server: Server) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._server = server

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, LIVE_CLASSES):
            return None
        live = next(cls for cls in type(obj).__mro__ if cls in LIVE_CLASSES)  # a user's class is known by its base
        return (self._server.key_of(obj), live.__name__)

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, memoryview):
            return bytes, (obj.tobytes(),)
        if (view := _VIEWS.get(type(obj))) is not None:
            return view(obj)
        return super().reducer_override(obj)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, server: Server) -> None:
        super().__init__(file)
        self._server = server

    def persistent_load(self, key: int) -> Any:
        return self._server.objects[key]

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and self._server.main_path and not hasattr(sys.modules["__main__"], name):
            module = _load_parent_main(self._server.main_path)
        return super().find_class(module, name)


def _load_parent_main(path: str) -> str:
    """Imports the parent's script under another name, so that classes and functions of it are known here too."""
    if PARENT_MAIN not in sys.modules:
        spec = importlib.util.spec_from_file_location(PARENT_MAIN, path)
        assert spec is not None and spec.loader is not None  # a file name has both
        module = importlib.util.module_from_spec(spec)
        sys.modules[PARENT_MAIN] = module
        remote.importing_parent_main = True
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[PARENT_MAIN]
            raise
        finally:
            remote.importing_parent_main = False
    return PARENT_MAIN


class Server:
    """Serves one parent until it says so or goes away."""

    def __init__(self, connection: Connection, machine: platform.Platform, main_path: str = "") -> None:
        self.connection = connection
        self.main_path = main_path
        self.objects: dict[int, Any] = {0: machine}
        self._keys = {id(machine): 0}
        self.busy = False
        self.early_interrupts = 0  # received while idle, since the parent has begun to count

    def key_of(self, obj: Any) -> int:
        key = self._keys.setdefault(id(obj), len(self.objects))
        self.objects[key] = obj  # keeps it alive, so that its id stays its own
        return key

    def send_response(self, succeeded: bool, value: Any) -> None:
        try:
            buffer = io.BytesIO()
            _Pickler(buffer, self).dump((succeeded, value))
        except Exception as error:  # what cannot be pickled is told as text
            text = (
                f"{type(value).__name__}: {value}"
                if not succeeded
                else f"a {type(value).__name__} cannot be carried between processes ({error})"
            )
            buffer = io.BytesIO()
            _Pickler(buffer, self).dump((False, RemoteError(text)))
        self.connection.send_bytes(buffer.getvalue())

    def send_progress(self, text: str, warning: str | None) -> None:
        """Tells the parent how a run gets on, unless it has not read what was told before."""
        with contextlib.suppress(OSError):
            if select.select([], [self.connection], [], 0)[1]:
                self.connection.send_bytes(pickle.dumps((None, (text, warning))))

    def perform(self, message: list[Any]) -> Any:
        kind, *rest = message
        if kind == "operate":
            key, operation, *arguments = rest
            return _OPERATIONS[operation](self.objects[key], *arguments)
        if kind == "call":
            function, arguments, keywords = rest
            return function(self.objects[0], *arguments, **keywords)
        if kind == "fork":
            return self._fork()
        if kind == "relay":
            return self._open_relay()
        raise RemoteError(f"unknown request {kind!r}")

    def _fork(self) -> int:
        """Forks for the parent, which gave the socket that the branch is to answer on."""
        descriptor = self._receive_descriptor()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # branches are the parent's: let the system reap them
        try:
            return fork_and_serve(self.objects[0], Connection(descriptor), self.connection, self.main_path)
        except BaseException:
            os.close(descriptor)
            raise

    def _open_relay(self) -> None:
        """Begins to give frames on the socket that the parent gave."""
        connection = Connection(self._receive_descriptor())
        remote.close_in_branches(connection)
        try:
            frame_pump.serve_run(self.objects[0]._local_run(), connection)
        except BaseException:
            connection.close()
            raise

    def _receive_descriptor(self) -> int:
        with socket.socket(fileno=os.dup(self.connection.fileno())) as channel:
            return socket.recv_fds(channel, 1, 1)[1][0]

    def interrupted(self, *_: Any) -> None:
        """Handles SIGINT, by which the parent passes Ctrl-C on. One that comes before its request has been read
        counts."""
        if self.busy:
            raise KeyboardInterrupt
        self.early_interrupts += 1

    def serve(self) -> None:
        while True:
            try:
                data = self.connection.recv_bytes()
            except (EOFError, OSError):
                return
            try:
                try:
                    self.busy = True
                    interrupts, shown, *message = _Unpickler(io.BytesIO(data), self).load()
                    progress.forward_progress(self.send_progress if shown else None)
                    early, self.early_interrupts = self.early_interrupts > interrupts, interrupts
                    if message[0] == "exit":
                        return
                    if early:
                        raise KeyboardInterrupt
                    succeeded, value = True, self.perform(message)
                finally:
                    self.busy = False
            except BaseException as error:  # KeyboardInterrupt and SystemExit of a request are the parent's to see
                if not isinstance(error, remote.MissingMainGuard):
                    error.add_note("in the platform's process:\n" + traceback.format_exc().rstrip())
                succeeded, value = False, error
            try:
                self.send_response(succeeded, value)
            except OSError:
                return


def serve(machine: platform.Platform, connection: Connection, main_path: str = "") -> None:
    """Serves the parent until it closes the connection."""
    server = Server(connection, machine, main_path)
    signal.signal(signal.SIGINT, server.interrupted)
    machine._core.stop_when_closed(connection.fileno())
    server.serve()


def fork_and_serve(
    machine: platform.Platform, child_end: Connection, parent_end: Connection, main_path: str = ""
) -> int:
    """Forks; gives the child's pid. The child serves `child_end`, closes `parent_end` and never returns."""
    sys.stdout.flush()
    sys.stderr.flush()
    machine._core.before_fork()
    pid = os.fork()
    if pid:
        child_end.close()
        return pid
    status = 1
    try:
        parent_end.close()
        close_parent_connections()
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)  # the terminal's Ctrl-C goes to the parent alone, which passes it on
        with open(os.devnull) as null_device:
            os.dup2(null_device.fileno(), 0)  # what is typed is the parent's
        machine._core.after_fork_in_child()
        serve(machine, child_end, main_path)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:  # never unwind into the parent's stack, its atexit functions or its test runner
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
