# SPDX-License-Identifier: Apache-2.0
"""What can be made to go wrong in a machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FaultArgument:
    """One argument of a kind of fault."""

    name: str
    default: str  #: with its unit
    allowed: str  #: in words
    help: str


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault that one block offers: `Platform.inject(target, kind)` lets it happen."""

    target: str  #: path of the block, as in statistics
    kind: str
    help: str
    arguments: tuple[FaultArgument, ...] = ()

    def __str__(self) -> str:
        arguments = ", ".join(f"{a.name}={a.default}" for a in self.arguments)
        return f"{self.target} {self.kind}({arguments}): {self.help}"
