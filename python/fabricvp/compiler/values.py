# SPDX-License-Identifier: Apache-2.0
"""Values of parameters as bytes, and what arrays may stand for a pointer."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..byte_order import require_little_endian
from .kernels import Parameter

#: Types of OpenCL C as numpy names them.
SCALARS = {
    "char": "i1",
    "signed char": "i1",
    "uchar": "u1",
    "unsigned char": "u1",
    "short": "<i2",
    "ushort": "<u2",
    "unsigned short": "<u2",
    "int": "<i4",
    "uint": "<u4",
    "unsigned int": "<u4",
    "long": "<i8",
    "ulong": "<u8",
    "unsigned long": "<u8",
    "long int": "<i8",
    "long unsigned int": "<u8",
    "long long": "<i8",
    "unsigned long long": "<u8",
    "bool": "u1",
    "char8_t": "u1",
    "char16_t": "<u2",
    "char32_t": "<u4",
    "wchar_t": "<i4",
    "half": "<f2",
    "__half": "<f2",
    "float": "<f4",
    "double": "<f8",
}
_VECTOR = re.compile(r"(.*?) __attribute__\(\(ext_vector_type\((\d+)\)\)\)")
_SHORT_VECTOR = re.compile(r"(u?(?:char|short|int|long)|float|double|half|__half)(2|3|4|8|16)")


@dataclass(frozen=True)
class Local:
    """Bytes of local data share, for a `__local` pointer."""

    size: int


def local(size: int) -> Local:
    """For a `__local` pointer: so many bytes of each work-group's local data share. Raises `ValueError` below 1."""
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"local({size!r}): a number of bytes, 1 or more")
    return Local(size)


def element(type_: str) -> tuple[str, int] | None:
    """numpy's name of a scalar, and how many of them make the type; None for structs and others."""
    plain = type_.removeprefix("const ").removeprefix("volatile ")
    found = _VECTOR.fullmatch(plain) or _SHORT_VECTOR.fullmatch(plain)
    scalar = SCALARS.get(found[1] if found else plain)
    return None if scalar is None else (scalar, int(found[2]) if found else 1)


def pack(p: Parameter, value: Any) -> bytes:
    """The bytes of a parameter that is passed by value. Raises `TypeError` and `ValueError`."""
    import numpy

    kind = element(p.base)
    if kind is None:
        if isinstance(value, (ctypes.Structure, ctypes.Union)) or (
            isinstance(value, (numpy.void, numpy.ndarray)) and value.shape == ()
        ):
            require_little_endian(value)
            data = bytes(value) if isinstance(value, (ctypes.Structure, ctypes.Union)) else value.tobytes()
            if len(data) != p.size:
                raise ValueError(f"{len(data)} bytes for a {p.type} of {p.size} bytes")
            return data
        raise TypeError(f"a record of numpy or a ctypes structure of {p.size} bytes, not {type(value).__name__}")
    scalar, count = kind
    if count == 1:
        return _scalar(scalar, value, p.type)
    if isinstance(value, (str, bytes)) or not (isinstance(value, (Sequence, numpy.ndarray)) and len(value) == count):
        raise TypeError(f"{count} numbers for a {p.type}, not {_described(value)}")
    return b"".join(_scalar(scalar, item, p.type) for item in value).ljust(p.size, b"\0")


def _scalar(scalar: str, value: Any, type_: str) -> bytes:
    import numpy

    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, numpy.ndarray) and value.shape == ():
        value = value[()]
    if not isinstance(value, (bool, int, float, numpy.number, numpy.bool_)) or isinstance(value, numpy.complexfloating):
        raise TypeError(f"a number for a {type_}, not {_described(value)}")
    target = numpy.dtype(scalar)
    if target.kind == "f":
        return bytes(numpy.array(value).astype(target).tobytes())
    whole = int(value)
    if whole != value:
        raise TypeError(f"a whole number for a {type_}, not {value}")
    limits = numpy.iinfo(target)
    if not limits.min <= whole <= limits.max:
        raise ValueError(f"{whole} does not fit a {type_} ({limits.min} to {limits.max})")
    return whole.to_bytes(target.itemsize, "little", signed=limits.min < 0)


def check_array(p: Parameter, array: Any) -> None:
    """Raises `TypeError` where an array's elements are not what a pointer points to, or big-endian. Bytes stand for
    anything."""
    require_little_endian(array)
    pointee = p.base.rstrip("*").strip() if p.base.endswith("*") and not p.base.endswith("**") else None
    kind = element(pointee) if pointee else None
    dtype = array.dtype
    if kind is None or dtype.kind in "VSU" or dtype.itemsize == 1:
        return
    import numpy

    wanted = numpy.dtype(kind[0])
    families = {"i": "i", "u": "i", "b": "i", "f": "f"}
    if dtype.itemsize != wanted.itemsize or families.get(dtype.kind) != families[wanted.kind]:
        raise TypeError(f"an array of {wanted.name} for a {p.type}, not of {dtype.name}")


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(value, (list, tuple)):
        return f"{len(value)}"
    return f"{type(value).__name__} of shape {shape}" if shape else type(value).__name__
