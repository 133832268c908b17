# SPDX-License-Identifier: Apache-2.0
"""printf() and assert() of kernels."""

import numpy
import opencl_machine
import pytest
from fabricvp.errors import KernelFault

opencl_machine.require_compiler()

OPENCL = r"""
kernel void formats(global int* x, constant char* given) {
    printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o|%#o\n", -7, 42, 42, 42, 42, 4000000000u, 255, 255, 8, 8);
    printf("%hhd %hd %ld %lu %lx %c %% %s|%6s|%.2s\n", (char)-1, (short)-2, -(1L << 40), 1UL << 63, 255L, 'z', "text",
           "ab", "abc");
    printf("%f %.2f %8.3f|%-8.1f|%e %g %g %a\n", 1.5f, 2.346, 3.14159, 2.5, 12345.678, 1e-10, 100000.0, 1.0);
    printf("%v4f %.1v2lf %v3d %v4hhx %v8hlu\n", (float4)(1, 2, 3, 4), (double2)(0.25, 8), (int3)(-1, 0, 1),
           (uchar4)(255, 16, 0, 1), (uint8)(7));
    printf("%f %f %05f %*d %.*f\n", INFINITY, -INFINITY, NAN, 6, 12, 1, 2.55);
    printf("%p %s\n", (global void*)0, given);
    printf("no newline, ");
    printf("100%%, %d of %i\n", 3, x[0]);
}
kernel void lanes(global int* x, int rounds) {
    int i = get_global_id(0), n = 0;
    for (int k = 0; k < rounds; ++k) if (i % 3 != 2) n += printf("lane %d says %d of %d\n", i, k, rounds);
    x[i] = n;
}
kernel void check(global int* x) { assert(x[get_global_id(0)] != 70); x[get_global_id(0)] = 1; }
"""


@pytest.mark.timeout(100)
def test_formats(gpu, capsys):
    gpu.program(OPENCL)["formats"](1, 1, numpy.ones(1, "i4"), numpy.zeros(1, "i1"))
    assert capsys.readouterr().out.splitlines() == [
        "-7|   42|42   |00042|+42|4000000000|ff|0XFF|10|010",
        f"-1 -2 {-(1 << 40)} {1 << 63} ff z % text|    ab|ab",
        "1.500000 2.35    3.142|2.5     |1.234568e+04 1e-10 100000 0x1p+0",
        "1.000000,2.000000,3.000000,4.000000 0.2,8.0 -1,0,1 ff,10,0,1 7,7,7,7,7,7,7,7",
        "inf -inf   nan     12 2.5",
        "0x0 (not a literal)",
        "no newline, 100%, 3 of 1",
    ]


@pytest.mark.timeout(100)
def test_lines_are_whole_and_those_of_a_lane_in_order(gpu, capsys):
    x = numpy.ones(300, "i4")
    gpu.program(OPENCL)["lanes"](300, 64, x, 5)
    lines = capsys.readouterr().out.splitlines()
    wanted = [[f"lane {i} says {k} of 5" for k in range(5)] for i in range(300) if i % 3 != 2]
    assert sorted(lines) == sorted(line for own in wanted for line in own) and not x.any()
    for own in wanted:
        assert [line for line in lines if line.startswith(own[0][: own[0].index("says")])] == own


@pytest.mark.timeout(200)
def test_a_full_buffer_is_said_once(gpu, capsys):
    program, x = gpu.program(OPENCL), numpy.zeros(1024, "i4")
    program["lanes"](1024, 64, x, 40)
    captured = capsys.readouterr()
    written = captured.out.count("\n")  # a record has 24 bytes and three arguments of 8
    assert written == (1 << 20) // 48 and all(line.endswith(" of 40") for line in captured.out.splitlines())
    assert captured.err == f"fabricvp: the buffer of printf() is full: {683 * 40 - written} calls are missing\n"
    program["lanes"](1, 1, x, 1)
    assert capsys.readouterr() == ("lane 0 says 0 of 1\n", "")


@pytest.mark.timeout(100)
def test_assertions_end_the_kernel_and_are_named(gpu, capsys):
    program, x = gpu.program(OPENCL), numpy.arange(128, dtype="i4")
    with pytest.raises(
        KernelFault, match=r"illegal instruction[^$]*program.cl:19: check: assertion 'x\[get_global_id\(0"
    ):
        program["check"](128, 64, x)
    program["check"](64, 64, x)
    assert (x[:64] == 1).all() and capsys.readouterr().out == ""
    source = '#include <cassert>\n__global__ void f(int* x) {\n    assert(x[threadIdx.x] == 3 && "three"); x[0] = 9; }'
    program, x = gpu.program(source, language="cuda"), numpy.full(64, 3, "i4")
    x[50] = 4
    with pytest.raises(
        KernelFault, match=r"assertion 'x\[threadIdx.x\] == 3 && \"three\"' failed \(block 0,0,0, thread 50,0,0\)"
    ):
        program["f"](1, 64, x)
    x[50] = 3
    program["f"](1, 64, x)
    assert x[0] == 9
    with_more = x.copy()
    with_more[:] = 4
    with pytest.raises(KernelFault, match=r"thread 0,0,0\) \(and 63 more\)"):
        program["f"](1, 64, with_more)
    gpu.program(source, defines=["NDEBUG"], language="hip")["f"](1, 64, with_more)


@pytest.mark.timeout(100)
def test_printf_of_cuda_returns_the_number_of_arguments(gpu, capsys):
    source = '#include <cstdio>\n__global__ void f(int* x) { x[0] = printf("%s %lld %5.1f\\n", "a", 1ll << 40, 2.5); }'
    x = numpy.zeros(1, "i4")
    gpu.program(source, language="cuda")["f"](1, 1, x)
    assert capsys.readouterr().out == f"a {1 << 40}   2.5\n" and x[0] == 3


MORE = r"""
kernel void formats(int wide) {
    printf("%*d|%-*d|%.*f\n", wide, 1, -wide, 2, wide, 1.0);
    printf("%99999999999999999999d|%.99999999999999999999d\n", 3, 4);
    printf("%.3a %.0a %12.1A|%+a|%-10a|%012a\n", 1.1, 1.5, 0.03, 1.0, 1.0, 1.0);
    printf("%b %n %'d|%d\n", 7, wide, 5, 6);
}
"""


@pytest.mark.timeout(100)
def test_unusual_conversions(gpu, capsys):
    gpu.program(MORE)["formats"](1, 1, 50_000_000)
    wide, wider, numbers, others = capsys.readouterr().out.splitlines()
    assert wide == f"{1:512}|{2:<512}|1.{0:0512}" and wider == f"{3:512}|{4:0512}"
    assert numbers == "0x1.19ap+0 0x2p+0     0X1.FP-6|+0x1p+0|0x1p+0    |0x0000001p+0"
    assert others == "%b %n 5|6"


@pytest.mark.timeout(100)
def test_the_text_of_a_launch_is_bounded(gpu, capsys):
    source = 'kernel void f(int wide) { for (int i = 0; i < 2000; ++i) printf("%v16d\\n", (int16)i); }'
    gpu.program(source.replace("%v16", "%512v16"))["f"](2, 2, 0)
    captured = capsys.readouterr()
    assert len(captured.out) <= 16 << 20 and all(len(line) == 16 * 513 - 1 for line in captured.out.splitlines())
    written = captured.out.count("\n")
    assert written == (16 << 20) // (16 * 513)
    assert captured.err == f"fabricvp: a launch prints 16 MiB at most: {4000 - written} calls are missing\n"


STRINGS = r"""
constant char named[] = "a named one";
constant char* constant names[3] = {"zero", "one", "two"};
kernel void strings(global int* x) {
    int i = x[get_global_id(0)];
    printf("%s %s %s|%5.2s|", i & 1 ? "odd" : "even", names[i % 3], named, i == 2 ? named + 2 : "-");
    constant char* p = "low";
    if (i > 1) p = "high";
    printf("%s\n", p);
}
kernel void elsewhere(global int* x, constant char* given) {
    for (int i = 0; i < 2; ++i) printf("%d %s\n", i, given);
}
"""


@pytest.mark.timeout(100)
def test_strings_of_the_program(gpu, capsys):
    program = gpu.program(STRINGS)
    for i in range(4):
        program["strings"](1, 1, numpy.full(1, i, "i4"))
    assert capsys.readouterr().out.splitlines() == [
        "even zero a named one|    -|low", "odd one a named one|    -|low", "even two a named one|   na|high",
        "odd zero a named one|    -|high",
    ]  # fmt: skip
    program["elsewhere"](1, 1, numpy.zeros(1, "i4"), numpy.zeros(4, "i1"))
    assert capsys.readouterr() == (
        "0 (not a literal)\n1 (not a literal)\n",
        "fabricvp: program.cl:12: printf(): %s takes strings of the program, and this one is none\n",
    )
    source = """#include <cstdio>
__constant__ char named[] = "constant";
__device__ const char* const names[2] = {"a", "b"};
__global__ void f(int* x) {
    const char* own[3] = {"x", "y", "z"};
    printf("%s %s %s %s\\n", x[0] ? "t" : "f", named, names[x[0] & 1], own[x[0] % 3]);
}
"""
    program = gpu.program(source, language="cuda")
    for i in range(3):
        program["f"](1, 1, numpy.full(1, i, "i4"))
    assert capsys.readouterr() == ("f constant a x\nt constant b y\nt constant a z\n", "")


@pytest.mark.timeout(100)
def test_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text(OPENCL)
    run = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cl", "--quiet", "--kernel-name")
    done = command(*run, "lanes", "--grid", 4, "--block", 4, "--arg", "zeros:16B", "--arg", "i32:2", timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line for line in done.stdout.splitlines() if line.startswith("lane")) == [
        f"lane {i} says {k} of 2" for i in (0, 1, 3) for k in (0, 1)
    ]
    numpy.full(64, 70, "i4").tofile(tmp_path / "x.bin")
    done = command(*run, "check", "--grid", 64, "--block", 64, "--arg", "in:x.bin", timeout=90)
    assert (
        done.returncode
        and "k.cl:19: check: assertion 'x[get_global_id(0)] != 70' failed (work-item 0,0,0)" in done.stdout
    )
