# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernels as their source has them, from debug information: IR of C++ has no names and no constness."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .layout import split_list
from .module import Function, Module

_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|!\d+|[\w|.]+)')
_QUALIFIERS = (
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_typedef",
    "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
)


@dataclass(frozen=True)
class Declared:
    """A parameter: its name, type as text, the same without typedefs and with integers for enumerations, whether it is
    a pointer, and to const, and whether it is, or points to, an enumeration."""

    name: str
    type: str
    base: str
    pointer: bool
    const: bool
    enumeration: bool


@dataclass(frozen=True)
class Member:
    """A member of a structure: its offset, its name, with a dot where it is in a structure inside, whether it is a
    pointer, and the bytes of an integer, 0 for others."""

    offset: int
    name: str
    pointer: bool
    integer: int


class DebugInformation:
    """What the metadata of a module tell of its source."""

    def __init__(self, module: Module) -> None:
        self._metadata = module.metadata

    def _fields(self, reference: str) -> dict[str, str]:
        return {name: value.strip('"') for name, value in _FIELD.findall(self._metadata.get(reference, ""))}

    def name(self, function: Function) -> str:
        """The name in the source, with its template arguments ("axpy<float>")."""
        return self._fields(function.attached.get("dbg", "")).get("name", function.name)

    def parameters(self, function: Function) -> list[Declared]:
        """In order."""
        own = self._fields(function.attached.get("dbg", ""))
        types = split_list(self._metadata.get(self._fields(own.get("type", "")).get("types", ""), "!{}")[2:-1])[1:]
        names = {}
        for node in split_list(self._metadata.get(own.get("retainedNodes", ""), "!{}")[2:-1]):
            fields = self._fields(node)
            if "arg" in fields:
                names[int(fields["arg"])] = fields.get("name", "")
        return [self._declared(names.get(i, f"argument{i}"), type_) for i, type_ in enumerate(types, 1)]

    def members(self, function: Function) -> list[Member]:
        """Those of the structure that the first parameter points to."""
        own = self._fields(function.attached.get("dbg", ""))
        types = split_list(self._metadata.get(self._fields(own.get("type", "")).get("types", ""), "!{}")[2:-1])[1:]
        pointer, _ = self._plain(types[0]) if types else ("", False)
        return self._members(self._fields(pointer).get("baseType", ""), 0, "")

    def _members(self, reference: str, at: int, prefix: str) -> list[Member]:
        plain, _ = self._plain(reference)
        found = []
        for node in split_list(self._metadata.get(self._fields(plain).get("elements", ""), "!{}")[2:-1]):
            fields = self._fields(node)
            inner, _ = self._plain(fields.get("baseType", ""))
            name, offset = prefix + fields.get("name", ""), at + int(fields.get("offset", "0")) // 8
            tag = self._fields(inner).get("tag")
            if tag == "DW_TAG_structure_type":
                found += self._members(inner, offset, f"{name}.")
            elif fields.get("tag") == "DW_TAG_member":
                integer = "signed" in self._fields(inner).get("encoding", "")
                size = int(self._fields(inner).get("size", "0")) // 8 if integer else 0
                found.append(Member(offset, name, tag == "DW_TAG_pointer_type", size))
        return found

    def variable(self, reference: str) -> tuple[str, str]:
        """Name and type of what `!dbg` of a global variable is attached to."""
        fields = self._fields(self._fields(reference).get("var", ""))
        return fields.get("name", ""), fields.get("type", "")

    def array(self, type_: str) -> tuple[str, tuple[int, ...]]:
        """The name of the elements of a type, and its lengths; () for a single value."""
        plain, _ = self._plain(type_)
        fields = self._fields(plain)
        if fields.get("tag") != "DW_TAG_array_type":
            return self._base(plain), ()
        ranges = split_list(self._metadata.get(fields.get("elements", ""), "!{}")[2:-1])
        lengths = tuple(int(self._fields(r).get("count", "0")) for r in ranges)
        base, inner = self.array(fields.get("baseType", ""))
        return base, (*lengths, *inner)

    def _declared(self, name: str, reference: str) -> Declared:
        inner, _ = self._plain(reference)
        fields = self._fields(inner)
        if fields.get("tag") not in ("DW_TAG_pointer_type", "DW_TAG_reference_type"):
            type_, enumeration = self._named(reference), self._is_enumeration(inner)
            return Declared(name, type_, self._base(inner), False, False, enumeration)
        pointee = fields.get("baseType", "")
        plain, const = self._plain(pointee)
        type_, enumeration = f"{self._named(pointee)}*", self._is_enumeration(plain)
        return Declared(name, type_, f"{self._base(plain)}*", True, const, enumeration)

    def _is_enumeration(self, plain: str) -> bool:
        return self._fields(plain).get("tag") == "DW_TAG_enumeration_type"

    def _base(self, plain: str) -> str:
        """The name of a type behind typedefs, of an enumeration that of its integers."""
        if not self._is_enumeration(plain):
            return self._named(plain)
        return self._named(self._plain(self._fields(plain).get("baseType", ""))[0])

    def _plain(self, reference: str) -> tuple[str, bool]:
        """The type behind typedefs and qualifiers, and whether const is among them."""
        const = False
        while (fields := self._fields(reference)).get("tag") in _QUALIFIERS:
            const |= fields["tag"] == "DW_TAG_const_type"
            reference = fields.get("baseType", "")
        return reference, const

    def _named(self, reference: str) -> str:
        fields = self._fields(reference)
        if "name" in fields:
            return fields["name"]
        if "baseType" in fields:
            star = "*" if fields.get("tag") == "DW_TAG_pointer_type" else ""
            const = "const " if fields.get("tag") == "DW_TAG_const_type" else ""
            return f"{const}{self._named(fields['baseType'])}{star}"
        return "void"
