# SPDX-License-Identifier: Apache-2.0
"""The locality table of all kernels of a source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..debug import DebugInformation, Member
from ..kernels import Kernel, kernels_of
from ..module import Function, Module
from .accesses import accesses_of
from .scev import FunctionFacts, optimized
from .table import Classified, table_of
from .values import Parameter


@dataclass(frozen=True)
class KernelLocality:
    """What a kernel does with its buffers: all accesses by parameter, and the dimensions of the grid that it uses.
    ``members`` are those of the structure of arguments of a kernel in C."""

    kernel: str
    accesses: dict[str, list[Classified]]
    dimensions: int
    members: list[Member] = field(default_factory=list)


def locality_of(ir: str, language: str) -> dict[str, KernelLocality]:
    """By kernel, from the text of the module that clang makes of a source in "opencl", "hip" or "cuda"."""
    kernels = kernels_of(Module(ir), language)
    changed, facts = optimized(ir)
    module = Module(changed)
    found = {}
    for kernel in kernels:
        function = module.functions[kernel.function]
        parameters, structures = _parameters(kernel, function)
        accesses = accesses_of(module, function, facts.get(kernel.function, FunctionFacts()), parameters, structures)
        found[kernel.name] = KernelLocality(kernel.name, table_of(accesses), accesses.dimensions)
    return found


def _parameters(kernel: Kernel, function: Function) -> tuple[dict[str, Parameter], dict[str, dict[int, Parameter]]]:
    parameters: dict[str, Parameter] = {}
    structures: dict[str, dict[int, Parameter]] = {}
    for declared, text in zip(kernel.parameters, function.parameters, strict=True):
        name = text.split(" ")[-1]
        if "byval(" in text and declared.kind == "value":
            structures[name] = {}
        else:
            parameters[name] = Parameter(declared.name, declared.kind in ("global", "constant"))
    return parameters, structures


def locality_of_c(ir: str) -> dict[str, KernelLocality]:
    """The same of a source in C with KERNEL() of `gpu.h`, whose parameters are members of a structure."""
    described = Module(ir)
    debug = DebugInformation(described)
    changed, facts = optimized(ir)
    module = Module(changed)
    found = {}
    for name, function in module.functions.items():
        kernel = re.fullmatch(r"(\w+)_entry", name)
        if not kernel or name not in facts:
            continue
        declared = debug.members(described.functions[name])
        members = {m.offset: Parameter(m.name, m.pointer) for m in declared}
        argument = function.parameters[0].split(" ")[-1]
        accesses = accesses_of(module, function, facts[name], {}, {argument: members})
        found[kernel[1]] = KernelLocality(kernel[1], table_of(accesses), accesses.dimensions, declared)
    return found
