# SPDX-License-Identifier: Apache-2.0
"""Emits self-checking assembly: numbered cases in named groups, a data table beside the code."""

import random

MASK64 = (1 << 64) - 1
MASK32 = (1 << 32) - 1


def signed(value, bits=64):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def sext32(value):
    return signed(value, 32) & MASK64


CORNERS = [
    0,
    1,
    2,
    MASK64,
    MASK64 - 1,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    0xFFFFFFFF80000000,
    0xFFFFFFFF7FFFFFFF,
    0x7FFFFFFFFFFFFFFF,
    0x8000000000000000,
    0x5555555555555555,
    0xAAAAAAAAAAAAAAAA,
    0x00FF00FF00FF00FF,
    63,
    64,
    31,
    32,
]


class suite:
    """One test program. gp holds the number of the case, tp the name of its group; s0 and s1 belong to the emitter."""

    RESERVED = {0, 3, 4, 8, 9}

    def __init__(self, name):
        self.name = name
        self.random = random.Random(name)
        self.number = 0
        self.code = []
        self.data = []
        self.labels = 0

    def value(self):
        """A 64-bit operand: a corner, or random bits of random length."""
        if self.random.random() < 0.5:
            return self.random.choice(CORNERS)
        v = self.random.getrandbits(64) >> self.random.randrange(64)
        return v if self.random.random() < 0.5 else v ^ MASK64

    def registers(self, count, pool=range(1, 32)):
        return self.random.sample([r for r in pool if r not in self.RESERVED], count)

    def label(self):
        self.labels += 1
        return f"l{self.labels}"

    def emit(self, *lines):
        self.code += [f"    {line}" for line in lines]

    def group(self, name):
        label = self.label()
        self.data += [f'{label}: .string "{name}"']
        self.emit(f"la tp, {label}")

    def case(self):
        self.number += 1
        self.emit(f"li gp, {self.number}")

    def table(self, *doublewords):
        """Adds constants and points s0 to them; s0 walks so that few instructions are needed."""
        label = self.label()
        self.data += [".balign 8", f"{label}: .dword " + ", ".join(f"{d & MASK64:#x}" for d in doublewords)]
        self.emit(f"la s0, {label}")

    def load(self, register, value):
        self.emit(f"li x{register}, {value & MASK64:#x}")

    def expect(self, register, value):
        """Compares a register with a constant; clobbers s1 only."""
        self.emit(f"li s1, {value & MASK64:#x}", f"beq x{register}, s1, 1f", "j fail", "1:")

    def text(self):
        # Chunks of code reach `fail` by jump (1 MiB); expect() branches over it.
        return "\n".join(
            [f"# generated: {self.name}", '#include "harness.h"', ".option norvc", "TEST_BEGIN"]
            + self.code
            + ["TEST_END", ".section .rodata", f'suite_name: .string "{self.name}"', ".data", ".balign 16"]
            + self.data
            + [""]
        )
