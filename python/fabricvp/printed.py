# SPDX-License-Identifier: Apache-2.0
"""What kernels have printed: records that `compiler/output.py` has their calls of printf() make, as text."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from .compiler.block import MAX_RECORD, OUTPUT_BYTES, Block
from .compiler.elf import Elf

_SPEC = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\d+|\*)?(?:\.(?P<precision>\d*|\*))?(?:v(?P<vector>2|3|4|8|16))?"
    rb"(?P<length>hh|hl|h|ll|l|j|z|t|L)?(?P<kind>[diouxXeEfFgGaAcsp%])"
)
_HEAD = 24
MARK = "\x02"  # begins the text of assert()


class Printed:
    """Reads records of an image's kernels."""

    def __init__(self, elf: Elf, block: Block) -> None:
        self._elf, self._block = elf, block
        self.unknown: list[str] = []  # calls that were given strings from elsewhere

    def take(
        self, read: Callable[[int, int], bytes], write: Callable[[int, bytes], None]
    ) -> tuple[str, list[str], int]:
        """Text, texts of assertions, and the number of calls whose text is lost; the buffer is empty then. ``read``
        and ``write`` access the block by offset."""
        block = self._block
        used, lost = (int.from_bytes(read(at, 8), "little") for at in (block.used, block.lost))
        if not used:
            return "", [], 0
        texts = [*self._texts(read(block.output, min(used, OUTPUT_BYTES)))]
        write(block.used, bytes(8))
        write(block.lost, bytes(8))
        failed = [text[1:].rstrip("\n") for text in texts if text.startswith(MARK)]
        return "".join(text for text in texts if not text.startswith(MARK)), failed, lost

    def complaints(self, lost: int) -> list[str]:
        """Lines about what `take()` could not show."""
        lines = [
            f"fabricvp: {place}: printf(): %s takes strings of the program, and this one is none"
            for place in self.unknown
        ]
        return lines + [f"fabricvp: the buffer of printf() is full: {lost} calls are missing"] * (lost > 0)

    def _texts(self, data: bytes) -> Iterator[str]:
        at = 0
        while at + _HEAD <= len(data):
            size, text, types = struct.unpack_from("<QQQ", data, at)
            if size % 8 or not _HEAD <= size <= MAX_RECORD or at + size > len(data):
                return  # a kernel that went wrong has left a hole, or the last does not fit
            kinds = self._string(types)
            if kinds is None:
                return
            types, _, place = kinds.decode("utf-8", "replace").partition("@")
            yield self._formatted(self._string(text), types, data[at + _HEAD : at + size], place)
            at += size

    def _string(self, address: int) -> bytes | None:
        """Of the image; None if it is elsewhere."""
        for section in self._elf.sections:
            if section.name == ".rodata" and section.address <= address < section.address + section.size:
                contents = self._elf.contents(section)[address - section.address :]
                return contents[: contents.find(b"\0")]
        return None

    def _formatted(self, text: bytes | None, kinds: str, data: bytes, place: str) -> str:
        if text is None:
            return "(the format of printf() is no literal)\n"
        values = iter(_values(kinds, data))

        def spec(found: re.Match[bytes]) -> bytes:
            if found["kind"] == b"%":
                return b"%"
            width, precision = (
                str(next(values, (0,))[0]) if part == b"*" else None if part is None else part.decode()
                for part in (found["width"], found["precision"])
            )
            given = next(values, None)
            if given is None:
                return found[0]
            if found["kind"] == b"s" and self._string(int(given[0])) is None and place not in self.unknown:
                self.unknown.append(place)
            shown = [self._shown(found, width, precision, v) for v in given[: int(found["vector"] or 1)]]
            return ",".join(shown).encode("utf-8", "surrogateescape")

        return _SPEC.sub(spec, text).decode("utf-8", "backslashreplace")

    def _shown(self, found: re.Match[bytes], width: str | None, precision: str | None, value: Any) -> str:
        flags, kind, length = found["flags"].decode(), found["kind"].decode(), (found["length"] or b"").decode()
        if width and width.startswith("-"):
            flags, width = flags + "-", width[1:]
        end = "" if precision is None or precision.startswith("-") else f".{precision or 0}"
        if kind == "s":
            string = self._string(int(value))
            value = "(not a literal)" if string is None else string.decode("utf-8", "surrogateescape")
            return str(f"%{flags}{width or ''}{end}s" % value)
        if kind == "p":
            return f"%{flags}{width or ''}s" % f"{int(value) & (1 << 64) - 1:#x}"
        if kind == "c":
            return f"%{flags}{width or ''}c" % (int(value) & 255)
        if kind in "diouxX":
            return _whole(flags, width, end, kind, int(value), _BITS.get(length, 32))
        number = float(value)
        if kind in "aA":
            text = re.sub(r"\.?0+p", "p", number.hex())
            return f"%{flags.replace('0', '')}{width or ''}s" % (text.upper() if kind == "A" else text)
        if number != number or number in (float("inf"), float("-inf")):
            flags = flags.replace("0", "")
        return f"%{flags}{width or ''}{end}{kind}" % number


_BITS = {"hh": 8, "h": 16, "hl": 32, "": 32, "l": 64, "ll": 64, "j": 64, "z": 64, "t": 64}


def _whole(flags: str, width: str | None, end: str, kind: str, value: int, bits: int) -> str:
    value &= (1 << bits) - 1
    if kind in "di" and value >> bits - 1:
        value -= 1 << bits
    if kind == "u":
        kind = "d"
    if end:
        flags = flags.replace("0", "")
    if kind in "xX" and "#" in flags and not value:
        flags = flags.replace("#", "")
    if kind == "o" and "#" in flags:
        return f"%{flags.replace('#', '')}{width or ''}s" % (f"0{value:o}" if value else "0")
    return f"%{flags}{width or ''}{end}{kind}" % value


def _values(kinds: str, data: bytes) -> Iterator[tuple[Any, ...]]:
    """Arguments as tuples, of which vectors have several."""
    at = 0
    for kind in kinds.split():
        letter, size, count = re.fullmatch(r"([ifp])(\d+)(?:x(\d+))?", kind).groups()  # type: ignore[union-attr]
        width, length = int(size), int(count or 1)
        code = {"f2": "e", "f4": "f", "f8": "d"}.get(f"{letter}{size}") or {1: "b", 2: "h", 4: "i", 8: "q"}[width]
        yield struct.unpack_from(f"<{length}{code}", data, at)
        rounded = 1 << (width * length - 1).bit_length()
        at += -(-rounded // 8) * 8
