# SPDX-License-Identifier: Apache-2.0
"""Device code of several sources: linked, by the names of HIP and CUDA, for Linux and as an image of kernels. Names
that two sources define, or none, are told of in a line."""

import re
from pathlib import Path

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.compiler import Image, Options, linux_program
from fabricvp.program import WAVEFRONT_32, Program
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

HERE = Path(__file__).parent
LINKED = [HERE / "linux_gpu_linked" / name for name in ("main.cpp", "parts.cpp")]
SOURCES = {
    "a.hip": "extern __device__ int elsewhere[4];\n__device__ int nowhere(int, float);\n"
    "__global__ void k(int* p) { *p = elsewhere[1] + nowhere(1, 2); }\nint main() {}\n",
    "b.hip": "__device__ int both(int x) { return x; }\n__constant__ int c = 3;\n",
    "c.hip": "__device__ int both(int x) { return x + 1; }\n__global__ void g(int* p) { *p = both(1); }\n",
    "d.cu": "__device__ int both(int);\n__global__ void g(int* p) { *p = both(1); }\n",
    "e.hip": "__constant__ int c = 4;\n__global__ void g(int* p) { *p = c; }\n",
    "f.cl": "int f(int x) { return x + 41; }\nkernel void first(global int* p) { *p = f(1); }\n",
    "g.cl": "int f(int);\nkernel void second(global int* p) { *p = f(2); }\n",
}


@pytest.fixture
def sources(tmp_path):
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)


def apart(kernel: str) -> dict[str, str]:
    """Two files with a variable and a kernel of one name each."""
    text = "#include <hip/hip_runtime.h>\n__device__ int n = {};\n" + kernel + " void k(int* p) {{ *p = n; }}\n"
    text += "int {}() {{ int *p, x = 0; hipMalloc(&p, 4); k<<<1, 1>>>(p); hipMemcpy(&x, p, 4, hipMemcpyDefault);"
    text += " return x; }}\n"
    files = {f"{name}.hip": text.format(n, name) for n, name in enumerate(("one", "two"), 7)}
    main = '#include <cstdio>\nint one(), two();\nint main() { printf("%d %d\\n", one(), two()); }\n'
    return {**files, "main.cpp": main}


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_files_of_programs_share_device_code(command, tmp_path):
    """Functions, variables and constants of another file, kernels that another launches, templates and inline
    variables of both, and static names of each file's own. Without linking, equal names mean two things."""
    for language in "hip", "cuda":
        done = command("cc", "-x", language, "--target", "linux", "-o", language, *LINKED)
        assert done.returncode == 0 and not done.stdout + done.stderr, done.stderr
    with pytest.raises(fabricvp.InputError, match=r"two.hip: 'k\(int\*\)' is defined in one.hip, too"):
        linux_program.build_linux(apart("__global__"), Options.of())
    program = linux_program.build_linux(apart("static __global__"), Options.of(), linked=False)
    (tmp_path / "apart").write_bytes(program)
    with fabricvp.linux() as linux:
        for language in "hip", "cuda":
            result = linux.run(tmp_path / language)
            assert result.stdout.splitlines() == [
                "11.5 41.5 91.5 161.5",
                "7 launches, 102, statics 11 and 102222",
                "hidden 11",
            ], result
        assert linux.run(tmp_path / "apart").stdout == "7 8\n"


@pytest.mark.timeout(200)
def test_an_image_of_several_files(command, tmp_path, sources):
    """Static kernels of one name have the files' names, and wavefronts are those of the kernel's file."""
    lanes = "inline __device__ __attribute__((noinline)) int lanes() { return warpSize; }\n"
    (tmp_path / "a.hip").write_text(
        lanes + "__global__ void wide(int* p) { *p = lanes(); }\n"
        "extern __device__ int table[4];\nstatic __device__ int n = 1;\n"
        "static __global__ void k(int* p) { p[threadIdx.x] = ++n + table[threadIdx.x]; }\n"
    )
    (tmp_path / "b.cu").write_text(
        lanes + "__global__ void narrow(int* p) { *p = lanes(); }\n"
        "__device__ int table[4] = {10, 20, 30, 40};\nstatic __device__ int n = 5;\n"
        "static __global__ void k(int* p) { p[threadIdx.x] = table[threadIdx.x] *= ++n; }\n"
    )
    done = command("cc", "a.hip", "b.cu", "-o", "k.elf", "--report", "--depfile", "k.d")
    assert done.returncode == 0, done.stderr
    assert {"a.hip", "b.cu"} <= set((tmp_path / "k.d").read_text().split())
    image = Image.read((tmp_path / "k.elf").read_bytes())
    flags = {name: k.flags & WAVEFRONT_32 for name, k in image.kernels.items()}
    assert flags == {"wide": 0, "k of a.hip": 0, "narrow": WAVEFRONT_32, "k of b.cu": WAVEFRONT_32}
    with opencl_machine.small_gpu() as platform:
        program, p = Program(platform.nodes[0].gpus[0], image), numpy.zeros(4, "i4")
        program["k of b.cu"](1, 1, p)
        assert p[0] == 60
        program["k of a.hip"](1, 1, p)
        assert p[0] == 62
        for name, lanes in ("wide", 64), ("narrow", 32):
            program[name](1, 1, p)
            assert p[0] == lanes, name
    done = command("cc", "f.cl", "g.cl", "-o", "cl.elf", "--report")
    assert done.returncode == 0 and re.findall("first|second", done.stdout) == ["first", "second"], done.stderr


@WITH_CROSS_TOOLS
@pytest.mark.parametrize("target", ["gpu", "linux"])
def test_what_cannot_be_linked_is_said_in_a_line(command, sources, target):
    undefined = "a.hip: undefined: elsewhere, nowhere(int, float)"
    other = "d.cu: 'both(int)' is in b.hip, whose wavefronts have 64 lanes and not 32: give all files --wavefront 32"
    cases = [
        ("a.hip b.hip", undefined),
        ("b.hip c.hip", "c.hip: 'both(int)' is defined in b.hip, too"),
        ("-fgpu-rdc b.hip e.hip", "e.hip: 'c' is defined in b.hip, too"),
        ("-rdc=true b.hip d.cu", other),
        ("-rdc=maybe b.hip", "argument -rdc: invalid choice: 'maybe'"),
    ]
    if target == "gpu":
        cases += [
            ("f.cl c.hip", "c.hip: kernels in OpenCL C are not linked with those in HIP and CUDA"),
            ("-fno-gpu-rdc c.hip", "-rdc=false is for --target linux"),
            ("b.hip c.hip --placement-report", "c.hip: --placement-report tells of one file"),
        ]
    else:
        cases.append(("-rdc=false a.hip b.hip", undefined))
    for arguments, said in cases:
        done = command("cc", "--target", target, *arguments.split(), "-o", "out")
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
