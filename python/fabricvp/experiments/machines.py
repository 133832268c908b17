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


_recorded: list[Machine] = []


def record_machine(name: str, platform: Platform) -> None:
    """Records a machine that an experiment simulates; `result.json` lists them."""
    text = platform.resolved_config
    machine = Machine(name, hashlib.sha256(text.encode()).hexdigest(), int(platform.config["simulation.seed"]))
    if machine not in _recorded:
        _recorded.append(machine)


def recorded_machines() -> list[Machine]:
    """Those of this process."""
    return list(_recorded)


def hash_of_all(machines: Iterable[Machine]) -> str:
    """One hash over all of them, whatever their order."""
    return hashlib.sha256("\n".join(sorted(f"{m.name} {m.sha256}" for m in machines)).encode()).hexdigest()
