# SPDX-License-Identifier: Apache-2.0
"""F or D: every instruction, static and dynamic rounding modes, results and flags."""

from assembly import MASK32, MASK64, sext32, signed, suite
from floating import DOUBLE, ROUNDING, SINGLE

INTEGERS = {"w": (-(1 << 31), (1 << 31) - 1), "wu": (0, MASK32), "l": (-(1 << 63), (1 << 63) - 1), "lu": (0, MASK64)}


class floating_suite(suite):
    def __init__(self, name):
        super().__init__(name)
        self.is_single = name == "rv64f"
        self.form = SINGLE if self.is_single else DOUBLE
        self.letter = "s" if self.is_single else "d"
        self.source = self.form.operands(self.random)

    def boxed(self, bits):
        return 0xFFFFFFFF << 32 | bits if self.is_single else bits

    def operand(self):
        """(register contents, operand): now and then a single is not boxed and counts as NaN."""
        bits = next(self.source)
        if self.is_single and self.random.random() < 0.04:
            return self.random.getrandbits(31) << 32 | bits, self.form.nan
        return self.boxed(bits), bits

    def rounding(self):
        """(mode, operand of the instruction); sets frm to something else if the mode is static."""
        rm = self.random.randrange(5)
        dynamic = self.random.random() < 0.3
        self.emit(f"fsrmi {rm if dynamic else self.random.randrange(5)}")
        return rm, "" if dynamic else f", {ROUNDING[rm]}"

    def fregisters(self, count):
        return self.random.sample(range(32), count)

    def flags_before(self):
        flags = self.random.choice([0, 0, 1, self.random.randrange(32)])
        self.emit(f"fsflagsi {flags}")
        return flags

    def expect_flags(self, flags):
        self.emit("frflags t2")
        self.expect(7, flags)

    def expect_float(self, register, bits):
        self.emit(f"fmv.x.d t2, f{register}")
        self.expect(7, self.boxed(bits))


def build(name):
    s = floating_suite(name)
    arithmetic(s)
    comparisons(s)
    conversions(s)
    moves(s)
    return s


def arithmetic(s):
    f = s.form
    operations = {
        "fadd": (2, f.add),
        "fsub": (2, f.sub),
        "fmul": (2, f.mul),
        "fdiv": (2, f.div),
        "fsqrt": (1, f.sqrt),
        "fmadd": (3, f.fma),
        "fmsub": (3, lambda a, b, c, rm: f.fma(a, b, c ^ f.sign, rm)),
        "fnmsub": (3, lambda a, b, c, rm: f.fma(a ^ f.sign, b, c, rm)),
        "fnmadd": (3, lambda a, b, c, rm: f.fma(a ^ f.sign, b, c ^ f.sign, rm)),
    }
    for op, (count, function) in operations.items():
        s.group(f"{op}.{s.letter}")
        for _n in range(120):
            operands = [s.operand() for _ in range(count)]
            registers = s.fregisters(count)
            rd = s.random.randrange(32)
            s.case()
            s.table(*[contents for contents, _ in operands])
            for k, r in enumerate(registers):
                s.emit(f"fld f{r}, {8 * k}(s0)")
            rm, mode = s.rounding()
            before = s.flags_before()
            s.emit(f"{op}.{s.letter} f{rd}, " + ", ".join(f"f{r}" for r in registers) + mode)
            bits, flags = function(*[bits for _, bits in operands], rm)
            s.expect_flags(flags | before)
            s.expect_float(rd, bits)


def comparisons(s):
    f = s.form
    for op, function in {
        "fmin": f.fmin,
        "fmax": f.fmax,
        "fsgnj": f.fsgnj,
        "fsgnjn": f.fsgnjn,
        "fsgnjx": f.fsgnjx,
        "feq": f.feq,
        "flt": f.flt,
        "fle": f.fle,
    }.items():
        s.group(f"{op}.{s.letter}")
        for n in range(80):
            (ca, a), (cb, b) = s.operand(), s.operand()
            if n % 8 == 7:
                cb, b = ca, a
            elif n % 8 == 6 and ca == s.boxed(a):
                b = a ^ f.sign
                cb = s.boxed(b)
            ra, rb, rd = s.fregisters(3)
            s.case()
            s.table(ca, cb)
            s.emit(f"fld f{ra}, 0(s0)", f"fld f{rb}, 8(s0)")
            before = s.flags_before()
            value, flags = function(a, b)
            if op in ("feq", "flt", "fle"):
                s.emit(f"{op}.{s.letter} t1, f{ra}, f{rb}")
                s.expect(6, value)
            else:
                s.emit(f"{op}.{s.letter} f{rd}, f{ra}, f{rb}")
                s.expect_float(rd, value)
            s.expect_flags(flags | before)
    s.group(f"fclass.{s.letter}")
    for sign in (0, f.sign):
        for bits in (
            0,
            1,
            f.sign >> 5 >> f.width - f.precision,
            (1 << f.fraction) - 1,
            1 << f.fraction,
            f.infinity - 1,
            f.infinity,
            f.infinity | 1,
            f.nan - 1,
            f.nan,
            f.nan | 1,
        ):
            s.case()
            s.table(s.boxed(sign | bits))
            s.emit("fld f3, 0(s0)", "fsflagsi 0", f"fclass.{s.letter} t1, f3")
            s.expect(6, f.classify(sign | bits))
            s.expect_flags(0)


def conversions(s):
    f = s.form
    near = [
        0.5,
        1.5,
        2.5,
        2147483647.5,
        2147483648.0,
        4294967295.5,
        9223372036854775808.0,
        18446744073709551616.0,
        0.75,
    ]
    for kind, (low, high) in INTEGERS.items():
        s.group(f"fcvt.{kind}.{s.letter}")
        for n in range(120):
            contents, a = s.operand()
            if n < 4 * len(near):
                a = f.round(__import__("fractions").Fraction(near[n // 4]), 1)[0] | (f.sign if n % 2 else 0)
                a -= n // 2 % 2
                contents = s.boxed(a)
            (ra,) = s.fregisters(1)
            s.case()
            s.table(contents)
            s.emit(f"fld f{ra}, 0(s0)")
            rm, mode = s.rounding()
            before = s.flags_before()
            s.emit(f"fcvt.{kind}.{s.letter} t1, f{ra}{mode}")
            value, flags = f.to_integer(a, low, high, rm)
            s.expect(6, sext32(value) if kind in ("w", "wu") else value)
            s.expect_flags(flags | before)
        s.group(f"fcvt.{s.letter}.{kind}")
        for _ in range(80):
            value = s.value()
            (rd,) = s.fregisters(1)
            s.case()
            s.load(6, value)
            rm, mode = s.rounding() if s.is_single or "l" in kind else (0, "")
            before = s.flags_before()
            s.emit(f"fcvt.{s.letter}.{kind} f{rd}, t1{mode}")
            number = {"w": signed(value, 32), "wu": value & MASK32, "l": signed(value), "lu": value}[kind]
            bits, flags = f.from_integer(number, rm)
            s.expect_flags(flags | before)
            s.expect_float(rd, bits)
    if s.is_single:
        return
    single = SINGLE.operands(s.random)
    s.group("fcvt.s.d")
    for n in range(200):
        a = (
            next(s.source)
            if n % 2
            else SINGLE.convert(next(single), DOUBLE, 0)[0] + s.random.choice([-1, 0, 1, 1 << 28])
        )
        s.case()
        s.table(a)
        s.emit("fld f4, 0(s0)")
        rm, mode = s.rounding()
        before = s.flags_before()
        s.emit(f"fcvt.s.d f5, f4{mode}")
        bits, flags = DOUBLE.convert(a & MASK64, SINGLE, rm)
        s.expect_flags(flags | before)
        s.emit("fmv.x.d t2, f5")
        s.expect(7, 0xFFFFFFFF << 32 | bits)
    s.group("fcvt.d.s")
    for n in range(80):
        a = next(single)
        boxed = n % 16 != 0
        s.case()
        s.table((0xFFFFFFFF if boxed else n) << 32 | a)
        s.emit("fld f4, 0(s0)")
        before = s.flags_before()
        s.emit("fcvt.d.s f5, f4")
        bits, flags = SINGLE.convert(a if boxed else SINGLE.nan, DOUBLE, 0)
        s.expect_flags(flags | before)
        s.expect_float(5, bits)


def moves(s):
    load, store, size = ("flw", "fsw", 4) if s.is_single else ("fld", "fsd", 8)
    s.group(f"{load} and {store}")
    for _n in range(32):
        values = [s.random.getrandbits(64) for _ in range(3)]
        at = s.random.randrange(0, 24 // size) * size
        bits = values[at // 8] >> at % 8 * 8 & (1 << size * 8) - 1
        (rd,) = s.fregisters(1)
        offset = s.random.choice([0, 2047, -2048, s.random.randrange(-2048, 2048)])
        s.case()
        s.table(*values)
        s.emit(f"li t1, {at - offset}", "add t1, t1, s0", f"{load} f{rd}, {offset}(t1)")
        s.expect_float(rd, bits)
        s.case()  # stores write the low bits, boxed or not
        s.emit(f"fld f{rd}, 0(s0)", f"{store} f{rd}, 16(s0)", "ld t1, 16(s0)")
        mask = (1 << size * 8) - 1
        # only the bytes of the operand changed
        s.expect(6, values[2] & ~mask | values[0] & mask)
    s.group("fmv")
    for _n in range(32):
        value = s.value()
        s.case()
        s.load(6, value)
        if s.is_single:
            s.emit("fmv.w.x f9, t1")
            s.expect_float(9, value & MASK32)
            s.emit("fmv.d.x f9, t1", "fmv.x.w t1, f9")
            s.expect(6, sext32(value))
        else:
            s.emit("fmv.d.x f9, t1", "fmv.x.d t1, f9")
            s.expect(6, value)
    s.group("fcsr, frm and fflags")
    for _n in range(20):
        value, other = s.random.getrandbits(8), s.random.getrandbits(8)
        s.case()
        s.emit(f"li t1, {value | 0x5500}", "fscsr t1", "frcsr t1")
        s.expect(6, value)
        s.emit("frrm t1")
        s.expect(6, value >> 5)
        s.emit("frflags t1")
        s.expect(6, value & 31)
        s.emit(f"li t1, {other}", "fsrm t2, t1")
        s.expect(7, value >> 5)
        s.emit("fsflags t2, t1")
        s.expect(7, value & 31)
        s.emit("frcsr t1")
        s.expect(6, (other & 7) << 5 | other & 31)
