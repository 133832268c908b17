# SPDX-License-Identifier: Apache-2.0
"""Functions of kernels that call themselves, to a depth that the caller gives."""

import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError, KernelFault

opencl_machine.require_compiler()

OPENCL = """int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { volatile int x = n; return n == 0 ? 0 : even(x - 1); }
int sum(global const int* tree, int at) {
    int here = tree[3 * at], left = tree[3 * at + 1], right = tree[3 * at + 2];
    return here + (left ? sum(tree, left) : 0) + (right ? sum(tree, right) : 0);
}
kernel void numbers(global int* x) { int i = get_global_id(0); x[i] = fibonacci(x[i]); }
kernel void parity(global int* x) { int i = get_global_id(0); x[i] = even(x[i]); }
kernel void trees(global const int* tree, global int* x) { x[get_global_id(0)] = sum(tree, get_global_id(0)); }
"""
CUDA = """template <int Base> __device__ __noinline__ int digits(int n) {
    int buffer[4] = {n, n / Base, n % Base, 1};
    return n < Base ? 1 : digits<Base>(buffer[1]) + buffer[buffer[2] * 0 + 3];
}
__global__ void count(int* x) { x[threadIdx.x] = digits<3>(x[threadIdx.x]); }
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize("level", ["0", "2", "3"])
def test_recursion(gpu, level):
    program = gpu.program(OPENCL, recursion=20, options=[f"-O{level}"])
    x = numpy.arange(64, dtype="i4") % 12
    program["numbers"](64, 64, x)
    assert [*x[:12]] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] and (x[:12] == x[12:24]).all()
    x = numpy.arange(64, dtype="i4") % 20
    program["parity"](64, 64, x)
    assert (x == 1 - numpy.arange(64) % 20 % 2).all()
    tree = numpy.zeros((64, 3), "i4")  # a heap: the children of n are 2n + 1 and 2n + 2
    for n in range(64):
        tree[n] = (n + 1, *(child if child < 64 else 0 for child in (2 * n + 1, 2 * n + 2)))
    sums = numpy.arange(1, 65)
    for n in reversed(range(1, 64)):
        sums[(n - 1) // 2] += sums[n]
    program["trees"](64, 64, tree, x)
    assert (x == sums).all()
    x = numpy.array([1, 2, 3, 8, 9, 26, 27, 59048, 59049] + [5] * 55, "i4")
    gpu.program(CUDA, language="cuda", recursion=20, options=[f"-O{level}"])["count"](1, 64, x)
    assert x[:9].tolist() == [1, 1, 2, 2, 3, 3, 4, 10, 11] and (x[9:] == 2).all()


@pytest.mark.timeout(100)
def test_stacks_are_as_deep_as_the_calls(gpu):
    one, ten, many = (gpu.program(OPENCL, recursion=n)["numbers"].stack_bytes for n in (1, 10, 1000))
    frame = (ten - one) // 9
    assert frame >= 16 and many == one + 999 * frame
    x = numpy.full(64, 15, "i4")
    gpu.program(OPENCL, recursion=15)["numbers"](64, 64, x)
    assert (x == 610).all()


@pytest.mark.timeout(100)
def test_calls_that_are_too_deep(gpu):
    program = gpu.program(OPENCL, recursion=3)
    with pytest.raises(
        KernelFault, match=r"(?s)program\.cl:1\n.*bytes has overflowed: calls are deeper than `recursion` says"
    ):
        program["numbers"](64, 64, numpy.full(64, 12, "i4"))
    x = numpy.full(64, 3, "i4")
    program["numbers"](64, 64, x)
    assert (x == 2).all()


@pytest.mark.parametrize(
    "options, says",
    [
        ({}, "function 'fibonacci' calls itself, which kernels can with a depth alone (--recursion)"),
        ({"recursion": -1}, "recursion -1: a depth from 1 to 100000, or 0 for none"),
        ({"recursion": 100_000}, "bytes of stack: at most 1048576"),
    ],
)
def test_depths_that_cannot_be(gpu, options, says):
    with pytest.raises(InputError) as raised:
        gpu.program(OPENCL, **options)
    assert says in str(raised.value) and "\n" not in str(raised.value)


def test_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text(OPENCL)
    run = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cl", "--kernel-name", "numbers")
    numpy.full(64, 10, "i4").tofile(tmp_path / "x.bin")
    done = command(*run, "--recursion", 12, "--grid", 64, "--block", 64, "--arg", "inout:x.bin", timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (numpy.fromfile(tmp_path / "x.bin", "i4") == 55).all()
    done = command("cc", "k.cl", timeout=60)
    assert done.returncode and "calls itself" in done.stderr and done.stderr.count("\n") == 1
    done = command("cc", "k.cl", "--recursion", 12, "--report", timeout=60)
    assert done.returncode == 0 and "numbers" in done.stdout
