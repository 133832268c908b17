# SPDX-License-Identifier: Apache-2.0
"""Which node of a machine an experiment measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .. import _fabricvp
from ..errors import InputError
from ..nodes import node_index


@dataclass(frozen=True)
class NodeRef:
    """A node of a machine."""

    machine: str
    node: int | None = None  #: None: its only one

    @property
    def index(self) -> int:
        """Number of the node."""
        return self.node or 0

    def __str__(self) -> str:
        return self.machine if self.node is None else f"node{self.node} of {self.machine}"


#: What an experiment needs: how the count of it stands in `device_counts()`, how many, and in words.
_NEEDED = {"gpus": (0, 1, "a GPU"), "endpoints": (1, 2, "a PCIe tree with at least two endpoints")}


def measured_nodes(
    machines: Sequence[str], wanted: str | None, what: Literal["gpus", "endpoints"]
) -> dict[str, int | None]:
    """The node to measure of each machine: ``wanted`` ("node1") of those that have several nodes, else the only one
    that has what is needed; None for a machine of a single node. Raises `InputError` if there is no such node or more
    than one."""
    found = {machine: _node_of(machine, wanted, what) for machine in dict.fromkeys(machines)}
    if wanted is not None and wanted != "node0" and all(node is None for node in found.values()):
        raise InputError(f"--node {wanted}: {' and '.join(found)} {'has' if len(found) == 1 else 'have'} node0 alone")
    return found


def _node_of(machine: str, wanted: str | None, what: str) -> int | None:
    place, min_count, label = _NEEDED[what]
    parts = _fabricvp.device_counts(machine, [])
    have = [f"node{i}" for i, each in enumerate(parts) if each[place] >= min_count]
    if not have:
        raise InputError(f"{machine}: has no {label[2:]}")
    if len(parts) == 1:
        return None
    if wanted is None:
        if len(have) > 1:
            raise InputError(f"{machine}: {_and(have)} have {label}: say which one is measured, as in --node {have[0]}")
        return node_index(have[0])
    if _index(wanted) >= len(parts):
        raise InputError(f"--node {wanted}: {machine} has {len(parts)} nodes, node0 to node{len(parts) - 1}")
    if wanted not in have:
        raise InputError(
            f"--node {wanted}: {wanted} of {machine} has no {label[2:]}; {_and(have)}"
            f" {'has' if len(have) == 1 else 'have'}"
        )
    return node_index(wanted)


def _index(wanted: str) -> int:
    try:
        return node_index(wanted)
    except ValueError as error:
        raise InputError(f"--node: {error}") from None


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
