# SPDX-License-Identifier: Apache-2.0
"""Variables that are `__constant__` in HIP and CUDA: a part of the image, which each launch brings along. A section of
the image says what they are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from .block import array_of
from .elf import Elf

if TYPE_CHECKING:
    from .debug import DebugInformation
    from .module import Module

SECTION = ".fabricvp.constants"


@dataclass(frozen=True)
class Constant:
    """A constant: its place in the image as lanes see it, 0 for a const one, whose value the compiler may have put into
    the code; ``dtype`` as numpy names it, "V" for structures."""

    name: str
    address: int
    size: int
    dtype: str
    shape: tuple[int, ...]


def constants_of(module: Module, debug: DebugInformation, elf: Elf) -> list[Constant]:
    """Where the linker has put them."""
    objects = elf.objects()
    described = {
        name: debug.variable(attached)
        for name, (attached, const) in module.constants.items()
        if const or name in objects
    }
    names = [name for name, _ in described.values()]
    found = []
    for symbol, (name, type_) in described.items():
        address, size = (0, 0) if module.constants[symbol][1] else objects[symbol]
        unique = name if name and names.count(name) == 1 else symbol
        found.append(Constant(unique, address, size, *array_of(debug, type_, size)))
    return found


def encode(constants: list[Constant]) -> bytes:
    """Contents of the section."""
    return json.dumps([asdict(constant) for constant in constants]).encode()


def decode(elf: Elf) -> dict[str, Constant]:
    """Constants by name. Raises `InputError` for a section that holds none."""
    section = elf.section(SECTION)
    if section is None:
        return {}
    try:
        rows = json.loads(elf.contents(section))
        found = [Constant(**row | {"shape": tuple(row["shape"])}) for row in rows]
    except (ValueError, TypeError, KeyError):
        raise InputError("the file's record of constants is malformed") from None
    return {constant.name: constant for constant in found}
