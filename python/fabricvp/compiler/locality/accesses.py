# SPDX-License-Identifier: Apache-2.0
"""Every access of a kernel to memory that all work-groups can reach, with its index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...errors import InputError
from ..layout import split_list
from ..module import Function, Module
from .polynomial import Polynomial, Variable
from .scev import FunctionFacts
from .values import NAME, Context, Parameter, Values

_INSTRUCTION = re.compile(rf"^  (?:({NAME}) = )?(?:tail |musttail |notail )?(\w.*)$")
_LABEL = re.compile(r'^("[^"]*"|[\w.$\-]+):')
#: Functions of OpenCL C that read or write several elements: index, pointer.
_VECTOR = re.compile(r"@_Z\d+(v(?:load|store)a?_?(?:half)?)(\d*)[^(]*\((.*)\)")
_WIDTHS = {"h": 1, "c": 1, "s": 2, "t": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}
_NO_ACCESS = re.compile(r"@llvm\.(?!memcpy|memset|memmove)|@_Z\d+(?:prefetch|printf)|@printf\b")


@dataclass(frozen=True)
class Access:
    """A load, store or atomic of ``bytes`` at ``index`` (in bytes) of what a parameter points to; None: no analysis
    tells where. ``loops`` are those around it, outermost first: names of their induction variables. ``units`` are sizes
    that the source may count in."""

    parameter: str
    kind: str
    bytes: int
    index: Polynomial | None
    loops: tuple[str, ...]
    units: frozenset[int]


@dataclass(frozen=True)
class KernelAccesses:
    """Those of one kernel, its pointers in the order of the source, and the dimensions of its grid that it knows of."""

    pointers: tuple[str, ...]
    accesses: tuple[Access, ...]
    dimensions: int


def accesses_of(
    module: Module,
    function: Function,
    facts: FunctionFacts,
    parameters: Mapping[str, Parameter],
    structures: Mapping[str, Mapping[int, Parameter]],
) -> KernelAccesses:
    """Those of a function of a module as `optimized()` has made it."""
    instructions, blocks, order = _instructions(module, function)
    context = Context(facts, instructions, blocks, parameters, structures)
    values = Values(context)
    walk = _Walk(module, values, context)
    found = [access for name in order for access in walk.of(name)]
    text = "\n".join(instructions.values())
    used = max((n for n in (1, 2) if _uses_dimension(text, n)), default=0)
    declared = [*parameters.values(), *(p for members in structures.values() for p in members.values())]
    names = [p.name for p in declared if p.pointer] + [a.parameter for a in found]
    return KernelAccesses(tuple(dict.fromkeys(names)), tuple(found), used + 1)


def _uses_dimension(text: str, dimension: int) -> bool:
    return bool(
        re.search(
            rf"csrr \$0, 0xcc[036] \+ {dimension}\b|@_Z\d+get_(?:local|group|global)_idj\(i32 (?:\w+ )*{dimension}\)",
            text,
        )
    )


def _instructions(module: Module, function: Function) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Texts and blocks by the name of the result, or a number of one's own without a result, in order."""
    instructions: dict[str, str] = {}
    blocks: dict[str, str] = {}
    block, order = "", []
    for number in range(function.first + 1, function.last):
        line = module.lines[number]
        if label := _LABEL.match(line):
            block = f"%{label[1]}"
        elif (found := _INSTRUCTION.match(line)) and "@llvm.dbg." not in line:
            name = found[1] or f"#{number}"
            instructions[name], blocks[name] = found[2], block
            order.append(name)
    return instructions, blocks, order


class _Walk:
    def __init__(self, module: Module, values: Values, context: Context) -> None:
        self._module, self._values, self._context = module, values, context

    def of(self, name: str) -> Iterator[Access]:
        text = re.split(r", ![a-z]", self._context.instructions[name])[0]
        kind, _, rest = text.partition(" ")
        rest = re.sub(r"^(?:(?:atomic|volatile|weak) )+", "", rest)
        parts = split_list(rest)
        loops = tuple(self._context.facts.loops.get(self._context.blocks[name], ()))
        if kind == "load":
            yield from self._access("load", parts[1], self._size(parts[0]), loops)
        elif kind == "store":
            yield from self._access("store", parts[1], self._size(_typed(parts[0])), loops)
        elif kind == "atomicrmw":
            pointer = parts[0].partition(" ")[2]
            yield from self._access("atomic", pointer, self._size(_typed(parts[1])), loops)
        elif kind == "cmpxchg":
            yield from self._access("atomic", parts[0], self._size(_typed(parts[1])), loops)
        elif kind == "call" and not _NO_ACCESS.search(text):
            yield from self._called(text, loops)

    def _called(self, text: str, loops: tuple[str, ...]) -> Iterator[Access]:
        body = text[text.rindex('"', 0, text.rindex("(")) :] if " asm " in text else text
        opening = body.index("(", body.find("@") if " asm " not in text else 0)
        arguments = split_list(_enclosed(body[opening:]))
        if vector := _VECTOR.search(text):
            # vloadN(offset, pointer) and vstoreN(value, offset, pointer): offset counts vectors.
            code = re.search(r"(?:K|V)*([hcstijlmdf])(?:|\(.*)$", text[: text.index("(", text.index("@"))])
            element = _WIDTHS.get(code[1], 4) if code else 4
            size = element * int(vector[2] or 1)
            offset = self._values.address(arguments[-2]) or Polynomial.number(_literal(arguments[-2]))
            extra = offset * Polynomial.number(size)
            yield from self._access("load" if "load" in vector[1] else "store", arguments[-1], size, loops, extra)
            return
        copy = re.search(r"@llvm\.mem(?:cpy|move|set)\.", text)
        atomic = " asm " in text or re.search(r"@_Z\d+atom(?:ic)?_", text)
        for argument in arguments if not copy else arguments[: 1 if "memset" in text else 2]:
            address = self._values.address(argument)
            if address is None or not address.needs & self._context.pointers.keys():
                continue
            if copy:
                size = _literal(arguments[2]) or 1
                yield from self._access("store" if argument is arguments[0] else "load", argument, size, loops)
            elif atomic:
                wide = re.search(r'"(?:amo|lr|sc)\w*\.d|V[lmd]|_Atomic[lmd]', text)
                yield from self._access("atomic", argument, 8 if wide else 4, loops)
            else:
                for base in sorted(address.needs & self._context.pointers.keys()):
                    yield Access(base, "call", 1, None, loops, frozenset({1}))

    def _access(
        self, kind: str, operand: str, size: int, loops: tuple[str, ...], extra: Polynomial | None = None
    ) -> Iterator[Access]:
        address = self._values.address(operand)
        if address is None or any(n in address.needs for n in self._context.structures):
            return
        if extra is not None:
            address = address + extra
        base = self._values.base(address)
        if not base:
            for name in sorted(address.needs & self._context.pointers.keys()):
                yield Access(name, kind, size, None, loops, frozenset({size}))
            return
        index = address - Polynomial.of(Variable.prime(base))
        if index.needs & self._context.pointers.keys():
            yield Access(base, kind, size, None, loops, frozenset({size}))
            return
        yield Access(base, kind, size, index, loops, frozenset({size, *self._strides(operand)}))

    def _strides(self, operand: str) -> Iterator[int]:
        """Sizes of the elements that the address is computed in."""
        while found := re.search(rf"({NAME})$", operand):
            text = self._context.instructions.get(found[1], "")
            if text.startswith("getelementptr"):
                parts = split_list(re.sub(r"^getelementptr (?:inbounds )?(?:nuw |nusw )*", "", text))
                operand = parts[1]
                if not re.fullmatch(r"i64 0|i32 0", parts[2]):
                    yield self._size(parts[0])
            elif text.startswith(("bitcast", "addrspacecast")):
                operand = text.partition(" to ")[0]
            else:
                return

    def _size(self, type_: str) -> int:
        try:
            return self._module.layout.size(re.sub(r" ?addrspace\(\d+\)", "", type_))
        except InputError:
            return 1


def _typed(operand: str) -> str:
    """The type of "float %5" or "i32 7"."""
    return operand.rpartition(" ")[0]


def _literal(operand: str) -> int:
    found = re.search(r" (-?\d+)$", operand)
    return int(found[1]) if found else 0


def _enclosed(text: str) -> str:
    """What stands in the parentheses that a text begins with."""
    depth = 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return text[1:at]
    return text[1:]
