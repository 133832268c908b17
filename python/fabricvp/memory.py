# SPDX-License-Identifier: Apache-2.0
"""Physical memory of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _fabricvp
from ._renamed import renamed_arguments
from .errors import AddressError

if TYPE_CHECKING:
    import numpy


class Memory:
    """Physical memory of a node as its bus decodes it, read and written without simulated time or side effects.

    ``memory[address]`` is one byte, ``memory[start:stop]`` bytes (a copy); both can be assigned to. Writes tell the
    harts, so that changed instructions are decoded anew and reservations are lost, as for any other writer.

    Two methods lead to numpy: `array()` gives a *copy* to keep; `view()` gives a read-only `memoryview` onto the bytes
    themselves, without a copy, whose contents change as the machine runs. Addresses beyond what is mapped raise
    `AddressError`.
    """

    def __init__(self, core: _fabricvp.Session, node: int) -> None:
        self._core, self._node = core, node

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address``."""
        _check(address, size)
        data = self._core.read_memory(self._node, address, size)
        if len(data) != size:
            raise AddressError(f"node {self._node}: nothing to read at {address + len(data):#x}")
        return data

    def write(self, address: int, data: Any) -> None:
        """Writes bytes, or any contiguous buffer such as a numpy array (its bytes in memory order)."""
        view = memoryview(data).cast("B") if not isinstance(data, bytes) else data
        _check(address, len(view))
        done = self._core.write_memory(self._node, address, view)
        if done != len(view):
            raise AddressError(f"node {self._node}: nothing to write at {address + done:#x}")

    def read_int(self, address: int, size: int = 8, signed: bool = False) -> int:
        """A little-endian integer of ``size`` bytes."""
        return int.from_bytes(self.read(address, size), "little", signed=signed)

    def write_int(self, address: int, value: int, size: int = 8) -> None:
        """Writes a little-endian integer of ``size`` bytes. Raises `OverflowError` if it does not fit."""
        self.write(address, int(value).to_bytes(size, "little", signed=value < 0))

    @renamed_arguments(most="max_bytes")
    def read_string(self, address: int, max_bytes: int = 4096) -> str:
        """Text up to a zero byte or ``max_bytes`` bytes."""
        data = b""
        while len(data) < max_bytes:
            chunk = self.read(address + len(data), min(64 - (address + len(data)) % 64, max_bytes - len(data)))
            head, zero, _ = chunk.partition(b"\0")
            data += head
            if zero:
                break
        return data.decode(errors="replace")

    def array(self, address: int, dtype: Any, count: int) -> numpy.ndarray:
        """A copy of ``count`` elements as a numpy array; `write()` puts it back."""
        import numpy

        dtype = numpy.dtype(dtype)
        return numpy.frombuffer(bytearray(self.read(address, dtype.itemsize * count)), dtype)

    def view(self, address: int, size: int) -> memoryview:
        """A read-only view onto ``size`` bytes of DRAM, without a copy: ``numpy.frombuffer(memory.view(a, n), "<u4")``.

        Writing goes through `write()`, because harts must learn of it. The range must lie inside one DRAM; devices
        raise `AddressError`. In a child process (`spawn()`, `fork()`) the parent gets a copy.
        """
        _check(address, size)
        view = self._core.view_memory(self._node, address, size)
        if view is None:
            raise AddressError(f"node {self._node}: {address:#x} … {address + size - 1:#x} is not inside one DRAM")
        return view

    def __getitem__(self, key: int | slice) -> int | bytes:
        if isinstance(key, slice):
            start, stop = _range(key)
            return self.read(start, stop - start)
        return self.read(key, 1)[0]

    def __setitem__(self, key: int | slice, value: Any) -> None:
        if isinstance(key, slice):
            start, stop = _range(key)
            data = memoryview(value).cast("B")
            if len(data) != stop - start:
                raise ValueError(f"{len(data)} bytes for a range of {stop - start}")
            self.write(start, data)
        else:
            self.write(key, bytes([value]))

    def __repr__(self) -> str:
        return f"<Memory of node {self._node}>"


def _check(address: int, size: int) -> None:
    if size < 0 or not 0 <= address < 1 << 64 or address + size > 1 << 64:
        raise AddressError(f"no such address range: {address:#x}, {size} bytes")


def _range(key: slice) -> tuple[int, int]:
    if key.start is None or key.stop is None or key.step not in (None, 1):
        raise AddressError("a slice of memory needs start and stop, and no step")
    if key.stop < key.start:
        raise AddressError(f"slice ends at {key.stop:#x}, before its start at {key.start:#x}")
    return key.start, key.stop
