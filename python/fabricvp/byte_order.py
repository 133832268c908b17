# SPDX-License-Identifier: Apache-2.0
"""Numbers of the other byte order, which simulated machines would misread: bytes of all of them are little-endian."""

from __future__ import annotations

import ctypes
from typing import Any


def require_little_endian(value: Any) -> None:
    """Raises `TypeError` if the bytes of an array, a record or a scalar of numpy, or of a value of ctypes, hold
    big-endian numbers, also in a field."""
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
        if _is_swapped(type(value)):
            raise TypeError(f"{type(value).__name__} is big-endian, and kernels read little-endian numbers")
    elif hasattr(value, "dtype") and not _is_native(value.dtype):
        raise TypeError(
            f"numbers of type {value.dtype} are big-endian, and kernels read little-endian ones:"
            " .astype(dtype.newbyteorder('<')) converts them"
        )


def _is_native(dtype: Any) -> bool:
    if dtype.fields is not None:
        return all(_is_native(field[0]) for field in dtype.fields.values())
    return bool(dtype.isnative) if dtype.subdtype is None else _is_native(dtype.base)


def _is_swapped(type_: Any) -> bool:
    if issubclass(type_, ctypes.Array):
        return _is_swapped(type_._type_)
    if issubclass(type_, (ctypes.Structure, ctypes.Union)):
        fields = (field[1] for kind in type_.__mro__ for field in vars(kind).get("_fields_", ()))
        return hasattr(type_, "_swappedbytes_") or any(map(_is_swapped, fields))
    return getattr(type_, "__ctype_le__", type_) is not type_
