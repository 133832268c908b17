# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc` and its cache, limits of the machine, warnings about scratch memory, and CMake."""

import os
import shutil
import subprocess
import warnings
from pathlib import Path

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.compiler import Image, cache
from fabricvp.errors import InputError

opencl_machine.require_compiler()

SPILLS = """
#include "shared.h"
kernel void spills(global float* x, int n) {
    float v[40];
#pragma unroll
    for (int i = 0; i < 40; ++i) v[i] = x[i * n];
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < 40; ++i) v[i] = v[i] * v[(i + 1) % 40] + x[i];
#pragma unroll
    for (int i = 0; i < 40; ++i) x[i * n] = v[i];
}
__attribute__((noinline)) float apart(global float* x, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += sin(x[i]);
    return sum;
}
kernel void calls(global float* x, int n) { x[get_global_id(0)] = apart(x, n) + apart(x + 1, n); }
kernel void plain(global float* x) { local float y[64]; y[get_local_id(0)] = x[0]; x[1] = y[FIRST]; }
"""


def test_report_and_depfile(command, tmp_path):
    (tmp_path / "k.cl").write_text(SPILLS)
    (tmp_path / "shared.h").write_text("#define FIRST 3\n")
    done = command("cc", "k.cl", "--report", "--depfile", "k.d", timeout=60)
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split() for line in done.stdout.splitlines())
    assert head[-4:] == ["stack", "saved", "spills", "reloads"]
    found = {name: [int(n) for n in numbers] for name, *numbers in rows}
    assert found["spills"][3] == 0 and found["spills"][4] >= 8 and found["spills"][5] >= 8 and found["spills"][2] >= 64
    assert found["calls"][3] >= 1 and found["plain"] == [8, 256, 16, 0, 0, 0]
    target, files = (tmp_path / "k.d").read_text().split(":")
    assert target == "k.elf" and {"k.cl", "./shared.h"} <= set(files.split())


def test_the_cache_keeps_what_was_used_last(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "MAX_BYTES", 2500)
    for age, name in enumerate("abc"):
        cache.cached(name, lambda: bytes(1000))
        if (path := cache.folder() / name).exists():
            os.utime(path, (1000 + age, 1000 + age))
    assert sorted(p.name for p in cache.folder().iterdir()) == ["b", "c"]
    os.utime(cache.folder() / "c", (1, 1))
    assert cache.cached("c", bytes) == bytes(1000)  # is used, so the other is the older one
    cache.cached("d", lambda: bytes(1000))
    assert sorted(p.name for p in cache.folder().iterdir()) == ["c", "d"]
    assert cache.cached("e", lambda: bytes(9000)) == bytes(9000)
    assert [p.name for p in cache.folder().iterdir()] == ["e"]


@pytest.mark.timeout(100)
def test_local_memory_is_the_machines():
    settings = {"node__gpus__0__compute_units": 4, "node__gpus__0__compute_unit__lds__size": "16 KiB"}
    with fabricvp.spawn("gpu", **settings) as platform:
        gpu, x = platform.nodes[0].gpus[0], numpy.zeros(64, "i4")
        assert gpu.local_bytes == 16 << 10
        source = "kernel void f(global int* x, local int* y) {{ local int z[{}]; z[0] = y[1] = 1; x[0] = z[0]; }}"
        fits, large = gpu.program(source.format(2048)), gpu.program(source.format(4097))
        fits["f"](64, 64, x, fabricvp.local(8192))
        with pytest.raises(
            InputError, match="8192 bytes of __local variables and 8208 of __local arguments: at most 16384"
        ):
            fits["f"](64, 64, x, fabricvp.local(8200))
        with pytest.raises(InputError, match="at most 16384"):
            large["f"](64, 64, x, fabricvp.local(16))
        assert x[0] == 1


def test_nothing_is_written_over(command, tmp_path):
    (tmp_path / "k.cl").write_text("kernel void f(global int* x) { x[0] = 1; }")
    for arguments, says in (
        (("-o", "k.cl"), "-o k.cl: would write over the source k.cl"),
        (("-o", "./k.elf", "--depfile", "k.elf"), "--depfile k.elf: would write over -o ./k.elf"),
        (("--depfile", "k.cl"), "--depfile k.cl: would write over the source k.cl"),
        (("--placement-report", "-o", "k.elf"), "-o: --placement-report compiles nothing"),
        (("--recursion", "x"), "argument --recursion: 'x' is not a whole number"),
    ):
        done = command("cc", "k.cl", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1) and says in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["k.cl"] and "kernel" in (tmp_path / "k.cl").read_text()


@pytest.mark.timeout(100)
def test_options_of_programs_have_values(command, tmp_path):
    (tmp_path / "k.cl").write_text("kernel void f(global int* x) { x[0] = 1; }")
    run = ("run", "gpu", "--program", "k.cl", "--arg", "zeros:4KiB")
    for arguments, says in (
        (("--define",), "--define: the value is missing"),
        (("--kernel-name=",), "--kernel-name: the value is missing"),
        (("--heap", "0"), "--heap '0': must be a number of bytes from 1 on"),
        (("--lds", "1KiB", "--lds", "1KiB"), "--lds is given 2 times"),
    ):
        done = command(*run, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1) and says in done.stderr
    done = command(*run, "--heap", "65536", "--lds", "1 KiB", "--quiet")
    assert done.returncode == 0, done.stderr


@pytest.mark.timeout(100)
def test_local_memory_is_the_machines_on_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text("kernel void f(global int* x) { local int z[4097]; z[0] = 1; x[0] = z[x[1]]; }")
    run = ("run", "gpu", "--set", "node.gpus.0.compute_unit.lds.size=16KiB", "--program", "k.cl", "--arg", "zeros:64B")
    done = command(*run, timeout=90)
    assert (
        done.returncode == 2
        and "needs 16400 bytes of local data share, and compute units of GPU 0 have 16384" in done.stderr
    )


@pytest.mark.timeout(100)
def test_kernels_that_mostly_move_their_stack_are_told():
    source = """
    kernel void stack(global float* x, int n) {
        float v[64];
        for (int i = 0; i < 64; ++i) v[i] = i;
        for (int i = 0; i < n; ++i) v[(i * 7 + get_local_id(0)) & 63] += 1;
        x[get_local_id(0)] = v[get_local_id(0)];
    }
    kernel void plain(global float* x, int n) { x[get_local_id(0)] += n; }
    """
    with opencl_machine.small_gpu() as platform:
        program, x = platform.nodes[0].gpus[0].program(source), numpy.zeros(64, "f4")
        with pytest.warns(RuntimeWarning, match=r"kernel 'stack': \d+% of its memory transactions are for work-items'"):
            program["stack"](64, 64, x, 50)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            program["plain"](64, 64, x, 50)


@pytest.mark.timeout(200)
def test_cmake_package(command, tmp_path):
    """As projects outside of the tree use it: the function is that of the package."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake")
    module = Path(__file__).parents[2] / "cmake" / "fabricvp_gpu_kernel.cmake"
    (tmp_path / "k.cl").write_text('#include "shared.h"\nkernel void one(global int* x) { x[0] = VALUE + MORE; }\n')
    (tmp_path / "shared.h").write_text("#define VALUE 1\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(kernels NONE)\n"
        f"include({module})\nfabricvp_gpu_kernel(made SOURCES k.cl OPTIONS -D MORE=2)\n"
    )
    launcher = shutil.which("fabricvp", path=str(Path(os.sys.prefix) / "bin"))
    build = tmp_path / "build"
    configure = ["cmake", "-S", tmp_path, "-B", build, f"-DFABRICVP_COMMAND={launcher}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    subprocess.run(configure, check=True, capture_output=True)
    made = build / "made.elf"
    for value in 1, 2:
        (tmp_path / "shared.h").write_text(f"#define VALUE {value}\n")
        before = made.read_bytes() if made.exists() else b""
        os.utime(tmp_path / "shared.h", (2e9 + value, 2e9 + value))
        subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
        assert list(Image.read(made.read_bytes()).kernels) == ["one"] and made.read_bytes() != before
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(kernels NONE)\n"
        f"include({module})\nfabricvp_gpu_kernel(made SOURCES k.cl x.cu)\n"
    )
    done = subprocess.run(configure, capture_output=True, text=True, check=False)
    assert done.returncode and "is an image's only source" in done.stderr
