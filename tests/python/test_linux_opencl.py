# SPDX-License-Identifier: Apache-2.0
"""Programs in OpenCL on Linux that know no driver: Debian's libOpenCL.so.1 finds ours. Debian's own clinfo is one of
them. `make linux` has the loader where the suite has it."""

import re
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp.compiler import linux_libraries
from fabricvp.errors import InputError
from test_linux_gpu import IMAGES, WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LINUX = IMAGES[0].parent
HEADER = LINUX / "sysroot" / "include" / "CL" / "cl_icd.h"
WITH_LOADER = pytest.mark.skipif(
    not (LINUX / "opencl.cpio").exists() or not HEADER.exists(),
    reason="make linux has found no loader of OpenCL; it says why",
)
WITH_GCC = pytest.mark.skipif(not shutil.which("riscv64-linux-gnu-gcc"), reason="no riscv64-linux-gnu-gcc")
ADD = ROOT / "examples" / "linux_gpu" / "vector_add_opencl.c"
NO_COMPILER = "there is no compiler here: fabricvp cc makes binaries (on Linux: FABRICVP_OPENCL_KERNELS)"
CALLS = ROOT / "tests" / "firmware" / "runtime"


def compile_program(command, source, output, *arguments):
    done = command("cc", source, "-o", output, *arguments)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.fixture
def kernels(command):
    """Images of kernels, in the folder of the test."""
    compile_program(command, ROOT / "examples" / "kernels" / "vector_add.cl", "vector_add.elf")
    compile_program(command, ROOT / "examples" / "kernels" / "spmv.cl", "spmv.elf")
    compile_program(command, CALLS / "opencl_kernels.cl", "opencl_kernels.elf")


@WITH_CROSS_TOOLS
@WITH_IMAGES
@WITH_LOADER
@WITH_GCC
@pytest.mark.timeout(6000)
def test_a_program_of_gcc_finds_all_gpus(command, kernels, tmp_path):
    """As on any system: the compiler's defaults, and the library by its name."""
    sysroot = LINUX / "sysroot"
    subprocess.run(
        ["riscv64-linux-gnu-gcc", ADD, "-o", tmp_path / "add", f"-I{sysroot}/include", f"-L{sysroot}/lib", "-lOpenCL",
         "-Wl,--allow-shlib-undefined"], check=True,
    )  # fmt: skip
    done = command("run", "linux_quad", "--program", "add", "--file", "vector_add.elf", "--", 5000, timeout=6000)
    lines = [f"device {n}: FabricVP GPU: 5000 elements, 0 wrong" for n in range(4)]
    assert done.stdout.splitlines() == ["platform 0: FabricVP, OpenCL 1.2 FabricVP", *lines], done
    assert (done.returncode, done.stderr) == (0, "")
    done = command("run", "linux_gpu", "--program", "add", "--", 5000, timeout=6000)
    assert done.returncode == 1 and "vector_add.elf: No such file or directory" in done.stdout


@WITH_IMAGES
@WITH_LOADER
@WITH_CROSS_TOOLS
@pytest.mark.timeout(6000)
def test_clinfo_runs_to_its_end(command):
    done = command("run", "linux_gpu", "--program", LINUX / "clinfo", timeout=6000)
    assert (done.returncode, done.stderr) == (0, "")
    said = [re.split(r"  +", line.strip(), maxsplit=1) for line in done.stdout.splitlines()]
    for pair in (
        ["Number of platforms", "1"],
        ["Platform Version", "OpenCL 1.2 FabricVP"],
        ["Platform Extensions", "cl_khr_icd"],
        ["Platform Extensions function suffix", "FABRICVP"],
        ["Device Name", "FabricVP GPU"],
        ["Max compute units", "64"],
        ["Image support", "No"],
        ["clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, ...)", "Success [FABRICVP]"],
        ["ICD loader Vendor", "OCL Icd free software"],
    ):
        assert pair in said, done.stdout
    assert "error" not in done.stdout.replace("Error Correction", ""), done.stdout
    assert said[-1][0] == "ICD loader Profile"


@WITH_CROSS_TOOLS
@WITH_IMAGES
@WITH_LOADER
@pytest.mark.timeout(6000)
def test_programs_run_through_the_loader_and_without_it(command, kernels, tmp_path):
    """One machine for all: the run-time linked in, and the driver beside the loader."""
    spmv, objects = ROOT / "examples" / "host_programs" / "spmv_opencl.c", CALLS / "opencl_objects.c"
    for source in (spmv, objects):
        compile_program(command, source, source.stem, "--target", "linux", "-l", "OpenCL")
        compile_program(command, source, f"{source.stem}_linked", "--target", "linux")
    for name, source in {"later": "linux_opencl_later.c", "bindings": "linux_opencl_bindings.cpp"}.items():
        compile_program(command, HERE / source, name, "--target", "linux", "-l", "OpenCL")
    with fabricvp.linux("linux_gpu", opencl=True) as linux:
        for form in ("", "_linked"):
            done = linux.run(tmp_path / f"opencl_objects{form}", files=[tmp_path / "opencl_kernels.elf"])
            lines = done.stdout.splitlines()
            assert done.returncode == 0 and lines[-1] == "0 wrong", done.stdout
            assert sum(line.endswith(" ok") for line in lines) == 66
            done = linux.run(tmp_path / f"spmv_opencl{form}", files=[tmp_path / "spmv.elf"])
            assert done.returncode == 0 and done.stdout.endswith("the result is right\n"), done.stdout
        done = linux.run(tmp_path / "later")
        assert done.stdout == f"{NO_COMPILER}\n0 wrong\n"
        done = linux.run(tmp_path / "bindings", files=[tmp_path / "vector_add.elf"])
        assert done.stdout == "FabricVP GPU: 3 3\nclCreateKernel: -46\n"
    with fabricvp.linux("linux_gpu") as linux, pytest.raises(InputError, match=r"later: .*opencl=True"):
        linux.run(tmp_path / "later")


@WITH_CROSS_TOOLS
@WITH_IMAGES
@WITH_LOADER
@pytest.mark.timeout(6000)
def test_images_stand_for_sources(command, kernels, tmp_path):
    """A first run keeps the source, `fabricvp cc` compiles it, and further runs take it by its kernels' names."""
    compile_program(command, HERE / "linux_opencl_source.c", "program", "--target", "linux", "-l", "OpenCL")
    elsewhere = [tmp_path / "opencl_kernels.elf"]
    with fabricvp.linux("linux_gpu", opencl=True) as linux:

        def run(names="", files=(), **environment):
            environment |= {"FABRICVP_OPENCL_KERNELS": names} if names else {}
            return linux.run(tmp_path / "program", files=files, environment=environment, collect=["kept*"])

        done = run(FABRICVP_OPENCL_SAVE="kept")
        assert (done.returncode, done.stdout) == (1, f"compiler 0, built -3 -2: {NO_COMPILER}\n")
        assert list(done.files) == ["kept1.cl"]
        text = done.files["kept1.cl"].decode()
        options = "// clBuildProgram: -DFACTOR=3 -cl-mad-enable -D WIDTH"
        assert text.splitlines()[:4] == [options, "#define FACTOR 3", "#define WIDTH 1", "#line 1"]
        (tmp_path / "kept1.cl").write_text(text)
        compile_program(command, "kept1.cl", "kernels.elf")
        done = run("opencl_kernels.elf:kernels.elf", [*elsewhere, tmp_path / "kernels.elf"])
        assert (done.returncode, done.stdout) == (0, "compiler 1, built 0 0: \n0: 3 765\n")
        for names in ("opencl_kernels.elf", "missing.elf", "program"):
            done = run(names, elsewhere)
            why = "no file of FABRICVP_OPENCL_KERNELS has a kernel of this source"
            assert (done.returncode, done.stdout) == (1, f"compiler 1, built -11 -2: {why}\n")
        done = run(FABRICVP_OPENCL_SAVE="/nowhere/kept")
        assert "FABRICVP_OPENCL_SAVE: /nowhere/kept1.cl cannot be written\n" in done.stdout


@WITH_CROSS_TOOLS
@WITH_IMAGES
@WITH_LOADER
def test_what_is_refused(command, tmp_path):
    done = command("cc", ROOT / "examples/linux_gpu/saxpy.hip", "-o", "p", "--target", "linux", "-l", "OpenCL")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "saxpy.hip: -l OpenCL is for programs in C and C++" in done.stderr
    compile_program(command, ADD, "add", "--target", "linux", "-l", "OpenCL")
    shutil.copy(IMAGES[1], tmp_path / "initramfs.cpio")
    alone = ("--set", f"node.images.initrd={tmp_path}/initramfs.cpio")
    done = command("run", "linux_gpu", *alone, "--program", "add", "--", 1)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "opencl.cpio: no such file, which has the loader of OpenCL: `fabricvp linux fetch --again`" in done.stderr


def rows() -> list[tuple[str, str]]:
    """Names of the table of calls in their order, and how each is called: by its own name, or by what refuses it."""
    source = (ROOT / "firmware" / "linux" / "icd" / "dispatch.c").read_text()
    table = source[source.index("icd_dispatch[] = {") :]
    pattern = r"CALL\((cl\w+)\)|(STATUS|NOTHING|OBJECT\(\d\)),\s*/\* (cl\w+) \*/"
    return [(own or name, how or "CALL") for own, how, name in re.findall(pattern, table)]


@WITH_LOADER
@WITH_GCC
def test_the_table_has_the_standards_order(tmp_path):
    """By Debian's header of the loader: places of all calls, and where those that give an object put the error."""
    checks = [
        f'_Static_assert(offsetof(cl_icd_dispatch, {name}) == {8 * n}, "{name}");' for n, (name, _) in enumerate(rows())
    ]
    checks.append(f'_Static_assert(sizeof(cl_icd_dispatch) == {8 * len(rows())}, "all");')
    file = tmp_path / "order.c"
    begin = "#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl_icd.h>\n#include <stddef.h>\n"
    file.write_text(begin + "\n".join(checks))
    include = ("-I", LINUX / "sysroot" / "include")
    done = subprocess.run(["riscv64-linux-gnu-gcc", "-fsyntax-only", *include, file], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    text = subprocess.run(["riscv64-linux-gnu-gcc", "-E", "-P", *include, file], capture_output=True, text=True).stdout
    seen = 0
    for name, how in rows():
        found = re.search(rf"(\w+\s*\*?)\s*{name}_t\s*\((.*?)\);", text, re.DOTALL)
        if how == "CALL" or not found:  # those of other systems have no type here
            continue
        result, arguments = "".join(found[1].split()), found[2].split(",")
        seen += 1
        errors = [n for n, argument in enumerate(arguments) if "errcode_ret" in argument]
        assert how == (f"OBJECT({errors[0]})" if errors else "STATUS" if result == "cl_int" else "NOTHING"), name
    assert seen > 30


def test_what_the_archive_has(tmp_path, monkeypatch):
    """From packages that have as little as they may."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import opencl_archive

    elf = bytearray(64)
    elf[:4] = b"\x7fELF"
    struct.pack_into("<HH", elf, 54, 56, 0)
    library = tmp_path / "usr" / "lib" / "riscv64-linux-gnu"
    library.mkdir(parents=True)
    for name in opencl_archive.NAMES:
        (library / name).write_bytes(elf)
    found = {name: (mode, data) for name, mode, data, _ in opencl_archive.entries(tmp_path)}
    assert found["lib/libOpenCL.so.1"] == (stat.S_IFREG | 0o755, bytes(elf)) and len(found) == 4
    sys.modules.pop("opencl_archive")


def test_programs_of_the_loader_are_known_by_what_they_need(monkeypatch):
    assert not linux_libraries.needs_opencl(b"\x7fELF malformed")
    monkeypatch.setattr(linux_libraries, "needed_libraries", lambda *_: ["libc.so.6", "libOpenCL.so.1"])
    assert linux_libraries.needs_opencl(b"")
