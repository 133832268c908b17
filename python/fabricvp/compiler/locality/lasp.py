# SPDX-License-Identifier: Apache-2.0
"""What LASP, LADM's runtime, needs of a kernel at its launch: a row of the table, a pitch and a datablock for each
buffer. The driver places pages and work-groups by them (firmware/drivers/gpu/placement.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...launch import Locality
from ..kernels import Kernel
from ..values import element
from .analysis import KernelLocality
from .table import Classified, Row, dominant
from .values import variable_of

_AXES = "xyz"


def localities(
    kernel: KernelLocality, items: Sequence[int], group: Sequence[int], values: Mapping[str, int]
) -> dict[str, Locality]:
    """By buffer, of a launch: work-items of the grid and of a work-group, and values of parameters by name. Buffers
    that the kernel does not access are left out."""
    values = {variable_of(name): value for name, value in values.items()}
    known = dict(values)
    for axis, whole, part in zip(_AXES, items, group):
        known |= {f"bDim{axis}": part, f"gDim{axis}": -(-whole // part)}
    width = known["bDimx"] * known["gDimx"]
    found = {}
    for name, accesses in kernel.accesses.items():
        if accesses:
            found[name] = _locality(dominant([_at_width(c, values, width) for c in accesses]), known)
    return found


def of_launch(
    found: Mapping[str, KernelLocality], kernel: Kernel, items: Sequence[int], group: Sequence[int], block: bytes
) -> dict[int, Locality]:
    """By the offset of the pointer in the block of arguments: of a launch of a kernel of a source."""
    values = {}
    for p in kernel.parameters:
        of = element(p.base) if p.kind == "value" else None
        if of is not None and of[0][0] in "iu" and of[1] == 1:
            values[p.name] = int.from_bytes(block[p.offset : p.offset + p.size], "little", signed=of[0][0] == "i")
    by_name = localities(found[kernel.name], items, group, values)
    return {p.offset: by_name[name] for p in kernel.parameters if (name := variable_of(p.name)) in by_name}


def _at_width(c: Classified, values: Mapping[str, int], width: int) -> Classified:
    """An access where a parameter that is the grid's width counts as that."""
    return next((c.at_width(name) for name in c.widths if values.get(name) == width), c)


def _locality(c: Classified, known: Mapping[str, int]) -> Locality:
    if c.row == Row.NO_LOCALITY:
        return Locality(int(c.row), abs(c.stride.value(known) or 0), _datablock(c, known))
    if c.row in (Row.INTRA_THREAD, Row.UNCLASSIFIED):
        return Locality(int(c.row))
    return Locality(int(c.row), _row_bytes(c, known))


def _datablock(c: Classified, known: Mapping[str, int]) -> int:
    """From one work-group's bytes to the next one's; in several dimensions, and where that is no number, those of all
    its work-items, as LADM has it."""
    step = c.invariant.factor_of("bx").value(known) if c.dimensions == 1 else 0
    if step:
        return abs(step)
    items = known["bDimx"] * known["bDimy"] * known["bDimz"]
    return items * c.access.bytes


def _row_bytes(c: Classified, known: Mapping[str, int]) -> int:
    """The width of the data: the step from a work-item to the next one along y, or along x where work-groups of a
    column share rows; else what an iteration skips where it skips whole rows; else the width of the grid."""
    other = {Row.ROW_HORIZONTAL: c.invariant.factor_of("by"), Row.COLUMN_HORIZONTAL: c.invariant.factor_of("tx")}.get(
        c.row, c.stride
    )
    for factor in (c.invariant.factor_of("ty"), other):
        value = abs(factor.value(known) or 0)
        if value > c.unit:
            return value
    return known["bDimx"] * known["gDimx"] * c.unit
