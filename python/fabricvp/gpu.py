# SPDX-License-Identifier: Apache-2.0
"""GPUs of a node, and the applications that run on them.

platform = fabricvp.Platform.from_config("gpu", app="spmv", size=4096)
result = platform.run()
gpu = platform.nodes[0].gpus[0]
print(platform.app_ok, gpu.statistics["wavefront_instructions"], gpu.stalls())
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from . import _fabricvp
from ._renamed import renamed_arguments
from .byte_order import require_little_endian
from .errors import AddressError
from .launch import ArgumentBlock, Arguments, Launch, PendingLaunch, default_group, to_3d
from .memory import Memory
from .nodes import by_node
from .streams import Stream, require_stream
from .units import Time

if TYPE_CHECKING:
    import pandas

    from .device_arrays import DeviceArray
    from .platform import Platform
    from .program import Program

_STALLS = ("memory", "queue", "fetch", "fence", "barrier", "simd")


def runs_in_caller(method: Any) -> Any:
    """A method that a remote object's caller runs itself: it changes arrays of the caller."""
    method.runs_in_caller = True
    return method


@dataclass(frozen=True)
class App:
    """An application of the project: ``size`` is the default, in ``unit``; ``footprint`` bytes of device memory at that
    size."""

    name: str
    size: int
    unit: str
    footprint: float
    help: str


def apps() -> dict[str, App]:
    """The GPU applications that `Platform.from_config(app=)` and `Platform.load_app()` take, by name."""
    return {row[0]: App(*row) for row in _fabricvp.apps()}


#: One value for node 0, or a mapping from nodes (numbers, or "node1") to values.
PerNode = Any


def check_app(
    name: str, size: int | None, gpus: int | None, placement: str, dispatch: str, initrd: str, option: str
) -> None:
    """Raises `InputError` for an unknown name, policy or option or an option without effect, `ValueError` for numbers
    below 1, `TypeError` for a value of another type."""
    for what, count in (("size", size), ("gpus", gpus)):
        if count is not None and (isinstance(count, bool) or not hasattr(count, "__index__")):
            raise TypeError(f"application {name}: {what}={count!r}: must be a whole number")
    if (size is not None and size < 1) or (gpus is not None and gpus < 1):
        raise ValueError(f"application {name} with size={size}, gpus={gpus}: 1 or more")
    try:
        _fabricvp.check_app(name, size or 0, gpus or 0, placement, dispatch, initrd, option)
    except TypeError:  # its message has several lines
        given = f"size={size!r}, gpus={gpus!r}, placement={placement!r}, dispatch={dispatch!r}, option={option!r}"
        raise TypeError(f"application {name}: {given}: size and gpus take whole numbers, the others text") from None


def parse_app_requests(app: PerNode, **options: PerNode) -> list[dict[str, Any]]:
    """What `Platform.load_app()` is to be called with, checked: once for each node that has an application. Options
    that are no mappings are for all of them.

    Raises as `check_app()`, and `TypeError` for an option without an application.
    """
    apps = by_node(app)
    given = {name: value for name, value in options.items() if value not in (None, "")}
    for name, value in given.items():
        if not apps or (isinstance(value, Mapping) and set(by_node(value)) - set(apps)):
            raise TypeError(f"{name}= is about an application: give app= too")
    app_requests = []
    for node, name in apps.items():
        if not isinstance(name, str):
            raise TypeError(
                f"app= is the name of an application, or a mapping from nodes to names: {name!r} is neither"
            )
        own = {key: by_node(value).get(node) if isinstance(value, Mapping) else value for key, value in given.items()}
        app_request = {"size": None, "gpus": None, "placement": "", "dispatch": "", "initrd": "", "option": ""} | {
            k: v for k, v in own.items() if v is not None
        }
        app_request["initrd"] = os.fspath(app_request["initrd"])
        check_app(name, **app_request)
        app_requests.append({"name": name, "node": node, **app_request})
    return app_requests


class LaunchOptions(TypedDict, total=False):
    """What `Gpu.launch()` takes by name, beside ``wait``."""

    group: int | Sequence[int] | None
    kernel: str
    lds: int
    outputs: Sequence[Any] | None
    places: Mapping[Any, int | str] | None
    all_gpus: bool
    max_job_bytes: int
    limit: Time | None
    stream: Stream | None
    placement: str
    dispatch: str


@dataclass(frozen=True)
class Wavefront:
    """A wavefront that is alive, as it was when `Gpu.wavefronts()` was called.

    ``slot`` is its place in the compute unit, ``number`` its place in the work-group ``group``. ``state`` says what it
    does or waits for ("start", "run", "ready", "memory", "queue", "fetch", "fence", "barrier", "drain"). ``live`` and
    ``active`` are masks of 64 lanes: those that have not ended, and those that stand at ``pc``. ``instructions`` it has
    executed.
    """

    compute_unit: int
    slot: int
    kernel: str
    group: tuple[int, int, int]
    number: int
    state: str
    live: int
    active: int
    pc: int
    instructions: int


class Gpu:
    """One GPU: its memory, its wavefronts, its statistics."""

    def __init__(self, platform: Platform, node: int, index: int) -> None:
        self._platform, self._core = platform, platform._core
        self._node, self.index = node, index

    @property
    def name(self) -> str:
        """Path of the GPU, as in statistics ("node0.gpu0")."""
        return _fabricvp.gpu_name(self._core, self._node, self.index)

    @property
    def compute_units(self) -> int:
        """Number of compute units."""
        return _fabricvp.gpu_compute_units(self._core, self._node, self.index)

    @property
    def local_bytes(self) -> int:
        """Bytes of a compute unit's local data share."""
        return _fabricvp.gpu_lds_size(self._core, self._node, self.index)

    def resident_groups(self, items: int, lanes: int = 64, lds: int = 0) -> int:
        """Work-groups of so many work-items, with wavefronts of 32 or 64 ``lanes`` and ``lds`` bytes of local data
        share each, that the GPU holds at a time. Registers may allow fewer. Raises `ValueError` for other lanes, for
        no work-items, and for a negative number of bytes."""
        if items < 1 or lanes not in (32, 64) or lds < 0:
            raise ValueError(f"items={items}, lanes={lanes}, lds={lds}: must be from 1 on, 32 or 64, and from 0 on")
        return _fabricvp.gpu_resident_groups(self._core, self._node, self.index, items, lanes, lds)

    @property
    def memory(self) -> GpuMemory:
        """Device memory by offset, from 0 on."""
        return GpuMemory(self._core, self._node, self.index)

    def translate(self, address: int, space: int = 0) -> tuple[int, int] | None:
        """Where a virtual address of kernels lies by the page tables of an address space, 0 for the driver's:
        (where, offset), where 0 is the host, 1 + n is GPU n of the node. None if it is not mapped (or the tables lie
        elsewhere)."""
        found = _fabricvp.gpu_translate(self._core, self._node, self.index, address, space)
        return None if found is None else found[:2]

    def wavefronts(self) -> list[Wavefront]:
        """The wavefronts that are alive now, by compute unit and slot. Between runs, or in a callback."""
        return [Wavefront(*row) for row in _fabricvp.gpu_wavefronts(self._core, self._node, self.index)]

    @property
    def statistics(self) -> dict[str, float]:
        """The GPU's statistics; names without the GPU's own ("wavefront_instructions",
        "memory.unit0.l1.hits", "dispatcher.dispatches", "link.tlps_sent")."""
        return self._short(self._platform.statistics.snapshot(self.name + "."))

    def _short(self, values: Mapping[str, float]) -> dict[str, float]:
        prefix = self.name + "."
        return {path[len(prefix) :]: value for path, value in values.items() if path.startswith(prefix)}

    def total(self, ending: str) -> float:
        """Sum of all statistics of the GPU whose names end so: ``total("l1.hits")`` over all compute units."""
        return sum(value for name, value in self.statistics.items() if name == ending or name.endswith("." + ending))

    def stalls(self) -> dict[str, float]:
        """Seconds that wavefronts waited, summed over all of them: for ``memory`` (data), ``queue`` (the memory unit),
        ``fetch`` (instructions), ``fence``, ``barrier``, ``simd`` (others on the same SIMD unit)."""
        statistics = self.statistics
        return {
            reason: sum(v for k, v in statistics.items() if k.endswith(".stall_" + reason)) / 1e12 for reason in _STALLS
        }

    @overload
    def launch(
        self,
        elf: str | os.PathLike[str],
        grid: int | Sequence[int],
        args: Sequence[Any] = ...,
        buffers: Mapping[str, Any] | None = ...,
        *,
        wait: Literal[True] = ...,
        **options: Unpack[LaunchOptions],
    ) -> Launch: ...

    @overload
    def launch(
        self,
        elf: str | os.PathLike[str],
        grid: int | Sequence[int],
        args: Sequence[Any] = ...,
        buffers: Mapping[str, Any] | None = ...,
        *,
        wait: Literal[False],
        **options: Unpack[LaunchOptions],
    ) -> PendingLaunch: ...

    @renamed_arguments(room="max_job_bytes")
    def launch(
        self,
        elf: str | os.PathLike[str],
        grid: int | Sequence[int],
        args: Sequence[Any] = (),
        buffers: Mapping[str, Any] | None = None,
        *,
        group: int | Sequence[int] | None = None,
        kernel: str = "",
        lds: int = 0,
        outputs: Sequence[Any] | None = None,
        places: Mapping[Any, int | str] | None = None,
        all_gpus: bool = False,
        max_job_bytes: int = 0,
        limit: Time | None = None,
        stream: Stream | None = None,
        placement: str = "",
        dispatch: str = "",
        wait: bool = True,
    ) -> Launch | PendingLaunch:
        """Runs a kernel of an ELF file (`fabricvp new kernel` makes a project with one) and waits for its end.

        ``grid`` and ``group`` are work-items, one to three sizes; a group has 256 unless given. ``args`` are laid out
        as C lays out the kernel's struct: whole numbers are 64 bits, floats are doubles, everything else is a value of
        ctypes or numpy. A numpy array, one of `Gpu.array()`, or the name of one of ``buffers``, stands for a pointer to
        it. Buffers are arrays, or a number of bytes for one that begins as zeros. ``outputs`` are the buffers that come
        back, by name or by place among ``args`` (None: all); arrays of `Gpu.array()` stay where they are.

        ``places`` says by name or by place among ``args`` which buffers lie elsewhere than where the kernel runs: on
        another GPU of the node, by its number, or in host memory (``"host"``), which lanes reach over PCIe, uncached.
        Buffers on one GPU have pages of 2 MiB as far as they fill them, others of 4 KiB.

        ``kernel`` is which one of the file (default: the first), ``lds`` bytes of dynamic local data share for each
        work-group, ``all_gpus`` spreads grid and buffers over all GPUs of the node, by the policies
        ``placement`` ("contiguous", "interleaved", "lasp", "first_touch") and ``dispatch`` ("contiguous",
        "round_robin", "lasp", "fill"). ``limit`` is simulated time for all of it. ``max_job_bytes`` is the size of the
        largest job, where later ones are larger than twice the first.
        ``stream`` is one of `Gpu.stream()`; the call then does not wait.

        The project's driver does it on the simulated host: buffers travel over PCIe, the launch goes through a queue.
        So the node must not run anything else, and the first launch boots it.

        Raises `KernelFault` where a lane goes wrong, `InputError` for what cannot be launched, `GuestStopped` at the
        limit (the next launch then resets the node and boots it again), `TypeError` and `ValueError` for arguments
        that are none."""
        items = to_3d(grid, "grid")
        arguments = Arguments(args, buffers or {}, outputs, places, len(self._platform.nodes[self._node].gpus))
        pending = self._add_launch(
            elf,
            kernel,
            items,
            to_3d(group, "group") if group is not None else default_group(items),
            lds,
            arguments,
            all_gpus,
            max_job_bytes,
            limit,
            stream,
            placement,
            dispatch,
            wait,
        )
        return pending.result() if wait and stream is None else pending

    @runs_in_caller
    def array(self, values: Any, spread: bool = False) -> DeviceArray:
        """An array in the GPU's memory that stays there between launches, with the values of an array of numpy (or what
        `numpy.asarray()` takes). The first launch that has it allocates and fills it. With ``spread`` that is one on
        all GPUs of the node (`all_gpus=True`), whose ``placement`` deals its pages out to them.

        Raises `TypeError` for big-endian numbers, and `ValueError` for an empty array."""
        import numpy

        from .device_arrays import DeviceArray

        values = numpy.ascontiguousarray(values) if numpy.ndim(values) else numpy.asarray(values)
        require_little_endian(values)
        if not values.nbytes:
            raise ValueError("the array is empty")
        handle = self._new_array(values.nbytes, values.tobytes(), spread=spread)
        return DeviceArray(self, values.dtype, values.shape, handle)

    def stream(self) -> Stream:
        """A stream for `launch(stream=)` and kernels of programs: kernels of one follow each other, those of several
        run at the same time."""
        return Stream(self._platform.nodes[self._node].kernel_jobs, self.name, self.index)

    def _new_array(self, size: int, contents: bytes, renewed: bool = False, spread: bool = False) -> int:
        from .device_arrays import SPREAD

        place = SPREAD if spread else 1 + self.index
        return self._platform.nodes[self._node].kernel_jobs.arrays.add(size, contents, place, renewed)

    def _read_array(self, handle: int, offset: int, size: int) -> bytes:
        return self._platform.nodes[self._node].kernel_jobs.arrays.read(handle, offset, size)

    def _write_array(self, handle: int, offset: int, data: bytes) -> None:
        self._platform.nodes[self._node].kernel_jobs.arrays.write(handle, offset, data)

    @runs_in_caller
    def program(
        self,
        source: str | os.PathLike[str],
        defines: Mapping[str, Any] | Sequence[str] = (),
        includes: Sequence[str | os.PathLike[str]] = (),
        options: Sequence[str] = (),
        language: str = "",
        wavefront: int | None = None,
        heap: int | str = 8 << 20,
        recursion: int = 0,
    ) -> Program:
        """Compiles kernels, a file or a text, for `program["name"](grid, group, *args)`. A file's suffix tells its
        language (.cl, .hip, .cu); a text is in OpenCL C unless ``language`` is "hip" or "cuda".

        ``defines`` are macros: a mapping, or texts as `-D` takes them. ``includes`` are folders of headers, beside the
        file's own. ``options`` go to clang ("-cl-std=CL1.2", "-cl-fast-relaxed-math"). ``wavefront`` is how many lanes
        its wavefronts have, 32 or 64 (None: 32 in CUDA, else 64). ``heap`` is the size of what malloc() in kernels
        gives out, a number of bytes or a text with unit (8 MiB). ``recursion`` is how often a function that calls
        itself can be active at the same time (0: none calls itself). What was compiled before is not compiled again.

        Raises `InputError` with the compiler's first message, or if there is no compiler."""
        from .program import Program, compile_program

        image, locality = compile_program(source, defines, includes, options, language, wavefront, recursion)
        size = int(_fabricvp.parse_bytes(heap)) if isinstance(heap, str) else operator.index(heap)
        if size < 0:
            raise ValueError(f"heap={heap!r}: must be from 0 bytes on")
        return Program(self, image, size, locality)

    def _add_launch(
        self,
        elf: bytes | str | os.PathLike[str],
        kernel: str,
        items: tuple[int, int, int],
        group: tuple[int, int, int],
        lds: int,
        arguments: Arguments | ArgumentBlock,
        all_gpus: bool,
        max_job_bytes: int,
        limit: Time | None,
        stream: Stream | None,
        placement: str,
        dispatch: str,
        wait: bool = True,
        cooperative: bool = False,
    ) -> PendingLaunch:
        """A launch of `launch()`, or of a `Program`, which may be in another process."""
        jobs = self._platform.nodes[self._node].kernel_jobs
        if stream is not None:
            require_stream(stream).check_is_of(jobs, self.index)
        pending = jobs.add(
            None if all_gpus else self.index,
            elf,
            kernel,
            items,
            group,
            lds,
            arguments,
            self.name + ".",
            max_job_bytes,
            limit,
            **_stream_options(stream, wait),
            placement=placement,
            dispatch=dispatch,
            cooperative=cooperative,
        )
        if stream is not None:
            stream.add(pending)
        return pending

    def to_pandas(self) -> pandas.DataFrame:
        """Compute units in rows, their counters in columns."""
        import pandas

        rows: dict[int, dict[str, float]] = {}
        for name, value in self.statistics.items():
            head, _, counter = name.partition(".")
            if head.startswith("compute_unit") and head[12:].isdecimal():
                rows.setdefault(int(head[12:]), {})[counter] = value
        return pandas.DataFrame.from_dict(rows, orient="index").sort_index()

    def __repr__(self) -> str:
        return f"<Gpu {self.name} with {self.compute_units} compute units>"


def _stream_options(stream: Stream | None, wait: bool) -> dict[str, Any]:
    """What `Jobs.add()` takes for a stream, or for a launch outside of all."""
    if stream is None:
        return {"alone": wait}
    return {"stream": stream.number, "after": stream.after}


class GpuMemory(Memory):
    """A GPU's device memory by offset, read and written without simulated time, as `Memory` is. It is what L2 and HBM
    hold; L1 caches may still have older bytes. Writes end reservations. There is no `view()`."""

    def __init__(self, core: _fabricvp.Session, node: int, gpu: int) -> None:
        super().__init__(_DeviceMemory(core, gpu), node)  # type: ignore[arg-type]
        self._size = _fabricvp.gpu_memory_size(core, node, gpu)

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return True

    def view(self, address: int, size: int) -> memoryview:
        raise AddressError("device memory has no view: read() or array() copy it")

    def __repr__(self) -> str:
        return f"<GpuMemory of {self._size} bytes>"


class _DeviceMemory:
    """What `Memory` asks of a session, for a GPU."""

    def __init__(self, core: _fabricvp.Session, gpu: int) -> None:
        self._core, self._gpu = core, gpu

    def read_memory(self, node: int, offset: int, size: int) -> bytes:
        return _fabricvp.gpu_read_memory(self._core, node, self._gpu, offset, size)

    def write_memory(self, node: int, offset: int, data: Any) -> int:
        return _fabricvp.gpu_write_memory(self._core, node, self._gpu, offset, data)
