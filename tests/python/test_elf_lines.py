# SPDX-License-Identifier: Apache-2.0
"""Lines of the source in images, as the run-time on Linux reads them (firmware/linux/client/elf_lines.c): compiled for
the build machine with sanitizers, and compared with addr2line."""

import re
import shutil
import subprocess
from pathlib import Path

import opencl_machine
import pytest
from fabricvp.compiler import toolchain

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
FIRMWARE = REPOSITORY / "firmware"
SOURCES = [
    *(REPOSITORY / "examples" / "linux_gpu" / "saxpy.cu", REPOSITORY / "examples" / "linux_gpu" / "jacobi.hip"),
    *(Path(__file__).with_name(f"linux_gpu_{name}.hip") for name in ("misuse", "halo", "share")),
]
#: Several files, one of them in a folder, lines that rise and fall, and a function that the linker drops.
FILES = """
static inline int two(int x) { return x * 3 + 1; }
int other(int);
#line 77 "else.h"
int third(int y) {
    for (int i = 0; i < y; ++i) y += other(i);
    return two(y);
}
#line 4000 "folder/deep/file.c"
int other(int a) {
    if (a > 3) return two(a);
    return a;
}
int unused(int a) { return a + 1; }
#line 3 "first.c"
void _start(void) {
    volatile int x = third(4);
    for (;;) x = two(x);
}
"""
GCC = ["riscv64-unknown-elf-gcc", "-march=rv64imafd", "-mabi=lp64d", "-ffreestanding", "-nostdlib", "-Wl,--gc-sections"]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    program = tmp_path_factory.mktemp("reader") / "elf_lines"
    sources = [Path(__file__).with_name("elf_lines_host.c"), FIRMWARE / "linux/client/elf_lines.c"]
    subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-fsanitize=address,undefined",
         "-fno-sanitize-recover", *(f"-I{folder}" for folder in (FIRMWARE / "linux/client", FIRMWARE, REPOSITORY)),
         *sources, FIRMWARE / "drivers/gpu/elf.c", "-o", program],
        check=True,
    )  # fmt: skip

    def run(*arguments) -> list[str]:
        given = [str(argument) for argument in arguments]
        done = subprocess.run([program, *given], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def addresses_of(image):
    """All of the image's code, and some around it."""
    sections = subprocess.run(
        ["riscv64-unknown-elf-readelf", "-SW", image], capture_output=True, text=True, check=True
    ).stdout
    code = re.findall(r"\] \S+ +PROGBITS +(\w+) \w+ (\w+) \w+ +\w*X", sections)
    return [hex(a) for begin, size in code for a in range(int(begin, 16) - 8, int(begin, 16) + int(size, 16) + 8, 2)]


def lines_of(image, addresses, program="riscv64-unknown-elf-addr2line"):
    done = subprocess.run(
        [program, "-e", image], input="\n".join(addresses), capture_output=True, text=True, check=True
    )
    plain = [re.sub(r" \(discriminator.*|.*/", "", line) for line in done.stdout.splitlines()]
    return ["?" if re.search(r":[?0]$", line) else line for line in plain]


def compare(reader, image, *program):
    """The image's lines."""
    addresses = addresses_of(image)
    expected = lines_of(image, addresses, *program)
    assert reader("lines", image, *addresses) == expected
    return {*expected} - {"?"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_all_lines_of_an_image(command, reader, tmp_path, source):
    image = tmp_path / "image.elf"
    done = command("cc", source, "-o", image, "--target", "gpu")
    assert done.returncode == 0, done.stderr
    lines = compare(reader, image)
    assert len(lines) > 1
    # Where built-in functions became part of a kernel, the line is the kernel's.
    assert {line.split(":")[0] for line in lines} == {source.name}


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_versions_of_dwarf(reader, tmp_path, compiler, version):
    image = compile_files(tmp_path, compiler, version)
    # Binutils 2.40 takes the wrong file of version 5.
    of_llvm = [shutil.which(f"llvm-addr2line-{v}") for v in toolchain.VERSIONS]
    other = [name for name in of_llvm if name]
    if version == 5 and not other:
        pytest.skip("no addr2line of LLVM")
    assert len(compare(reader, image, *(other[:1] if version == 5 else []))) > 5
    assert "?" in reader("lines", image, 0, 2**64 - 1)


def compile_files(folder, compiler, version):
    source, image, object_ = folder / "first.c", folder / "image.elf", folder / "first.o"
    source.write_text(FILES)
    flags = [f"-gdwarf-{version}", "-O2", "-ffunction-sections", "-c", source, "-o", object_]
    first = GCC[:4] if compiler == "gcc" else [toolchain.clang(), *toolchain.TARGET]
    subprocess.run([*first, *flags], check=True)
    subprocess.run([*GCC, object_, "-o", image], check=True)
    return image


@pytest.mark.parametrize("version", [2, 4, 5])
def test_corrupted_images_end_without_harm(reader, tmp_path, version):
    """Wrong bytes, numbers and lengths, and files that are cut off: a line, or none, and nothing for the sanitizers."""
    image = compile_files(tmp_path, "gcc", version)
    known = reader("corrupt", image, version, 20000, *addresses_of(image))
    assert 2000 < int(known[0]) < 18000


def test_numbers_without_end_take_no_time(reader, tmp_path):
    """Lists of names that would have 2^64 entries of no bytes, or of many."""
    image = compile_files(tmp_path, "gcc", 5)
    data = bytearray(image.read_bytes())
    address = addresses_of(image)[8]
    assert reader("lines", image, address) != ["?"]
    # Behind the lengths of opcodes: values of an entry of folders, kind and form of each, how many entries.
    lengths = b"\0\1\1\1\1\0\0\0\1\0\0\1"
    assert data.count(lengths) == 1
    at = data.index(lengths) + len(lengths)
    for values, form in (0, 0x1F), (1, 0x21), (16, 0x1F), (17, 0x1F), (255, 0x0F):
        data[at : at + 13] = bytes([values, 1, form]) + b"\xff" * 9 + b"\x01"
        image.write_bytes(data)
        assert reader("lines", image, address) == ["?"]
