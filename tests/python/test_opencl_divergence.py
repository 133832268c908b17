# SPDX-License-Identifier: Apache-2.0
"""Random diverging kernels in OpenCL C against the same functions compiled for the host."""

import ctypes
import random
import subprocess

import numpy
import opencl_machine
import pytest

opencl_machine.require_compiler()


class Source:
    """Functions of random structure: uint f(uint x, table). Barriers stand where all work-items come."""

    def __init__(self, seed):
        self.random, self.number = random.Random(seed), 0
        self.text = "".join(self.function(f"g{i}", [f"g{k}" for k in range(i)], 2) for i in range(3))
        self.text += self.function("f", ["g0", "g1", "g2"], 4)

    def function(self, name, callees, depth):
        noinline = self.random.choice(["", "__attribute__((noinline)) "])
        body = self.block(depth, callees, loop=None)
        return f"{noinline}static uint {name}(uint x, TABLE uint* t) {{\nuint a = x;\n{body}return a ^ (a >> 7);\n}}\n"

    def value(self):
        pick = self.random
        return pick.choice(
            [
                "a",
                "a * 2654435761u",
                f"(a >> {pick.randint(1, 9)})",
                "t[a & 63]",
                f"{pick.randint(1, 999)}u",
                "a / 7u",
                "x",
            ]
        )

    def condition(self):
        pick = self.random
        return f"(({self.value()}) + {self.value()}) % {pick.randint(2, 5)}u {pick.choice(['==', '!='])} 0"

    def block(self, depth, callees, loop):
        return "".join(self.statement(depth, callees, loop) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth, callees, loop):
        pick = self.random
        kinds = ["set", "set", "return"] + (["leave", "leave"] if loop else []) + (["call"] if callees else [])
        if depth:
            kinds += ["if", "else", "for", "while", "do", "switch"] * 2
        kind = pick.choice(kinds)
        if kind == "set":
            return f"a {pick.choice(['+=', '^=', '=', '-='])} {self.value()};\n"
        if kind == "return":
            return f"if ({self.condition()} && (a & 28) == 4) return a + {pick.randint(1, 99)}u;\n"
        if kind == "leave":
            return f"if ({self.condition()}) {pick.choice(['break', 'continue'])};\n"
        if kind == "call":
            return f"a += {pick.choice(callees)}({self.value()}, t);\n"
        inner = loop if kind in ("if", "else") else "loop"
        part = [self.block(depth - 1, callees, inner) for _ in range(3)]
        if kind == "if":
            return f"if ({self.condition()}) {{\n{part[0]}}}\n"
        if kind == "else":
            return f"if ({self.condition()}) {{\n{part[0]}}} else {{\n{part[1]}}}\n"
        self.number += 1
        n = f"n{self.number}"
        if kind == "switch":
            cases = "".join(f"case {k}: {{\n{p.replace('continue;', 'break;')}}}\n" for k, p in enumerate(part))
            return f"switch ({self.value()} & 3) {{\n{cases}default: a += 1;\n}}\n"
        limit = f"(a & {pick.choice([1, 3, 7])}) + {pick.randint(1, 3)}u"
        if kind == "for":
            return f"for (uint {n} = 0, m{n} = {limit}; {n} < m{n}; ++{n}) {{\n{part[0]}}}\n"
        if kind == "while":
            return f"{{ uint {n} = {limit}; while ({n}-- > 0) {{\n{part[0]}}} }}\n"
        return f"{{ uint {n} = {limit}; do {{\n{part[0]}}} while ({n}-- > 1 && {self.condition()}); }}\n"


KERNEL = """
kernel void k(global uint* out, global uint* seen, global uint* t) {
    local uint shared[64];
    size_t i = get_global_id(0), l = get_local_id(0);
    uint a = f((uint)i, t);
    shared[l] = a;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared[0] & 1) {
        a = f(a ^ shared[63 - l], t);
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[l] = a;
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[l] = a + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = a;
    seen[i] = shared[(l + 1) & 63];
}
"""


def apply(run, values, table):
    """The host's f() of all values."""
    values = numpy.ascontiguousarray(values, "u4")
    found = numpy.zeros_like(values)
    run(found, values, table, values.size)
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize("level", ["0", "1", "2", "3"])
def test_random_programs(gpu, tmp_path, level):
    for seed in range(8):
        source = Source(100 * int(level) + seed)
        table = numpy.random.default_rng(seed).integers(0, 1 << 32, 64, dtype="u4")
        host = tmp_path / f"host{seed}.c"
        host.write_text(
            "typedef unsigned uint;\n#define TABLE const\n"
            + source.text
            + "void all(uint* out, const uint* in, const uint* t, uint n)"
            " { for (uint i = 0; i < n; ++i) out[i] = f(in[i], t); }\n"
        )
        library = host.with_suffix(".so")
        subprocess.run(["gcc", "-O1", "-w", "-shared", "-fPIC", "-o", library, host], check=True)
        pointer = numpy.ctypeslib.ndpointer("u4")
        run = ctypes.CDLL(str(library)).all
        run.argtypes = [pointer, pointer, pointer, ctypes.c_uint]

        n = 256
        first = apply(run, numpy.arange(n), table).reshape(4, 64)
        odd = (first[:, :1] & 1).astype(bool)
        second = apply(run, (first ^ first[:, ::-1]).reshape(-1), table).reshape(4, 64)
        expected = numpy.where(odd, second, first)
        shared = numpy.where(odd, second, first + numpy.uint32(1))
        out, seen = numpy.zeros(n, "u4"), numpy.zeros(n, "u4")
        program = gpu.program("#define TABLE global\n" + source.text + KERNEL, options=[f"-O{level}"])
        program["k"](n, 64, out, seen, table)
        assert (out.reshape(4, 64) == expected).all(), f"seed {seed}"
        assert (seen.reshape(4, 64) == numpy.roll(shared, -1, 1)).all(), f"seed {seed}"
