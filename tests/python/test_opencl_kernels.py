# SPDX-License-Identifier: Apache-2.0
"""Kernels in OpenCL C from Python and from the command line: arguments, kinds of memory, barriers, atomics, limits."""

import ctypes
import subprocess
import sys
from pathlib import Path

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.compiler import Image, Options, build
from fabricvp.data import sdk_folder
from fabricvp.errors import InputError, KernelFault

opencl_machine.require_compiler()

SOURCE = """
struct inner { char tag; double weight; };
struct settings { float scale; struct inner in; int list[3]; };
__constant float table[4] = {1, 2, 4, 8};

float helper(float x, __local float* t) { return x + t[0]; }

__kernel void add(__global const float* a, __global const float* b, __global float* c, uint n) {
    size_t i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
__kernel void everything(__global float* out, char c, uchar uc, short s, ushort us, int i, uint u, long l, ulong ul,
                         float f, double d, float2 f2, float3 f3, int4 i4, struct settings set, __constant float* given,
                         __local float* first, __local float* second) {
    set.list[1] += 1;  /* a kernel's own copy */
    if (get_local_id(0) == 0) { first[0] = 100; second[0] = 200; }
    barrier(CLK_LOCAL_MEM_FENCE);
    float values[] = {c, uc, s, us, i, u, l, ul, f, d, f2.y, f3.z, i4.w, set.scale, set.in.tag, set.in.weight,
                      set.list[1], given[2], table[get_local_id(0) & 3], helper(1, first), helper(2, second)};
    if (get_global_id(0) == 1) for (int k = 0; k < 21; ++k) out[k] = values[k];
}
__kernel void reverse(__global int* x) {
    __local int tile[64];
    __local int last;
    size_t l = get_local_id(0);
    tile[l] = x[get_global_id(0)];
    if (l == 63) last = tile[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[63 - l] + last;
}
__kernel void small(__global int* x) { __local int one[4]; one[get_local_id(0) & 3] = 1; x[0] = one[0]; }
__kernel __attribute__((reqd_work_group_size(32, 2, 1))) void shaped(__global uint* x) {
    size_t i = get_global_linear_id();
    x[i] = get_local_size(0) << 16 | get_num_groups(1) << 8 | get_work_dim();
}
__kernel void a_kernel_with_a_name_of_more_than_thirty_two_characters(__global int* x) { x[get_global_id(0)] = 7; }
__kernel void calls(__global int* x) { reverse(x); }
"""


class Inner(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_char), ("weight", ctypes.c_double)]


class Settings(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_float), ("inner", Inner), ("list", ctypes.c_int * 3)]


@pytest.mark.timeout(100)
def test_arrays_are_written_back_unless_const(program):
    a, b = numpy.random.default_rng(1).random((2, 1000), dtype="f4")
    kept, c = a.copy(), numpy.zeros_like(a)
    done = program["add"](1000, 64, a, b, c, 1000)
    assert (c == a + b).all() and (a == kept).all()
    assert set(done.buffers) == {"a", "b", "c"} and 1e-7 < done.time < 1e-3
    assert done.statistics["wavefront_instructions"] > 16 * 10
    a.flags.writeable = False
    program["add"](1000, None, a, b, c, numpy.int64(3))
    with pytest.raises(ValueError, match="argument 2 'c': the array cannot be written"):
        program["add"](1000, 64, b, c, a, 1)


@pytest.mark.timeout(100)
@pytest.mark.parametrize("record", [False, True])
def test_scalars_vectors_structs_and_local_arguments(program, record):
    settings = Settings(1.5, Inner(b"\x07", 2.25), (ctypes.c_int * 3)(1, 20, 3))
    if record:
        settings = numpy.frombuffer(bytes(settings), numpy.dtype(Settings))[0]
    out = numpy.zeros(32, "f4")
    numbers = [-3, 200, -30000, 60000, -(2**20), 2**22, -(2**33), 2**40, 0.25, -0.125]
    program["everything"](
        64, 64, out, *numbers, (1, 2), numpy.array([3, 4, 5]), [6, 7, 8, 9], settings, numpy.arange(4, dtype="f4") * 10,
        fabricvp.local(4), fabricvp.local(64),
    )  # fmt: skip
    assert out[:21].tolist() == [*numbers, 2, 5, 9, 1.5, 7, 2.25, 21, 20, 2, 101, 202]


@pytest.mark.timeout(100)
def test_local_variables_belong_to_their_kernel(program):
    assert program["reverse"].local_bytes == 272 and program["small"].local_bytes == 16
    assert program["calls"].local_bytes == 272 and program["add"].local_bytes == 0
    for name in "reverse", "calls":
        x = numpy.arange(256, dtype="i4")
        program[name](256, 64, x)
        groups = numpy.arange(256).reshape(4, 64)
        assert (x.reshape(4, 64) == groups[:, ::-1] + groups[:, -1:]).all()


@pytest.mark.timeout(100)
def test_required_groups_and_long_names(program):
    x = numpy.zeros((8, 64), "u4")
    program["shaped"]((64, 8), None, x)
    assert (x == (32 << 16 | 4 << 8 | 2)).all()
    with pytest.raises(InputError, match="'shaped' requires work-groups of 32 x 2 x 1, not 64 x 1 x 1"):
        program["shaped"](64, 64, x)
    y = numpy.zeros(64, "i4")
    program["a_kernel_with_a_name_of_more_than_thirty_two_characters"](64, 64, y)
    assert (y == 7).all()


ATOMICS = """
kernel void old(global int* x, global uint* u, global float* f, global int* slots) {
    int i = get_global_id(0);
    slots[atomic_inc(&x[0])] = 1;
    atomic_add(&x[1], i); atomic_sub(&x[2], i); atomic_dec(&x[3]);
    atomic_min(&x[4], -i); atomic_max(&x[5], i); atomic_max(&u[0], (uint)-i); atomic_min(&u[1], (uint)-i);
    atomic_or(&x[6], 1 << (i & 31)); atomic_and(&x[7], ~(1 << (i & 31))); atomic_xor(&x[8], i);
    local int count; local uint top;
    if (get_local_id(0) == 0) { count = 0; top = 0; }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count); atomic_max(&top, 0x80000000u | i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) { atomic_add(&x[9], count); atomic_max(&u[2], top); }
    uint seen = as_uint(f[0]), next;
    do { next = as_uint(as_float(seen) + 1.0f); uint was = atomic_cmpxchg((volatile global uint*)f, seen, next);
         if (was == seen) break; seen = was; } while (1);
    if (i == 5) atomic_xchg(&f[1], 2.5f);
}
kernel void young(global atomic_int* x, global atomic_uint* u, global atomic_long* l, global int* seen) {
    local atomic_int count;
    if (get_local_id(0) == 0) atomic_init(&count, 0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    int i = get_global_id(0);
    atomic_fetch_add(&x[0], i);
    atomic_fetch_sub_explicit(&x[1], i, memory_order_relaxed);
    atomic_fetch_max_explicit(&u[0], (uint)i, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_add_explicit(&l[0], 1L << 33, memory_order_relaxed, memory_scope_all_svm_devices);
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed, memory_scope_work_group);
    int expected = atomic_load_explicit(&x[2], memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&x[2], &expected, expected + 2)) {}
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    if (get_local_id(0) == 0) { seen[get_group_id(0)] = atomic_load(&count); atomic_store(&x[3], 9); }
}
kernel void copies(global const float* x, global float* y) {
    local float tile[64]; local float2 pairs[32];
    event_t e = async_work_group_copy(tile, x + 64 * get_group_id(0), 64, 0);
    e = async_work_group_strided_copy(pairs, (global const float2*)x, 32, 2, e);
    wait_group_events(1, &e);
    y[get_global_id(0)] = tile[63 - get_local_id(0)] + pairs[get_local_id(0) / 2].y;
}
kernel void whole(global const int* x, global int* y, global int* z) {
    local int tile[256];
    const size_t at = 256 * (get_group_id(0) + get_num_groups(0) * get_group_id(1));
    event_t e = async_work_group_copy(tile, x + at, 256, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy(y + at, tile, 256, 0);
    e = async_work_group_strided_copy(z + 2 * at, tile, 256, 2, e);
    wait_group_events(1, &e);
}
"""


@pytest.mark.timeout(200)
def test_atomics_and_copies_of_work_groups(gpu):
    program = gpu.program(ATOMICS)
    n, i = 512, numpy.arange(512)
    x, u, f, slots = (
        numpy.zeros(10, "i4"),
        numpy.array([0, 2**32 - 1, 0], "u4"),
        numpy.zeros(2, "f4"),
        numpy.zeros(n, "i4"),
    )
    x[7] = -1
    program["old"](n, 128, x, u, f, slots)
    total = i.sum()
    assert x.tolist() == [n, total, -total, -n, -511, 511, -1, 0, numpy.bitwise_xor.reduce(i), n]
    assert u.tolist() == [2**32 - 1, 0, 0x80000000 | 511] and f.tolist() == [n, 2.5] and slots.all()
    x, u, wide, seen = numpy.zeros(4, "i4"), numpy.zeros(1, "u4"), numpy.zeros(1, "i8"), numpy.zeros(4, "i4")
    program["young"](n, 128, x, u, wide, seen)
    assert x.tolist() == [total, -total, 2 * n, 9] and u[0] == 511 and wide[0] == n << 33 and (seen == 128).all()
    a, b = numpy.random.default_rng(2).random((2, 256), dtype="f4")
    program["copies"](256, 64, a, b)
    for grid, group in ((1000, 256), ((10, 6), (4, 4))):  # smaller groups at the ends copy as much as others
        c = numpy.arange(1, 1 + (1024 if grid == 1000 else 6 * 256), dtype="i4")
        d, z = numpy.zeros(c.size, "i4"), numpy.zeros(2 * c.size, "i4")
        program["whole"](grid, group, c, d, z)
        assert (c == d).all() and (c == z[::2]).all() and not z[1::2].any()
    pairs = a[:128].reshape(-1, 2)[::2, 1]
    assert (b.reshape(4, 64) == a.reshape(4, 64)[:, ::-1] + numpy.repeat(pairs, 2)).all()


@pytest.mark.parametrize(
    "source, says",
    [
        ("kernel void f(global int* x) {\n  y = 1;\n}", "bad.cl:2:3: error: use of undeclared identifier 'y'"),
        ("float g(float);\nkernel void f(global float* x) { x[0] = g(1); }", "undefined: g"),
        ("kernel void f(read_only image2d_t i) {}", "parameter 'i' is of a kind that GPUs lack (image2d)"),
        ("kernel void f(global int* x) { local int big[20000]; big[0] = 1; x[0] = big[0]; }", "has 80000 bytes of"),
        ("int f() { return 1; }", "the source has no kernel"),
        ("int g(int n, global int* x) { return n < 2 ? n : g(n - 1, x) * x[n] + g(n - 2, x); }\n"
         "kernel void f(global int* x) { x[0] = g(x[1], x); }", "function 'g' calls itself"),
        ("kernel void f() { #error no\n}", "error: "),
        ("kernel void f(global half* x) { half y = x[0]; }", "error: declaring variable of type '__private half'"),
    ],
)  # fmt: skip
def test_sources_that_cannot_be_compiled(source, says):
    opencl_machine.assert_refused(source, "bad.cl", says)


@pytest.mark.timeout(100)
@pytest.mark.parametrize(
    "arguments, says",
    [
        ((64, 64), "takes 4 arguments (a, b, c, n), not 0"),
        ((64, 64, 1, 2, 3, 4), "argument 0 'a': a numpy array for a float*, not int"),
        ((64, 64, "A", "B", "C", 1.5), "argument 3 'n': a whole number for a uint, not 1.5"),
        ((64, 64, "A", "B", "C", -1), "argument 3 'n': -1 does not fit a uint (0 to 4294967295)"),
        ((64, 64, "A", "B", "C", "A"), "argument 3 'n': a number for a uint"),
        ((64, 64, "A", "A", "C", 1), "argument 1 'b': the same array as argument 'a'"),
        ((64, 64, "D", "B", "C", 1), "argument 0 'a': an array of float32 for a float*, not of float64"),
        (
            (64, 64, "A", "B", fabricvp.local(4), 1),
            "argument 2 'c': an array for a pointer to global memory, not local()",
        ),
        ((64, 2048, "A", "B", "C", 1), "a work-group of 2048 x 1 x 1 has 2048 work-items: at most 1024"),
    ],
)
def test_arguments_that_cannot_be(program, arguments, says):
    arrays = {name: numpy.zeros(64, "f8" if name == "D" else "f4") for name in "ABCD"}
    given = [arrays.get(a, a) if isinstance(a, str) else a for a in arguments]
    with pytest.raises((TypeError, ValueError, InputError)) as raised:
        program["add"](*given)
    assert says in str(raised.value) and "'add'" in str(raised.value)


@pytest.mark.timeout(100)
def test_limits_of_local_memory_and_unknown_kernels(program):
    arguments = [*range(10), (1, 2), (3, 4, 5), (6, 7, 8, 9), Settings(), numpy.zeros(4, "f4")]
    with pytest.raises(InputError, match="0 bytes of __local variables and 65552 of __local arguments: at most 65536"):
        program["everything"](64, 64, numpy.zeros(32, "f4"), *arguments, fabricvp.local(16), fabricvp.local(65536))
    with pytest.raises(InputError, match="no kernel 'none' in the source; there are: add, everything, reverse"):
        program["none"]


@pytest.mark.timeout(100)
def test_a_wild_pointer_is_a_fault_and_the_gpu_goes_on(gpu, program):
    with pytest.raises(KernelFault, match=r"lane 0.*reverse\.kernel.*\n.*program\.cl:26"):
        program["reverse"](64, 64, None)
    x = numpy.arange(64, dtype="i4")
    program["reverse"](64, 64, x)
    assert x[0] == 126


@pytest.mark.parametrize("version", ["CL1.2", "CL2.0", "CL3.0"])
@pytest.mark.timeout(100)
def test_kernels_see_the_extensions_that_devices_report_and_no_others(gpu, version):
    lacking = "__IMAGE_SUPPORT__ cl_khr_fp16 cl_khr_subgroups cl_khr_3d_image_writes cl_intel_subgroups"
    x = numpy.zeros(2, "i4")
    source = f"""
#if {" || ".join(f"defined({name})" for name in lacking.split())}
#error an extension that no device has
#endif
#ifdef cl_khr_fp64
kernel void f(global int* x, global ushort* y) {{
    x[0] = (int)(convert_double(x[1]) + 1.5);
    vstore_half2(2 * vload_half2(1, (global half*)y), 0, (global half*)y);
}}
#endif
"""
    y = numpy.array([0, 0, 1.5, -3], "f2").view("u2")
    gpu.program(source, options=[f"-cl-std={version}"])["f"](1, 1, x, y)
    assert x[0] == 1 and list(y.view("f2")) == [3, -6, 1.5, -3]


@pytest.mark.timeout(100)
def test_defines_includes_and_options(gpu, tmp_path):
    (tmp_path / "own.h").write_text("#define OWN 5\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.h").write_text("#define OTHER 7\n")
    file = tmp_path / "k.cl"
    file.write_text('#include "own.h"\n#include "other.h"\nkernel void f(global int* x) { x[0] = OWN + OTHER + N; }\n')
    x = numpy.zeros(1, "i4")
    program = gpu.program(
        file, defines={"N": 100, "FLAG": None}, includes=[tmp_path / "folder"], options=["-cl-std=CL1.2"]
    )
    program["f"](1, 1, x)
    assert x[0] == 112 and "k.cl:3" in program.listing()
    program.save(tmp_path / "k.elf")
    assert gpu.launch(tmp_path / "k.elf", 1, [x]).buffers[0][0] == 112
    with pytest.raises(InputError, match="nothing.cl: No such file"):
        gpu.program(tmp_path / "nothing.cl")


def test_registers_of_an_entry_are_not_saved_and_objects_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "kernel void f(global float* x) { size_t i = get_global_id(0); x[i] = sin(x[i]) + cos(x[i]); }"
    image = build(text, "f.cl")
    (tmp_path / "f.elf").write_bytes(image.elf)
    listing = subprocess.run(
        ["riscv64-unknown-elf-objdump", "-d", "--disassemble=f.kernel", tmp_path / "f.elf"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "sinf" in listing and "\tsd\t" not in listing and "\tfsd\t" not in listing
    assert 16 <= image.kernels["f"].scratch_bytes <= 1600
    kept = sorted(path.name for path in (tmp_path / "fabricvp" / "kernels").iterdir())
    assert build(text, "f.cl").elf == image.elf
    build(text, "f.cl", Options.of({"X": 1}))
    assert len(list((tmp_path / "fabricvp" / "kernels").iterdir())) == len(kept) + 1


def test_addresses_of_an_unrolled_loop_are_not_spilt():
    file = Path(__file__).parents[2] / "examples" / "kernels" / "matmul.cl"
    assert build(file.read_text(), str(file)).kernels["matmul"].scratch_bytes == 16


@pytest.mark.timeout(200)
def test_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text(SOURCE)
    numpy.arange(256, dtype="f4").tofile(tmp_path / "a.bin")
    numpy.arange(256, dtype="i4").tofile(tmp_path / "x.bin")
    small = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cl", "--kernel-name")
    done = command(*small, "add", "--grid", 256, "--block", 64, "--arg", "in:a.bin", "--arg", "in:a.bin", "--arg",
                   "out:1KiB:c.bin", "--arg", "u32:256", timeout=150)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (numpy.fromfile(tmp_path / "c.bin", "f4") == 2 * numpy.arange(256)).all()
    done = command(*small, "reverse", "--grid=256", "--block=64", "--arg", "inout:x.bin", timeout=150)
    assert done.returncode == 0 and numpy.fromfile(tmp_path / "x.bin", "i4")[0] == 126, done.stdout + done.stderr
    for arguments, says in {
        ("add", "--arg", "u32:1"): "kernel 'add' takes 4 arguments (float* a, float* b, float* c, uint n), not 1",
        ("none",): "no kernel 'none'",
        ("small", "--arg", "u32:1"): "--arg 'u32:1' for 'x': a buffer",
        ("small", "--grid", "3y", "--arg", "zeros:4B"): "--grid '3y': must be N, NxM or NxMxK",
        ("small", "--define", "__local=5", "--arg", "zeros:4B"): "k.cl:",
    }.items():
        done = command(*small, *arguments)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = command("cc", "k.cl", "-o", "k.elf", "--report", timeout=60)
    assert done.returncode == 0 and "reverse" in done.stdout and (tmp_path / "k.elf").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.timeout(100)
def test_a_whole_program_is_no_kernel(command, tmp_path):
    (tmp_path / "p.cu").write_text(
        '#include "none.h"\n__global__ void k(int* x) { *x = 1; }\nint main() { k<<<1, 1>>>(0); }\n'
    )
    (tmp_path / "p.hip").write_text('#include "p.cu"\n')
    for name in ("p.cu", "p.hip"):
        done = command("run", "linux_gpu", "--program", name)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert f"`fabricvp cc {name} --target linux`" in done.stderr and "none.h" in done.stderr


@pytest.mark.timeout(100)
def test_from_a_makefile(tmp_path):
    (tmp_path / "k.cl").write_text("__kernel void f(__global int* x) { x[0] = N; }\n")
    (tmp_path / "Makefile").write_text(
        f"PYTHON = {sys.executable}\ninclude {sdk_folder()}/fabricvp.mk\n"
        "k.elf: CCFLAGS = -D N=3\nk.elf: k.cl\n\t$(build_program)\n"
    )
    done = subprocess.run(["make", "-C", tmp_path, "k.elf"], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0 and list(Image.read((tmp_path / "k.elf").read_bytes()).kernels) == ["f"], done.stderr


@pytest.mark.timeout(300)
def test_from_cmake(command, tmp_path):
    """A project elsewhere, by `find_package()`; the image is made anew when a header changes."""
    (tmp_path / "k.cl").write_text('#include "n.h"\nkernel void f(global int* x) { x[0] = N + M; }\n')
    (tmp_path / "n.h").write_text("#define N 40\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(mine CXX)\nfind_package(fabricvp 0.3 REQUIRED)\n"
        "fabricvp_gpu_kernel(mine SOURCES k.cl OPTIONS -D M=2)\n"
    )
    package = command("sdk", "--cmake").stdout.strip()
    launcher = Path(sys.executable).with_name("fabricvp")
    options = [f"-DCMAKE_PREFIX_PATH={package}", f"-DFABRICVP_COMMAND={launcher}"]
    image = tmp_path / "build" / "mine.elf"

    def make():
        for step in ["-S", ".", "-B", "build", *options], ["--build", "build"]:
            done = subprocess.run(
                ["cmake", *step], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        return image.read_bytes()

    first = make()
    assert list(Image.read(first).kernels) == ["f"]
    (tmp_path / "n.h").write_text("#define N 50\n")
    assert make() != first


@pytest.mark.timeout(600)
def test_examples(clone):
    """In OpenCL C, HIP, CUDA and C; the three take about as long as each other, and as C by the same compiler."""
    done = subprocess.run(
        [sys.executable, clone / "examples" / "kernels" / "run.py"],
        capture_output=True, text=True, timeout=590, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 9 and all(row[6:] == ["right"] for row in rows), done.stdout
    for name, *times, _ in rows:
        languages = [float(time) for time in times[:4] if time != "-"]  # C by the same compiler is the fourth
        assert len(languages) == (2 if name == "warp_reduction" else 4), name
        assert max(languages) <= 1.05 * min(languages), name  # 1.038 in prefix_sum: 613 and 664 instructions
        if name != "warp_reduction":
            assert min(languages) / 1.1 < float(times[4]) < 2 * max(languages), name


def test_atomics_without_a_use_keep_no_result(gpu):
    source = """kernel void f(global int* x, global int* y) {
    atomic_add(x, 1);
    atomic_max(x + 1, 5);
    y[0] = atomic_inc(x + 2);
}"""
    program = gpu.program(source)
    x, y = numpy.zeros(3, "i4"), numpy.full(1, -1, "i4")
    program["f"](1, 1, x, y)
    assert list(x) == [1, 5, 1] and y[0] == 0
    listing = program.listing()
    assert listing.count("amoadd.w\tzero") == 1 and listing.count("amomax.w\tzero") == 1, listing
    assert listing.count("amoadd.w") == 2
