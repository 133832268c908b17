# SPDX-License-Identifier: Apache-2.0
"""Disks of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .errors import AddressError, InputError

if TYPE_CHECKING:
    from .node import Node


class Disk:
    """A disk's bytes as the node's software has them, read and written without simulated time.

    Software that runs meanwhile may hold blocks in its caches: Linux drops them when the last one closes the disk.
    """

    def __init__(self, node: Node, index: int, name: str, size: int) -> None:
        self._core, self._node, self._index = node._core, node.index, index
        self.name = name
        self.size = size  #: in bytes

    def read(self, offset: int, size: int) -> bytes:
        """``size`` bytes from ``offset``. Raises `AddressError` beyond the disk's end, `InputError` if the file behind
        it cannot be read."""
        self._check(offset, size)
        data = _fabricvp.read_disk(self._core, self._node, self._index, offset, size)
        if data is None:
            raise InputError(f"disk '{self.name}': its image cannot be read")
        return data

    def write(self, offset: int, data: Any) -> None:
        """Writes bytes, or any contiguous buffer. A disk in mode `writable` writes them into its file. Raises as
        `read()`, and `InputError` for a disk in mode `read_only` with an image."""
        view = memoryview(data).cast("B")
        self._check(offset, len(view))
        if not _fabricvp.write_disk(self._core, self._node, self._index, offset, view):
            raise InputError(f"disk '{self.name}': its image cannot be written to")

    def _check(self, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > self.size:
            raise AddressError(f"disk '{self.name}' has {self.size} bytes: not {size} from {offset} on")

    def __repr__(self) -> str:
        return f"<Disk {self.name}, {self.size} bytes>"
