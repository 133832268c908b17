# SPDX-License-Identifier: Apache-2.0
"""`fabricvp run CONFIG --program FILE` of a source: compiles, and gives the rest to `run --kernel-elf`, whose arguments
are words of 64 bits and buffers."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import _fabricvp
from ..arguments import is_whole
from ..errors import InputError
from ..launch import Locality
from ..printed import Printed
from ..program import HEAP_BYTES, LDS_BASE, check_limits, find_kernel, grid_of
from .elf import Elf
from .kernels import Kernel, Parameter
from .languages import SUFFIXES
from .locality.lasp import of_launch
from .locality.report import locality_of_source
from .pipeline import Image, build
from .sources import Options
from .values import element, pack

_ONCE = ("program", "kernel-name", "grid", "block", "heap", "lds", "wavefront", "recursion")
_OWN = (*_ONCE, "group", "arg", "define", "include")
_BUFFERS = ("zeros", "in", "file", "inout", "out")
_NUMBERS = ("u32", "i32", "u64", "i64", "f32", "f64")
_WRITTEN = re.compile(r"(?:inout:|out:[^:]*:)(.+)")
_WHERE = re.compile(r"^(?:--[a-z-]+=)?(?:node\d+=)?(?:file:)?")
_MAIN = re.compile(r"^\s*int\s+main\s*\(", re.MULTILINE)
_INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def is_program(arguments: list[str]) -> bool:
    """Whether these are arguments of `fabricvp` that run a source in OpenCL C."""
    return arguments[:1] == ["run"] and any(
        name == "program" and value.endswith(tuple(SUFFIXES)) for name, value in _options(arguments)
    )


def _has_main(source: str, folder: Path) -> bool:
    """Whether a source has a main(), or a file that it includes as one in another language."""
    included = [folder / name for name in _INCLUDED.findall(source) if name.endswith(tuple(SUFFIXES))]
    texts = [source, *(file.read_text(errors="surrogateescape") for file in included if file.is_file())]
    return any(_MAIN.search(text) for text in texts)


def _options(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Options with a value, and ("", argument) for what is none of `_OWN`."""
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name.startswith("--") and name[2:] in _OWN:
            value = value if equals else next(rest, "")
            if not value:
                raise InputError(f"{name}: the value is missing")
            yield name[2:], value
        else:
            yield "", argument


@contextmanager
def kernel_arguments(arguments: list[str]) -> Iterator[list[str]]:
    """Arguments of `fabricvp run --kernel-elf`, with a file that lives as long as the context. Raises `InputError`."""
    given: dict[str, list[str]] = {name: [] for name in _OWN}
    others = []
    for name, value in _options(arguments):
        if name:
            given[name].append(value)
        else:
            others.append(value)
    for name in _ONCE:
        if len(given[name]) > 1:
            raise InputError(f"--{name} is given {len(given[name])} times")
    path = Path(given["program"][0])
    _keep(path, given["arg"], others)
    try:
        source = path.read_text(errors="surrogateescape")
    except OSError as error:
        raise InputError(f"--program {path}: {error.strerror}") from None
    wavefront = _lanes(given["wavefront"][0]) if given["wavefront"] else None
    recursion = _depth(given["recursion"][0]) if given["recursion"] else 0
    compiled = Options.of(given["define"], given["include"], wavefront=wavefront, recursion=recursion)
    try:
        image = build(source, str(path), compiled)
        kernel = find_kernel(image, "".join(given["kernel-name"]))
    except InputError as error:
        if not _has_main(source, path.parent):
            raise
        raise InputError(
            f"{path}: a whole program, of which no kernel can be run alone ({error});"
            f" `fabricvp cc {path} --target linux` or `--target bare` makes one that runs"
        ) from None
    if len(given["block"] + given["group"]) > 1:
        raise InputError("--block and --group say the same, work-items of a work-group: give one, once")
    grid = _sizes("--grid", given["grid"]) or (1, 1, 1)
    items, group = grid_of(kernel, grid, _sizes("--block", given["block"] + given["group"]))
    words, lds = _words(kernel, given["arg"])
    lds += _bytes(given["lds"][0], "--lds ") if given["lds"] else 0
    check_limits(kernel, group, lds)
    heap = _bytes(given["heap"][0], "--heap ") if given["heap"] else HEAP_BYTES
    with _file(image.elf, ".elf") as elf, _block(image, kernel, heap) as block:
        yield [
            *others,
            *(_localities(kernel, source, str(path), compiled, items, group, words) if _by_lasp(others) else ()),
            *("--kernel-elf", elf, "--kernel-name", kernel.symbol),
            *("--grid", "x".join(map(str, items)), "--group", "x".join(map(str, group))),
            *(("--lds", f"{kernel.lds_bytes + lds} B") if kernel.lds_bytes + lds else ()),
            *(word for text in words + block for word in ("--arg", text)),
        ]


def _keep(source: Path, members: list[str], others: list[str]) -> None:
    """Raises `InputError` where a file that the run writes is the source: one of ``--arg``, or of another option."""
    written = {word: found[1] for word in members if (found := _WRITTEN.fullmatch(word))}
    written |= {word: _WHERE.sub("", word) for word in others}
    for word, name in written.items():
        if os.path.isfile(name) and source.is_file() and os.path.samefile(name, source):
            raise InputError(f"{word}: the run reads that file")


def _by_lasp(others: list[str]) -> bool:
    """Whether the kernel is spread by LASP, and what it does with its buffers is not given."""
    policies = [b for a, b in zip(others, others[1:]) if a in ("--placement", "--dispatch")]
    policies += [a.partition("=")[2] for a in others if a.startswith(("--placement=", "--dispatch="))]
    return "lasp" in policies and not any(a.partition("=")[0] == "--locality" for a in others)


def _localities(
    kernel: Kernel,
    source: str,
    name: str,
    options: Options,
    items: tuple[int, int, int],
    group: tuple[int, int, int],
    words: list[str],
) -> Iterator[str]:
    """An option for each buffer among the arguments."""
    block = b"".join(int(word[4:]).to_bytes(8, "little") if word.startswith("u64:") else bytes(8) for word in words)
    found = of_launch(locality_of_source(source, name, options), kernel, items, group, block)
    for at, word in enumerate(words):
        if not word.startswith("u64:"):
            yield "--locality"
            yield ":".join(map(str, found.get(8 * at, Locality())))


@contextmanager
def _block(image: Image, kernel: Kernel, heap: int) -> Iterator[list[str]]:
    """The argument of what the program keeps, if it keeps something. Prints what the kernel has printed in the end."""
    if image.block is None or kernel.block < 0:
        yield []
        return
    elf, block = Elf(image.elf), image.block
    size, contents = block.contents(elf, heap)
    with _file(contents.ljust(block.size, b"\0"), ".block") as name:
        yield [f"block:{size} B:{name}"]
        if block.output < 0:
            return
        data = Path(name).read_bytes()
        printed = Printed(elf, block)
        text, failed, lost = printed.take(lambda at, n: data[at : at + n], lambda at, new: None)
        sys.stdout.write("".join([text, *(f"{line}\n" for line in failed[:1])]))
        sys.stdout.flush()
        if failed[1:]:
            print(f"(and {len(failed) - 1} more assertions)")
        for line in printed.complaints(lost):
            print(line, file=sys.stderr)


@contextmanager
def _file(contents: bytes, suffix: str) -> Iterator[str]:
    handle, name = tempfile.mkstemp(suffix=suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        yield name
    finally:
        os.unlink(name)


def _depth(text: str) -> int:
    if not is_whole(text):
        raise InputError(f"--recursion '{text}': must be a number of calls")
    return int(text)


def _lanes(text: str) -> int:
    if text not in ("32", "64"):
        raise InputError(f"--wavefront '{text}': must be 32 or 64")
    return int(text)


def _sizes(option: str, values: list[str]) -> tuple[int, int, int] | None:
    if not values:
        return None
    parts = values[-1].split("x")
    if len(parts) > 3 or not all(is_whole(part) and 0 < int(part) < 1 << 32 for part in parts):
        raise InputError(f"{option} '{values[-1]}': must be N, NxM or NxMxK")
    return (*map(int, parts), *(1,) * (3 - len(parts)))  # type: ignore[return-value]


def _words(kernel: Kernel, given: list[str]) -> tuple[list[str], int]:
    """The block of arguments as `--arg` texts of 8 bytes each, and bytes of dynamic local data share."""
    if len(given) != len(kernel.parameters):
        names = ", ".join(f"{p.type} {p.name}" for p in kernel.parameters) or "none"
        raise InputError(f"kernel '{kernel.name}' takes {len(kernel.parameters)} arguments ({names}), not {len(given)}")
    block, buffers, lds = bytearray(kernel.argument_bytes), {}, 0
    for p, text in zip(kernel.parameters, given):
        kind, _, value = text.partition(":")
        try:
            if p.kind == "local":
                if kind != "local":
                    raise ValueError("local:SIZE for a __local pointer")
                block[p.offset : p.offset + 8] = (LDS_BASE + kernel.lds_bytes + lds).to_bytes(8, "little")
                lds += -(-_bytes(value) // 16) * 16
            elif p.kind == "value":
                data = _number(p, kind, value)
                block[p.offset : p.offset + len(data)] = data
            elif kind in _BUFFERS:
                buffers[p.offset] = text
            else:
                raise ValueError(f"a buffer ({', '.join(_BUFFERS)}) for a {p.type}")
        except (TypeError, ValueError, InputError) as error:
            raise InputError(f"--arg '{text}' for '{p.name}': {error}") from None
    end = kernel.block if kernel.block >= 0 else len(block)
    return [buffers.get(at) or f"u64:{int.from_bytes(block[at : at + 8], 'little')}" for at in range(0, end, 8)], lds


def _bytes(text: str, option: str = "") -> int:
    try:
        size = int(_fabricvp.parse_bytes(f"{text}B" if text.isdecimal() else text))
    except ValueError:
        size = 0
    if size < 1:
        raise InputError(f"{option}'{text}': must be a number of bytes from 1 on, such as 512B or 4KiB")
    return size


def _number(p: Parameter, kind: str, text: str) -> bytes:
    wanted = element(p.base)
    if wanted is None:
        raise ValueError(f"a {p.type} cannot be given here: use Python")
    if kind not in _NUMBERS:
        raise ValueError(f"a number ({', '.join(_NUMBERS)}) for a {p.type}")
    if (kind[0] == "f") != ("f" in wanted[0]):
        raise ValueError(f"a {p.type} is no {kind}")
    numbers = [float(part) if kind[0] == "f" else int(part, 0) for part in text.split(",")]
    return pack(p, numbers[0] if wanted[1] == 1 and len(numbers) == 1 else numbers)
