# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own on a node's GPUs: the project's driver runs on the host, takes jobs from the RAM disk, copies
buffers over PCIe, and launches through a queue."""

from __future__ import annotations

import ctypes
import operator
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _fabricvp
from .byte_order import require_little_endian
from .conditions import Marker
from .device_arrays import SPREAD, ArrayStore, DeviceArray
from .errors import GuestStopped, InputError, KernelFault
from .results import Outcome
from .units import Time, to_picoseconds

if TYPE_CHECKING:
    import numpy

    from .node import Node

_READY, _DONE, _FAULT = 1, 2, 3  # enum kernel_job_state (abi/kernel_job.h)
_OWN, _GPU0, _HOST = 0, 1, 0xFFFFFFFF  # KERNEL_JOB_PLACE_… (abi/kernel_job.h)
_PAGE, _MAX_TOGETHER, _STREAMS = 4096, 16, 8  # KERNEL_JOB_PAGE, …_MAX_TOGETHER, …_STREAMS (abi/kernel_job.h)
#: enum gpu_placement_policy, gpu_dispatch_policy (firmware/drivers/gpu)
PLACEMENTS = ("contiguous", "interleaved", "lasp", "first_touch")
DISPATCHES = ("contiguous", "round_robin", "lasp", "fill")
_UNKNOWN = (0, 0, 0)
_LABEL = "kernels"  # of the region that the driver marks around a launch
_MIN_DISK_BYTES = 16 << 20


@dataclass(frozen=True)
class Launch:
    """How a kernel went. ``time`` is simulated, in seconds, from the launch to its end, without the copies;
    ``statistics`` are those of that time, of the GPU that ran it as `Gpu.statistics` names them, and of a kernel on all
    GPUs also those of the others ("gpu1.wavefront_instructions"); ``buffers`` what was copied back, by name, or by the
    place among the arguments for arrays that stood there; ``kernel`` is its name, "" for the first of a file."""

    time: float
    statistics: dict[str, float]
    buffers: dict[Any, numpy.ndarray]
    kernel: str = ""

    def __repr__(self) -> str:
        name = f" of {self.kernel}" if self.kernel else ""
        return f"<Launch{name}: {self.time * 1e6:.6g} us, {len(self.statistics)} statistics>"

    @property
    def kernel_time(self) -> float:
        """Of ``time`` that in which the kernel, or one that ran beside it, had work-groups on a GPU of the node, in
        seconds: from the start of the first to the end of the last."""
        return self.statistics["kernels.time"] / 1e12


class Locality(NamedTuple):
    """What a kernel does with a buffer, for the policies "lasp": a row of LADM's table (Khairy et al., MICRO 2020,
    Table II), 1 to 7, or 0 for unknown; ``pitch``, bytes of a stride (row 1) or of a row of data (rows 2 to 5);
    ``datablock``, bytes of which a work-group makes use in an iteration (row 1; 0: a page)."""

    row: int = 0
    pitch: int = 0
    datablock: int = 0


class Buffer(NamedTuple):
    """What a pointer among the arguments points to: its size, its contents (None: zeros), whether it comes back, the
    place of the pointer, where it lies, the handle of an array that stays on the GPU (0: it does not), and what the
    kernel does with it, for LASP."""

    size: int
    contents: bytes | None
    out: bool
    argument: int
    place: int = _OWN
    array: int = 0
    locality: Locality = Locality()


@dataclass(frozen=True)
class ArgumentBlock:
    """Arguments as bytes, and the buffers that they point to."""

    block: bytes
    buffers: list[Buffer]


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
        self.buffers: list[Buffer] = []
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
            elif _is_array(argument) or isinstance(argument, DeviceArray):
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
            b if b.array else b._replace(out=outputs is None or key in outputs, place=placed.get(key, _OWN))
            for b, key in zip(self.buffers, keys)
        ]

    def _buffer(self, key: Any, given: Any) -> None:
        if isinstance(given, DeviceArray):
            self.buffers.append(Buffer(given.nbytes, None, False, self._put(bytes(8)), _OWN, given.handle))
            self.sources.append((key, None))
            return
        if _is_array(given):
            self._check_order(f"buffer {key!r}", given)
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
        self.buffers.append(Buffer(size, contents, True, self._put(bytes(8))))
        self.sources.append((key, given if contents is not None else None))

    @staticmethod
    def _check_order(what: str, value: Any) -> None:
        try:
            require_little_endian(value)
        except TypeError as error:
            raise TypeError(f"{what}: {error}") from None

    def _value(self, index: int, value: Any) -> None:
        self._check_order(f"argument {index}", value)
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
    try:
        whole = [operator.index(size) for size in given]
    except TypeError:
        raise ValueError(f"{what}={sizes!r}: one to three sizes, which are whole numbers") from None
    if not 1 <= len(whole) <= 3 or any(not 1 <= size < 1 << 32 for size in whole):
        raise ValueError(f"{what}={sizes!r}: one to three sizes of 1 to 2^32 - 1")
    return (*whole, *(1,) * (3 - len(whole)))  # type: ignore[return-value]


@dataclass(frozen=True)
class _Job:
    """What `Gpu.launch()` asks for."""

    gpu: int | None
    elf: str | bytes  # the file's name, or the file itself
    kernel: str
    items: tuple[int, int, int]
    group: tuple[int, int, int]
    lds: int
    arguments: Arguments | ArgumentBlock
    stream: int = 0  # 0: of its own
    after: tuple[PendingLaunch, ...] = ()
    policies: tuple[int, int] = (0, 0)  # of placement and dispatch
    cooperative: bool = False

    def image(self, chain: _Chain) -> tuple[bytes, list[int], list[int]]:
        """As the driver reads it, and where its buffers and their addresses are in it."""
        image, offsets, addresses = _fabricvp.kernel_job(
            self.elf,
            self.kernel,
            self.items,
            self.group,
            self.lds,
            bytes(self.arguments.block),
            [chain.buffer(i, b) for i, b in enumerate(self.arguments.buffers)],
            self.gpu,
            chain.stream_of(self),
            chain.after(self),
            self.policies,
            self.cooperative,
        )
        return image, offsets, addresses


class _Chain:
    """What the jobs of a chain share while their images are made, one after the other."""

    def __init__(self, arrays: ArrayStore) -> None:
        self._arrays = arrays
        self._streams: dict[int | None, list[int]] = {}  # by GPU: their numbers in the order of the driver's queues
        self._placed: dict[int, tuple[int, int]] = {}  # new arrays: job and buffer
        self.jobs: list[_Job] = []
        self.images: list[tuple[bytes, list[int], list[int]]] = []

    def has_room_for(self, job: _Job) -> bool:
        """Whether it can run at the same time as those that are here."""
        streams = self._streams.get(job.gpu, [])
        return len(self.jobs) < _MAX_TOGETHER and (
            len(streams) < _STREAMS or (job.stream != 0 and job.stream in streams)
        )

    def add(self, job: _Job) -> None:
        """Appends a job."""
        streams = self._streams.setdefault(job.gpu, [])
        if not job.stream or job.stream not in streams:
            streams.append(job.stream)
        self._check_spread(job)
        self.images.append(job.image(self))
        self.jobs.append(job)

    def _check_spread(self, job: _Job) -> None:
        """Raises `InputError` if the job would lay out a spread array, and does not deal out pages for good."""
        kept = [self._arrays.find(b.array) for b in job.arguments.buffers if b.array]
        if not any(k.place == SPREAD and not k.address for k in kept):
            return
        if job.gpu is not None:
            raise InputError(
                "an array of gpu.array(spread=True) begins with a launch on all GPUs: give all_gpus=True to the first"
            )
        if PLACEMENTS[job.policies[0]] == "first_touch":
            raise InputError(
                "an array of gpu.array(spread=True) stays where its first launch puts it: its placement cannot be"
                " first_touch"
            )

    def stream_of(self, job: _Job) -> int:
        """The queue of a job that is being added."""
        streams = self._streams[job.gpu]
        return streams.index(job.stream) if job.stream else len(streams) - 1

    def after(self, job: _Job) -> int:
        """Bits of the jobs here that it waits for."""
        wanted = [id(launch.job) for launch in job.after]
        return sum(1 << i for i, other in enumerate(self.jobs) if id(other) in wanted)

    def buffer(self, index: int, b: Buffer) -> tuple[Any, ...]:
        """As the binding takes it."""
        if not b.array:
            return (*b[:5], False, None, tuple(b.locality))
        kept = self._arrays.find(b.array)
        if kept.address:
            return (b.size, None, False, b.argument, _OWN, False, (kept.address, 0, 0), _UNKNOWN)
        if b.array in self._placed:
            return (b.size, None, False, b.argument, _OWN, False, (0, *self._placed[b.array]), _UNKNOWN)
        self._placed[b.array] = len(self.jobs), index
        locality = tuple(b.locality) if kept.place == SPREAD else _UNKNOWN
        return (b.size, kept.contents, False, b.argument, kept.place, True, None, locality)

    def text(self) -> bytes:
        """All images behind each other."""
        at = _fabricvp.kernel_job_head()[1] + 4  # `next` stands behind `state`
        chained = [
            image[:at] + (len(image) // _PAGE).to_bytes(4, "little") + image[at + 4 :] for image, *_ in self.images[:-1]
        ]
        return b"".join([*chained, self.images[-1][0]])

    def new_arrays(self) -> dict[int, int]:
        """Where the driver writes the addresses of arrays that this chain has allocated, by handle."""
        starts = [0]
        for image, *_ in self.images:
            starts.append(starts[-1] + len(image))
        return {handle: starts[job] + self.images[job][2][b] for handle, (job, b) in self._placed.items()}


class PendingLaunch:
    """A kernel that `Gpu.launch(wait=False)` has accepted. It starts with all others of its node that wait by then,
    when the result of one of them is asked for, or another `launch()` waits for its own."""

    def __init__(self, jobs: Jobs, job: _Job, prefix: str, max_job_bytes: int, limit: Time | None) -> None:
        self._jobs, self._prefix = jobs, prefix
        self.job, self.max_job_bytes, self.limit = job, max_job_bytes, limit
        self._ended: tuple[float, dict[str, float], list[bytes]] | BaseException | None = None
        self._result: Launch | None = None
        self._times = 0.0, 0.0

    @property
    def done(self) -> bool:
        """True once it has run."""
        return self._ended is not None

    def result(self) -> Launch:
        """Runs it and those that wait with it, if it has not run. Raises as `Gpu.launch()`."""
        if self._result is None:
            time, statistics, contents = self.outcome()
            assert isinstance(self.job.arguments, Arguments)
            self._result = Launch(time, statistics, collect(self.job.arguments, contents), self.job.kernel)
        return self._result

    def outcome(self) -> tuple[float, dict[str, float], list[bytes]]:
        """The same as time, statistics of its GPU and contents of all buffers."""
        if self._ended is None:
            self._jobs.run()
        if isinstance(self._ended, BaseException):
            raise self._ended
        assert self._ended is not None
        return self._ended

    def times(self) -> tuple[float, float]:
        """When the kernel began and ended, in seconds of simulated time. Runs it, as `result()` does."""
        self.outcome()
        return self._times

    def end(
        self, time: float, statistics: Mapping[str, float], contents: Sequence[bytes], times: tuple[float, float]
    ) -> None:
        """It has run. ``statistics`` are those of the node."""
        self._times = times
        own = {path[len(self._prefix) :]: v for path, v in statistics.items() if path.startswith(self._prefix)}
        if self.job.gpu is None:
            node = self._prefix.partition(".")[0] + "."
            others = {path[len(node) :]: v for path, v in statistics.items() if not path.startswith(self._prefix)}
            own |= {name: v for name, v in others.items() if re.match(r"gpu\d+\.", name)}
        own["kernels.time"] = statistics[self._prefix.partition(".")[0] + ".kernels.time"]
        self._ended = time, own, list(contents)

    def fail(self, error: BaseException) -> None:
        """It has not run, or not to its end."""
        if self._ended is None:
            self._ended = error

    def __repr__(self) -> str:
        state = "failed" if isinstance(self._ended, BaseException) else "done" if self._ended else "waits"
        name = self.job.kernel or ("kernel" if isinstance(self.job.elf, bytes) else os.path.basename(self.job.elf))
        return f"<PendingLaunch of {name}: {state}>"


class Jobs:
    """The driver of a node, as long as it waits for kernels."""

    def __init__(self, node: Node) -> None:
        self._node, self._platform, self._core = node, node._platform, node._core
        self._disk: tuple[int, int] | None = None
        self._unfinished = False  # the driver still waits for a kernel whose launch was given up
        self._pending: list[PendingLaunch] = []
        self._ready: _Chain | None = None  # of the launch that was added last, as if it ran alone
        self._streams = 0
        self.arrays = ArrayStore(node)

    def new_stream(self) -> int:
        """A number for `add(stream=)`."""
        self._streams += 1
        return self._streams

    def add(
        self,
        gpu: int | None,
        elf: str | os.PathLike[str] | bytes,
        kernel: str,
        items: tuple[int, int, int],
        group: tuple[int, int, int],
        lds: int,
        arguments: Arguments | ArgumentBlock,
        prefix: str,
        max_job_bytes: int,
        limit: Time | None,
        stream: int = 0,
        after: Sequence[PendingLaunch] = (),
        alone: bool = False,
        placement: str = "",
        dispatch: str = "",
        cooperative: bool = False,
    ) -> PendingLaunch:
        """A kernel for the next `run()`. ``prefix`` begins the names of its GPU's statistics. Kernels of one ``stream``
        follow each other; ``after`` are others that it waits for; ``alone``: it begins when those of all streams have
        ended. Raises `InputError` if it cannot be launched."""
        if alone and any(launch.job.stream for launch in self._pending):
            self.run()
        if self._pending and (gpu is None or self._pending[0].job.gpu is None):
            raise InputError("a kernel on all GPUs (all_gpus=True) runs alone: take the results of others first")
        if not stream and sum(not launch.job.stream for launch in self._pending) >= _STREAMS:
            raise InputError(f"{len(self._pending)} kernels wait: at most {_STREAMS} of a node run at the same time")
        job = _Job(
            gpu,
            elf if isinstance(elf, bytes) else os.fspath(elf),
            kernel,
            items,
            group,
            lds,
            arguments,
            stream,
            (*after,),
            policies_of(placement, dispatch, gpu is None),
            cooperative,
        )
        chain = _Chain(self.arrays)
        chain.add(job)  # raises for what no kernel can be launched with
        self._pending.append(PendingLaunch(self, job, prefix, max_job_bytes, limit))
        self._ready = chain
        return self._pending[-1]

    def run(self) -> None:
        """Runs all that wait, at the same time as far as there are queues for them."""
        waiting, self._pending = self._pending, []
        try:
            while waiting:
                self._recover()
                chain, self._ready = self._ready or _Chain(self.arrays), None
                if len(waiting) > 1 or any(b.array for b in waiting[0].job.arguments.buffers):
                    chain = _Chain(self.arrays)  # those before it, or what happened since, may have changed it
                while len(chain.jobs) < len(waiting) and chain.has_room_for(waiting[len(chain.jobs)].job):
                    chain.add(waiting[len(chain.jobs)].job)
                launches, waiting = waiting[: len(chain.jobs)], waiting[len(chain.jobs) :]
                try:
                    self._run(chain, launches)
                except BaseException as error:
                    for launch in launches:
                        launch.fail(error)
                    raise
        except BaseException as error:
            for launch in waiting:
                launch.fail(error)
            raise

    def _recover(self) -> None:
        """GPUs and driver begin anew after a launch that was given up: its end would be taken for the next one's."""
        if self._unfinished:
            self._node.reset()
            self.arrays.clear()
            self._unfinished = False
            self._node.console.skip()

    def _run(self, chain: _Chain, launches: Sequence[PendingLaunch]) -> None:
        images = chain.images
        self._begin(chain.text(), max(launch.max_job_bytes for launch in launches))
        self._unfinished = True
        statistics = self._until_ended([launch.limit for launch in launches if launch.limit is not None])
        self._unfinished = False
        at, _ = self._disk or (0, 0)
        read, memory, head = _fabricvp.read_kernel_job, self._node.memory, _fabricvp.kernel_job_head()[0]
        state = read(memory.read(at, head))[0]
        for handle, offset in chain.new_arrays().items():
            self.arrays.find(handle).allocated(int.from_bytes(memory.read(at + offset, 8), "little"))
        console_text = self._node.console.unread.replace("\r", "").strip()
        if state not in (_DONE, _FAULT):
            raise InputError(console_text.splitlines()[-1] if console_text else "the driver refused the job")
        for launch, (image, offsets, _) in zip(launches, images):
            _, fault, nanoseconds, start, stop = read(memory.read(at, head))
            if fault:
                launch.fail(KernelFault(f"the kernel ended with a fault:\n{console_text[-1000:]}", fault))
            else:
                contents = [
                    memory.read(at + offset, b.size) if b.out else b""
                    for b, offset in zip(launch.job.arguments.buffers, offsets)
                ]
                launch.end(nanoseconds / 1e9, statistics, contents, (start / 1e9, stop / 1e9))
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
        head, at = _fabricvp.kernel_job_head()
        memory = self._node.memory
        memory.write(start + head, job[head:])
        memory.write(start, job[:at] + bytes(4) + job[at + 4 : head])
        memory.write(start + at, job[at : at + 4])


def policies_of(placement: str, dispatch: str, all_gpus: bool) -> tuple[int, int]:
    """Policies as drivers number them. Raises `InputError` for unknown ones, and where they have no effect."""
    found = []
    for what, name, names in ("placement", placement, PLACEMENTS), ("dispatch", dispatch, DISPATCHES):
        if name and not all_gpus:
            raise InputError(f"{what}={name!r} is about a kernel on all GPUs: give all_gpus=True too")
        if name and name not in names:
            raise InputError(f"no {what} policy {name!r}; there are: {', '.join(names)}")
        found.append(names.index(name) if name else 0)
    return found[0], found[1]


def default_group(items: tuple[int, int, int]) -> tuple[int, int, int]:
    """256 work-items: in a row, 16 by 16, or 8 by 8 by 4."""
    if items[1:] == (1, 1):
        return min(256, items[0]), 1, 1
    if items[2] == 1:
        return min(16, items[0]), min(16, items[1]), 1
    return min(8, items[0]), min(8, items[1]), min(4, items[2])


def collect(arguments: Arguments, contents: Sequence[bytes]) -> dict[Any, numpy.ndarray]:
    """Buffers as arrays of the type and shape that they came with; those that came as a number of bytes as bytes."""
    import numpy

    found = {}
    for (key, array), data, b in zip(arguments.sources, contents, arguments.buffers):
        if b.out:
            whole = numpy.frombuffer(bytearray(data), numpy.uint8 if array is None else array.dtype)
            found[key] = whole if array is None else whole.reshape(array.shape)
    return found
