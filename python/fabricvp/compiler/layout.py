# SPDX-License-Identifier: Apache-2.0
"""Sizes and alignments of LLVM types as text, by the rules of RV64 (the same for spir64)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import InputError

_SIMPLE = {"half": 2, "float": 4, "double": 8, "ptr": 8}


def split_list(text: str) -> list[str]:
    """Parts of a list at the commas outside of brackets."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


class Layout:
    """Sizes of types, given the module's named ones ("%struct.S" → its definition)."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self._named = named

    def size(self, type_: str) -> int:
        """Bytes of an element of an array of the type."""
        return self._measure(type_)[0]

    def alignment(self, type_: str) -> int:
        """Its natural alignment."""
        return self._measure(type_)[1]

    def _measure(self, type_: str) -> tuple[int, int]:
        t = type_.strip()
        if t.endswith("*"):
            return 8, 8
        if t in _SIMPLE:
            return _SIMPLE[t], _SIMPLE[t]
        if whole := re.fullmatch(r"i(\d+)", t):
            size = 1 << max(0, (int(whole[1]) + 7) // 8 - 1).bit_length()
            return size, size
        if t in self._named:
            return self._measure(self._named[t])
        if t.startswith("<{"):
            return sum(self.size(part) for part in split_list(t[2:-2])), 1
        if t.startswith("{"):
            return self._structure(split_list(t[1:-1]))
        if found := re.fullmatch(r"\[(\d+) x (.*)\]", t):
            size, alignment = self._measure(found[2])
            return int(found[1]) * size, alignment
        if found := re.fullmatch(r"<(\d+) x (.*)>", t):
            size = 1 << (int(found[1]) * self.size(found[2]) - 1).bit_length()
            return size, size
        raise InputError(f"no layout is known of the type '{t}'")

    def _structure(self, parts: list[str]) -> tuple[int, int]:
        at, most = 0, 1
        for part in parts:
            size, alignment = self._measure(part)
            at = -(-at // alignment) * alignment + size
            most = max(most, alignment)
        return -(-at // most) * most, most
