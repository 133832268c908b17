# SPDX-License-Identifier: Apache-2.0
"""The record that an image carries of its kernels and variables: abi/program_record.h, which firmware reads, too."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..errors import InputError
from .block import Block, Variable
from .kernels import Kernel, Parameter

SECTION = ".fabricvp.program"
_MAGIC, _NONE, _BLOCKS = 0x31474F5250505646, 0xFFFFFFFF, 1
_HEADER = struct.Struct("<Q8I2Q4I")  # struct program_record
_KERNEL = struct.Struct("<18I")
_PARAMETER = struct.Struct("<6IBBH")
_VARIABLE = struct.Struct("<2I2Q2I")
_KINDS = ("value", "global", "constant", "local")  # enum program_parameter_kind


class _Texts:
    """Zero-terminated texts, each once."""

    def __init__(self, start: int) -> None:
        self.data, self._start, self._known = bytearray(), start, dict[str, int]()

    def at(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._start + len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._known[text]


def encode(kernels: Sequence[Kernel], block: Block | None) -> bytes:
    """The record of a program."""
    variables = list(block.variables.values()) if block else []
    parameters = [p for k in kernels for p in k.parameters]
    at_kernels = _HEADER.size
    at_variables = at_kernels + _KERNEL.size * len(kernels)
    at_shapes = at_variables + _VARIABLE.size * len(variables)
    at_parameters = at_shapes + 8 * sum(len(v.shape) for v in variables)
    texts = _Texts(at_parameters + _PARAMETER.size * len(parameters))
    body, shapes, first = bytearray(), bytearray(), 0
    for k in kernels:
        body += _KERNEL.pack(
            texts.at(k.name), texts.at(k.function), texts.at(k.symbol), _BLOCKS * k.blocks, first, len(k.parameters),
            k.argument_bytes, _place(k.block), k.lds_bytes, k.scratch_bytes, *(k.required_group or (0, 0, 0)),
            k.max_group, k.saved, k.spills, k.reloads, k.flags,
        )  # fmt: skip
        first += len(k.parameters)
    for v in variables:
        place = at_shapes + len(shapes)
        body += _VARIABLE.pack(texts.at(v.name), texts.at(v.dtype), v.offset, v.size, place, len(v.shape))
        shapes += struct.pack(f"<{len(v.shape)}Q", *v.shape)
    body += shapes
    for p in parameters:
        named = (texts.at(p.name), texts.at(p.type), texts.at(p.base))
        body += _PARAMETER.pack(*named, p.offset, p.size, p.alignment, _KINDS.index(p.kind), p.const, 0)
    own = block or Block(0, 0)
    head = _HEADER.pack(
        _MAGIC, _HEADER.size + len(body) + len(texts.data), len(kernels), len(parameters), len(variables), at_kernels,
        at_parameters, at_variables, 0, own.size, own.filled, *map(_place, (own.used, own.lost, own.output, own.heap)),
    )  # fmt: skip
    return head + bytes(body) + bytes(texts.data)


def decode(data: bytes) -> tuple[list[Kernel], Block | None]:
    """Kernels and block of a record. Raises `InputError` for what is none."""
    try:
        return _decode(data)
    except (struct.error, ValueError, IndexError):
        raise InputError("the file's record of kernels is malformed") from None


def _decode(data: bytes) -> tuple[list[Kernel], Block | None]:
    (magic, _, kernels, parameters, variables, at_kernels, at_parameters, at_variables, _, size, filled, *places) = (
        _HEADER.unpack_from(data)
    )
    if magic != _MAGIC:
        raise ValueError

    def text(at: int) -> str:
        return data[at : data.index(0, at)].decode("utf-8", "surrogateescape")

    known = []
    for n in range(parameters):
        *names, offset, bytes_, alignment, kind, const, _ = _PARAMETER.unpack_from(
            data, at_parameters + n * _PARAMETER.size
        )
        name, type_, base = map(text, names)
        known.append(Parameter(name, _KINDS[kind], type_, base, bool(const), offset, bytes_, alignment))
    found = []
    for n in range(kernels):
        (name, function, symbol, flags, first, count, arguments, place, lds, scratch, x, y, z, most, saved, spills,
         reloads, descriptor_flags) = _KERNEL.unpack_from(data, at_kernels + n * _KERNEL.size)  # fmt: skip
        found.append(
            Kernel(
                text(name),
                text(function),
                text(symbol),
                known[first : first + count],
                arguments,
                lds,
                [x, y, z] if x else [],
                scratch,
                bool(flags & _BLOCKS),
                most,
                descriptor_flags,
                block=_offset(place),
                saved=saved,
                spills=spills,
                reloads=reloads,
            )  # fmt: skip
        )
    if not size:
        return found, None
    block = Block(size, filled, {}, *map(_offset, places))
    for n in range(variables):
        name, element, offset, bytes_, shape, count = _VARIABLE.unpack_from(data, at_variables + n * _VARIABLE.size)
        sizes = struct.unpack_from(f"<{count}Q", data, shape)
        block.variables[text(name)] = Variable(text(name), offset, bytes_, text(element), sizes)
    return found, block


def _place(offset: int) -> int:
    return _NONE if offset < 0 else offset


def _offset(place: int) -> int:
    return -1 if place == _NONE else place
