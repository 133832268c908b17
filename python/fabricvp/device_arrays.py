# SPDX-License-Identifier: Apache-2.0
"""Arrays that stay in a GPU's memory between launches.

x = gpu.array(numpy.arange(1000, dtype="f4"))
program["scale"](1000, 64, x, 2.0)
program["scale"](1000, 64, x, 3.0)
print(x.get()[:3])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .errors import InputError

if TYPE_CHECKING:
    import numpy

    from .gpu import Gpu
    from .node import Node

_SPACE = 0  # of queues of applications
SPREAD = 0  #: place of an array that a launch on all GPUs deals out: KERNEL_JOB_PLACE_OWN (abi/kernel_job.h)


class DeviceArray:
    """An array in the memory of one GPU, or spread over all of a node, for kernels that are launched from Python. Its
    memory is allocated and filled by the first launch that has it, and is not given back while the node runs."""

    def __init__(self, gpu: Gpu, dtype: Any, shape: tuple[int, ...], handle: int) -> None:
        import numpy

        self._gpu, self.handle = gpu, handle
        self.dtype: numpy.dtype[Any] = numpy.dtype(dtype)
        self.shape = shape

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * self.dtype.itemsize

    def get(self) -> numpy.ndarray:
        """A copy of what kernels have written so far, without simulated time. Raises `InputError` if the node was reset
        since."""
        import numpy

        data = self._gpu._read_array(self.handle, 0, self.nbytes)
        return numpy.frombuffer(bytearray(data), self.dtype).reshape(self.shape)

    def set(self, values: Any) -> None:
        """New contents, without simulated time. Raises `ValueError` for another shape."""
        import numpy

        values = numpy.asarray(values)
        if values.shape != self.shape:
            raise ValueError(f"an array of shape {self.shape}, not of shape {values.shape}")
        self._gpu._write_array(self.handle, 0, values.astype(self.dtype, casting="same_kind").tobytes())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single value has no length")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        found = self.get()
        return found if dtype is None else found.astype(dtype)

    def __repr__(self) -> str:
        return f"<DeviceArray of {self.dtype.name}, shape {self.shape}>"


@dataclass
class KeptBuffer:
    """What a driver knows of an array. ``address`` is 0 until a launch has allocated it with ``contents``, which may be
    shorter; ``place`` is 1 and a GPU's index, or `SPREAD`; ``renewed``: after a reset it begins with the same again."""

    size: int
    contents: bytes
    place: int
    renewed: bool
    address: int = 0
    lost: bool = False

    def allocated(self, address: int) -> None:
        """A launch has put it there; 0: it has not."""
        self.address = address
        if address and not self.renewed:
            self.contents = b""


class ArrayStore:
    """Arrays of a node's GPUs, by handle."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kept: dict[int, KeptBuffer] = {}
        self._next = int.from_bytes(os.urandom(6), "little") << 15 | 1  # not those of other nodes and machines

    def add(self, size: int, contents: bytes, place: int, renewed: bool) -> int:
        """A handle for a new array."""
        handle, self._next = self._next, self._next + 1
        self._kept[handle] = KeptBuffer(size, contents, place, renewed)
        return handle

    def find(self, handle: int) -> KeptBuffer:
        """Raises `InputError` for one of another node, or that a reset has lost."""
        if handle not in self._kept:
            raise InputError("an array of gpu.array() is of another node")
        kept = self._kept[handle]
        if kept.lost:
            raise InputError("an array of gpu.array() was lost when the node was reset: make it anew")
        return kept

    def clear(self) -> None:
        """The node was reset."""
        for kept in self._kept.values():
            kept.lost = bool(kept.address) and not kept.renewed
            kept.address = 0

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Bytes of an array."""
        kept = self.find(handle)
        if not kept.address:
            return kept.contents.ljust(kept.size, b"\0")[offset : offset + size]
        return b"".join(
            _fabricvp.gpu_read_memory(self._node._platform._core, self._node.index, gpu, at, length)
            for gpu, at, length in self._places(kept.address + offset, size)
        )

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Changes bytes of an array."""
        kept = self.find(handle)
        if not kept.address:
            size = max(len(kept.contents), offset + len(data))
            contents = bytearray(kept.contents.ljust(size, b"\0"))
            contents[offset : offset + len(data)] = data
            kept.contents = bytes(contents)
            return
        done = 0
        for gpu, at, length in self._places(kept.address + offset, len(data)):
            part = data[done : done + length]
            _fabricvp.gpu_write_memory(self._node._platform._core, self._node.index, gpu, at, part)
            done += length

    def _places(self, address: int, size: int) -> Iterator[tuple[int, int, int]]:
        """GPU, offset in its memory and bytes, page by page."""
        while size > 0:
            found = _fabricvp.gpu_translate(self._node._platform._core, self._node.index, 0, address, _SPACE)
            if found is None or found[0] == 0:
                raise InputError(f"no device memory at {address:#x}")
            page = 1 << found[3]
            length = min(size, page - address % page)
            yield found[0] - 1, found[1], length
            address, size = address + length, size - length
