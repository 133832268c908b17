# SPDX-License-Identifier: Apache-2.0
"""Which experiments run, in which order, and which have been run by the same version."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..docs_command import read_result, without_places
from ..errors import InputError
from ..experiments import registry
from ..experiments.registry import SYSTEMS
from ..sweeps.code_hash import simulator_hash

ALL = "all"


def systems_named(names: Sequence[str]) -> tuple[str, ...]:
    """Systems by name, each once, in the order of the registry. Raises `InputError` with a hint."""
    for name in names:
        if name != ALL and name not in SYSTEMS:
            near = difflib.get_close_matches(name, SYSTEMS, 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            raise InputError(f"no system '{name}'{hint} (there are: {ALL}, {', '.join(SYSTEMS)})")
    return tuple(name for name in SYSTEMS if ALL in names or name in names)


def experiments_of(systems: Sequence[str]) -> list[str]:
    """Experiments in the order in which they run: the first of each system, then the others."""
    chosen = [SYSTEMS[name].experiments for name in systems]
    return [each[0] for each in chosen] + [name for each in chosen for name in each[1:]]


def arguments_of(name: str, quick: bool) -> list[str]:
    """What `fabricvp experiment` is given, without folders."""
    return [name, *(["--quick"] if quick else [])]


def command_of(name: str, quick: bool) -> str:
    """The command that measures the same, as results have it."""
    return without_places(" ".join(["fabricvp", "experiment", *arguments_of(name, quick)]))


def is_current(name: str, result: dict[str, Any]) -> bool:
    """Whether a result comes from this simulator, with its firmware and machines, and from this code."""
    return (
        result.get("version") == __version__
        and result.get("simulator_sha256") == simulator_hash()
        and result.get("code_sha256") == registry.find(name).code_hash
    )


def finished(folder: Path, name: str, quick: bool) -> dict[str, Any] | None:
    """The result of an experiment that need not run again: of the same version and the same options."""
    try:
        result = read_result(folder)
    except InputError:
        return None
    same = result["experiment"] == name and without_places(str(result.get("command"))) == command_of(name, quick)
    is_whole = {*(result.get("cost") or ())} == {"wall_s", "core_s"}
    return result if same and is_whole and is_current(name, result) else None


def refuse_to_lose(folder: Path, names: Sequence[str]) -> None:
    """Raises `InputError` where quick samples would replace results of full size, of any version: these may have taken
    hours."""
    lost = [name for name in names if _is_full(folder / name)]
    if lost:
        more = f" and {len(lost) - 1} others" if len(lost) > 1 else ""
        raise InputError(
            f"{folder / lost[0]}{more}: has results of full size, which --quick would replace: give another --out"
        )


def _is_full(folder: Path) -> bool:
    try:
        options = read_result(folder).get("options")
    except InputError:
        return False
    return isinstance(options, dict) and not options.get("quick", False)


def broken_checks(result: dict[str, Any]) -> list[str]:
    """Names of invariants that do not hold."""
    return [str(check["name"]) for check in result.get("checks", ()) if not check["ok"]]
