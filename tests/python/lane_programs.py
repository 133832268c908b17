# SPDX-License-Identifier: Apache-2.0
"""Random kernels whose lanes part ways and exchange values, as text in C, HIP and CUDA, and a model of them in numpy:
lanes that take different branches meet again where control flow joins."""

import random

import numpy

GOLDEN = 0x9E3779B97F4A7C15

#: What the languages call the operations. `M` is the mask of the lanes that are here.
NAMES = {
    "hip": """
#define M __activemask()
#define BALLOT(c) __ballot(c)
#define ANY(c) __any(c)
#define ALL(c) __all(c)
#define SHFL(v, i, w) __shfl(v, (int)(i), w)
#define UP(v, d, w) __shfl_up(v, d, w)
#define DOWN(v, d, w) __shfl_down(v, d, w)
#define XOR(v, d, w) __shfl_xor(v, (int)(d), w)
""",
    "cuda": """
#define M __activemask()
#define BALLOT(c) __ballot_sync(M, c)
#define ANY(c) __any_sync(M, c)
#define ALL(c) __all_sync(M, c)
#define SHFL(v, i, w) __shfl_sync(M, v, (int)(i), w)
#define UP(v, d, w) __shfl_up_sync(M, v, d, w)
#define DOWN(v, d, w) __shfl_down_sync(M, v, d, w)
#define XOR(v, d, w) __shfl_xor_sync(M, v, (int)(d), w)
""",
    "c": """
#define M lane_active()
#define BALLOT(c) lane_ballot(c)
#define ANY(c) (lane_ballot(c) != 0)
#define ALL(c) lane_all(M, c)
#define SHFL_(v, i) _Generic(v, unsigned: lane_shuffle_u32, unsigned long: lane_shuffle_u64, float: lane_shuffle_f32, \\
                             double: lane_shuffle_f64)(v, i)
#define SHFL(v, i, w) SHFL_(v, lane_at(i, w))
#define UP(v, d, w) SHFL_(v, lane_below(d, w))
#define DOWN(v, d, w) SHFL_(v, lane_above(d, w))
#define XOR(v, d, w) SHFL_(v, lane_across(d, w))
#define SYNC(m) lane_barrier(m)
#define MATCH_ANY(m, v) lane_match_u32(m, v)
#define MATCH_ALL(m, v) (lane_match_all_u32(m, v) ? m : 0)
#define REDUCE(op, m, v) lane_reduce_##op##_u32(m, v)
#define REDUCE_SIGNED(op, m, v) (uint)lane_reduce_##op##_i32(m, (int)(v))
#define FUNCTION static
#define APART static __attribute__((noinline, noclone))
""",
}
_DEVICE = """
#define SYNC(m) __syncwarp(m)
#define MATCH_ANY(m, v) __match_any_sync(m, v)
#define MATCH_ALL(m, v) match_all(m, v)
#define REDUCE(op, m, v) __reduce_##op##_sync(m, v)
#define REDUCE_SIGNED(op, m, v) (uint)__reduce_##op##_sync(m, (int)(v))
#define FUNCTION static __device__
#define APART static __device__ __noinline__
static __device__ u64 match_all(fabricvp_mask m, uint v) {
    int all;
    const u64 found = __match_all_sync(m, v, &all);
    return (found != 0) == (all != 0) ? found : 1;
}
"""
COMMON = """
static inline __attribute__((always_inline)) DEVICE uint fold(u64 x) { return (uint)(x ^ x >> 32); }
static inline __attribute__((always_inline)) DEVICE u64 wide(uint a) { return a * 0x9e3779b97f4a7c15ul; }
"""


class Program:
    """A kernel of random structure: its text, and `run()`, which says what lanes compute."""

    def __init__(self, seed, lanes):
        self.random, self.lanes, self.count = random.Random(seed), lanes, 0
        self.function = [self.statement(2, False, False) for _ in range(3)]
        self.apart = self.random.choice([True, False])
        self.body = [self.statement(3, False, True) for _ in range(4)]

    # What it is made of: tuples, of a kind and operands.

    def value(self):
        pick = self.random
        return pick.choice(
            [
                ("a * {}u + {}u", pick.choice([5, 2654435761, 77]), pick.randint(0, 99)),
                ("(a ^ a >> {}) + {}u", pick.randint(1, 15), pick.randint(0, 9)),
                ("a + x * {}u + {}u", pick.randint(1, 9), 0),
            ]
        )

    def condition(self):
        return (self.value(), self.random.randint(2, 5))

    def statement(self, depth, loop, returns):
        pick = self.random
        kinds = ["exchange"] * 5 + ["set"] + ["leave", "continue"] * loop + ["return"] * returns
        if depth:
            kinds += ["if", "else", "loop"] * 2
        if returns:
            kinds.append("call")
        kind = pick.choice(kinds)
        if kind == "exchange":
            return self.exchange()
        if kind == "set":
            return (kind, self.value())
        if kind in ("leave", "continue", "return"):
            return (kind, self.condition(), pick.randint(1, 3))
        if kind == "call":
            return (kind,)
        inner = loop or kind == "loop"
        parts = [[self.statement(depth - 1, inner, returns) for _ in range(pick.randint(1, 3))] for _ in range(2)]
        self.count += 1
        return (kind, self.condition(), pick.choice([1, 3]), *parts, self.count)

    def exchange(self):
        pick = self.random
        kind = pick.choice(
            ["ballot", "active", "vote", "SHFL", "UP", "DOWN", "XOR", "long", "float", "double", "any", "all", "reduce",
             "signed", "sync"]
        )  # fmt: skip
        if kind in ("SHFL", "UP", "DOWN", "XOR"):
            width = pick.choice([w for w in (2, 4, 8, 16, 32, 64) if w <= self.lanes] + [self.lanes])
            distance = pick.choice([pick.randint(0, self.lanes), None])
            return (kind, width, distance)
        if kind == "reduce":
            return (kind, pick.choice(["add", "min", "max", "and", "or", "xor"]))
        if kind == "signed":
            return (kind, pick.choice(["add", "min", "max"]))
        return (kind, self.condition(), self.condition())

    # The text.

    def text(self, language, name):
        """Functions and kernel."""
        return (
            f"{'APART' if self.apart else 'FUNCTION'} uint f_{name}(uint a, uint x) {{\n{self.block(self.function)}"
            f"return a;\n}}\n#define CALL f_{name}\n"
            + (
                f"KERNEL({name}, struct arguments) {{\nconst uint* in = args->in;\nuint* out = args->out;\n"
                if language == "c"
                else f'extern "C" __global__ void {name}(const uint* in, uint* out) {{\n'
            )
            + f"const uint i = ID;\nuint a = in[i];\nconst uint x = a;\n{self.block(self.body)}out[i] = a;\n}}\n"
            "#undef CALL\n"
        )

    @staticmethod
    def _value(value):
        return value[0].format(*value[1:])

    def _condition(self, condition):
        return f"({self._value(condition[0])}) % {condition[1]}u == 0"

    def block(self, statements):
        return "".join(self.line(*s) for s in statements)

    def line(self, kind, *w):
        if kind == "set":
            return f"a = {self._value(w[0])};\n"
        if kind == "leave" or kind == "continue":
            return f"if ({self._condition(w[0])}) {'break' if kind == 'leave' else kind};\n"
        if kind == "return":
            return f"if ({self._condition(w[0])} && (a & 3) == {w[1]}) {{ out[i] = a; return; }}\n"
        if kind == "call":
            return "a += CALL(a, x);\n"
        if kind == "if":
            return f"if ({self._condition(w[0])}) {{\n{self.block(w[2])}}}\n"
        if kind == "else":
            return f"if ({self._condition(w[0])}) {{\n{self.block(w[2])}}} else {{\n{self.block(w[3])}}}\n"
        if kind == "loop":
            n = f"n{w[4]}"
            return f"for (uint {n} = 0, m{n} = (a & {w[1]}) + 1; {n} < m{n}; ++{n}) {{\n{self.block(w[2])}}}\n"
        if kind == "ballot":
            return f"a ^= fold(BALLOT({self._condition(w[0])}));\n"
        if kind == "active":
            return "a += fold(M) * 3u;\n"
        if kind == "vote":
            return f"a += ANY({self._condition(w[0])}) * 17u + ALL(!({self._condition(w[1])})) * 5u;\n"
        if kind in ("SHFL", "UP", "DOWN", "XOR"):
            distance = f"{w[1]}u" if w[1] is not None else f"a % {self.lanes}u"
            return f"a += {kind}(a, {distance}, {w[0]}u) * 3u;\n"
        if kind == "long":
            return f"a ^= fold(SHFL(wide(a), a % {self.lanes}u, {self.lanes}u));\n"
        if kind == "float":
            return f"a += (uint)(SHFL((float)(a & 0xffffu), (a >> 3) % {self.lanes}u, {self.lanes}u) * 0.5f);\n"
        if kind == "double":
            return f"a ^= (uint)SHFL((double)a, (x + 7u) % {self.lanes}u, {self.lanes}u);\n"
        if kind == "any":
            return "a ^= fold(MATCH_ANY(M, a & 3u));\n"
        if kind == "all":
            return "a += fold(MATCH_ALL(M, a & 1u));\n"
        if kind == "reduce":
            return f"a += REDUCE({w[0]}, M, a) | 1u;\n"
        if kind == "signed":
            return f"a ^= REDUCE_SIGNED({w[0]}, M, a);\n"
        return "SYNC(M);\n"

    # The model.

    def run(self, values):
        """What the kernel writes for one wavefront, whose lanes beyond the values do not exist."""
        self.a = numpy.zeros(self.lanes, "u4")
        self.a[: len(values)] = values
        self.x = self.a.copy()
        self.ended = numpy.zeros(self.lanes, bool)
        self._run(self.body, numpy.arange(self.lanes) < len(values), [])
        return self.a[: len(values)]

    def _compute(self, value, a):
        text, k, c = value
        k, c = numpy.uint32(k), numpy.uint32(c)
        if text.startswith("a *"):
            return a * k + c
        return (a ^ a >> k) + c if ">>" in text else a + self.x * k + c

    def _holds(self, condition):
        return self._compute(condition[0], self.a) % numpy.uint32(condition[1]) == 0

    def _run(self, statements, mask, loops):
        """`loops` holds for each loop around the lanes that have left it, and those that have left its turn."""
        for kind, *w in statements:
            mask = mask & ~self.ended
            for left in loops[-1:]:
                mask = mask & ~left[0] & ~left[1]
            if not mask.any():
                return
            if kind == "set":
                self.a = numpy.where(mask, self._compute(w[0], self.a), self.a)
            elif kind in ("leave", "continue"):
                loops[-1][kind == "continue"] |= mask & self._holds(w[0])
            elif kind == "return":
                self.ended |= mask & self._holds(w[0]) & ((self.a & 3) == w[1])
            elif kind == "call":
                before = self.a.copy()
                self._run(self.function, mask, [])
                self.a = numpy.where(mask, before + self.a, self.a)
            elif kind in ("if", "else"):
                taken = self._holds(w[0])
                self._run(w[2], mask & taken, loops)
                if kind == "else":
                    self._run(w[3], mask & ~taken, loops)
            elif kind == "loop":
                turns, left = (self.a & numpy.uint32(w[1])) + 1, numpy.zeros(self.lanes, bool)
                for turn in range(w[1] + 1):
                    mine = [left, numpy.zeros(self.lanes, bool)]
                    self._run(w[2], mask & (turn < turns) & ~left & ~self.ended, [*loops, mine])
            else:
                self.a = numpy.where(mask, self._exchange(kind, w, mask), self.a)

    def _mask(self, mask):
        return sum(1 << int(n) for n in numpy.flatnonzero(mask))

    @staticmethod
    def _fold(mask):
        return numpy.uint32((mask ^ mask >> 32) & 0xFFFFFFFF)

    def _shuffle(self, values, source, mask):
        own = numpy.arange(self.lanes)
        return values[numpy.where(mask[source], source, own)]

    def _exchange(self, kind, w, mask):
        a, own = self.a, numpy.arange(self.lanes)
        here = numpy.flatnonzero(mask)
        if kind == "ballot":
            return a ^ self._fold(self._mask(mask & self._holds(w[0])))
        if kind == "active":
            return a + self._fold(self._mask(mask)) * numpy.uint32(3)
        if kind == "vote":
            any_, all_ = (mask & self._holds(w[0])).any(), not (mask & self._holds(w[1])).any()
            return a + numpy.uint32(any_ * 17 + all_ * 5)
        if kind in ("SHFL", "UP", "DOWN", "XOR"):
            width = w[0]
            d = numpy.full(self.lanes, w[1]) if w[1] is not None else (a % numpy.uint32(self.lanes)).astype(int)
            first = own & -width
            source = {
                "SHFL": first | (d & (width - 1)),
                "UP": numpy.where(own - d < first, own, own - d),
                "DOWN": numpy.where(own + d >= first + width, own, own + d),
                "XOR": numpy.where((own ^ d) >= first + width, own, own ^ d),
            }[kind]
            return a + self._shuffle(a, source, mask) * numpy.uint32(3)
        at = (a % numpy.uint32(self.lanes)).astype(int)
        if kind == "long":
            moved = self._shuffle(a.astype("u8") * numpy.uint64(GOLDEN), at, mask)
            return a ^ (moved ^ moved >> numpy.uint64(32)).astype("u4")
        if kind == "float":
            moved = self._shuffle(a & numpy.uint32(0xFFFF), ((a >> numpy.uint32(3)) % self.lanes).astype(int), mask)
            return a + moved // numpy.uint32(2)
        if kind == "double":
            return a ^ self._shuffle(a, ((self.x + numpy.uint32(7)) % self.lanes).astype(int), mask)
        if kind == "any":
            same = [self._fold(self._mask(mask & ((a & 3) == (v & 3)))) for v in a]
            return a ^ numpy.array(same, "u4")
        if kind == "all":
            return a + (self._fold(self._mask(mask)) if len({int(v) & 1 for v in a[here]}) == 1 else numpy.uint32(0))
        if kind == "reduce":
            of = {"add": numpy.add, "min": numpy.minimum, "max": numpy.maximum, "and": numpy.bitwise_and,
                  "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}[w[0]]  # fmt: skip
            return a + (of.reduce(a[here], dtype="u4") | numpy.uint32(1))
        if kind == "signed":
            of = {"add": numpy.add, "min": numpy.minimum, "max": numpy.maximum}[w[0]]
            return a ^ numpy.uint32(int(of.reduce(a[here].astype("i4"), dtype="i4")) & 0xFFFFFFFF)
        return a


def source_of(language, programs):
    """A source with the kernels k0, k1, …, of `Program`s."""
    kernels = "".join(p.text(language, f"k{n}") for n, p in enumerate(programs))
    types = "typedef unsigned uint;\ntypedef unsigned long u64;\n"
    if language == "c":
        arguments = "struct arguments { const uint* in; uint* out; };\n#define ID global_id(0)\n#define DEVICE\n"
        return f'#include "gpu/gpu.h"\n#include "gpu/lanes.h"\n{types}{arguments}{COMMON}{NAMES["c"]}{kernels}'
    place = "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n#define DEVICE __device__\n"
    return f"{types}{place}{COMMON}{NAMES[language]}{_DEVICE}{kernels}"
