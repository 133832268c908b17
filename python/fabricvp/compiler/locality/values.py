# SPDX-License-Identifier: Apache-2.0
"""Values of a kernel as polynomials over identifiers of work-items, sizes, parameters and induction variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..layout import split_list
from .polynomial import Polynomial, Variable
from .scev import FunctionFacts, Tree, parsed

#: What a value depends on that is read from memory, so that no analysis knows it before the kernel runs.
DATA = "(data)"
NAME = r'%(?:"[^"]*"|[\w.$\-]+)'
_ADDRESS = re.compile(rf"({NAME})$")
_REGISTER = re.compile(r'asm "csrr \$0, (0x[0-9a-f]+)(?: \+ ([012]))?"')
_BUILT_IN = re.compile(r"@_Z\d+(get_\w+?)[jv]\((?:i32 (?:\w+ )*([012]))?\)")
_SAME = ("bitcast", "addrspacecast", "inttoptr", "ptrtoint", "freeze", "zext", "sext")
#: CSRs that differ by dimension (abi/gpu_isa.h), and others.
_REGISTERS = {0xCC0: "get_local_id", 0xCC3: "get_group_id", 0xCC6: "get_local_size", 0xCC9: "get_global_size"}
_LANES = {0xCCC: "lane", 0xCCD: "wavefront"}
_AXES = "xyz"
_MAX_DEPTH = 100  # of operands of operands: what lies deeper counts as data-dependent
_MAX_TERMS = 1000
_TAKEN = re.compile(r"[bt][xyz]|[bg]Dim[xyz]|f\d+|lane|wavefront")


@dataclass
class Parameter:
    """A parameter, or a member of a structure of them: ``pointer`` to memory that all work-groups can reach. ``name``
    has "_" behind it where it would be one of the analysis' own."""

    name: str
    pointer: bool

    def __post_init__(self) -> None:
        self.name = variable_of(self.name)


def variable_of(name: str) -> str:
    """The variable of a parameter."""
    return name + "_" * bool(_TAKEN.fullmatch(name))


@dataclass
class Context:
    """What the values of a kernel are made of: texts of its instructions and their blocks, parameters by name, and by
    name and offset those that lie in a structure."""

    facts: FunctionFacts
    instructions: Mapping[str, str]
    blocks: Mapping[str, str]
    parameters: Mapping[str, Parameter]
    structures: Mapping[str, Mapping[int, Parameter]]
    pointers: dict[str, Parameter] = field(default_factory=dict)  # that have been met, by name


def work_item(name: str, dimension: int) -> Polynomial | None:
    """A built-in function of OpenCL C in LADM's terms: bx and tx are identifiers, bDimx and gDimx the numbers of
    work-items of a group and of groups."""
    axis = _AXES[dimension]
    group, local, size, count = (
        Polynomial.of(Variable.prime(text)) for text in (f"b{axis}", f"t{axis}", f"bDim{axis}", f"gDim{axis}")
    )
    return {
        "get_group_id": group,
        "get_local_id": local,
        "get_local_size": size,
        "get_enqueued_local_size": size,
        "get_num_groups": count,
        "get_global_size": count * size,
        "get_global_id": group * size + local,
        "get_global_offset": Polynomial.number(0),
    }.get(name)


class Values:
    """Polynomials of the values of one kernel."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, Polynomial] = {}
        self._being: set[str] = set()
        self._cut: set[str] = set()  # values that others wait for: what depends on them is not complete
        self._partial: dict[str, Polynomial] = {}  # such values, as long as those are the same
        self._functions: dict[str, str] = {}

    def of(self, name: str) -> Polynomial:
        """The polynomial of a value, "%12"."""
        known = self._known.get(name) or self._partial.get(name)
        if known is not None:
            return known
        if name in self._being:  # a phi of itself
            self._cut.add(name)
            return Polynomial.of(Variable.prime(name))
        if len(self._being) > _MAX_DEPTH:
            return self._known.setdefault(name, self._function(f"deep {name}", frozenset({DATA})))
        self._being.add(name)
        expression = self._context.facts.values.get(name, name)
        found = self._leaf(name) if expression in (name, "") else self._tree(parsed(expression), name)
        self._being.discard(name)
        if name in self._cut:
            self._cut.discard(name)
            self._partial.clear()
        (self._partial if self._cut else self._known)[name] = found
        return found

    def _tree(self, tree: Tree, own: str) -> Polynomial:
        if tree.kind == "number":
            return Polynomial.number(int(tree.text))
        if tree.kind == "name":
            if tree.text == own:
                return self._leaf(own)
            if tree.text[0] == "%":
                return self.of(tree.text)
            return Polynomial.of(Variable.prime(tree.text)) if tree.text[0] == "@" else Polynomial({})
        if tree.kind == "unknown":
            return self._function(tree.text, frozenset({DATA}))
        parts = [self._tree(part, own) for part in tree.parts]
        if tree.kind in "+*":
            total = parts[0]
            for part in parts[1:]:
                if tree.kind == "*" and len(total.terms) * len(part.terms) > _MAX_TERMS:
                    return self._function(f"product {own}", frozenset(), *parts)
                total = total + part if tree.kind == "+" else total * part
            return total
        if tree.kind == "/" and (quotient := parts[0].divided(parts[1])) is not None:
            return quotient
        if tree.kind == "loop" and len(parts) == 2:
            return parts[0] + parts[1] * Polynomial.of(Variable.prime(tree.text))
        sign = {"/": "/", "narrow": f"mod 2^{tree.text}"}.get(tree.kind, tree.kind)
        needs = frozenset({tree.text} if tree.kind == "loop" else ())
        text = f" {sign} ".join([f"({part.text()})" for part in parts])
        return self._function(f"{text} {sign}" if len(parts) == 1 else text, needs, *parts)

    def _function(self, text: str, needs: frozenset[str], *parts: Polynomial) -> Polynomial:
        """What is no polynomial of its parts: f1, f2, …"""
        name = self._functions.setdefault(text, f"f{len(self._functions) + 1}")
        return Polynomial.of(Variable(name, needs.union(*(part.needs for part in parts))))

    def _leaf(self, name: str) -> Polynomial:
        if name in self._context.structures:
            return Polynomial.of(Variable.prime(name))
        if name in self._context.parameters:
            return self._parameter(self._context.parameters[name])
        text = self._context.instructions.get(name, "")
        kind = text.split(" ", 1)[0]
        if kind in _SAME or (kind == "trunc" and not re.search(r" to i(?:1|8|16)\b", text)):
            return self._operands(text)[0]
        if kind == "load":
            return self._loaded(text)
        if " asm " in text or " @" in text:
            return self._called(name, text)
        operands = self._operands(text)
        block = self._context.blocks.get(name, "")
        if kind == "phi" and block in self._context.facts.loops.get(block, ()):
            return self._recurrence(name, block, operands)
        needs = frozenset({DATA} if kind in ("atomicrmw", "cmpxchg") else ())
        return self._function(f"{kind} {name}", needs, *operands)

    def _recurrence(self, name: str, header: str, operands: list[Polynomial]) -> Polynomial:
        """A phi that scalar evolution takes for no recurrence, since it moves by a register that is read in the loop.
        Where it stands among its own operands, it has its name."""
        starts = [operand for operand in operands if name not in operand.needs]
        steps = [operand - Polynomial.of(Variable.prime(name)) for operand in operands if name in operand.needs]
        if len(starts) == len(steps) == 1 and not steps[0].needs & {name, header, DATA}:
            return starts[0] + steps[0] * Polynomial.of(Variable.prime(header))
        needs = frozenset({header}).union(*(operand.needs for operand in operands)) - {name}
        return self._function(f"phi {name}", needs)

    def _operands(self, text: str) -> list[Polynomial]:
        own, found = self._context, []
        for name in dict.fromkeys(re.findall(NAME, re.split(r", ![a-z]", text)[0])):
            if name in own.instructions or name in own.parameters:
                found.append(self.of(name))
        return found or [Polynomial({})]

    def _parameter(self, parameter: Parameter) -> Polynomial:
        if parameter.pointer:
            self._context.pointers[parameter.name] = parameter
        return Polynomial.of(Variable.prime(parameter.name))

    def _loaded(self, text: str) -> Polynomial:
        address = self.address(split_list(text)[1])
        if address is None:
            return self._function(text, frozenset({DATA}))
        for structure, members in self._context.structures.items():
            offset = (address - Polynomial.of(Variable.prime(structure))).constant()
            if offset is not None and structure in address.needs:
                return self._parameter(members.get(offset) or _unnamed(structure, offset, text))
        base = self.base(address)
        needs = frozenset({DATA}) | (address.needs - self._context.pointers.keys())
        # The same name for the same place, so that differences of indices vanish.
        place = f"{base}[…]" if base else "memory"
        count = sum(value.startswith(place) for value in self._functions.values())
        name = self._functions.setdefault(f"load {address.text()}", f"{place}{count + 1 if count else ''}")
        return Polynomial.of(Variable(name, needs))

    def address(self, operand: str) -> Polynomial | None:
        """What a pointer operand points to ("float addrspace(1)* %5"); None for constants."""
        found = _ADDRESS.search(operand)
        return self.of(found[1]) if found else None

    def base(self, address: Polynomial) -> str:
        """The parameter that an address counts from, "" if there is none."""
        for monomial, factor in address.terms.items():
            if factor == 1 and len(monomial) == 1 and monomial[0].name in self._context.pointers:
                return monomial[0].name
        return ""

    def _called(self, name: str, text: str) -> Polynomial:
        found = _REGISTER.search(text)
        if found:
            number, dimension = int(found[1], 16), int(found[2] or 0)
            if number in _LANES:
                return Polynomial.of(Variable(_LANES[number], frozenset({_LANES[number], "tx"})))
            if built_in := work_item(_REGISTERS.get(number, ""), dimension):
                return built_in
        elif call := _BUILT_IN.search(text):
            if (built_in := work_item(call[1], int(call[2] or 0))) is not None:
                return built_in
            of_group = "global" in call[1] or "group" in call[1]
            return self._function(call[0], frozenset({"tx", "bx"} if of_group else {"tx"}))
        known = re.search(r"@llvm\.(?!memcpy|masked)", text)
        return self._function(f"call {name}", frozenset() if known else frozenset({DATA}), *self._operands(text))


def _unnamed(structure: str, offset: int, text: str) -> Parameter:
    type_ = split_list(text)[0]
    return Parameter(f"{structure.lstrip('%')}+{offset}", type_.endswith("*") or " ptr" in f" {type_}")
