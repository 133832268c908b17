# SPDX-License-Identifier: Apache-2.0
"""What `run --out` left behind, read for explanations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..results import read_results
from .machine import Machine

#: How the whole run is called where a region is asked for.
WHOLE_RUN = "run"


@dataclass(frozen=True)
class Window:
    """A stretch of simulated time with its statistics. ``name`` is what `--region` takes."""

    name: str
    title: str
    seconds: float
    statistics: dict[str, float]

    def picoseconds(self, path: str) -> float:
        """For how long the statistic of a path counted. In the whole run, a mark of a node restarted its own."""
        if self.name == WHOLE_RUN:
            since = self.statistics.get(f"{path.partition('.')[0]}.energy.time", 0.0)
            if since > 0:
                return since * 1e12
        return self.seconds * 1e12


@dataclass(frozen=True)
class Run:
    folder: str
    machine: Machine
    windows: list[Window]  #: regions in the order of marking, then the whole run

    def window(self, name: str | None) -> Window:
        """A region by name ("kernels", "kernels#2", or "node1.kernels" where nodes share it); without one the
        longest, or the whole run where nothing was marked. Raises `InputError`."""
        regions = self.windows[:-1]
        if name is None:
            return max(regions, key=lambda each: each.seconds) if regions else self.windows[-1]
        for each in [*(w for w in self.windows if w.name == name), *regions]:
            if name in (each.name, each.name.partition(".")[2]):
                return each
        known = ", ".join(each.name for each in self.windows)
        raise InputError(f"--region {name}: {self.folder} has no such region (there are: {known})")


def read_run(folder: str | os.PathLike[str]) -> Run:
    """Raises `InputError` if the folder holds no results of a run that has ended."""
    path = os.fspath(folder)
    if not os.path.isdir(path):
        raise InputError(f"{path}: no such folder (a run's is that of `fabricvp run … --out`)")
    windows = []
    regions = read_results(path, regions=True, interrupted=True)
    for column in regions.columns:
        _, node, label, _ = column
        values = regions[column].dropna().to_dict()
        seconds = values.pop("time_s", 0.0)
        windows.append(Window(f"{node}.{label}", f"region {label} of {node}", seconds, values))
    whole = read_results(path, interrupted=True)
    values = whole[whole.columns[0]].dropna().to_dict()
    windows.append(Window(WHOLE_RUN, "the whole run", values.get("sim.time_s", 0.0), values))
    return Run(path, Machine(*_read_configuration(path), _read_topology(path)), windows)


def _read_configuration(folder: str) -> tuple[str, dict[str, Any]]:
    """config.resolved.yaml as text, and what it holds."""
    import yaml

    path = os.path.join(folder, "config.resolved.yaml")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: holds no configuration")
    return text, found


def _read_topology(folder: str) -> dict[str, Any]:
    from pathlib import Path

    from ..topology_file import read_topology

    return read_topology(Path(folder))
