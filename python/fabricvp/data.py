# SPDX-License-Identifier: Apache-2.0
"""Machines (configs/*.yaml) and firmware images that travel inside the package."""

from __future__ import annotations

import os
from pathlib import Path

from . import _fabricvp
from .errors import InputError


def configs() -> list[str]:
    """Names of the stock machines, for `config_path()` and `Platform.from_config()`."""
    return sorted(path.stem for path in Path(_fabricvp.config_folder()).glob("*.yaml"))


def config_path(name: str) -> Path:
    """The YAML file of a stock machine ("uboot"). Raises `InputError` if there is none of that name."""
    if os.sep in name or name.removesuffix(".yaml") not in configs():
        raise InputError(f"no stock machine '{name}'; there are: {', '.join(configs()) or 'none'}")
    return Path(_fabricvp.config_folder()) / f"{name.removesuffix('.yaml')}.yaml"


def firmwares() -> list[str]:
    """Names of the firmware images, for `firmware_path()`."""
    return sorted(path.stem for path in Path(_fabricvp.firmware_folder()).glob("*.elf"))


def firmware_path(name: str) -> Path:
    """A firmware image by name ("hello"). Raises `InputError` if there is none of that name."""
    if os.sep in name or name.removesuffix(".elf") not in firmwares():
        raise InputError(f"no firmware image '{name}'; there are: {', '.join(firmwares()) or 'none'}")
    return Path(_fabricvp.firmware_folder()) / f"{name.removesuffix('.elf')}.elf"


def sdk_folder() -> Path:
    """What firmware and kernels outside of the tree are built with: headers, sources, linker scripts, `fabricvp.mk`.
    Raises `InputError` if it is not installed."""
    folder = Path(__file__).with_name("sdk")
    if not (folder / "fabricvp.mk").is_file():
        folder = Path(_fabricvp.__file__).with_name("sdk")
    if not (folder / "fabricvp.mk").is_file():
        raise InputError(f"{folder}: there is nothing to build firmware with in this installation")
    return folder


def cmake_prefix() -> Path:
    """Where CMake finds the package `fabricvp` with library and headers, for plug-ins and programs in C++. Raises
    `InputError` if it is not installed."""
    prefix = Path(_fabricvp.__file__).with_name("cpp")
    if not (prefix / "lib" / "cmake" / "fabricvp" / "fabricvp-config.cmake").is_file():
        raise InputError(f"{prefix}: there is nothing to build plug-ins with in this installation")
    return prefix


def resolve_config(path: str | os.PathLike[str]) -> str:
    """A configuration given as a file, or as the name of a stock machine. Raises `InputError` if there is neither."""
    return _fabricvp.find_config(os.fspath(path))
