# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own on a node's GPUs: the project's driver runs on the host, takes jobs from the RAM disk, copies
buffers over PCIe, and launches through a queue."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .conditions import Marker
from .errors import GuestStopped, InputError, KernelFault
from .results import Outcome
from .units import Time, to_picoseconds

if TYPE_CHECKING:
    import numpy

    from .node import Node

_READY, _DONE, _FAULT = 1, 2, 3  # enum kernel_job_state (abi/kernel_job.h)
_OWN, _GPU0, _HOST = 0, 1, 0xFFFFFFFF  # KERNEL_JOB_PLACE_… (abi/kernel_job.h)
_LABEL = "kernels"  # of the region that the driver marks around a launch
_MIN_DISK_BYTES = 16 << 20


@dataclass(frozen=True)
class Launch:
    """How a kernel went. ``time`` is simulated, in seconds, from the launch to its end, without the copies;
    ``statistics`` are those of that time, of the GPU that ran it as `Gpu.statistics` names them; ``buffers`` what was
    copied back, by name, or by the place among the arguments for arrays that stood there."""

    time: float
    statistics: dict[str, float]
    buffers: dict[Any, numpy.ndarray]


@dataclass(frozen=True)
class ArgumentBlock:
    """Arguments as bytes, and the buffers that they point to: size, contents, out, argument, place."""

    block: bytes
    buffers: list[tuple[int, bytes | None, bool, int, int]]


class Arguments:
    """The argument block of a kernel, laid out as C lays out a struct, and the buffers that it points to."""

    def __init__(
        self,
        args: Sequence[Any],
        buffers: Mapping[str, Any],
        outputs: Sequence[Any] | None,
        places: Mapping[Any, int | str] | None = None,
        gpus: int = 1,
    ) -> None:
        self.block, self._alignment = bytearray(), 1
        self.buffers: list[tuple[int, bytes | None, bool, int, int]] = []  #: size, contents, out, argument, place
        self.sources: list[tuple[Any, Any]] = []  #: of each buffer: key, array or None
        named = dict(buffers)
        for index, argument in enumerate(args):
            if isinstance(argument, str):
                if argument not in named:
                    raise ValueError(
                        f"argument {index}: no buffer '{argument}', or it is there twice; there are:"
                        f" {', '.join(buffers) or 'none'}"
                    )
                self._buffer(argument, named.pop(argument))
            elif _is_array(argument):
                self._buffer(index, argument)
            else:
                self._value(index, argument)
        self.block += bytes(-len(self.block) % self._alignment)
        if named:
            raise ValueError(f"no argument points to {', '.join(named)}: name each buffer among the arguments")
        keys = [key for key, _ in self.sources]
        for option, wanted in ("outputs", outputs or ()), ("places", places or ()):
            unknown = [key for key in wanted if key not in keys]
            if unknown:
                raise ValueError(
                    f"{option}: no buffer {unknown[0]!r}; there are: {', '.join(map(repr, keys)) or 'none'}"
                )
        placed = {key: _place(key, place, gpus) for key, place in (places or {}).items()}
        self.buffers = [
            (size, contents, outputs is None or key in outputs, at, placed.get(key, _OWN))
            for (size, contents, _, at, _), key in zip(self.buffers, keys)
        ]

    def _buffer(self, key: Any, given: Any) -> None:
        if _is_array(given):
            contents = given.tobytes()
            size = len(contents)
        elif isinstance(given, int):
            contents, size = None, given
        else:
            raise TypeError(
                f"buffer {key!r}: a numpy array, or a number of bytes for one that begins as zeros, not"
                f" {type(given).__name__}"
            )
        if size < 1:
            raise ValueError(f"buffer {key!r} is empty")
        self.buffers.append((size, contents, True, self._put(bytes(8)), _OWN))
        self.sources.append((key, given if contents is not None else None))

    def _value(self, index: int, value: Any) -> None:
        if isinstance(value, (ctypes._SimpleCData, ctypes.Structure)):
            self._put(bytes(value), ctypes.alignment(value))
        elif hasattr(value, "dtype") and hasattr(value, "tobytes"):  # a scalar of numpy
            self._put(value.tobytes())
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(
                f"argument {index}: a number, a value of ctypes or numpy, an array or the name of a buffer, not"
                f" {type(value).__name__}"
            )
        elif isinstance(value, float):
            self._put(bytes(ctypes.c_double(value)))
        else:
            if not -(1 << 63) <= value < 1 << 64:
                raise ValueError(f"argument {index}: {value} does not fit 64 bits")
            self._put((value & (1 << 64) - 1).to_bytes(8, "little"))

    def _put(self, data: bytes, alignment: int | None = None) -> int:
        alignment = alignment or len(data)
        self._alignment = max(self._alignment, alignment)
        self.block += bytes(-len(self.block) % alignment)
        self.block += data
        return len(self.block) - len(data)


def _place(key: Any, place: int | str, gpus: int) -> int:
    """A place of `Gpu.launch(places=)` as drivers number them."""
    if place == "host":
        return _HOST
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < gpus:
        raise ValueError(f"places: buffer {key!r} is on {place!r}; allowed are 'host' and GPUs 0 to {gpus - 1}")
    return _GPU0 + place


def _is_array(value: Any) -> bool:
    return hasattr(value, "tobytes") and getattr(value, "shape", ()) != ()


def to_3d(sizes: int | Sequence[int], what: str) -> tuple[int, int, int]:
    """One to three sizes, as three. Raises `ValueError`."""
    given = (sizes,) if isinstance(sizes, int) or hasattr(sizes, "__index__") else tuple(sizes)
    whole = [int(size) for size in given]
    if not 1 <= len(whole) <= 3 or any(not 1 <= size < 1 << 32 for size in whole):
        raise ValueError(f"{what}={sizes!r}: one to three sizes of 1 to 2^32 - 1")
    return (*whole, *(1,) * (3 - len(whole)))  # type: ignore[return-value]


class Jobs:
    """The driver of a node, as long as it waits for kernels."""

    def __init__(self, node: Node) -> None:
        self._node, self._platform, self._core = node, node._platform, node._core
        self._disk: tuple[int, int] | None = None
        self._unfinished = False  # the driver still waits for a kernel whose launch was given up

    def run(
        self,
        gpu: int | None,
        elf: str | os.PathLike[str],
        kernel: str,
        items: tuple[int, int, int],
        group: tuple[int, int, int],
        lds: int,
        arguments: Arguments | ArgumentBlock,
        max_job_bytes: int,
        limit: Time | None,
    ) -> tuple[float, dict[str, float], list[bytes]]:
        """Time, statistics when the kernel ended, contents of the buffers. Raises as `Gpu.launch()`."""
        job, offsets = _fabricvp.kernel_job(
            os.fspath(elf), kernel, items, group, lds, bytes(arguments.block), arguments.buffers, gpu
        )
        self._begin(job, max_job_bytes)
        self._unfinished = True
        start, _ = self._disk or (0, 0)
        started, statistics = self._platform.now, {}
        while True:
            remaining = None if limit is None else started + to_picoseconds(limit) / 1e12 - self._platform.now
            index = self._node.index
            result = self._platform.run(
                remaining, until=[Marker(_LABEL, "dump", index), Marker("job ended", "note", index)]
            )
            if result.outcome != Outcome.EVENT:
                raise GuestStopped(
                    f"{result.outcome} ({result.detail}) before the kernel had ended; the console ends with "
                    f"{self._node.console.output[-300:]!r}",
                    result,
                )
            if "job ended" in result.detail:
                break
            statistics = self._platform.statistics.snapshot(f"node{index}.")
        self._unfinished = False
        state, fault, nanoseconds = _fabricvp.read_kernel_job(
            self._node.memory.read(start, _fabricvp.kernel_job_head()[0])
        )
        console_text = self._node.console.unread.replace("\r", "").strip()
        if state == _FAULT:
            raise KernelFault(f"the kernel ended with a fault:\n{console_text[-1000:]}", fault)
        if state != _DONE:
            raise InputError(console_text.splitlines()[-1] if console_text else "the driver refused the job")
        return (
            nanoseconds / 1e9,
            statistics,
            [
                self._node.memory.read(start + at, size) if out else b""
                for (size, _, out, *_), at in zip(arguments.buffers, offsets)
            ],
        )

    def _begin(self, job: bytes, max_job_bytes: int) -> None:
        self._node.console.skip()
        if self._disk is None:
            if self._platform.now_ps:
                raise InputError(
                    f"node {self._node.index} runs other software: launch kernels on a machine that has not run yet"
                )
            _fabricvp.serve_kernel_jobs(
                self._core, self._node.index, job, max(max_job_bytes, _MIN_DISK_BYTES, 2 * len(job))
            )
            self._disk = _fabricvp.initrd(self._core, self._node.index)
            return
        start, end = self._disk
        if len(job) > end - start:
            raise InputError(
                f"a job of {len(job)} bytes, and the RAM disk has {end - start}: give the first launch"
                f" max_job_bytes={len(job)}"
            )
        if self._unfinished:  # GPUs and driver begin anew; otherwise the old kernel's end would be taken for this one's
            self._node.reset()
            self._node.console.skip()
        head, at = _fabricvp.kernel_job_head()
        memory = self._node.memory
        memory.write(start + head, job[head:])
        memory.write(start, job[:at] + bytes(4) + job[at + 4 : head])
        memory.write(start + at, job[at : at + 4])


def default_group(items: tuple[int, int, int]) -> tuple[int, int, int]:
    """256 work-items: in a row, or 16 by 16."""
    if items[1:] == (1, 1):
        return min(256, items[0]), 1, 1
    if items[2] == 1:
        return min(16, items[0]), min(16, items[1]), 1
    return min(8, items[0]), min(8, items[1]), min(4, items[2])


def collect(arguments: Arguments, contents: Sequence[bytes]) -> dict[Any, numpy.ndarray]:
    """Buffers as arrays of the type and shape that they came with; those that came as a number of bytes as bytes."""
    import numpy

    found = {}
    for (key, array), data, (_, _, out, *_) in zip(arguments.sources, contents, arguments.buffers):
        if out:
            whole = numpy.frombuffer(bytearray(data), numpy.uint8 if array is None else array.dtype)
            found[key] = whole if array is None else whole.reshape(array.shape)
    return found
