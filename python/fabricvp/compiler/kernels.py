# SPDX-License-Identifier: Apache-2.0
"""Kernels of a module: their parameters, their part of the local data share, and the entries that lanes begin at."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import InputError
from .block import needs_block
from .debug import DebugInformation
from .module import Function, Module
from .toolchain import pointer_to

_SPACES = {"1": "global", "2": "constant", "3": "local"}
_LDS, _LDS_BYTES, _SHORT_NAME = 0x20000000, 0x10000, 31
_IMMEDIATE = 2048  # offsets below fit a load
_MAX_ARGUMENTS = 4096  # GPU_LARGE_KERNARG_BYTES (drivers/gpu/gpu.h)
_DEBUG = 100_000_000  # numbers of metadata that no module has
#: Images, samplers and so on, as clang 14 and clang 19 have them.
_OPAQUE = re.compile(r'%opencl\.(\w+?)(?:_[rw]o|_rw|_wo)?_t\b|target\("spirv\.(\w+)"')


@dataclass(frozen=True)
class Parameter:
    """A parameter: ``kind`` is "global", "constant", "local" (pointers) or "value"; ``type`` as the source spells it;
    ``base`` the same without typedefs, with integers for enumerations; ``offset`` and ``size`` in the block of
    arguments."""

    name: str
    kind: str
    type: str
    base: str
    const: bool
    offset: int
    size: int
    alignment: int


@dataclass
class Kernel:
    """A kernel. ``function`` is its name in the IR, ``symbol`` in the image's table; ``blocks`` says that grids are
    counted in work-groups, as in HIP and CUDA; ``block`` is the place of the address of the program's block among the
    arguments, -1: there is none."""

    name: str
    function: str
    symbol: str
    parameters: list[Parameter]
    argument_bytes: int
    lds_bytes: int = 0
    required_group: list[int] = field(default_factory=list)
    scratch_bytes: int = 0
    blocks: bool = False
    max_group: int = 0  # work-items of a work-group, if the source says so
    flags: int = 0  # of the descriptor (abi/kernel_descriptor.h)
    block: int = -1
    saved: int = 0  # instructions that save registers for a caller, and return addresses
    spills: int = 0  # instructions that store values for which there was no register
    reloads: int = 0


def symbol_of(name: str) -> str:
    """The name in the image: characters that no symbol has are replaced, and digits of a hash follow."""
    plain = re.sub(r"[^\w<>, .]", "_", name)
    return name if plain == name else f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class NoKernel(InputError):
    """A source of device functions or of host code alone."""


def kernels_of(module: Module, language: str, files: Mapping[str, str] | None = None) -> list[Kernel]:
    """The kernels in the order of the source; ``files`` are those of static kernels, which several may have. Raises
    `InputError` for parameters that cannot be."""
    functions = [f for f in module.functions.values() if f.kernel]
    if not functions:
        raise NoKernel("the source has no kernel")
    if language == "opencl":
        return [_kernel(module, f, f.name, _opencl_parameters(module, f)) for f in functions]
    debug = DebugInformation(module)
    names = [debug.name(f) for f in functions]
    static = [(files or {}).get(f.name) if names.count(name) > 1 else None for f, name in zip(functions, names)]
    names = [f"{name} of {file}" if file else name for name, file in zip(names, static)]
    found = []
    for function, name in zip(functions, names):
        declared = [
            ("global" if p.pointer else "value", p.name, p.type, p.base, p.const) for p in debug.parameters(function)
        ]
        unique = name if names.count(name) == 1 else function.name  # overloads have their mangled names
        found.append(_kernel(module, function, unique, declared))
        found[-1].blocks = True
        if bound := re.fullmatch(r"launch_bounds:\(?(\d+)\)?", module.annotations.get(function.name, "")):
            found[-1].max_group = int(bound[1])
    return found


def _opencl_parameters(module: Module, function: Function) -> list[tuple[str, str, str, str, bool]]:
    columns = [
        module.strings(function.attached[f"kernel_arg_{what}"])
        for what in ("addr_space", "name", "type", "base_type", "type_qual")
    ]
    found = [
        (_SPACES.get(space, "value"), name, type_, base, "const" in qualifiers.split() or space == "2")
        for space, name, type_, base, qualifiers in zip(*columns, strict=True)
    ]
    for at, declared in enumerate(DebugInformation(module).parameters(function)):
        if declared.enumeration:  # the IR has its name alone
            kind, name, type_, _, const = found[at]
            found[at] = kind, name, type_, declared.base, const
    return found


def _kernel(module: Module, function: Function, name: str, declared: list[tuple[str, str, str, str, bool]]) -> Kernel:
    parameters, at = [], 0
    for text, (kind, own, type_, base, const) in zip(function.parameters, declared, strict=True):
        by_value = re.search(r"byval\((.*?)\)(?= |$)", text)
        if opaque := _OPAQUE.search(text):
            kind = opaque[1] or (type_.removesuffix("_t") if type_.endswith("_t") else opaque[2].lower())
            raise InputError(f"kernel '{name}': parameter '{own}' is of a kind that GPUs lack ({kind})")
        if kind != "value":
            size = alignment = 8
        elif by_value:
            stated = re.search(r"\balign (\d+)", text)
            size = module.layout.size(by_value[1])
            alignment = int(stated[1]) if stated else module.layout.alignment(by_value[1])
        else:
            ir_type = _type_of(text)
            size, alignment = module.layout.size(ir_type), module.layout.alignment(ir_type)
        at = -(-at // alignment) * alignment
        parameters.append(Parameter(own, kind, type_, base, const, at, size, alignment))
        at += size
    required = function.attached.get("reqd_work_group_size")
    block = -1
    if needs_block(module):
        block = -(-at // 8) * 8
        at = block + 8
    at = -(-at // 8) * 8
    if at > _MAX_ARGUMENTS:
        raise InputError(f"kernel '{name}' has {at} bytes of arguments, and a launch has room for {_MAX_ARGUMENTS}")
    return Kernel(
        name,
        function.name,
        symbol_of(name),
        parameters,
        at,
        required_group=[int(n) for n in module.strings(required)] if required else [],
        block=block,
    )


def _type_of(parameter: str) -> str:
    """The type that a parameter's text begins with."""
    text = re.sub(r" ?addrspace\(\d+\)", "", parameter)
    if text[0] in "<[{":
        depth = 0
        for i, c in enumerate(text):
            depth += (c in "<[{") - (c in ">]}")
            if not depth:
                return text[: i + 1] + "*" * (len(text[i + 1 :]) - len(text[i + 1 :].lstrip("*")))
    return text.split(" ")[0]


def place_locals(module: Module, kernels: list[Kernel]) -> dict[str, int]:
    """Addresses of the variables in the local data share. Variables lie behind each other where a kernel has both, by
    itself or by what it calls, and may overlap otherwise; those of more kernels come first. Arrays of dynamic size
    begin at one address for all kernels that have them, behind the variables of each. A kernel is charged what lies
    below the end of its variables, and below its arrays of dynamic size. Raises `InputError` if that is too much."""
    owned = {k.name: module.reach(k.function) & module.locals.keys() for k in kernels}
    users = {v: {name for name, variables in owned.items() if v in variables} for v in module.locals}
    static = [v for v in module.locals.values() if not v.dynamic and users[v.name]]
    ends: dict[str, int] = dict.fromkeys(owned, 0)
    addresses = {}
    for variable in sorted(static, key=lambda v: -len(users[v.name])):
        at = max(ends[name] for name in users[variable.name])
        at = -(-at // variable.alignment) * variable.alignment
        addresses[variable.name] = _LDS + at
        ends.update(dict.fromkeys(users[variable.name], at + variable.size))
    ends = {name: -(-end // 16) * 16 for name, end in ends.items()}
    for arrays, names in _dynamic_groups([v.name for v in module.locals.values() if v.dynamic], users):
        alignment = max(16, *(module.locals[array].alignment for array in arrays))
        at = -(-max(ends[name] for name in names) // alignment) * alignment
        addresses.update(dict.fromkeys(sorted(arrays), _LDS + at))
        ends.update(dict.fromkeys(names, at))
    for kernel in kernels:
        kernel.lds_bytes = ends[kernel.name]
        if kernel.lds_bytes > _LDS_BYTES:
            raise InputError(
                f"kernel '{kernel.name}' has {kernel.lds_bytes} bytes of __local variables, and a local data share has"
                f" {_LDS_BYTES}"
            )
    return addresses


def _dynamic_groups(arrays: list[str], users: Mapping[str, set[str]]) -> list[tuple[set[str], set[str]]]:
    """Arrays of dynamic size that begin at the same address, since a kernel has several of them, and their kernels."""
    groups: list[tuple[set[str], set[str]]] = []
    for array in arrays:
        together, names = {array}, set(users[array])
        for other in [g for g in groups if g[1] & names]:
            groups.remove(other)
            together |= other[0]
            names |= other[1]
        if names:
            groups.append((together, names))
    return groups


def entries(module: Module, kernels: list[Kernel]) -> str:
    """IR of the functions that lanes begin at. They never return, and their caller keeps nothing, so the back end saves
    no registers (see -enable-ipra)."""
    out, byte = [], pointer_to("i8")
    # With -O3 LLVM 19 would have the caller load arguments. This use of their address says that it may not.
    kept = ['  call void asm sideeffect "", "r"(ptr %args)'] if byte == "ptr" else []
    for i, kernel in enumerate(kernels):
        loads, arguments = [], []
        for n, (p, text) in enumerate(zip(kernel.parameters, module.functions[kernel.function].parameters)):
            by_value = re.search(r"byval\((.*?)\)(?= |$)", text)
            type_ = by_value[1] if by_value and p.kind == "value" else _type_of(text)
            loads += [
                f"  %b{n} = getelementptr i8, {byte} %args, i64 {p.offset}",
                f"  %p{n} = bitcast {byte} %b{n} to {pointer_to(type_)}",
            ]
            if by_value and p.kind == "value":
                arguments.append(f"{pointer_to(type_)} byval({type_}) align {p.alignment} %p{n}")
            else:
                loads.append(
                    f"  %a{n} = load {type_}, {pointer_to(type_)} %p{n}, align {p.alignment}, !invariant.load !{{}}"
                )
                extension = " ".join(re.findall(r"\b(?:sign|zero)ext\b", text))
                arguments.append(f"{type_} {extension} %a{n}")
        scope, location = _debug_scope(module, kernel.function, i)
        out += [
            *scope,
            f'define internal void @"{body_of(kernel)}"({byte} noalias readonly align 16 %args)'
            f" noinline noreturn norecurse nounwind{location} {{",
            *kept,
            *loads,
            f'  call void @"{kernel.function}"({", ".join(arguments)}){location and f", !dbg !{_DEBUG + 2 * i + 1}"}',
            '  call void asm sideeffect ".insn i 0x0b, 0, x0, x0, 0", "~{memory}"()',
            "  unreachable",
            "}",
            # Lanes begin at the body, with the address of the arguments in a0. What follows only tells the back end
            # that the body has a caller that keeps no registers; the linker leaves it out.
            f'module asm "\\09.globl \\22{body_of(kernel)}\\22"',
            f'define ghccc void @"{kernel.symbol}.caller"() noreturn nounwind {{',
            f'  %args = call {byte} asm "mv $0, zero", "=r"()',
            f'  notail call void @"{body_of(kernel)}"({byte} %args)',
            "  unreachable",
            "}",
        ]
    return "\n".join(out) + "\n"


def body_of(kernel: Kernel) -> str:
    """The function that a kernel's source becomes a part of."""
    return f"{kernel.symbol}.kernel"


def _debug_scope(module: Module, name: str, index: int) -> tuple[list[str], str]:
    """Metadata of a body, which has the lines of its kernel, and what its definition says of it."""
    own = module.functions[name].attached.get("dbg")
    described = module.metadata.get(own or "", "")
    line = re.search(r"\bline: (\d+)", described)
    if not line:
        return [], ""
    number = _DEBUG + 2 * index
    return [
        f"!{number} = distinct {described}",
        f"!{number + 1} = !DILocation(line: {line[1]}, column: 0, scope: !{number})",
    ], f" !dbg !{number}"


def descriptors(kernels: list[Kernel], addresses: dict[str, int]) -> str:
    """Assembly of the image's table and of the addresses of variables. Scratch bytes are known after linking."""
    out = []
    for name, address in addresses.items():
        out.append(f'.globl "{name}"\n.set "{name}", {address}')
    out += [".globl __has_variables", ".set __has_variables, 1", '.section .kernels, "a"']
    names, code = ['.section .rodata.names, "a"'], ['.section .text.entries, "ax"']
    for i, k in enumerate(kernels):
        entry, short = body_of(k), len(k.symbol) <= _SHORT_NAME
        if k.block >= 0:  # lanes begin with the address of the arguments in a0
            entry = f"{k.symbol}.entry"
            code += [
                f'.balign 4\n.type "{entry}", @function\n"{entry}":',
                f'ld tp, {k.block}(a0)\nj "{body_of(k)}"' if k.block < _IMMEDIATE else
                f'li t0, {k.block}\nadd t0, t0, a0\nld tp, 0(t0)\nj "{body_of(k)}"',
                f'.size "{entry}", . - "{entry}"',
            ]  # fmt: skip
        out.append(
            f".balign 8\n1: .4byte 0x4b505646, {k.argument_bytes | k.flags << 16}\n"
            f'.8byte "{entry}", 1b - 0x10000000\n.4byte {k.lds_bytes}, 0\n'
            + (f'2: .asciz "{k.symbol}"\n.zero 32 - (. - 2b)' if short else f".8byte 0, .Lname{i} - 0x10000000, 0, 0")
        )
        if not short:
            names.append(f'.Lname{i}: .asciz "{k.symbol}"')
    out += [*names, *code]
    return "\n".join(out) + "\n"
