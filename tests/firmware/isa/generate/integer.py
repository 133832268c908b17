# SPDX-License-Identifier: Apache-2.0
"""I, M, Zba, Zbb and Zbs by their definitions in the unprivileged specification, on Python integers."""

from assembly import MASK64, sext32, signed


def shift6(b):
    return b & 63


def shift5(b):
    return b & 31


def div_signed(a, b, bits):
    a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def rem_signed(a, b, bits):
    a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return a
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def w(a):
    return a & 0xFFFFFFFF


def rotate_left(a, n, bits):
    a &= (1 << bits) - 1
    n %= bits
    return (a << n | a >> (bits - n)) & ((1 << bits) - 1) if n else a


def leading_zeros(a, bits):
    return bits - (a & ((1 << bits) - 1)).bit_length()


def trailing_zeros(a, bits):
    a &= (1 << bits) - 1
    return (a & -a).bit_length() - 1 if a else bits


REGISTER = {  # rd, rs1, rs2
    "rv64i": {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "sll": lambda a, b: a << shift6(b),
        "slt": lambda a, b: signed(a) < signed(b),
        "sltu": lambda a, b: a < b,
        "xor": lambda a, b: a ^ b,
        "srl": lambda a, b: a >> shift6(b),
        "sra": lambda a, b: signed(a) >> shift6(b),
        "or": lambda a, b: a | b,
        "and": lambda a, b: a & b,
        "addw": lambda a, b: sext32(a + b),
        "subw": lambda a, b: sext32(a - b),
        "sllw": lambda a, b: sext32(a << shift5(b)),
        "srlw": lambda a, b: sext32(w(a) >> shift5(b)),
        "sraw": lambda a, b: sext32(signed(a, 32) >> shift5(b)),
    },
    "rv64m": {
        "mul": lambda a, b: a * b,
        "mulh": lambda a, b: signed(a) * signed(b) >> 64,
        "mulhsu": lambda a, b: signed(a) * b >> 64,
        "mulhu": lambda a, b: a * b >> 64,
        "mulw": lambda a, b: sext32(a * b),
        "div": lambda a, b: div_signed(a, b, 64),
        "divu": lambda a, b: a // b if b else MASK64,
        "rem": lambda a, b: rem_signed(a, b, 64),
        "remu": lambda a, b: a % b if b else a,
        "divw": lambda a, b: sext32(div_signed(a, b, 32)),
        "divuw": lambda a, b: sext32(w(a) // w(b)) if w(b) else MASK64,
        "remw": lambda a, b: sext32(rem_signed(a, b, 32)),
        "remuw": lambda a, b: sext32(w(a) % w(b)) if w(b) else sext32(a),
    },
    "rv64zb": {
        "sh1add": lambda a, b: (a << 1) + b,
        "sh2add": lambda a, b: (a << 2) + b,
        "sh3add": lambda a, b: (a << 3) + b,
        "add.uw": lambda a, b: w(a) + b,
        "sh1add.uw": lambda a, b: (w(a) << 1) + b,
        "sh2add.uw": lambda a, b: (w(a) << 2) + b,
        "sh3add.uw": lambda a, b: (w(a) << 3) + b,
        "andn": lambda a, b: a & ~b,
        "orn": lambda a, b: a | ~b,
        "xnor": lambda a, b: ~(a ^ b),
        "max": lambda a, b: max(signed(a), signed(b)),
        "maxu": lambda a, b: max(a, b),
        "min": lambda a, b: min(signed(a), signed(b)),
        "minu": lambda a, b: min(a, b),
        "rol": lambda a, b: rotate_left(a, shift6(b), 64),
        "ror": lambda a, b: rotate_left(a, 64 - shift6(b), 64),
        "rolw": lambda a, b: sext32(rotate_left(a, shift5(b), 32)),
        "rorw": lambda a, b: sext32(rotate_left(a, 32 - shift5(b), 32)),
        "bclr": lambda a, b: a & ~(1 << shift6(b)),
        "bext": lambda a, b: a >> shift6(b) & 1,
        "binv": lambda a, b: a ^ 1 << shift6(b),
        "bset": lambda a, b: a | 1 << shift6(b),
    },
}

IMMEDIATE = {  # rd, rs1, 12-bit immediate
    "rv64i": {
        "addi": lambda a, i: a + i,
        "slti": lambda a, i: signed(a) < i,
        "sltiu": lambda a, i: a < i & MASK64,
        "xori": lambda a, i: a ^ i & MASK64,
        "ori": lambda a, i: a | i & MASK64,
        "andi": lambda a, i: a & i & MASK64,
        "addiw": lambda a, i: sext32(a + i),
    }
}

SHIFT = {  # rd, rs1, amount: (bits of the amount, function)
    "rv64i": {
        "slli": (6, lambda a, n: a << n),
        "srli": (6, lambda a, n: a >> n),
        "srai": (6, lambda a, n: signed(a) >> n),
        "slliw": (5, lambda a, n: sext32(a << n)),
        "srliw": (5, lambda a, n: sext32(w(a) >> n)),
        "sraiw": (5, lambda a, n: sext32(signed(a, 32) >> n)),
    },
    "rv64zb": {
        "slli.uw": (6, lambda a, n: w(a) << n),
        "rori": (6, lambda a, n: rotate_left(a, 64 - n, 64)),
        "roriw": (5, lambda a, n: sext32(rotate_left(a, 32 - n, 32))),
        "bclri": (6, lambda a, n: a & ~(1 << n)),
        "bexti": (6, lambda a, n: a >> n & 1),
        "binvi": (6, lambda a, n: a ^ 1 << n),
        "bseti": (6, lambda a, n: a | 1 << n),
    },
}

UNARY = {  # rd, rs1
    "rv64zb": {
        "clz": lambda a: leading_zeros(a, 64),
        "clzw": lambda a: leading_zeros(a, 32),
        "ctz": lambda a: trailing_zeros(a, 64),
        "ctzw": lambda a: trailing_zeros(a, 32),
        "cpop": lambda a: bin(a).count("1"),
        "cpopw": lambda a: bin(w(a)).count("1"),
        "sext.b": lambda a: signed(a, 8),
        "sext.h": lambda a: signed(a, 16),
        "zext.h": lambda a: a & 0xFFFF,
        "orc.b": lambda a: sum(0xFF << i for i in range(0, 64, 8) if a >> i & 0xFF),
        "rev8": lambda a: int.from_bytes(a.to_bytes(8, "little"), "big"),
    }
}

BRANCH = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: signed(a) < signed(b),
    "bge": lambda a, b: signed(a) >= signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}

LOAD = {
    "lb": (1, True),
    "lh": (2, True),
    "lw": (4, True),
    "ld": (8, True),
    "lbu": (1, False),
    "lhu": (2, False),
    "lwu": (4, False),
}
STORE = {"sb": 1, "sh": 2, "sw": 4, "sd": 8}

ATOMIC = {
    "amoswap": lambda m, r: r,
    "amoadd": lambda m, r: m + r,
    "amoxor": lambda m, r: m ^ r,
    "amoand": lambda m, r: m & r,
    "amoor": lambda m, r: m | r,
    "amomin": min,
    "amomax": max,
    "amominu": min,
    "amomaxu": max,
}
