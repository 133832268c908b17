# SPDX-License-Identifier: Apache-2.0
"""Kernels in OpenCL C, HIP and CUDA, compiled and called from Python.

program = gpu.program("saxpy.cl", defines={"FACTOR": 2})
done = program["saxpy"](4096, 64, x, y, 4096)     # sizes in work-items, as pyopencl takes them
print(done.time, done.statistics["wavefront_instructions"], y)
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compiler import Image, Kernel, Options, Parameter, build, toolchain
from .compiler.elf import Elf
from .compiler.languages import SUFFIXES
from .compiler.locality import KernelLocality
from .compiler.locality.lasp import of_launch
from .compiler.locality.report import locality_of_source
from .compiler.values import Local, check_array, pack
from .device_arrays import DeviceArray
from .errors import InputError, KernelFault
from .launch import ArgumentBlock, Buffer, Launch, Locality, default_group, to_3d
from .printed import Printed
from .program_variables import BlockVariable, ProgramConstant, ProgramVariable

if TYPE_CHECKING:
    from .gpu import Gpu
    from .launch import PendingLaunch
    from .streams import Stream
    from .units import Time

Localities = Mapping[str, KernelLocality]

LDS_BASE, LDS_BYTES = 0x20000000, 0x10000  # GPU_LDS_BASE, GPU_LDS_SIZE (abi/gpu_apertures.h), a machine's at most
SCRATCH_BASE, MAX_OVERFLOW = 0x30000000, 1 << 20  # GPU_SCRATCH_BASE; below it nothing is for 255 MiB
WAVEFRONT_32, COOPERATIVE = 2, 4  # KERNEL_… (abi/kernel_descriptor.h)
#: gpu.sync and gpu.exchange (abi/gpu_isa.h): bits of the instruction, and what they are.
WAITS = ((0xFFF07FFF, 0x0800500B), (0xFE00707F, 0x0C00500B))
MAX_GROUP = 1024  # GPU_MAX_WORKGROUP_ITEMS (abi/gpu.h)
MAX_SCRATCH = 0.2  # of a kernel's memory transactions without a warning
HEAP_BYTES = 8 << 20  # of malloc() in kernels, unless the caller says otherwise


class Program:
    """Kernels of one source: a mapping of their names to what can be called."""

    def __init__(
        self, gpu: Gpu, image: Image, heap_bytes: int = HEAP_BYTES, locality: Callable[[], Localities] | None = None
    ) -> None:
        self._gpu, self.image, self._block = gpu, image, 0
        self._analyse = locality or dict
        if image.block is not None:
            size, contents = image.block.contents(Elf(image.elf), heap_bytes)
            self._block, self._block_bytes = gpu._new_array(size, contents, renewed=True), size

    @cached_property
    def locality(self) -> Localities:
        """What each kernel does with its buffers, by analysis: rows of LADM's table, as `fabricvp cc
        --placement-report` prints them."""
        return self._analyse()

    @cached_property
    def local_bytes(self) -> int:
        """Bytes of local data share that a compute unit of the GPU has."""
        return self._gpu.local_bytes

    def __getitem__(self, name: str) -> ProgramKernel:
        return ProgramKernel(self, self._gpu, find_kernel(self.image, name))

    @property
    def variables(self) -> list[str]:
        """Names of the variables of program scope that kernels may write, and of those that are `__constant__` in HIP
        and CUDA."""
        return [
            *(self.image.block.variables if self.image.block else ()),
            *(name for name, constant in self.image.constants.items() if constant.address),
        ]

    def variable(self, name: str) -> ProgramVariable:
        """A variable of program scope that kernels may write, or that is `__constant__` in HIP and CUDA: `get()` reads
        it, `set()` writes it. Each program has its own, on its GPU; they begin with what the source says, and keep what
        kernels write. A new value of a constant is for later launches. Raises `InputError` if there is none of that
        name."""
        if name in self.image.constants and name not in self.variables:
            raise InputError(f"variable '{name}' is const: the code has its value; leave out const")
        if name not in self.variables:
            raise InputError(f"no variable '{name}' in the source; there are: {', '.join(self.variables) or 'none'}")
        if name in self.image.constants:
            return ProgramConstant(self.image, self.image.constants[name])
        assert self.image.block is not None
        return BlockVariable(self._gpu, self._block, self.image.block.variables[name])

    def _block_argument(self, kernel: Kernel) -> list[Buffer]:
        """What a kernel gets behind its arguments."""
        if kernel.block < 0:
            return []
        return [Buffer(self._block_bytes, None, False, kernel.block, array=self._block)]

    def _print(self) -> list[str]:
        """Prints what kernels have printed; gives the texts of assertions that failed."""
        block = self.image.block
        if block is None or block.output < 0:
            return []
        printed = Printed(Elf(self.image.elf), block)
        text, failed, lost = printed.take(
            lambda at, size: self._gpu._read_array(self._block, at, size),
            lambda at, data: self._gpu._write_array(self._block, at, data),
        )
        sys.stdout.write(text)
        sys.stdout.flush()
        for line in printed.complaints(lost):
            print(line, file=sys.stderr)
        return failed

    def __iter__(self) -> Iterator[str]:
        return iter(self.image.kernels)

    def __len__(self) -> int:
        return len(self.image.kernels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the ELF file, for `fabricvp run --kernel-elf` and `Gpu.launch()`."""
        Path(path).write_bytes(self.image.elf)

    def listing(self) -> str:
        """RISC-V instructions beside the lines of the source that they come from."""
        objdump = re.sub(r"gcc$", "objdump", toolchain.gcc())
        with tempfile.NamedTemporaryFile(suffix=".elf") as file:
            file.write(self.image.elf)
            file.flush()
            return subprocess.run(
                [objdump, "-d", "-l", "--no-show-raw-insn", file.name], capture_output=True, text=True, check=True
            ).stdout

    def __repr__(self) -> str:
        return f"<Program with {', '.join(self.image.kernels)}>"


class ProgramKernel:
    """A kernel that can be called with a grid, a work-group and arguments."""

    def __init__(self, program: Program, gpu: Gpu, kernel: Kernel) -> None:
        self._program, self._gpu, self._kernel = program, gpu, kernel

    @property
    def parameters(self) -> list[Parameter]:
        """Names, types and places of the parameters."""
        return list(self._kernel.parameters)

    @property
    def local_bytes(self) -> int:
        """Bytes of local data share that a work-group needs for the kernel's variables."""
        return self._kernel.lds_bytes

    @property
    def stack_bytes(self) -> int:
        """Bytes of stack that a work-item needs."""
        return self._kernel.scratch_bytes

    def __call__(
        self,
        grid: int | Sequence[int],
        group: int | Sequence[int] | None,
        *args: Any,
        shared_mem: int = 0,
        all_gpus: bool = False,
        max_job_bytes: int = 0,
        limit: Time | None = None,
        stream: Stream | None = None,
        placement: str = "",
        dispatch: str = "",
        cooperative: bool = False,
        locality: Mapping[str, Sequence[int]] | None = None,
    ) -> Launch | StreamLaunch:
        """Runs the kernel and waits for its end, unless a ``stream`` of `Gpu.stream()` is given. For OpenCL C, ``grid``
        and ``group`` are sizes in work-items, as in pyopencl; a group of None is what the source requires, or 256. For
        HIP and CUDA they are blocks and threads, as in CuPy, and ``shared_mem`` is the bytes of `extern __shared__`
        arrays. ``cooperative``: all work-groups are on the GPU at the same time, so that they can wait for each other;
        `InputError` if they do not fit. Kernels that call `sync()` of a grid are always launched so.

        Arrays of `Gpu.array()` are where they are. Arrays of numpy are buffers, copied to the GPU and written back in
        place unless the parameter is a pointer to const or `__constant`; None is a null pointer;
        `fabricvp.local(BYTES)` stands for a `__local` pointer. Numbers become the parameter's type, sequences vectors,
        records of numpy and structures of ctypes structs.

        ``all_gpus`` spreads grid and buffers over all GPUs, by ``placement`` and ``dispatch`` as `Gpu.launch()` has
        them. "lasp" follows an analysis of the kernel's index expressions (`fabricvp cc --placement-report`).
        ``locality`` says of buffers, by the parameter's name, what to take instead: `Locality` or its numbers.

        Raises `TypeError` and `ValueError` that name the argument, `InputError` for what cannot be launched, and as
        `Gpu.launch()` does."""
        kernel = self._kernel
        items, sizes = grid_of(kernel, to_3d(grid, "grid"), None if group is None else to_3d(group, "group"))
        arguments = TypedArguments(kernel, args)
        arguments.lds += shared_mem
        check_limits(kernel, sizes, arguments.lds, self._program.local_bytes)
        if cooperative or kernel.flags & COOPERATIVE:
            self._check_cooperative(items, sizes, kernel.lds_bytes + arguments.lds, all_gpus)
        if stream is not None:
            arguments.check_stream()
        if all_gpus and "lasp" in (placement, dispatch):
            self._set_localities(arguments, items, sizes, locality or {})
        elif locality:
            raise InputError("locality is for kernels on all GPUs by the policies 'lasp': give all_gpus=True and one")
        pending = self._gpu._add_launch(
            self._program.image.elf,
            kernel.symbol,
            items,
            sizes,
            kernel.lds_bytes + arguments.lds,  # a packet has the sum of both
            ArgumentBlock(bytes(arguments.block), arguments.buffers + self._program._block_argument(kernel)),
            all_gpus,
            max_job_bytes,
            limit,
            stream,
            placement,
            dispatch,
            cooperative=cooperative,
        )
        launch = StreamLaunch(self._program, pending, arguments)
        return launch.result() if stream is None else launch

    def _set_localities(
        self, arguments: TypedArguments, items: Sequence[int], sizes: Sequence[int], given: Mapping[str, Sequence[int]]
    ) -> None:
        """What the kernel does with its buffers: as given, or by analysis."""
        pointers = {p.name: p.offset for p in self._kernel.parameters if p.kind in ("global", "constant")}
        unknown = [name for name in given if name not in pointers]
        if unknown:
            raise InputError(f"locality: no buffer '{unknown[0]}'; there are: {', '.join(pointers) or 'none'}")
        found = of_launch(self._program.locality, self._kernel, items, sizes, bytes(arguments.block))
        for name, numbers in given.items():
            if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and 0 <= n < 1 << 32 for n in numbers):
                raise InputError(
                    f"locality: {name!r} is {(*numbers,)}: a row of LADM's table, pitch and datablock, bytes"
                )
            found[pointers[name]] = Locality(*numbers)
        arguments.buffers = [b._replace(locality=found.get(b.argument, Locality())) for b in arguments.buffers]

    def _check_cooperative(
        self, items: tuple[int, int, int], sizes: tuple[int, int, int], lds: int, all_gpus: bool
    ) -> None:
        """Raises `InputError` where not all work-groups are on the GPU at the same time. What registers allow, the
        dispatcher checks."""
        if all_gpus:
            raise InputError(f"kernel '{self._kernel.name}': a cooperative launch runs on one GPU")
        groups = math.prod(-(-n // m) for n, m in zip(items, sizes))
        lanes = 32 if self._kernel.flags & WAVEFRONT_32 else 64
        most = self._gpu.resident_groups(math.prod(sizes), lanes, lds)
        if groups > most:
            raise InputError(
                f"kernel '{self._kernel.name}': a cooperative launch of {groups} work-groups of {_by(sizes)}: the GPU"
                f" holds at most {most} at a time"
            )

    def __repr__(self) -> str:
        return f"<kernel {self._kernel.name}({', '.join(f'{p.type} {p.name}' for p in self._kernel.parameters)})>"


class StreamLaunch:
    """A kernel of a program in a stream."""

    def __init__(self, program: Program, pending: PendingLaunch, arguments: TypedArguments) -> None:
        self._program, self._pending, self._arguments = program, pending, arguments
        self._result: Launch | None = None

    @property
    def done(self) -> bool:
        """True once it has run."""
        return self._pending.done

    def result(self) -> Launch:
        """Waits for its end. Raises as a call without a stream."""
        if self._result is None:
            try:
                time, statistics, contents = self._pending.outcome()
            except KernelFault as error:
                failed = self._program._print()
                more = f" (and {len(failed) - 1} more)" if failed[1:] else ""
                assertion = f"\n{failed[0]}{more}" if failed else ""
                place = _source_line(self._program.image, str(error))
                why = _overflow(self._arguments.kernel, str(error)) or _waiting(self._program.image, str(error))
                raise KernelFault(f"{error}{place}{assertion}{why}", error.fault) from None
            self._program._print()
            self._arguments.write_back(contents)
            buffers = {name: array for name, array in self._arguments.sources if array is not None}
            _warn_of_scratch(self._arguments.kernel, statistics)
            _warn_of_barriers(self._program.image, self._arguments.kernel, statistics)
            self._result = Launch(time, statistics, buffers, self._arguments.kernel.name)
        return self._result


def _overflow(kernel: Kernel, message: str) -> str:
    """A line for the end of a fault's message if the address is one below the stack."""
    found = re.search(r"\baddress (0x[0-9a-f]+)", message)
    if found is None or not SCRATCH_BASE - MAX_OVERFLOW <= int(found[1], 16) < SCRATCH_BASE:
        return ""
    return f"\nthe stack of {kernel.scratch_bytes} bytes has overflowed: calls are deeper than `recursion` says"


def _waiting(image: Image, message: str) -> str:
    """A line for the end of a fault's message if lanes wait for others of their mask that cannot come."""
    place, elf = re.search(r"'barrier'.*\bpc (0x[0-9a-f]+)", message, re.DOTALL), Elf(image.elf)
    text = elf.section(".text")
    if place is None or text is None or not text.address <= int(place[1], 16) < text.address + text.size:
        return ""
    word = int.from_bytes(elf.contents(text)[int(place[1], 16) - text.address :][:4], "little")
    if all(word & bits != known for bits, known in WAITS):
        return ""
    return "\nthe lanes of the mask do not all execute this operation with this mask, which CUDA leaves undefined"


def _warn_of_scratch(kernel: Kernel, statistics: Mapping[str, float]) -> None:
    """Warns where a kernel mostly moves what it keeps on its stack."""
    scratch, all_ = (
        sum(value for name, value in statistics.items() if name.startswith("memory.unit") and name.endswith(ending))
        for ending in (".scratch", ".transactions")
    )
    if scratch > MAX_SCRATCH * all_:
        warnings.warn(
            f"kernel '{kernel.name}': {scratch / all_:.0%} of its memory transactions are for work-items' stacks:"
            " `fabricvp cc --report` tells why",
            RuntimeWarning,
            stacklevel=4,
        )


def _warn_of_barriers(image: Image, kernel: Kernel, statistics: Mapping[str, float]) -> None:
    """Tells once that barriers lacked lanes that had ended, which OpenCL C does not allow."""
    if not statistics.get("dispatcher.ended_lane_barriers"):
        return
    place = f"pc {int(statistics['dispatcher.ended_lane_barrier_pc']):#x}"
    warnings.warn(
        f"kernel '{kernel.name}': work-items had ended before a barrier, which needs all of their work-group"
        f" ({place}){_source_line(image, place)}",
        stacklevel=4,
    )


def _source_line(image: Image, message: str) -> str:
    """Where a fault happened in the source, as a line for the end of its message; "" if that is not known."""
    place = re.search(r"\bpc (0x[0-9a-f]+)", message)
    if not place:
        return ""
    addr2line = re.sub(r"gcc$", "addr2line", toolchain.gcc())
    with tempfile.NamedTemporaryFile(suffix=".elf") as file:
        file.write(image.elf)
        file.flush()
        command = [addr2line, "-i", "-e", file.name, place[1]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    # The innermost line of the source itself: functions of the package's headers became part of it.
    own = str(toolchain.gpu_folder().resolve())
    lines = [line for line in done.stdout.splitlines() if not line.startswith("??")]
    of_source = [line for line in lines if not str(Path(line).resolve()).startswith(own)] or lines
    return f"\n{of_source[0]}" if done.returncode == 0 and of_source else ""


class TypedArguments:
    """The argument block of a kernel with known parameters; ``lds`` bytes of dynamic local data share."""

    def __init__(self, kernel: Kernel, args: Sequence[Any]) -> None:
        if len(args) != len(kernel.parameters):
            names = ", ".join(p.name for p in kernel.parameters) or "none"
            raise TypeError(
                f"kernel '{kernel.name}' takes {len(kernel.parameters)} arguments ({names}), not {len(args)}"
            )
        self.kernel, self.block = kernel, bytearray(kernel.argument_bytes)
        self.buffers: list[Buffer] = []
        self.sources: list[tuple[str, Any]] = []
        self.lds = 0
        self._static = kernel.lds_bytes
        for index, (p, value) in enumerate(zip(kernel.parameters, args)):
            try:
                self._add(p, value)
            except (TypeError, ValueError, OverflowError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"kernel '{kernel.name}', argument {index} '{p.name}': {error}") from None

    def _add(self, p: Parameter, value: Any) -> None:
        if p.kind == "value":
            self._put(p, pack(p, value))
        elif p.kind == "local":
            if not isinstance(value, Local):
                raise TypeError(f"fabricvp.local(BYTES) for a __local pointer, not {type(value).__name__}")
            self._put(p, (LDS_BASE + self._static + self.lds).to_bytes(8, "little"))
            self.lds += -(-value.size // 16) * 16
        elif value is not None:
            self._buffer(p, value)

    def _buffer(self, p: Parameter, value: Any) -> None:
        if isinstance(value, Local):
            raise TypeError(f"an array for a pointer to {p.kind} memory, not local()")
        if isinstance(value, DeviceArray):
            check_array(p, value)
            self.buffers.append(Buffer(value.nbytes, None, False, p.offset, array=value.handle))
            self.sources.append((p.name, value))
            return
        if not (hasattr(value, "tobytes") and hasattr(value, "dtype") and getattr(value, "shape", ()) != ()):
            raise TypeError(f"a numpy array for a {p.type}, not {type(value).__name__}")
        check_array(p, value)
        if not value.nbytes:
            raise ValueError("the array is empty")
        other = next((name for name, array in self.sources if array is value), None)
        if other is not None:
            raise ValueError(f"the same array as argument '{other}': each buffer is given once")
        if not p.const and not value.flags.writeable:
            raise ValueError("the array cannot be written, and the kernel's pointer is not to const")
        self.buffers.append(Buffer(value.nbytes, value.tobytes(), not p.const, p.offset))
        self.sources.append((p.name, value))

    def _put(self, p: Parameter, data: bytes) -> None:
        self.block[p.offset : p.offset + len(data)] = data

    def check_stream(self) -> None:
        """Raises `TypeError` where a kernel in a stream would write to an array that the next one does not see."""
        for (name, _), buffer in zip(self.sources, self.buffers):
            if buffer.out:
                raise TypeError(f"argument '{name}': kernels in a stream write to arrays of gpu.array()")

    def write_back(self, contents: Sequence[bytes]) -> None:
        """Contents of buffers into the arrays that they came from."""
        import numpy

        for (_, array), data, buffer in zip(self.sources, contents, self.buffers):
            if buffer.out:
                array[...] = numpy.frombuffer(data, array.dtype).reshape(array.shape)


def find_kernel(image: Image, name: str) -> Kernel:
    """A kernel by name, or the first for "". Raises `InputError`."""
    if not name:
        return next(iter(image.kernels.values()))
    if name not in image.kernels:
        raise InputError(f"no kernel '{name}' in the source; there are: {', '.join(image.kernels)}")
    return image.kernels[name]


def grid_of(
    kernel: Kernel, grid: tuple[int, int, int], group: tuple[int, int, int] | None
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Work-items, and those of a work-group. Raises `InputError`."""
    if not kernel.blocks:
        return grid, group_of(kernel, grid, group)
    if group is None:
        raise InputError(f"kernel '{kernel.name}': give the threads of a block")
    items = (grid[0] * group[0], grid[1] * group[1], grid[2] * group[2])
    if max(items) >= 1 << 32:
        raise InputError(f"grid {_by(grid)} × block {_by(group)}: at most 2^32 - 1 work-items in a dimension")
    return items, group


def group_of(kernel: Kernel, items: tuple[int, int, int], group: tuple[int, int, int] | None) -> tuple[int, int, int]:
    """The work-group: as given, as the source requires, or 256. Raises `InputError`."""
    required = (*kernel.required_group,) if kernel.required_group else None
    if group is None:
        return required or default_group(items)  # type: ignore[return-value]
    if required and group != required:
        raise InputError(f"kernel '{kernel.name}' requires work-groups of {_by(required)}, not {_by(group)}")
    return group


def check_limits(kernel: Kernel, group: tuple[int, int, int], lds: int, local_bytes: int = LDS_BYTES) -> None:
    """Raises `InputError` for work-groups that no compute unit can hold."""
    items = group[0] * group[1] * group[2]
    if items > MAX_GROUP:
        raise InputError(
            f"kernel '{kernel.name}': a work-group of {_by(group)} has {items} work-items: at most {MAX_GROUP}"
        )
    if kernel.max_group and items > kernel.max_group:
        raise InputError(
            f"kernel '{kernel.name}': {items} threads of a block: __launch_bounds__ says {kernel.max_group}"
        )
    if kernel.lds_bytes + lds > local_bytes:
        raise InputError(
            f"kernel '{kernel.name}': {kernel.lds_bytes} bytes of __local variables and {lds} of __local arguments: at"
            f" most {local_bytes}"
        )


def _by(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def compile_program(
    source: str | os.PathLike[str],
    defines: Mapping[str, Any] | Sequence[str] = (),
    includes: Sequence[str | os.PathLike[str]] = (),
    options: Sequence[str] = (),
    language: str = "",
    wavefront: int | None = None,
    recursion: int = 0,
) -> tuple[Image, Callable[[], Localities]]:
    """The image of a file, or of a text, in OpenCL C unless ``language`` says "hip" or "cuda"; and what finds the
    locality of its kernels. Raises `InputError`."""
    if language not in ("", *SUFFIXES.values()):
        raise InputError(f"no language '{language}'; there are: {', '.join(SUFFIXES.values())}")
    compiled = Options.of(defines, includes, options, wavefront=wavefront, recursion=recursion)
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return _built(source, "program.cl", compiled, language or "opencl")
    path = Path(source)
    try:
        text = path.read_text(errors="surrogateescape")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return _built(text, str(path), compiled, language)


def _built(text: str, name: str, options: Options, language: str) -> tuple[Image, Callable[[], Localities]]:
    return build(text, name, options, language), lambda: locality_of_source(text, name, options, language)
