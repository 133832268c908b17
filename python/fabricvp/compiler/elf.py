# SPDX-License-Identifier: Apache-2.0
"""As much of 64-bit ELF files as images of kernels need."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import InputError

_SYMTAB, _NOBITS = 2, 8
_OBJECT, _TLS = 1, 6


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


class Elf:
    """An ELF file in memory, which can be changed in place."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        table, entry, count, names = (struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58))
        rows = [struct.unpack_from("<IIQQQQII", data, table + entry * i) for i in range(count)]
        start = rows[names][4]
        self.sections = [Section(self._string(start + row[0]), row[1], row[3], row[4], row[5], row[6]) for row in rows]

    def _string(self, at: int) -> str:
        return bytes(self.data[at : self.data.index(0, at)]).decode("utf-8", "replace")

    def section(self, name: str) -> Section | None:
        """The section of a name."""
        return next((s for s in self.sections if s.name == name), None)

    def contents(self, section: Section) -> bytes:
        """Its bytes."""
        return b"" if section.kind == _NOBITS else bytes(self.data[section.offset : section.offset + section.size])

    def objects(self) -> dict[str, tuple[int, int]]:
        """Addresses and sizes of variables of the image, by name."""
        return self._symbols(_OBJECT)

    def at(self, address: int, size: int) -> slice:
        """Where bytes that lanes see at an address are in the file. Raises `InputError` if they are not."""
        for s in self.sections:
            if s.address and s.kind != _NOBITS and s.address <= address and address + size <= s.address + s.size:
                begin = s.offset + address - s.address
                return slice(begin, begin + size)
        raise InputError(f"the image has no {size} bytes at {address:#x}")

    def thread_variables(self) -> dict[str, tuple[int, int]]:
        """Offsets and sizes of variables behind the thread pointer, by name."""
        return self._symbols(_TLS)

    def _symbols(self, kind: int) -> dict[str, tuple[int, int]]:
        found = {}
        for table in (s for s in self.sections if s.kind == _SYMTAB):
            strings = self.sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24):
                name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                if info & 15 == kind and section:
                    found[self._string(strings + name)] = value, size
        return found

    def functions(self) -> dict[int, str]:
        """Names of functions that have code, by address."""
        found = {}
        for table in (s for s in self.sections if s.kind == _SYMTAB):
            strings = self.sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24):
                name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                if info & 15 == 2 and section and size:
                    found[value] = self._string(strings + name)
        return found
