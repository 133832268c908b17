# SPDX-License-Identifier: Apache-2.0
"""Which machines an experiment has simulated: their resolved configurations, as a hash that two runs can be compared
by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..platform import Platform


@dataclass(frozen=True)
class Machine:
    """A machine with all its parameters, images and their command lines included."""

    name: str  #: as the experiment calls it
    sha256: str  #: of its resolved configuration
    seed: int  #: `simulation.seed`


_used: list[Machine] = []


def use(name: str, platform: Platform) -> None:
    """To be called by whoever builds a machine for an experiment: `result.json` tells of it."""
    text = platform.resolved_config
    machine = Machine(name, hashlib.sha256(text.encode()).hexdigest(), int(platform.config["simulation.seed"]))
    if machine not in _used:
        _used.append(machine)


def used() -> list[Machine]:
    """Those of this process."""
    return list(_used)


def hash_of_all(machines: Iterable[Machine]) -> str:
    """One hash over all of them, whatever their order."""
    return hashlib.sha256("\n".join(sorted(f"{m.name} {m.sha256}" for m in machines)).encode()).hexdigest()
