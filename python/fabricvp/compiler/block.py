# SPDX-License-Identifier: Apache-2.0
"""The block of a program: what its kernels keep between launches. It has the variables of program scope, the buffer of
printf(), and the heap. Kernels get its address behind their arguments, and reach it through the thread pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import InputError
from .elf import Elf
from .toolchain import pointer_to

if TYPE_CHECKING:
    from .debug import DebugInformation
    from .module import Module

#: Symbols of what the package adds. `firmware/gpu/hip/memory.h` declares the heap.
USED, LOST, OUTPUT, HEAP = "fabricvp.output.used", "fabricvp.output.lost", "fabricvp.output", "fabricvp_heap"
GRID = "fabricvp_grid_state"  # where work-groups of a cooperative launch wait for each other
OUTPUT_BYTES = 1 << 20  # of the buffer of printf()
MAX_RECORD = 4096  # bytes of a call of printf()
_HEAP_ALIGNMENT = 64
_LAST = ".tbss.~output"  # gpu.ld places it behind other variables, and it takes no space in the file


@dataclass(frozen=True)
class Variable:
    """A variable of program scope: its place in the block; ``dtype`` as numpy names it, "V" for structures."""

    name: str
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]


@dataclass
class Block:
    """``size`` bytes without the heap, of which the first ``filled`` have contents; places of counters, of the buffer
    of printf() and of the heap's state, -1: there is none."""

    size: int
    filled: int
    variables: dict[str, Variable] = field(default_factory=dict)
    used: int = -1
    lost: int = -1
    output: int = -1
    heap: int = -1

    def contents(self, elf: Elf, heap_bytes: int) -> tuple[int, bytes]:
        """Bytes of the block with its heap, and what it begins with."""
        section = elf.section(".tdata")
        data = bytearray((elf.contents(section) if section else b"").ljust(self.filled, b"\0"))
        if self.heap < 0:
            return self.size, bytes(data)
        begin = -(-self.size // _HEAP_ALIGNMENT) * _HEAP_ALIGNMENT
        data[self.heap : self.heap + 16] = (begin - self.heap).to_bytes(8, "little") + heap_bytes.to_bytes(8, "little")
        return begin + heap_bytes, bytes(data)


def needs_block(module: Module) -> bool:
    """Whether kernels of a module get one."""
    return bool(module.variables) or module.prints or module.heap or module.grid


def definitions(module: Module) -> list[str]:
    """IR of what the package adds."""
    out = []
    if module.prints:
        tls = "hidden thread_local(localexec) global"
        bytes_, counter = pointer_to("i8"), pointer_to("i64")
        out += [
            f'@"{USED}" = {tls} i64 0, align 8',
            f'@"{LOST}" = {tls} i64 0, align 8',
            # Where records go that do not fit lies behind the others.
            f'@"{OUTPUT}" = {tls} [{OUTPUT_BYTES + MAX_RECORD} x i8] zeroinitializer, section "{_LAST}", align 64',
            f"define internal {bytes_} @fabricvp.reserve(i64 %size) alwaysinline nounwind {{",
            f'  %old = atomicrmw add {counter} @"{USED}", i64 %size monotonic',
            "  %end = add i64 %old, %size",
            f"  %fits = icmp ule i64 %end, {OUTPUT_BYTES}",
            f"  %at = select i1 %fits, i64 %old, i64 {OUTPUT_BYTES}",
            "  %more = select i1 %fits, i64 0, i64 1",
            f'  %ignored = atomicrmw add {counter} @"{LOST}", i64 %more monotonic',
            f'  %first = bitcast {pointer_to(f"[{OUTPUT_BYTES + MAX_RECORD} x i8]")} @"{OUTPUT}" to {bytes_}',
            f"  %p = getelementptr i8, {bytes_} %first, i64 %at",
            f"  ret {bytes_} %p",
            "}",
        ]
    return out


def block_of(module: Module, debug: DebugInformation, elf: Elf) -> Block | None:
    """Where the linker has put things. None if the program has nothing."""
    places = elf.thread_variables()
    if not places:
        return None
    sections = [s for name in (".tdata", ".tbss") if (s := elf.section(name)) and s.size]
    start = min(s.address for s in sections)
    size = max(s.address + s.size for s in sections) - start
    own = {name: offset for name, (offset, _) in places.items()}
    block = Block(size, own.get(OUTPUT, size))
    block.used, block.lost = own.get(USED, -1), own.get(LOST, -1)
    block.output, block.heap = own.get(OUTPUT, -1), own.get(HEAP, -1)
    described = {name: debug.variable(reference) for name, reference in module.variables.items() if name in places}
    names = [row[0] for row in described.values()]
    for symbol, (name, type_) in described.items():
        offset, bytes_ = places[symbol]
        unique = name if name and names.count(name) == 1 else symbol
        block.variables[unique] = Variable(unique, offset, bytes_, *array_of(debug, type_, bytes_))
    return block


def array_of(debug: DebugInformation, type_: str, size: int) -> tuple[str, tuple[int, ...]]:
    """A type as numpy has it."""
    from .values import SCALARS

    base, shape = debug.array(type_)
    scalar = SCALARS.get(base)
    if scalar is None:
        return f"V{size}", ()
    width, count = int(re.sub(r"\D", "", scalar)), 1
    for length in shape:
        count *= length
    if count * width != size:  # vectors of three have room for four
        return (scalar, (size // width,)) if size % width == 0 else (f"V{size}", ())
    return scalar, shape


def check_initial(name: str, text: str, variables: dict[str, str]) -> None:
    """Raises `InputError` for a variable that begins with another's address, which is known when it is loaded only."""
    for other in re.findall(r'@("[^"]+"|[\w$.\-]+)', text):
        if other.strip('"') in variables:
            raise InputError(f"variable '{name}' begins with the address of '{other}', which is not known yet")
