# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: shared libraries that add kinds of devices and stages to the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import _fabricvp

#: What `plugins=` takes: files.
Plugins = Iterable[str | os.PathLike[str]]


def plugin_files(plugins: Plugins) -> list[str]:
    """Absolute paths, also valid in a child process. Raises `TypeError` for a single name."""
    if isinstance(plugins, (str, os.PathLike)):
        raise TypeError(f"plugins= takes a list of files, such as [{os.fspath(plugins)!r}]")
    return [os.path.abspath(os.fspath(file)) for file in plugins]


def load_plugins(plugins: Plugins) -> None:
    """Loads them for as long as this process lives. Raises `InputError` with one line that names the file."""
    for file in plugin_files(plugins):
        _fabricvp.load_plugin(file)
