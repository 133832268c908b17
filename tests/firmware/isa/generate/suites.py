#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one self-checking assembly program: suites.py NAME OUTPUT.S, or suites.py --list."""

import sys

import compressed_suite
import floating_suite
import integer as i
from assembly import MASK64, sext32, signed, suite


def integer_suite(name):
    def build():
        s = suite(name)
        for op, function in i.REGISTER.get(name, {}).items():
            s.group(op)
            for n in range(40):
                a, b = s.value(), s.value()
                ra, rb, rd = s.registers(3)
                if n % 8 == 5:
                    rd = ra
                elif n % 8 == 6:
                    rd = rb
                elif n % 8 == 7:
                    rb, b = ra, a
                s.case()
                s.load(ra, a)
                s.load(rb, b)
                s.emit(f"{op} x{rd}, x{ra}, x{rb}")
                s.expect(rd, function(a, b))
            ra, rb = s.registers(2)
            s.case()
            s.load(ra, MASK64)
            s.load(rb, 5)
            s.emit(f"{op} x0, x{ra}, x{rb}")
            s.expect(0, 0)
            a = s.value()
            s.case()
            s.load(ra, a)
            s.emit(f"{op} x{rb}, x{ra}, x0")
            s.expect(rb, function(a, 0))
            s.case()
            s.emit(f"{op} x{rb}, x0, x{ra}")
            s.expect(rb, function(0, a))
        for op, function in i.IMMEDIATE.get(name, {}).items():
            s.group(op)
            for n in range(40):
                a, constant = s.value(), s.random.choice([0, 1, -1, 2047, -2048, s.random.randrange(-2048, 2048)])
                ra, rd = s.registers(2)
                if n % 4 == 3:
                    rd = ra
                s.case()
                s.load(ra, a)
                s.emit(f"{op} x{rd}, x{ra}, {constant}")
                s.expect(rd, function(a, constant))
        for op, (bits, function) in i.SHIFT.get(name, {}).items():
            s.group(op)
            for amount in range(1 << bits):
                a = s.value()
                ra, rd = s.registers(2)
                s.case()
                s.load(ra, a)
                s.emit(f"{op} x{rd}, x{ra}, {amount}")
                s.expect(rd, function(a, amount))
        for op, function in i.UNARY.get(name, {}).items():
            s.group(op)
            for n in range(60):
                a = (0, MASK64, 1, 1 << 63, 0x80000000, 0x7F, 0x80, 0x7FFF, 0x8000)[n] if n < 9 else s.value()
                if op == "ctzw" and not a & 0xFFFFFFFF:
                    continue  # in strict.c, because QEMU before 8.0 counts on into the upper half
                ra, rd = s.registers(2)
                if n % 4 == 3:
                    rd = ra
                s.case()
                s.load(ra, a)
                s.emit(f"{op} x{rd}, x{ra}")
                s.expect(rd, function(a))
        return s

    return build


def control_suite():
    s = suite("rv64i_control")
    for op, taken in i.BRANCH.items():
        s.group(op)
        for n in range(40):
            a, b = s.value(), s.value()
            if n % 4 == 0:
                b = a
            ra, rb, rd = s.registers(3)
            forward, back, end = s.label(), s.label(), s.label()
            s.case()
            s.load(ra, a)
            s.load(rb, b)
            s.load(rd, 0)
            if n % 2:
                s.emit(f"{op} x{ra}, x{rb}, {forward}", f"ori x{rd}, x{rd}, 1", f"{forward}: ori x{rd}, x{rd}, 2")
                s.expect(rd, 2 if taken(a, b) else 3)
            else:  # backwards
                s.emit(
                    f"j {forward}",
                    f"{back}: ori x{rd}, x{rd}, 4",
                    f"j {end}",
                    f"{forward}: {op} x{ra}, x{rb}, {back}",
                    f"ori x{rd}, x{rd}, 1",
                    f"{end}:",
                )
                s.expect(rd, 4 if taken(a, b) else 1)
    s.group("lui")
    for n in range(30):
        (rd,) = s.registers(1)
        constant = (0, 1, 0xFFFFF, 0x80000, 0x7FFFF)[n] if n < 5 else s.random.getrandbits(20)
        s.case()
        s.emit(f"lui x{rd}, {constant:#x}")
        s.expect(rd, sext32(constant << 12))
    s.group("auipc")
    for n in range(30):
        rd, rb = s.registers(2)
        constant = (0, 1, 0xFFFFF, 0x80000, 0x7FFFF)[n] if n < 5 else s.random.getrandbits(20)
        s.case()
        s.emit(f"2: auipc x{rd}, {constant:#x}", f"la x{rb}, 2b", f"sub x{rd}, x{rd}, x{rb}")
        s.expect(rd, sext32(constant << 12))
    s.group("jal")
    for _ in range(10):
        rd, rb = s.registers(2)
        s.case()
        s.emit(f"2: jal x{rd}, 3f", "j fail", f"3: la x{rb}, 2b", f"sub x{rd}, x{rd}, x{rb}")
        s.expect(rd, 4)
    s.case()
    s.emit("jal x0, 2f", "j fail", "2:")
    s.expect(0, 0)
    s.group("jalr")
    for offset in (0, 4, -4, 2047, -2048, 1, 3):
        for same in (False, True):
            rd, rb = s.registers(2)
            ra = rd if same else s.registers(1, [r for r in range(1, 32) if r not in (rd, rb)])[0]
            s.case()  # bit 0 of the target is cleared
            s.emit(
                f"la x{ra}, 3f - ({offset & ~1 if offset >= 0 else offset})",
                f"2: jalr x{rd}, {offset}(x{ra})",
                "j fail",
                f"3: la x{rb}, 2b",
                f"sub x{rd}, x{rd}, x{rb}",
            )
            s.expect(rd, 4)
    s.group("fence")
    s.case()
    s.emit("fence", "fence rw, w", "fence.tso", "fence.i", ".insn 4, 0x0100000f  # pause", ".insn 4, 0xfff0000f")
    s.expect(0, 0)
    return s


def memory_suite():
    s = suite("rv64i_memory")
    window = bytes(s.random.getrandbits(8) for _ in range(128))
    table = [int.from_bytes(window[k : k + 8], "little") for k in range(0, 128, 8)]
    for op, (size, is_signed) in i.LOAD.items():
        s.group(op)
        s.table(*table)
        for n in range(32):
            at = s.random.randrange(0, 128 // size) * size
            ra, rd = s.registers(2)
            if n % 4 == 3:
                rd = ra
            offset = s.random.choice([0, 2047, -2048, s.random.randrange(-2048, 2048)])
            value = int.from_bytes(window[at : at + size], "little")
            s.case()
            s.emit(f"li x{ra}, {at - offset}", f"add x{ra}, x{ra}, s0", f"{op} x{rd}, {offset}(x{ra})")
            s.expect(rd, signed(value, size * 8) if is_signed else value)
        s.case()
        s.emit(f"{op} x0, 0(s0)")
        s.expect(0, 0)
    for op, size in i.STORE.items():
        s.group(op)
        for _ in range(32):
            at = s.random.randrange(0, 16 // size) * size
            ra, rb, rd = s.registers(3)
            offset = s.random.choice([0, 2047, -2048, s.random.randrange(-2048, 2048)])
            value = s.value()
            around = window[16:32]
            after = around[:at] + (value & MASK64).to_bytes(8, "little")[:size] + around[at + size :]
            s.case()
            s.table(*table[2:4])
            s.load(rb, value)
            s.emit(f"li x{ra}, {at - offset}", f"add x{ra}, x{ra}, s0", f"{op} x{rb}, {offset}(x{ra})")
            for k in (0, 8):
                s.emit(f"ld x{rd}, {k}(s0)")
                s.expect(rd, int.from_bytes(after[k : k + 8], "little"))
    return s


def atomic_suite():
    s = suite("rv64a")
    for width, size in (("w", 4), ("d", 8)):
        for op, function in i.ATOMIC.items():
            for order in ("", ".aq", ".rl", ".aqrl"):
                s.group(f"{op}.{width}{order}")
                for n in range(8):
                    before, value = s.value(), s.value()
                    rd, rb, ra = s.registers(3)
                    if n == 5:
                        rd = rb
                    if n == 6:
                        rd = ra
                    if n == 7:
                        rd = 0
                    at = s.random.choice([0, 4]) if size == 4 else 0
                    old = before >> at * 8 & (1 << size * 8) - 1
                    right = value & (1 << size * 8) - 1
                    if op.endswith("u") or op not in ("amomin", "amomax"):
                        new = function(old, right)
                    else:
                        new = function(signed(old, size * 8), signed(right, size * 8))
                    mask = (1 << size * 8) - 1 << at * 8
                    after = before & ~mask | new << at * 8 & mask
                    s.case()
                    s.table(before, 0x1234)
                    s.load(rb, value)
                    s.emit(f"addi x{ra}, s0, {at}", f"{op}.{width}{order} x{rd}, x{rb}, (x{ra})")
                    s.expect(rd, signed(old, size * 8) if rd else 0)
                    s.emit(f"ld x{rb}, 0(s0)")
                    s.expect(rb, after)
        s.group(f"lr.{width} sc.{width}")
        for n in range(8):
            before, value = s.value(), s.value()
            rd, rb, rc = s.registers(3)
            s.case()
            s.table(before, 0)
            s.load(rb, value)
            s.emit(
                f"lr.{width}{('', '.aq', '.aqrl')[n % 3]} x{rd}, (s0)",
                f"sc.{width}{('', '.rl', '.aqrl')[n % 3]} x{rc}, x{rb}, (s0)",
            )
            s.expect(rd, signed(before, size * 8))
            s.expect(rc, 0)
            s.emit(f"ld x{rd}, 0(s0)")
            mask = (1 << size * 8) - 1
            s.expect(rd, before & ~mask | value & mask)
        s.group(f"sc.{width} fails")
        rd, rb, rc = s.registers(3)
        s.case()  # the reservation was used up
        s.emit(f"sc.{width} x{rc}, x{rb}, (s0)", f"snez x{rc}, x{rc}")
        s.expect(rc, 1)
        s.case()  # another address, beyond any sensible reservation set
        s.emit(
            ".data",
            ".balign 4096",
            "2: .zero 8192",
            ".text",
            f"la x{rb}, 2b",
            f"lr.{width} x{rd}, (s0)",
            f"li x{rc}, 4096",
            f"add x{rb}, x{rb}, x{rc}",
            f"sc.{width} x{rc}, x{rd}, (x{rb})",
            f"snez x{rc}, x{rc}",
        )
        s.expect(rc, 1)
        s.case()  # a failed SC ends the reservation, too
        s.emit(
            f"lr.{width} x{rd}, (s0)",
            f"sc.{width} x{rc}, x{rd}, (x{rb})",
            f"sc.{width} x{rc}, x{rd}, (s0)",
            f"snez x{rc}, x{rc}",
        )
        s.expect(rc, 1)
    return s


SUITES = {name: integer_suite(name) for name in ("rv64i", "rv64m", "rv64zb")}
SUITES |= {
    "rv64i_control": control_suite,
    "rv64i_memory": memory_suite,
    "rv64a": atomic_suite,
    "rv64c": compressed_suite.build,
    "rv64f": lambda: floating_suite.build("rv64f"),
    "rv64d": lambda: floating_suite.build("rv64d"),
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(SUITES))
        return
    name, output = sys.argv[1:]
    with open(output, "w", encoding="ascii") as file:
        file.write(SUITES[name]().text())


main()
