# SPDX-License-Identifier: Apache-2.0
"""One block of a machine in one window of time: its statistics and parameters by short names."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

from .machine import Change, Machine
from .quantities import changed
from .run import Window


@dataclass(frozen=True)
class Block:
    path: str
    window: Window
    machine: Machine

    @property
    def time(self) -> float:
        """Picoseconds of the window."""
        return self.window.picoseconds(self.path)

    @property
    def device(self) -> str:
        """The GPU, adapter or host that the block is part of: `node0.gpu1`."""
        return ".".join(self.path.split(".")[:2])

    @property
    def node(self) -> str:
        return self.path.partition(".")[0]

    def full(self, name: str) -> str:
        """The path of a statistic: of the block, or by {path}, {parent}, {device}, {node}."""
        if "{" not in name:
            return f"{self.path}.{name}"
        parent = self.path.rpartition(".")[0]
        return name.format(path=self.path, parent=parent, device=self.device, node=self.node)

    def count(self, name: str) -> float:
        """A statistic, or with a * the sum of those; 0 where the machine has none of that name."""
        path = self.full(name)
        if "*" not in path:
            return self.window.statistics.get(path, 0.0)
        return sum(self.window.statistics[each] for each in fnmatch.filter(self.window.statistics, path))

    def number(self, name: str) -> float:
        """A parameter of the block; names with a dot lead to blocks below."""
        block, _, last = name.rpartition(".")
        found = self.machine.find(f"{self.path}.{block}" if block else self.path, last)
        return found.number if found else 0.0

    def above(self, name: str) -> float:
        """A parameter of the device."""
        return Block(self.device, self.window, self.machine).number(name)

    def cycle(self) -> float:
        """Picoseconds of a cycle of the device's clock."""
        clock = self.above("clock")
        return 1e12 / clock if clock else 0.0

    def change(self, name: str, factor: float, of: str = "{path}") -> list[Change]:
        """A parameter times a factor, if the block has it and the machine can be built with that."""
        block, _, last = name.rpartition(".")
        at = self.full(of)
        found = self.machine.find(f"{at}.{block}" if block else at, last)
        value = changed(found.value, factor) if found else None
        return self.machine.accepted([Change(found, value)]) if found and value else []
