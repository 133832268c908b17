# SPDX-License-Identifier: Apache-2.0
"""Host halves of programs in one source, for Linux or bare metal: clang makes an object of each source, which carries
the image of its kernels or leads to that of all."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..data import sdk_folder
from ..errors import InputError
from . import device_link, toolchain
from .kernels import NoKernel
from .languages import WAVEFRONTS, language_of, marked
from .pipeline import build_linked
from .sources import Options, Source

#: Macros of clang's mode for HIP that a source in CUDA must not see.
_NO_HIP = ("-U__HIP__", "-U__HIPCC__", "-D__CUDACC__=1")
#: Variables that host and kernels share are known where there is a host half.
_MANAGED = "__managed__=__attribute__((managed))"
#: Sources without device code, and how clang reads them.
_HOST_SUFFIXES = {".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".c": "c"}


@dataclass(frozen=True)
class Host:
    """What host halves are compiled for."""

    flags: tuple[str, ...]  #: target, and how code is made for it
    cplusplus: tuple[Path, ...]  #: headers of the C++ library
    c: tuple[Path, ...]  #: headers of compiler and C library


def require_sources(names: Sequence[str], where: str) -> None:
    """Raises `InputError` unless a program can be made of these files; ``where`` is "for Linux", say."""
    for name in names:
        if Path(name).suffix not in {".hip", ".cu", *_HOST_SUFFIXES}:
            raise InputError(f"{name}: programs {where} are in HIP (.hip) or CUDA (.cu), with C++ and C beside it")


def compile_all(
    sources: Mapping[str, str], options: Options, cplusplus: str, linked: bool, host: Host, folder: Path
) -> list[Path]:
    """Objects in ``folder`` of all sources, and one of the image of their kernels where it is one for all. Raises
    `InputError` with the compiler's first message."""
    device = [
        Source(source, name, _for_kernels(_with_both_halves(language, options)), language)
        for name, source in sources.items()
        if (language := kernels_language(name, cplusplus))
    ]
    together = len(device) > 1 and linked and _write_image(device, folder / "image")
    objects = [folder / f"{number}.o" for number in range(len(sources))]
    for output, (name, source) in zip(objects, sources.items()):
        _compile(source, name, kernels_language(name, cplusplus), options, output, together, host)
    return [*objects, _device_image(folder / "image", host)] if together else objects


def _device_image(image: Path, host: Host) -> Path:
    """An object with the image of a program's kernels."""
    output = image.with_suffix(".o")
    source = sdk_folder() / "linux" / "device_image.S"
    command = [toolchain.clang(), *host.flags, f'-DFABRICVP_IMAGE="{image}"', "-c", str(source), "-o", str(output)]
    toolchain.run(command)
    return output


def _write_image(sources: Sequence[Source], output: Path) -> bool:
    """The image of the kernels of sources, False if they have none."""
    with contextlib.suppress(NoKernel):
        output.write_bytes(build_linked(sources).elf)
        return True
    return False


def kernels_language(name: str, cplusplus: str) -> str:
    """ "hip" or "cuda" of a file that may have device code, "" of others."""
    host = _HOST_SUFFIXES.get(Path(name).suffix)
    if host is None:
        return language_of(name)
    return cplusplus if host == "c++" else ""


def _compile(source: str, name: str, language: str, options: Options, output: Path, together: bool, host: Host) -> None:
    """The host half of a source, with the image of its kernels if it has some, or with what leads to that of all."""
    kernels: list[str] = []
    image = output.with_suffix(".elf")
    if not language:
        command = _host_command(name, options, host)
    else:
        own = _with_both_halves(language, options)
        command = _device_command(name, language, own, host)
        if together:
            image.write_bytes(device_link.host_part(name))
            kernels = ["-fgpu-rdc"]  # variables of the host half have names for other files
        if together or _write_image([Source(source, name, _for_kernels(own), language)], image):
            kernels += ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(image)]
    toolchain.run([*command, "-o", str(output), *kernels, "-"], marked(source, name, language))


def _with_both_halves(language: str, options: Options) -> Options:
    """What host and device code of one source see. Sources in CUDA need not include the header of their run-time."""
    options = replace(options, defines=(*options.defines, _MANAGED))
    if language != "cuda":
        return options
    return replace(options, flags=(*options.flags, "-include", "cuda_runtime.h"))


def _for_kernels(options: Options) -> Options:
    """Options by which device code has the headers of the host half."""
    return replace(options, includes=(*options.includes, str(sdk_folder() / "runtime" / "include")))


def kernel_options(name: str, options: Options) -> Options:
    """Options by which the kernels of a program's source compile to an image of their own, by the source's name."""
    return _for_kernels(_with_both_halves(language_of(name), options))


def _host_command(name: str, options: Options, host: Host) -> list[str]:
    cplusplus, hip = _HOST_SUFFIXES[Path(name).suffix], sdk_folder() / "gpu" / "hip" / "include"
    named = any(flag.startswith("-std=") for flag in options.flags)
    standard = [] if named else ["-std=gnu17" if cplusplus == "c" else "-std=c++17"]
    return [toolchain.clang(), "-x", cplusplus, *standard, *_common(name, options, [hip], host), *options.flags]


def _device_command(name: str, language: str, options: Options, host: Host) -> list[str]:
    sdk = sdk_folder()
    lanes = options.wavefront or WAVEFRONTS[language]
    standard = [] if any(flag.startswith("-std=") for flag in options.flags) else ["-std=c++17"]
    return [
        toolchain.clang(),
        *("-x", "hip", "--cuda-host-only", "-nogpuinc", "-nogpulib", "-fdeclspec", *standard),
        *("-include", str(sdk / "gpu" / "hip" / "device.h"), f"-DWAVEFRONT_LANES={lanes}"),
        *(_NO_HIP if language == "cuda" else ()),
        *_common(name, options, [sdk / "gpu" / "hip" / "include", sdk], host),
        *options.flags,
    ]


def _common(name: str, options: Options, first: list[Path], host: Host) -> list[str]:
    """Target, macros and folders; ``first`` are those that stand before the system's."""
    here = str(Path(name).parent)
    folders = [*options.includes, here, str(sdk_folder() / "runtime" / "include")]
    c = Path(name).suffix == ".c"
    system = [*first, *(() if c else host.cplusplus), *host.c]
    return [
        *(*host.flags, f"-O{options.optimize}", "-c", "-nostdinc", *([] if c else ["-nostdinc++"])),
        "-fsigned-char",  # as in kernels, and as programs for x86 expect
        *(f"-D{define}" for define in options.defines),
        *("-iquote", here, *(word for folder in folders for word in ("-I", folder))),
        *(word for folder in system for word in ("-isystem", str(folder))),
    ]
