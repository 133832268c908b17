# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: shared libraries that add kinds of devices and stages to the simulator, and PCIe devices in Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _fabricvp

if TYPE_CHECKING:
    from .pcie_devices import PcieDevice

#: What `plugins=` takes: files (shared libraries, or Python with subclasses of `PcieDevice`), and such classes.
Plugins = Iterable["str | os.PathLike[str] | type[PcieDevice]"]


def resolve_plugins(plugins: Plugins) -> list[str | type[PcieDevice]]:
    """Files by absolute paths, also valid in a child process. Raises `TypeError` for a single one."""
    if isinstance(plugins, (str, os.PathLike, type)):
        named = plugins.__name__ if isinstance(plugins, type) else repr(os.fspath(plugins))
        raise TypeError(f"plugins= takes a list of files, such as [{named}]")
    return [plugin if isinstance(plugin, type) else os.path.abspath(os.fspath(plugin)) for plugin in plugins]


def load_plugins(plugins: Plugins) -> None:
    """Loads them for as long as this process lives. Raises `InputError` with one line that names the file or class."""
    for plugin in resolve_plugins(plugins):
        if isinstance(plugin, type):
            from .pcie_devices import register

            register(plugin)
        else:
            _fabricvp.load_plugin(plugin)
