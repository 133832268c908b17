# SPDX-License-Identifier: Apache-2.0
"""What classes of PCIe devices in Python declare: identity, BARs, vectors, parameters, statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from . import _fabricvp
from .errors import InputError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
#: Keys and blocks that every endpoint has.
_TAKEN = frozenset(
    "name below kind arbitration_weight link dma read_latency resizable_from completion_boundary ready_after_reset"
    " outbox service unsupported_requests configuration_retries poisoned surprise_removal insertion not_ready".split()
)
#: Numbers that say what a device is, and their bits.
_IDENTITY = {"vendor": 16, "device": 16, "class_code": 24, "revision": 8, "subsystem_vendor": 16, "subsystem": 16}
_MAX_VECTORS = 64
_MSIX_BYTES = 4096  # of the table with its pending bits


@dataclass(frozen=True)
class Bar:
    """A memory BAR of ``size`` bytes or text ("4 KiB"), a power of two. A ``wide`` one has 64 bits, and takes the next
    BAR's place."""

    size: int | str
    wide: bool = False
    prefetchable: bool = False


@dataclass(frozen=True)
class Declarations:
    """All of a class, checked, as `_fabricvp.add_endpoint_class()` takes them."""

    identity: list[int]
    bars: list[tuple[int, int, bool, bool]]  #: number, bytes, wide, prefetchable; that of MSI-X among them
    vectors: int
    msix_bar: int  #: number; 0 without vectors
    parameters: list[tuple[str, bool | int | float | str, str]]  #: name, default, help
    statistics: list[tuple[str, str, str]]  #: name, unit, help


def read_declarations(cls: Any, base: type) -> Declarations:
    """Those of a subclass of ``base``, which is `PcieDevice`. Raises `InputError` for what cannot be."""
    return _Reader(cls, base).read()


class _Reader:
    def __init__(self, cls: Any, base: type) -> None:
        self._cls, self._base = cls, base

    def read(self) -> Declarations:
        if not isinstance(self._cls.kind, str) or not _NAME.fullmatch(self._cls.kind):
            self._reject(f"kind = {self._cls.kind!r}: give small letters, digits and _, a letter first")
        identity = [self._number(key, (1 << bits) - 1, f"a number of {bits} bits") for key, bits in _IDENTITY.items()]
        vectors = self._number("vectors", _MAX_VECTORS, f"0 to {_MAX_VECTORS}")
        bars, used = self._bars()
        msix_bar = 0
        if vectors:
            free = [number for number in range(6) if number not in used]
            if not free:
                self._reject("bars: MSI-X needs one, and all are taken")
            msix_bar = free[-1]
            bars.append((msix_bar, _MSIX_BYTES, False, False))
        return Declarations(identity, bars, vectors, msix_bar, self._parameters(), self._statistics())

    def _reject(self, why: str) -> NoReturn:
        raise InputError(f"{self._cls.__module__}.{self._cls.__qualname__}: {why}")

    def _number(self, key: str, largest: int, allowed: str) -> int:
        value = getattr(self._cls, key)
        if not _is_number(value) or not 0 <= value <= largest:
            self._reject(f"{key} = {value!r}: {allowed}")
        return int(value)

    def _mapping(self, key: str, contents: str) -> dict[Any, Any]:
        value = getattr(self._cls, key)
        if not isinstance(value, Mapping):
            self._reject(f"{key} = {value!r}: a dictionary of {contents}")
        return dict(value)

    def _bars(self) -> tuple[list[tuple[int, int, bool, bool]], set[int]]:
        bars: list[tuple[int, int, bool, bool]] = []
        used: set[int] = set()
        for number, given in self._mapping("bars", "sizes by number").items():
            bar = given if isinstance(given, Bar) else Bar(given)
            for flag in ("wide", "prefetchable"):
                if not isinstance(getattr(bar, flag), bool):
                    self._reject(f"bars: {number}: {flag} = {getattr(bar, flag)!r}: True or False")
            size = self._size(number, bar.size)
            places = {number, number + 1} if bar.wide and _is_number(number) else {number}
            if not _is_number(number) or not places <= set(range(6)) or places & used:
                self._reject(f"bars: {number}: 0 to 5, each once; one of 64 bits takes the next one, too")
            if size < 16 or size & (size - 1) or size > (1 << 40 if bar.wide else 1 << 31):
                limit = "1 TiB" if bar.wide else "2 GiB"
                self._reject(f"bars: {number}: {size} bytes: a power of two from 16 to {limit}")
            used |= places
            bars.append((number, size, bar.wide, bar.prefetchable))
        return bars, used

    def _size(self, number: Any, given: Any) -> int:
        if isinstance(given, str):
            try:
                return _fabricvp.parse_bytes(given)
            except ValueError as why:
                self._reject(f"bars: {number}: {why}")
        if not _is_number(given):
            self._reject(f"bars: {number}: {given!r}: bytes, or text such as '4 KiB'")
        return int(given)

    def _parameters(self) -> list[tuple[str, bool | int | float | str, str]]:
        parameters = []
        for key, declared in self._mapping("parameters", "name: (default, help)").items():
            default, help_text = self._pair("parameters", key, declared, "(default, help)", "")
            self._check_key("parameters", key)
            self._check_text(f"parameters: {key}: help", help_text)
            if hasattr(self._base, key):
                self._reject(f"parameters: {key!r} is an attribute of every device")
            if isinstance(default, int) and not 0 <= default < 1 << 64:
                self._reject(f"parameters: {key}: {default} is not within 0 … 2^64 - 1")
            if not isinstance(default, (bool, int, float, str)):
                self._reject(f"parameters: {key}: a number, a truth value or text, not {type(default).__name__}")
            if isinstance(default, str):
                self._check_text(f"parameters: {key}", default)
            parameters.append((key, default, help_text))
        return parameters

    def _statistics(self) -> list[tuple[str, str, str]]:
        statistics = []
        for key, declared in self._mapping("statistics", "name: help, or name: (help, unit)").items():
            help_text, unit = self._pair("statistics", key, declared, "(help, unit)", "1")
            self._check_key("statistics", key)
            self._check_text(f"statistics: {key}: help", help_text)
            self._check_text(f"statistics: {key}: unit", unit)
            statistics.append((key, unit, help_text))
        return statistics

    def _pair(self, what: str, key: Any, declared: Any, form: str, otherwise: str) -> tuple[Any, Any]:
        if not isinstance(declared, tuple):
            return declared, otherwise
        if len(declared) != 2:
            self._reject(f"{what}: {key}: {declared!r}: must be {form}")
        return declared

    def _check_key(self, what: str, key: Any) -> None:
        if not isinstance(key, str) or not _NAME.fullmatch(key):
            self._reject(f"{what}: {key!r} is no name: give small letters, digits and _, a letter first")
        if key in _TAKEN:
            self._reject(f"{what}: every endpoint has {key!r} already")

    def _check_text(self, what: str, value: Any) -> None:
        if not isinstance(value, str):
            self._reject(f"{what}: {value!r}: must be text")
        try:
            value.encode()
        except UnicodeEncodeError:
            self._reject(f"{what}: {value!r}: holds half a surrogate pair")


def _is_number(value: Any) -> bool:
    """True and False are no numbers of BARs, vectors or devices."""
    return isinstance(value, int) and not isinstance(value, bool)
