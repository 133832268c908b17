# SPDX-License-Identifier: Apache-2.0
"""Bytes of stack that a kernel needs: the deepest path through the calls of the linked code."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from pathlib import Path

from ..errors import InputError
from .elf import Elf

_SP = 2
_LOAD_IMMEDIATE, _ADD_IMMEDIATE, _ADD_WORD, _AUIPC, _JAL, _JALR, _BRANCH, _REGISTER = (
    0x37, 0x13, 0x1B, 0x17, 0x6F, 0x67, 0x63, 0x33,
)  # fmt: skip


_TRAP = 0xC0001073  # what compilers make of __builtin_trap()
_STORE, _STORE_FLOAT = 0x23, 0x27
_TO_FLOAT = (0x07, 0x43, 0x47, 0x4B, 0x4F, 0x53)  # loads, sums of products, others
_TO_INTEGER = (0x14, 0x18, 0x1C)  # of the others: comparisons, conversions, moves
_KEPT = {1, 8, 9, *range(18, 28)}  # ra, s0 to s11; the same numbers of registers of floating point but ra's


def spills(record: Path) -> dict[str, tuple[int, int]]:
    """Stores and loads of values that found no register, by function, from the compiler's record."""
    found: dict[str, tuple[int, int]] = {}
    text = record.read_text(errors="replace") if record.exists() else ""
    for part in text.split("--- ")[1:]:
        name = re.search(r"^Function: +'?(.*?)'?$", part, re.MULTILINE)
        if name and re.search(r"^Name: +SpillReloadCopies$", part, re.MULTILINE):  # of loops are parts of it
            counts = [re.search(rf"Num{kind}: +'(\d+)'", part) for kind in ("Spills", "Reloads")]
            stores, loads = (int(count[1]) if count else 0 for count in counts)
            found[name[1]] = stores, loads
    return found


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _jump_offset(word: int) -> int:
    return _signed(
        (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1, 21
    )


def _branch_offset(word: int) -> int:
    return _signed((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1, 13)


class StackDepths:
    """Depths of functions of an image; ``own`` ones have been compiled here, and are not a library's. Functions that
    call themselves, directly or not, are active ``recursion`` times at most."""

    def __init__(self, elf: Elf, own: Collection[str] = (), recursion: int = 0) -> None:
        text = elf.section(".text")
        self._base, code = (text.address, elf.contents(text)) if text else (0, b"")
        self._words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
        self._names = elf.functions()
        self._own, self._recursion = own, recursion
        self._depths: dict[int, int] = {}
        self._reached: dict[int, frozenset[int]] = {}

    def of(self, name: str) -> int:
        """Bytes, a multiple of 16. Raises `InputError` for recursion without a depth, for calls through pointers, and
        for functions without code."""
        return -(-self._depth(self._address(name)) // 16) * 16

    def _address(self, name: str) -> int:
        address = next((address for address, other in self._names.items() if other == name), None)
        if address is None or not self._base <= address < self._base + 4 * len(self._words):
            kernel = name.removesuffix(".kernel")
            raise InputError(f"kernel '{kernel}' has no code: all that it does is undefined, so clang leaves it out")
        return address

    def reach(self, name: str) -> set[str]:
        """The names of a function and of all that it calls."""
        waiting, seen = [self._address(name)], set[int]()
        while waiting:
            start = waiting.pop()
            if start not in seen:
                seen.add(start)
                waiting += [target for _, target in self._walk(start) if target is not None]
        return {self._names.get(address, hex(address)) for address in seen}

    def saves(self, name: str) -> int:
        """Instructions that save registers at the beginning of a function, before they get values of its own."""
        at = next((address for address, other in self._names.items() if other == name), None)
        count, framed = 0, False
        changed: set[tuple[bool, int]] = set()  # registers, True: of floating point
        while at is not None and at < self._base + 4 * len(self._words):
            word = self._words[(at - self._base) // 4]
            opcode, rd, rs1, rs2 = word & 0x7F, word >> 7 & 31, word >> 15 & 31, word >> 20 & 31
            if opcode in (_BRANCH, _JAL, _JALR):
                break
            framed |= opcode == _ADD_IMMEDIATE and rd == rs1 == _SP
            if opcode in (_STORE, _STORE_FLOAT):
                kept = rs2 in (_KEPT if opcode == _STORE else _KEPT - {1})
                count += framed and rs1 == _SP and kept and (opcode == _STORE_FLOAT, rs2) not in changed
            else:
                changed.add((opcode in _TO_FLOAT and not (opcode == 0x53 and word >> 27 in _TO_INTEGER), rd))
            at += 4
        return count

    def _depth(self, start: int) -> int:
        if start in self._depths:
            return self._depths[start]
        cycle = {other for other in self._reach(start) if start in self._reach(other)}
        if cycle and not self._recursion:
            raise InputError(f"{self._described(start, cycle)}, which kernels can with a depth alone (--recursion)")
        frames, beyond = 0, 0
        for member in cycle or {start}:
            frame = 0
            for depth, target in self._walk(member):
                frame = max(frame, depth)
                if target is not None and target not in cycle:
                    beyond = max(beyond, self._depth(target) + (0 if cycle else depth))
            frames += frame
        depth = self._recursion * frames + beyond if cycle else max(frames, beyond)
        self._depths.update(dict.fromkeys(cycle or {start}, depth))
        return depth

    def _reach(self, start: int) -> frozenset[int]:
        """Functions that one calls, directly or not."""
        if start not in self._reached:
            waiting, seen = [start], set[int]()
            while waiting:
                called = {target for _, target in self._walk(waiting.pop()) if target is not None} - seen
                seen |= called
                waiting += called
            self._reached[start] = frozenset(seen)
        return self._reached[start]

    def _described(self, start: int, cycle: Collection[int]) -> str:
        names = [f"'{self._names.get(member, hex(member))}'" for member in (start, *sorted({*cycle} - {start}))]
        if len(names) == 1:
            return f"function {names[0]} calls itself"
        return f"functions {', '.join(names[:-1])} and {names[-1]} call each other"

    def _walk(self, start: int) -> list[tuple[int, int | None]]:
        """Depths of the stack in a function, and the functions that are called there."""
        found: list[tuple[int, int | None]] = []
        seen: set[int] = set()
        waiting = [(start, 0)]
        while waiting:
            pc, depth = waiting.pop()
            constants: dict[int, int] = {}
            while pc not in seen and self._base <= pc < self._base + 4 * len(self._words):
                seen.add(pc)
                word = self._words[(pc - self._base) // 4]
                opcode, rd, rs1, funct3 = word & 0x7F, word >> 7 & 31, word >> 15 & 31, word >> 12 & 7
                immediate = _signed(word >> 20, 12)
                if opcode == _ADD_IMMEDIATE and funct3 == 0 and rd == rs1 == _SP:
                    depth -= immediate
                    found.append((depth, None))
                elif opcode == _REGISTER and rd == rs1 == _SP and funct3 == 0:
                    amount = constants.get(word >> 20 & 31)
                    if amount is None:
                        raise InputError(f"the stack of '{self._names[start]}' has no fixed size")
                    depth += amount if word >> 30 & 1 else -amount
                    found.append((depth, None))
                elif opcode in (_LOAD_IMMEDIATE, _AUIPC):
                    constants[rd] = _signed(word & 0xFFFFF000, 32) + (pc if opcode == _AUIPC else 0)
                elif opcode in (_ADD_IMMEDIATE, _ADD_WORD) and funct3 == 0 and (rs1 == 0 or rs1 in constants):
                    constants[rd] = (constants[rs1] if rs1 else 0) + immediate
                elif opcode == _BRANCH:
                    waiting.append((pc + _branch_offset(word), depth))
                elif opcode == _JAL:
                    target = pc + _jump_offset(word)
                    if rd == 0:
                        pc = target
                        continue
                    found.append((depth, target))
                elif opcode == _JALR:
                    target = constants.get(rs1, -immediate) + immediate
                    if rd == 0 and not target:
                        break  # a return: kernels have no tables of jumps
                    if rd == 0:
                        pc = target
                        continue
                    if target:
                        found.append((depth, target))
                    elif self._names.get(start, "") in self._own:
                        raise InputError(
                            f"function '{self._names[start]}' calls through a pointer, which kernels cannot"
                        )
                elif (opcode == 0x0B and funct3 == 0) or word == _TRAP:
                    break  # the lane ends
                elif opcode not in (_BRANCH, _STORE, _STORE_FLOAT):
                    constants.pop(rd, None)
                pc += 4
        return found
