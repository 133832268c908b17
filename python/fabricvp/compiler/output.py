# SPDX-License-Identifier: Apache-2.0
"""Calls of printf() in IR: each becomes a record in the program's buffer, which the host formats (`printed.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..errors import InputError
from .block import MAX_RECORD
from .layout import Layout, split_list
from .toolchain import pointer_to

_CALL = re.compile(
    r'^(?P<indent>\s*)(?:(?P<result>%(?:"[^"]*"|[\w.]+)) = )?(?:tail |notail )?call [^@]*@printf\((?P<rest>.*)$'
)
_ATTRIBUTES = re.compile(r"^ *(?:(?:noundef|signext|zeroext|nonnull|inreg|nocapture|readonly|align \d+) )*")
_HEAD = 24  # bytes of the record, format, types of arguments


class Printing:
    """Changes calls in the text of a module."""

    def __init__(self, layout: Layout, counts: bool, place: Callable[[str], str]) -> None:
        self._layout, self._counts = layout, counts  # whether printf() returns the number of arguments, as in CUDA
        self._place = place  # file and line of a reference to debug information
        self._calls = 0
        self._types: dict[str, str] = {}

    def changed(self, line: str) -> list[str]:
        """The line, or what a call of printf() becomes."""
        found = _CALL.match(line)
        if not found:
            return [line]
        inside, behind = _split_call(found["rest"])
        debug = re.search(r", !dbg !\d+", behind)
        suffix = debug[0] if debug else ""
        given = [_argument(text) for text in split_list(inside)]
        (_, text), arguments = given[0], given[1:]
        number, at = self._calls, _HEAD
        self._calls += 1
        kinds, stores = [], []
        for type_, value in arguments:
            kinds.append(self._kind(type_))
            stores.append((type_, value, at))
            at += -(-self._layout.size(type_) // 8) * 8
        if at > MAX_RECORD:
            raise InputError(f"a call of printf() has {at} bytes of arguments: at most {MAX_RECORD}")
        # Only of strings people are told where the call is.
        place = f"@{self._place(debug[0].removeprefix(', !dbg '))}" if debug and "p8" in kinds else ""
        types = self._constant(" ".join(kinds) + place)
        byte = pointer_to("i8")
        out = [f"%fvp{number} = call {byte} @fabricvp.reserve(i64 {at}){suffix}"]
        for i, (type_, value, offset) in enumerate([("i64", str(at), 0), (byte, text, 8), (byte, types, 16), *stores]):
            pointer = pointer_to(type_)
            out += [
                f"%fvp{number}.{i} = getelementptr i8, {byte} %fvp{number}, i64 {offset}{suffix}",
                f"%fvp{number}.{i}p = bitcast {byte} %fvp{number}.{i} to {pointer}{suffix}",
                f"store {type_} {value}, {pointer} %fvp{number}.{i}p, align 8{suffix}",
            ]
        if found["result"]:
            out.append(f"{found['result']} = add i32 {len(arguments) if self._counts else 0}, 0{suffix}")
        return [found["indent"] + row for row in out]

    def constants(self) -> list[str]:
        """IR of the texts that describe arguments."""
        return [
            f'@{name} = private unnamed_addr constant [{len(text.encode()) + 1} x i8] c"{_escaped(text)}\\00", align 1'
            for text, name in self._types.items()
        ]

    def _constant(self, text: str) -> str:
        name = self._types.setdefault(text, f"fabricvp.types.{len(self._types)}")
        size = len(text.encode()) + 1
        return f"getelementptr inbounds ([{size} x i8], {pointer_to(f'[{size} x i8]')} @{name}, i64 0, i64 0)"

    def _kind(self, type_: str) -> str:
        """A character, bytes, and the length of a vector: "i4", "f8", "f4x3", "p8"."""
        if type_.endswith("*") or type_ == "ptr":
            return "p8"
        if vector := re.fullmatch(r"<(\d+) x (\w+)>", type_):
            return f"{self._kind(vector[2])}x{vector[1]}"
        if whole := re.fullmatch(r"i(\d+)", type_):
            return f"i{max(1, int(whole[1]) // 8)}"
        if type_ in ("half", "float", "double"):
            return f"f{self._layout.size(type_)}"
        raise InputError(f"printf() cannot print a value of type {type_}")


def _escaped(text: str) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())


def _split_call(rest: str) -> tuple[str, str]:
    """The arguments of a call, and what stands behind them."""
    depth, quoted = 1, False
    for i, c in enumerate(rest):
        quoted ^= c == '"'
        if not quoted:
            depth += (c == "(") - (c == ")")
            if not depth:
                return rest[:i], rest[i + 1 :]
    return rest, ""


def _argument(text: str) -> tuple[str, str]:
    """Type and value."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "<[{(") - (c in ">]})")
        if c == " " and not depth:
            return text[:i], _ATTRIBUTES.sub("", text[i:])
    return text, ""
