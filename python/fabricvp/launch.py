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
_PAGE, _MAX_TOGETHER = 4096, 8  # KERNEL_JOB_PAGE, KERNEL_JOB_MAX_TOGETHER (abi/kernel_job.h)
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


@dataclass(frozen=True)
class _Job:
    """What `Gpu.launch()` asks for."""

    gpu: int | None
    elf: str
    kernel: str
    items: tuple[int, int, int]
    group: tuple[int, int, int]
    lds: int
    arguments: Arguments | ArgumentBlock

    def image(self, followed: bool) -> tuple[bytes, list[int]]:
        """As the driver reads it, and where its buffers are in it. ``followed`` by another that runs at the same
        time."""
        image, offsets = _fabricvp.kernel_job(
            self.elf,
            self.kernel,
            self.items,
            self.group,
            self.lds,
            bytes(self.arguments.block),
            self.arguments.buffers,
            self.gpu,
        )
        if followed:  # `next` stands behind `state`
            at = _fabricvp.kernel_job_head()[1] + 4
            image = image[:at] + (len(image) // _PAGE).to_bytes(4, "little") + image[at + 4 :]
        return image, offsets


class PendingLaunch:
    """A kernel that `Gpu.launch(wait=False)` has accepted. It starts with all others of its node that wait by then,
    when the result of one of them is asked for, or another `launch()` waits for its own."""

    def __init__(self, jobs: Jobs, job: _Job, prefix: str, max_job_bytes: int, limit: Time | None) -> None:
        self._jobs, self._prefix = jobs, prefix
        self.job, self.max_job_bytes, self.limit = job, max_job_bytes, limit
        self._ended: tuple[float, dict[str, float], list[bytes]] | BaseException | None = None
        self._result: Launch | None = None

    @property
    def done(self) -> bool:
        """True once it has run."""
        return self._ended is not None

    def result(self) -> Launch:
        """Runs it and those that wait with it, if it has not run. Raises as `Gpu.launch()`."""
        if self._result is None:
            time, statistics, contents = self.outcome()
            assert isinstance(self.job.arguments, Arguments)
            self._result = Launch(time, statistics, collect(self.job.arguments, contents))
        return self._result

    def outcome(self) -> tuple[float, dict[str, float], list[bytes]]:
        """The same as time, statistics of its GPU and contents of all buffers."""
        if self._ended is None:
            self._jobs.run()
        if isinstance(self._ended, BaseException):
            raise self._ended
        assert self._ended is not None
        return self._ended

    def end(self, time: float, statistics: Mapping[str, float], contents: Sequence[bytes]) -> None:
        """It has run. ``statistics`` are those of the node."""
        own = {path[len(self._prefix) :]: v for path, v in statistics.items() if path.startswith(self._prefix)}
        self._ended = time, own, list(contents)

    def fail(self, error: BaseException) -> None:
        """It has not run, or not to its end."""
        if self._ended is None:
            self._ended = error

    def __repr__(self) -> str:
        state = "failed" if isinstance(self._ended, BaseException) else "done" if self._ended else "waits"
        return f"<PendingLaunch of {self.job.kernel or os.path.basename(self.job.elf)}: {state}>"


class Jobs:
    """The driver of a node, as long as it waits for kernels."""

    def __init__(self, node: Node) -> None:
        self._node, self._platform, self._core = node, node._platform, node._core
        self._disk: tuple[int, int] | None = None
        self._unfinished = False  # the driver still waits for a kernel whose launch was given up
        self._pending: list[PendingLaunch] = []

    def add(
        self,
        gpu: int | None,
        elf: str | os.PathLike[str],
        kernel: str,
        items: tuple[int, int, int],
        group: tuple[int, int, int],
        lds: int,
        arguments: Arguments | ArgumentBlock,
        prefix: str,
        max_job_bytes: int,
        limit: Time | None,
    ) -> PendingLaunch:
        """A kernel for the next `run()`. ``prefix`` begins the names of its GPU's statistics. Raises `InputError` if it
        cannot be launched."""
        if self._pending and (gpu is None or self._pending[0].job.gpu is None):
            raise InputError("a kernel on all GPUs (all_gpus=True) runs alone: take the results of others first")
        if len(self._pending) >= _MAX_TOGETHER:
            raise InputError(
                f"{len(self._pending)} kernels wait: at most {_MAX_TOGETHER} of a node run at the same time"
            )
        job = _Job(gpu, os.fspath(elf), kernel, items, group, lds, arguments)
        job.image(False)  # raises for what no kernel can be launched with
        self._pending.append(PendingLaunch(self, job, prefix, max_job_bytes, limit))
        return self._pending[-1]

    def run(self) -> None:
        """Runs all that wait, at the same time."""
        launches, self._pending = self._pending, []
        try:
            self._run(launches)
        except BaseException as error:
            for launch in launches:
                launch.fail(error)
            raise

    def _run(self, launches: Sequence[PendingLaunch]) -> None:
        images = [launch.job.image(launch is not launches[-1]) for launch in launches]
        self._begin(b"".join(image for image, _ in images), max(launch.max_job_bytes for launch in launches))
        self._unfinished = True
        statistics = self._until_ended([launch.limit for launch in launches if launch.limit is not None])
        self._unfinished = False
        at, _ = self._disk or (0, 0)
        read, memory, head = _fabricvp.read_kernel_job, self._node.memory, _fabricvp.kernel_job_head()[0]
        state = read(memory.read(at, head))[0]
        console_text = self._node.console.unread.replace("\r", "").strip()
        if state not in (_DONE, _FAULT):
            raise InputError(console_text.splitlines()[-1] if console_text else "the driver refused the job")
        for launch, (image, offsets) in zip(launches, images):
            _, fault, nanoseconds = read(memory.read(at, head))
            if fault:
                launch.fail(KernelFault(f"the kernel ended with a fault:\n{console_text[-1000:]}", fault))
            else:
                contents = [
                    memory.read(at + offset, size) if out else b""
                    for (size, _, out, *_), offset in zip(launch.job.arguments.buffers, offsets)
                ]
                launch.end(nanoseconds / 1e9, statistics, contents)
            at += len(image)

    def _until_ended(self, limits: Sequence[Time]) -> dict[str, float]:
        """Statistics of the node when the last kernel has ended. Raises `GuestStopped`."""
        end = min((self._platform.now + to_picoseconds(limit) / 1e12 for limit in limits), default=None)
        statistics: dict[str, float] = {}
        while True:
            remaining = None if end is None else end - self._platform.now
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
                return statistics
            statistics = self._platform.statistics.snapshot(f"node{index}.")

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
