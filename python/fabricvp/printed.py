# SPDX-License-Identifier: Apache-2.0
"""What kernels have printed: records that `compiler/output.py` has their calls of printf() make, as text."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from .compiler.block import MAX_RECORD, OUTPUT_BYTES, Block
from .compiler.elf import Elf

_SPEC = re.compile(
    rb"%(?P<flags>[-+ #0']*)(?P<width>\d+|\*)?(?:\.(?P<precision>\d*|\*))?(?:v(?P<vector>2|3|4|8|16))?"
    rb"(?P<length>hh|hl|h|ll|l|j|z|t|L)?(?P<kind>[a-zA-Z%])"
)
_KINDS = b"diouxXeEfFgGaAcsp"
_HEAD = 24
#: Columns and digits that a conversion can ask for, as in programs for harts (firmware/runtime/output.c).
_MAX_COLUMNS = 512
#: Bytes of a launch's text, and of one string in it: a short record can ask for much of both.
_MAX_TEXT, _MAX_STRING = 16 << 20, 64 << 10
MARK = "\x02"  # begins the text of assert()


class Printed:
    """Reads records of an image's kernels."""

    def __init__(self, elf: Elf, block: Block) -> None:
        self._elf, self._block = elf, block
        self.unknown: list[str] = []  # calls that were given strings from elsewhere
        self._cut = 0  # calls whose text was too much for a launch

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
        lines += [f"fabricvp: the buffer of printf() is full: {lost} calls are missing"] * (lost > 0)
        room = f"a launch prints {_MAX_TEXT >> 20} MiB at most"
        return lines + [f"fabricvp: {room}: {self._cut} calls are missing"] * (self._cut > 0)

    def _texts(self, data: bytes) -> Iterator[str]:
        at, room = 0, _MAX_TEXT
        while at + _HEAD <= len(data):
            size, text, types = struct.unpack_from("<QQQ", data, at)
            if size % 8 or not _HEAD <= size <= MAX_RECORD or at + size > len(data):
                return  # a kernel that went wrong has left a hole, or the last does not fit
            kinds = self._string(types)
            if kinds is None:
                return
            types, _, place = kinds.decode("utf-8", "replace").partition("@")
            shown = self._formatted(self._string(text), types, data[at + _HEAD : at + size], place) if room else ""
            room = room - len(shown) if len(shown) <= room else 0
            if room:
                yield shown
            else:
                self._cut += 1
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
                None if part is None else _bounded(str(next(values, (0,))[0]) if part == b"*" else part.decode())
                for part in (found["width"], found["precision"])
            )
            given = next(values, None)
            if given is None or found["kind"] not in _KINDS:
                return found[0]
            if found["kind"] == b"s" and self._string(int(given[0])) is None and place not in self.unknown:
                self.unknown.append(place)
            shown = [self._shown(found, width, precision, v) for v in given[: int(found["vector"] or 1)]]
            return ",".join(shown).encode("utf-8", "surrogateescape")

        return _SPEC.sub(spec, text).decode("utf-8", "backslashreplace")

    def _shown(self, found: re.Match[bytes], width: str | None, precision: str | None, value: Any) -> str:
        flags, kind, length = ((found[part] or b"").decode() for part in ("flags", "kind", "length"))
        flags = flags.replace("'", "")  # groups digits, and C's locale has no groups
        if width and width.startswith("-"):
            flags, width = flags + "-", width[1:]
        end = "" if precision is None or precision.startswith("-") else f".{precision or 0}"
        if kind == "s":
            string = self._string(int(value))
            value = "(not a literal)" if string is None else string[:_MAX_STRING].decode("utf-8", "surrogateescape")
            return str(f"%{flags}{width or ''}{end}s" % value)
        if kind == "p":
            return f"%{flags}{width or ''}s" % f"{int(value) & (1 << 64) - 1:#x}"
        if kind == "c":
            return f"%{flags}{width or ''}c" % (int(value) & 255)
        if kind in "diouxX":
            return _whole(flags, width, end, kind, int(value), _BITS.get(length, 32))
        number = float(value)
        if kind in "aA":
            text = _hexadecimal(flags, int(width or 0), int(end[1:]) if end else None, number)
            return text.upper() if kind == "A" else text
        if number != number or number in (float("inf"), float("-inf")):
            flags = flags.replace("0", "")
        return f"%{flags}{width or ''}{end}{kind}" % number


def _bounded(number: str) -> str:
    """A width or precision, which may have any number of digits."""
    sign, digits = number[: number.startswith("-")], number.lstrip("-0")
    return sign + str(min(int(digits[:4] or 0), _MAX_COLUMNS))


def _hexadecimal(flags: str, width: int, precision: int | None, number: float) -> str:
    sign = "-" if math.copysign(1, number) < 0 else "+" if "+" in flags else " " if " " in flags else ""
    text, zeros = "", "0" in flags and "-" not in flags
    if math.isfinite(number):
        digits, exponent = abs(number).hex()[2:].split("p")
        whole, digits = digits.split(".")
        digits = digits.ljust(13, "0")  # zero has one
        if precision is None:
            digits = digits.rstrip("0")
        elif precision < 13:
            rounded = round(int(whole + digits, 16) / (1 << 4 * (13 - precision)))  # exact; halves go to even
            whole, digits = f"{rounded >> 4 * precision:x}", f"{rounded:x}".zfill(precision)[-precision or 99 :]
        text = f"{whole}{'.' if digits or '#' in flags else ''}{digits.ljust(precision or 0, '0')}p{exponent}"
        if zeros:
            text = text.rjust(width - len(sign) - 2, "0")
        text = f"{sign}0x{text}"
    else:
        text = "nan" if number != number else f"{sign}inf"
    return text.ljust(width) if "-" in flags else text.rjust(width)


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
