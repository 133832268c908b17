# SPDX-License-Identifier: Apache-2.0
"""Random kernels whose lanes part ways, with marks where they must meet again; and a model of them that works on the
structure of the source, not on code: lanes that leave a construct early wait for the others behind it.

A loop has `continue`, or `break` and `return`, but not both. With both, the code of
`while (a) { x; if (b) continue; y; }` is that of `while (a) { do x; while (b); y; }`, and where lanes should meet
cannot be told from it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

MULTIPLIER, INCREMENT, WORD = 6364136223846793005, 1442695040888963407, (1 << 64) - 1
LANES = 64
MAX_MARKS = 500
MAX_DEPTH = 3
RETURN, BREAK, CONTINUE = range(3)

PROLOGUE = f"""
#define KERNEL_STACK 16384
#include "gpu/gpu.h"
struct arguments {{ uint64_t *log, *counts; uint64_t seed; }};
struct lane {{ uint64_t x; uint64_t *log; uint64_t n; }};
#define OPAQUE(v) __asm__ volatile("" : "+r"(v))
/* A random number below `limit`, of which the compiler knows nothing. */
GPU_INLINE uint64_t next(struct lane *l, uint64_t limit)
{{
    l->x = l->x * {MULTIPLIER}u + {INCREMENT}u;
    uint64_t v = l->x >> 33;
    OPAQUE(v);
    v %= limit;
    OPAQUE(v);
    return v;
}}
/* Conditions that do not change in a loop make compilers copy the loop, with its marks. */
GPU_INLINE uint64_t unknown(uint64_t v)
{{
    OPAQUE(v);
    return v;
}}
/* Lanes that are here together read the same cycle. */
GPU_INLINE void mark(struct lane *l, uint64_t id)
{{
    l->log[l->n++] = gpu_cycle() << 16 | id;
}}
"""


@dataclass
class Block:
    kind: str
    parts: list[list[Block]] = field(default_factory=list)
    number: int = 0
    limit: int = 2
    expect: int | None = None
    falls: list[bool] = field(default_factory=list)


class Program:
    """A kernel `name` with its functions. `source()` is C; `marks(seed)` is how often which lanes should meet at
    which mark."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = random.Random(seed)
        self.number = 0
        self.functions: list[list[Block]] = []
        for index in range(3):
            self.functions.append(self.body(2, (RETURN,), list(range(index)), index))
        self.main = self.body(4, (RETURN,), [0, 1, 2], None)

    def mark(self) -> Block:
        self.number += 1
        return Block("mark", number=self.number)

    def body(self, depth: int, leaves: tuple[int, ...], calls: list[int], function: int | None) -> list[Block]:
        """Statements, with a mark behind each. `leaves`: how they may be left."""
        result = [self.mark()]
        for _ in range(self.random.randint(1, 3)):
            result += [self.statement(depth, leaves, calls, function), self.mark()]
        return result

    def statement(self, depth: int, leaves: tuple[int, ...], calls: list[int], function: int | None) -> Block:
        pick = self.random.choice
        kinds = (
            ["leave"] * len(leaves[:1]) + (["call"] if calls else []) + (["recurse"] if function is not None else [])
        )
        if depth > 0:
            kinds += ["if", "if", "else", "either", "switch", "for", "for", "while", "do"]
        kind = pick(kinds or ["mark"])

        def part(ways: tuple[int, ...] = leaves) -> list[Block]:
            return self.body(depth - 1, ways, calls, function)

        block = Block(kind, limit=self.random.randint(2, 4), expect=pick([None, None, 0, 1]))
        if kind == "leave":
            block.number = pick(leaves)
            block.limit += 2
        elif kind == "mark":
            block = self.mark()
        elif kind == "call":
            block.number = pick(calls)
        elif kind == "recurse":
            block.number = function or 0
        elif kind == "else":
            block.parts = [part(), part()]
        elif kind in ("if", "either"):
            block.parts = [part()]
        elif kind == "switch":
            cases = self.random.randint(2, 5)
            inside = tuple(way for way in leaves if way != BREAK)
            block.parts = [part((*inside, BREAK)) for _ in range(cases)]
            block.falls = [self.random.random() < 0.3 for _ in range(cases)]
            block.limit = cases + 1
        else:
            leaving = tuple(way for way in leaves if way == RETURN)
            block.parts = [part(pick([(*leaving, BREAK), (CONTINUE,)]))]
            block.limit = pick([3, 4, 5, 5])
        return block

    def source(self) -> str:
        lines = []
        for index, body in enumerate(self.functions):
            lines.append(
                f"static __attribute__((noinline)) void {self.name}_f{index}(struct lane *l, uint64_t depth) {{"
            )
            lines += self.text(body) + ["    (void)depth;", "}"]
        lines.append(f"KERNEL({self.name}, struct arguments) {{")
        lines.append("    struct lane own = {args->seed + global_id(0), args->log + global_id(0) * 512, 0}, *l = &own;")
        lines.append("    const uint64_t depth = 0;")
        lines += [f"    {self.name}_main(l, depth);", "    args->counts[global_id(0)] = l->n;", "}"]
        main = [f"static __attribute__((noinline)) void {self.name}_main(struct lane *l, uint64_t depth) {{"]
        kernel = lines[-6:]
        return "\n".join(lines[:-6] + main + self.text(self.main) + ["    (void)depth;", "}"] + kernel) + "\n"

    def text(self, body: list[Block]) -> list[str]:
        lines: list[str] = []
        for b in body:
            chance = f"next(l, {b.limit}) == 0"
            if b.expect is not None:
                chance = f"__builtin_expect({chance}, {b.expect})"
            inner = [self.text(p) for p in b.parts]
            if b.kind == "mark":
                lines.append(f"mark(l, {b.number});")
            elif b.kind == "leave":
                lines.append(f"if ({chance}) {('return', 'break', 'continue')[b.number]};")
            elif b.kind == "call":
                lines.append(f"{self.name}_f{b.number}(l, 0);")
            elif b.kind == "recurse":
                lines.append(f"if (unknown(depth) < {MAX_DEPTH} && {chance}) {self.name}_f{b.number}(l, depth + 1);")
            elif b.kind == "if":
                lines += [f"if ({chance}) {{", *inner[0], "}"]
            elif b.kind == "else":
                lines += [f"if ({chance}) {{", *inner[0], "} else {", *inner[1], "}"]
            elif b.kind == "either":
                lines += [f"if ({chance} || next(l, 3) == 1) {{", *inner[0], "}"]
            elif b.kind == "switch":
                lines.append(f"switch (next(l, {b.limit})) {{")
                for n, case in enumerate(inner):
                    end = "__attribute__((fallthrough));" if b.falls[n] and n + 1 < len(inner) else "break;"
                    lines += [f"case {n}: {{", *case, "}", end]
                lines.append("}")
            elif b.kind == "for":
                lines += [f"for (uint64_t i = 0, n = next(l, {b.limit}); i < n; ++i) {{", *inner[0], "}"]
            elif b.kind == "while":
                lines += [f"while (next(l, {b.limit}) > 1) {{", *inner[0], "}"]
            elif b.kind == "do":
                lines += ["do {", *inner[0], f"}} while (next(l, {b.limit}) > 1);"]
        return lines

    def marks(self, seed: int, first: int = 0) -> Counter[tuple[int, int]] | None:
        """(mark, mask of the lanes that meet there): how often, of the wavefront whose first work-item is `first`.
        None if a lane makes too many marks."""
        try:
            return Model(self, seed + first).run()
        except OverflowError:
            return None


class Model:
    def __init__(self, program: Program, seed: int) -> None:
        self.program = program
        self.x = [(seed + lane) & WORD for lane in range(LANES)]
        self.count = [0] * LANES
        self.met: Counter[tuple[int, int]] = Counter()

    def run(self) -> Counter[tuple[int, int]]:
        self.call(self.program.main, set(range(LANES)), 0)
        return self.met

    def next(self, lane: int, limit: int) -> int:
        self.x[lane] = (self.x[lane] * MULTIPLIER + INCREMENT) & WORD
        return (self.x[lane] >> 33) % limit

    def call(self, body: list[Block], lanes: set[int], depth: int) -> None:
        self.body(body, lanes, depth, [set(), set(), set()])

    def body(self, body: list[Block], lanes: set[int], depth: int, left: list[set[int]]) -> set[int]:
        """Lanes that come to the end. Those that return, break or continue go to `left`."""
        for b in body:
            if lanes:
                lanes = self.block(b, lanes, depth, left)
        return lanes

    def block(self, b: Block, lanes: set[int], depth: int, left: list[set[int]]) -> set[int]:
        def chosen() -> set[int]:
            return {lane for lane in sorted(lanes) if self.next(lane, b.limit) == 0}

        if b.kind == "mark":
            self.met[b.number, sum(1 << lane for lane in lanes)] += 1
            for lane in lanes:
                self.count[lane] += 1
                if self.count[lane] > MAX_MARKS:
                    raise OverflowError
            return lanes
        if b.kind == "leave":
            leaves = chosen()
            left[b.number] |= leaves
            return lanes - leaves
        if b.kind == "call":
            self.call(self.program.functions[b.number], lanes, 0)
            return lanes
        if b.kind == "recurse":
            if depth < MAX_DEPTH and (deeper := chosen()):
                self.call(self.program.functions[b.number], deeper, depth + 1)
            return lanes
        if b.kind in ("if", "else", "either"):
            taken = chosen()
            if b.kind == "either":
                taken |= {lane for lane in lanes - taken if self.next(lane, 3) == 1}
            out = self.body(b.parts[0], taken, depth, left)
            others = lanes - taken
            return out | (self.body(b.parts[1], others, depth, left) if b.kind == "else" else others)
        if b.kind == "switch":
            value = {lane: self.next(lane, b.limit) for lane in lanes}
            out, falling = {lane for lane in lanes if value[lane] == len(b.parts)}, set()
            broken: set[int] = set()
            for n, case in enumerate(b.parts):
                inner = [left[0], broken, left[2]]
                end = self.body(case, falling | {lane for lane in lanes if value[lane] == n}, depth, inner)
                falling = end if b.falls[n] and n + 1 < len(b.parts) else set()
                out |= end - falling
            return out | broken
        return self.loop(b, lanes, depth, left)

    def loop(self, b: Block, lanes: set[int], depth: int, left: list[set[int]]) -> set[int]:
        out: set[int] = set()
        trips = {lane: self.next(lane, b.limit) for lane in lanes} if b.kind == "for" else {}
        turn = 0
        while lanes:
            if b.kind == "for":
                stays = {lane for lane in lanes if turn < trips[lane]}
            elif b.kind == "while":
                stays = {lane for lane in lanes if self.next(lane, b.limit) > 1}
            else:
                stays = lanes if turn == 0 else {lane for lane in lanes if self.next(lane, b.limit) > 1}
            out |= lanes - stays
            inner = [left[0], set(), set()]
            lanes = self.body(b.parts[0], stays, depth, inner) | inner[2]
            out |= inner[1]
            turn += 1
        return out
