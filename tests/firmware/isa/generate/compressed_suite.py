# SPDX-License-Identifier: Apache-2.0
"""Every instruction of the C extension, by its expansion in the unprivileged specification."""

from assembly import MASK64, sext32, signed, suite

# x8 and x9 serve the emitter, gp and tp name the test.
SHORT = range(10, 16)


def short(s, count):
    return s.random.sample(list(SHORT), count)


def build():
    s = suite("rv64c")
    arithmetic(s)
    memory(s)
    control(s)
    return s


def compressed(s, *lines):
    s.emit(".option push", ".option rvc", *lines, ".option pop")


def arithmetic(s):
    def immediate(op, values, function, sp=False):
        s.group(op)
        for constant in values:
            a = s.value()
            (rd,) = s.registers(1)
            s.case()
            s.load(rd, a)
            compressed(s, f"{op} x{rd}, {constant}")
            s.expect(rd, function(a, constant))

    six = [c for c in range(-32, 32) if c]
    immediate("c.li", range(-32, 32), lambda a, c: c)
    immediate("c.addi", six, lambda a, c: a + c)
    immediate("c.addiw", range(-32, 32), lambda a, c: sext32(a + c))
    immediate("c.slli", range(1, 64), lambda a, c: a << c)
    s.group("c.lui")
    for constant in [*range(1, 32), *range(0xFFFE0, 0x100000)]:
        (rd,) = s.registers(1, [r for r in range(1, 32) if r != 2])
        s.case()
        compressed(s, f"c.lui x{rd}, {constant:#x}")
        s.expect(rd, sext32(constant << 12))
    for op, values, function in (
        ("c.srli", range(1, 64), lambda a, c: a >> c),
        ("c.srai", range(1, 64), lambda a, c: signed(a) >> c),
        ("c.andi", range(-32, 32), lambda a, c: a & c & MASK64),
    ):
        s.group(op)
        for constant in values:
            a = s.value()
            (rd,) = short(s, 1)
            s.case()
            s.load(rd, a)
            compressed(s, f"{op} x{rd}, {constant}")
            s.expect(rd, function(a, constant))
    for op, function in (
        ("c.sub", lambda a, b: a - b),
        ("c.xor", lambda a, b: a ^ b),
        ("c.or", lambda a, b: a | b),
        ("c.and", lambda a, b: a & b),
        ("c.subw", lambda a, b: sext32(a - b)),
        ("c.addw", lambda a, b: sext32(a + b)),
        ("c.mv", lambda a, b: b),
        ("c.add", lambda a, b: a + b),
    ):
        s.group(op)
        for _n in range(30):
            a, b = s.value(), s.value()
            rd, rb = s.registers(2) if op in ("c.mv", "c.add") else short(s, 2)
            s.case()
            s.load(rd, a)
            s.load(rb, b)
            compressed(s, f"{op} x{rd}, x{rb}")
            s.expect(rd, function(a, b))
    s.group("c.addi4spn")
    for constant in [4, 8, 16, 64, 128, 256, 512, 1020, *(4 * s.random.randrange(1, 256) for _ in range(20))]:
        a = s.value()
        (rd,) = short(s, 1)
        s.case()
        s.load(2, a)
        compressed(s, f"c.addi4spn x{rd}, sp, {constant}")
        s.expect(rd, a + constant)
    s.group("c.addi16sp")
    for constant in [16, -16, 32, 64, 128, 256, -512, 496, *(16 * c for c in range(-31, 0, 5))]:
        a = s.value()
        s.case()
        s.load(2, a)
        compressed(s, f"c.addi16sp sp, {constant}")
        s.expect(2, a + constant)
    s.group("c.nop and hints")
    s.case()
    compressed(
        s,
        "c.nop",
        ".insn 2, 0x0005  # c.nop 1",
        ".insn 2, 0x4005  # c.li x0, 1",
        ".insn 2, 0x6009  # c.lui x0, 2",
        ".insn 2, 0x8016  # c.mv x0, x5",
        ".insn 2, 0x9016  # c.add x0, x5",
        ".insn 2, 0x0006  # c.slli x0, 1",
    )
    s.expect(0, 0)


def memory(s):
    table = [s.random.getrandbits(64) for _ in range(72)]
    s.group("compressed loads")
    s.table(*table)

    def word(offset):
        return signed(table[offset // 8] >> offset % 8 * 8, 32)

    for offset in range(0, 128, 4):
        ra, rd = short(s, 2)
        s.case()
        s.emit(f"mv x{ra}, s0")
        compressed(s, f"c.lw x{rd}, {offset}(x{ra})")
        s.expect(rd, word(offset))
    for offset in range(0, 256, 8):
        ra, rd = short(s, 2)
        s.case()
        s.emit(f"mv x{ra}, s0")
        compressed(s, f"c.ld x{rd}, {offset}(x{ra})", f"c.fld f{rd}, {offset}(x{ra})")
        s.expect(rd, table[offset // 8])
        s.emit(f"fmv.x.d x{ra}, f{rd}")
        s.expect(ra, table[offset // 8])
    for offset in range(0, 256, 4):
        (rd,) = s.registers(1, [r for r in range(1, 32) if r != 2])
        s.case()
        s.emit("mv sp, s0")
        compressed(s, f"c.lwsp x{rd}, {offset}(sp)")
        s.expect(rd, word(offset))
    for offset in range(0, 512, 8):
        (rd,) = s.registers(1, [r for r in range(1, 32) if r != 2])
        fd = s.random.randrange(32)
        s.case()
        s.emit("mv sp, s0")
        compressed(s, f"c.ldsp x{rd}, {offset}(sp)", f"c.fldsp f{fd}, {offset}(sp)")
        s.expect(rd, table[offset // 8])
        s.emit(f"fmv.x.d x{rd}, f{fd}")
        s.expect(rd, table[offset // 8])
    s.group("compressed stores")
    for op, size, most in (
        ("c.sw", 4, 128),
        ("c.sd", 8, 256),
        ("c.fsd", 8, 256),
        ("c.swsp", 4, 256),
        ("c.sdsp", 8, 512),
        ("c.fsdsp", 8, 512),
    ):
        s.table(*([0] * 64))
        for offset in range(0, most, size):
            value = s.random.getrandbits(64)
            by_stack = op.endswith("sp")
            rb, ra = s.registers(2, [r for r in range(1, 32) if r != 2]) if by_stack else short(s, 2)
            base = 2 if by_stack else ra
            s.case()
            s.emit(f"mv x{base}, s0")
            s.load(rb, value)
            kind = "x"
            if op.startswith("c.f"):
                kind = "f"
                s.emit(f"fmv.d.x f{rb}, x{rb}")
            compressed(s, f"{op} {kind}{rb}, {offset}(x{base})")
            s.emit(f"{'lw' if size == 4 else 'ld'} x{rb}, {offset}(s0)")
            s.expect(rb, signed(value, size * 8))


def control(s):
    for op, taken in (("c.beqz", lambda a: a == 0), ("c.bnez", lambda a: a != 0)):
        s.group(op)
        for n in range(16):
            a = 0 if n % 2 else s.value()
            ra, rd = short(s, 2)
            forward, back, end = s.label(), s.label(), s.label()
            s.case()
            s.load(ra, a)
            s.load(rd, 0)
            if n % 4 < 2:
                compressed(s, f"{op} x{ra}, {forward}", f"ori x{rd}, x{rd}, 1", f"{forward}: ori x{rd}, x{rd}, 2")
                s.expect(rd, 2 if taken(a) else 3)
            else:
                compressed(
                    s,
                    f"c.j {forward}",
                    f"{back}: ori x{rd}, x{rd}, 4",
                    f"c.j {end}",
                    f"{forward}: {op} x{ra}, {back}",
                    f"ori x{rd}, x{rd}, 1",
                    f"{end}:",
                )
                s.expect(rd, 4 if taken(a) else 1)
    s.group("c.jr and c.jalr")
    for n in range(8):
        ra, rb = s.registers(2, [r for r in range(5, 32)])
        s.case()
        s.emit(f"la x{ra}, 3f + {n % 2}")  # bit 0 of the target is cleared
        compressed(s, f"c.jr x{ra}", "j fail", "3:")
        s.emit(f"la x{ra}, 3f")
        compressed(s, f"2: c.jalr x{ra}", "j fail", f"3: la x{rb}, 2b")
        s.emit(f"sub x1, x1, x{rb}")
        s.expect(1, 2)
    s.group("instructions at odd halfwords")
    for n in range(6):
        ra, rd = s.registers(2)
        a, b = s.value(), s.value()
        s.case()
        s.load(ra, a)
        s.load(rd, b)
        compressed(s, "c.nop", *[f"add x{rd}, x{rd}, x{ra}"] * (n + 1), "c.nop")
        s.expect(rd, b + a * (n + 1))
    s.group("32-bit instructions across pages")
    for n in range(4):
        ra, rd = s.registers(2)
        a = s.value()
        s.case()
        s.load(ra, a)
        s.emit("j 2f", ".balign 4096", ".zero 4092" if n % 2 else ".zero 4094", "2:")
        if n % 2:
            compressed(s, "c.nop")
        compressed(s, f"xori x{rd}, x{ra}, -1", "c.nop")
        s.expect(rd, ~a)
