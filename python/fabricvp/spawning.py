# SPDX-License-Identifier: Apache-2.0
"""Platforms in child processes: several machines in one program."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Pipe
from typing import Any

import cloudpickle

from .data import resolve_config
from .errors import RemoteError
from .gpu import PerNode, parse_app_requests
from .overrides import flatten
from .plugins import Plugins, resolve_plugins
from .remote import RemotePlatform, main_path, require_main_guard


def spawn(
    path: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    name: str = "text",
    app: PerNode = None,
    size: PerNode = None,
    gpus: PerNode = None,
    placement: PerNode = "",
    dispatch: PerNode = "",
    initrd: PerNode = "",
    option: PerNode = "",
    plugins: Plugins = (),
    overrides: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> RemotePlatform:
    """Builds a platform in a child process and gives a `RemotePlatform`, which has the interface of `Platform`.

    ``path``, ``app`` with what belongs to it, ``plugins``, ``overrides`` and ``**keywords`` are as for
    `Platform.from_config()`; ``text`` (with ``name`` for messages) is a configuration as a string instead of a file.
    The child is a new Python interpreter in a process group of its own; it ends with ``close()``, with the ``with``
    block, or with this process.

    Raises `InputError` as `Platform.from_config()` does, `RemoteError` if the child cannot start, `RuntimeError` in a
    script that a child imports for its functions, which needs ``if __name__ == "__main__":`` around what it does."""
    if (path is None) == (text is None):
        raise TypeError("spawn() takes a configuration file or text=, one of them")
    require_main_guard("spawn()")
    app_request = {
        "app": app,
        "size": size,
        "gpus": gpus,
        "placement": placement,
        "dispatch": dispatch,
        "initrd": initrd,
        "option": option,
    }
    parse_app_requests(**app_request)
    request = {
        "path": None if path is None else resolve_config(path),
        "text": text,
        "name": name,
        "app": app_request,
        "plugins": cloudpickle.dumps(resolve_plugins(plugins)),  # unpickled when the child can import
        "overrides": flatten(overrides, keywords),
        "sys_path": sys.path,
        "command": sys.argv,
        "main_path": main_path(),
    }
    parent_end, child_end = Pipe()
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "fabricvp._child", str(child_end.fileno())],
            pass_fds=[child_end.fileno()],
            process_group=0,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
    finally:
        child_end.close()
    remote = RemotePlatform(parent_end, child.pid, _reaper(child))
    try:
        parent_end.send_bytes(pickle.dumps(request))
        remote._channel.pending = None
        succeeded, value = remote._channel.receive()
        if not succeeded:
            raise value
    except OSError as error:
        remote.close()
        raise RemoteError(f"the platform's process did not start: {error}") from error
    except BaseException:
        remote.close()
        raise
    return remote


def _reaper(child: subprocess.Popen[Any]) -> Any:
    def wait(timeout: float) -> bool:
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    return wait
