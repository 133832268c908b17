# SPDX-License-Identifier: Apache-2.0
"""Parameters given over a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import InputError


def flatten(overrides: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, str]:
    """Overrides as dotted path → text.

    ``overrides`` maps dotted paths to values ({"node.host.harts": 4}); in keywords two underscores stand for a dot
    (node__host__harts=4). Values may be mappings again (node={"host": {"harts": 4}}), and lists of plain values.
    Raises `InputError` for values that a configuration cannot hold.
    """
    if "ranks" in keywords:
        raise InputError("ranks: fabricvp.run_ranks() runs a machine as several processes; a platform is one")
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError(f"overrides: a mapping of paths to values, not {type(overrides).__name__}")
    result: dict[str, str] = {}
    for name, value in keywords.items():
        _add(result, name.replace("__", "."), value)
    for name, value in (overrides or {}).items():
        _add(result, str(name), value)
    return result


def _add(result: dict[str, str], path: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _add(result, f"{path}.{key}", inner)
    else:
        result[path] = _text(path, value)


def _text(path: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(path, item) for item in value) + "]"
    if isinstance(value, (str, int, float)) or hasattr(value, "__fspath__"):
        return str(value)
    if hasattr(value, "item"):  # numpy scalars
        return _text(path, value.item())
    raise InputError(f"{path}: a {type(value).__name__} is no value of a configuration")
