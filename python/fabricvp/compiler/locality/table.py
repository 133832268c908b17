# SPDX-License-Identifier: Apache-2.0
"""LADM's table of locality (Khairy et al., MICRO 2020, Table II and Algorithm 1): which of seven rows an access is in,
and what follows for work-groups and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from .accesses import Access, KernelAccesses
from .polynomial import Polynomial
from .values import DATA, work_item


class Row(IntEnum):
    """A row of the table."""

    NO_LOCALITY = 1
    ROW_HORIZONTAL = 2
    COLUMN_HORIZONTAL = 3
    ROW_VERTICAL = 4
    COLUMN_VERTICAL = 5
    INTRA_THREAD = 6
    UNCLASSIFIED = 7


#: By row: the locality, how work-groups are scheduled, how pages are placed.
ROWS = {
    Row.NO_LOCALITY: ("no locality", "align-aware", "stride-aware"),
    Row.ROW_HORIZONTAL: ("row, horizontally shared", "row-binding", "row-based"),
    Row.COLUMN_HORIZONTAL: ("column, horizontally shared", "column-binding", "row-based"),
    Row.ROW_VERTICAL: ("row, vertically shared", "row-binding", "column-based"),
    Row.COLUMN_VERTICAL: ("column, vertically shared", "column-binding", "column-based"),
    Row.INTRA_THREAD: ("intra-thread", "kernel-wide", "kernel-wide"),
    Row.UNCLASSIFIED: ("unclassified", "kernel-wide", "kernel-wide"),
}
#: Where the variant terms have it, each iteration skips whole rows.
_WIDTH = "gDimx"


@dataclass(frozen=True)
class Classified:
    """An access with its row. ``invariant`` and ``variant`` are the terms of its index, in bytes, without and with
    induction variables; ``unit`` is what the source counts in; ``dimensions`` are
    those of the grid."""

    access: Access
    row: Row
    invariant: Polynomial
    variant: Polynomial
    unit: int
    dimensions: int

    @property
    def text(self) -> str:
        """The index as LADM writes it: loop-invariant terms + loop-variant terms, in elements."""
        if self.access.index is None:
            return "unknown"
        loops = [name for name in self.access.loops if name in self.variant.needs]
        letter = next(c for c in "mkijuvw" if c not in self.access.index.needs)
        names = {loop: f"{letter}{n}" if len(loops) > 1 else letter for n, loop in enumerate(loops, 1)}
        parts = [part.renamed(names).text(self.unit) for part in (self.invariant, self.variant) if part.terms]
        return " + ".join(f"[{part}]" if len(parts) > 1 else part for part in parts) or "0"

    @property
    def widths(self) -> list[str]:
        """Parameters that an iteration moves by: the access is in another row if one of them is the grid's width."""
        rest = self.variant.needs - set(self.access.loops) - {DATA}
        return sorted(n for n in rest if self.at_width(n).row != self.row)

    def at_width(self, name: str) -> Classified:
        """The same where a parameter is the grid's width in work-items, as WIDTH is in LADM's Fig. 6."""
        assert self.access.index is not None
        width = work_item("get_global_size", 0)
        assert width is not None
        index = self.access.index.replaced({name: width})
        return classified(replace(self.access, index=index), self.dimensions)

    @property
    def stride(self) -> Polynomial:
        """Bytes from one iteration of the outermost loop to the next; 0 without loops."""
        for loop in self.access.loops:
            if loop in self.variant.needs:
                return self.variant.factor_of(loop)
        return Polynomial({})


def classified(access: Access, dimensions: int) -> Classified:
    """The row of an access of a kernel whose grid has so many dimensions."""
    unit = access.bytes
    if access.index is None:
        return Classified(access, Row.UNCLASSIFIED, Polynomial({}), Polynomial({}), unit, dimensions)
    loops = frozenset(access.loops)
    invariant, variant = access.index.split(loops)
    innermost = next((loop for loop in reversed(access.loops) if loop in variant.needs), "")
    step = variant.split(frozenset({innermost}))[1]
    factor = abs(step.factor_of(innermost).constant() or 0)
    row = _row(invariant, variant, dimensions)
    if innermost and len(step.terms) == 1 and factor in access.units:
        row, unit = Row.INTRA_THREAD, factor
    return Classified(access, row, invariant, variant, unit, dimensions)


def _row(invariant: Polynomial, variant: Polynomial, dimensions: int) -> Row:
    """Algorithm 1 behind its test for locality inside a thread."""
    needs = invariant.needs
    if DATA in needs | variant.needs:
        return Row.UNCLASSIFIED
    if {"bx", "by", "bz"} & needs == set(("bx", "by", "bz")[:dimensions]):
        return Row.NO_LOCALITY
    if dimensions != 2 or not variant.terms:
        return Row.UNCLASSIFIED
    vertical = _WIDTH in variant.needs
    if "by" in needs:
        return Row.ROW_VERTICAL if vertical else Row.ROW_HORIZONTAL
    if "bx" in needs:
        return Row.COLUMN_VERTICAL if vertical else Row.COLUMN_HORIZONTAL
    return Row.UNCLASSIFIED


def table_of(kernel: KernelAccesses) -> dict[str, list[Classified]]:
    """All accesses by parameter, in the order of the source."""
    found: dict[str, list[Classified]] = {name: [] for name in kernel.pointers}
    for access in kernel.accesses:
        found[access.parameter].append(classified(access, kernel.dimensions))
    return found


def dominant(accesses: Sequence[Classified]) -> Classified:
    """The access that decides for its parameter: in the deepest loop, where it happens most often; of several there one
    of the row that most have, or the first row of the table. (LADM does not say how it weighs them.)"""
    depth = max(len(c.access.loops) for c in accesses)
    deepest = [c for c in accesses if len(c.access.loops) == depth]
    rows = [c.row for c in deepest]
    row = min(set(rows), key=lambda r: (-rows.count(r), r))
    return next(c for c in deepest if c.row == row)
