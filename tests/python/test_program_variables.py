# SPDX-License-Identifier: Apache-2.0
"""What programs keep between launches: variables of program scope, the heap of device code, and arrays on the GPU."""

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError, KernelFault

opencl_machine.require_compiler()

OPENCL = """
global int count = 5;
global float4 vectors[3] = {(float4)(1, 2, 3, 4)};
static global long hidden;
global atomic_uint together;
kernel void add(global int* out, uint k) {
    static global int calls;
    size_t i = get_global_id(0);
    atomic_inc((volatile global int*)&count);
    atomic_fetch_add(&together, 2u);
    if (i == 3) { vectors[1] = (float4)(5, 6, 7, 8); hidden = k; ++calls; }
    out[i] = count > 0;
}
"""
CUDA = """
struct pair { int a; double b; };
__device__ int count = 5;
__device__ pair both = {1, 2.5};
namespace deep { __device__ double table[2][3] = {{1, 2, 3}, {4, 5, 6}}; }
template <class T> __device__ T general = 3;
struct node { int value; node* next; };
__device__ node* list;
__global__ void change(int* out) {
    atomicAdd(&count, 1);
    if (threadIdx.x == 0 && blockIdx.x == 0) { deep::table[1][2] = both.b; general<int> = 4; both.a = 7; }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void allocate(unsigned long* out, int rounds) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    for (int r = 0; r < rounds; ++r) {
        int* p = (int*)malloc(40 + i % 3 * 100);
        if (!p) { out[i] = 1; return; }
        bool right = true;
        for (int k = 0; k < 10; ++k) p[k] = i * 10 + k;
        for (int k = 0; k < 10; ++k) right &= ((volatile int*)p)[k] == i * 10 + k;
        free(p);
        if (!right) { out[i] = 2; return; }
    }
    node* fresh = new node{i, nullptr};
    fresh->next = (node*)atomicExch((unsigned long*)&list, (unsigned long)fresh);
    out[i] = (unsigned long)fresh;
}
__global__ void walk(long* out) {
    long count = 0, sum = 0;
    for (node *p = list, *next; p; p = next) { ++count; sum += p->value; next = p->next; delete p; }
    list = nullptr;
    out[0] = count;
    out[1] = sum;
}
__global__ void exhaust(int* out) {
    int count = 0;
    void *last = nullptr, *p;
    while ((p = malloc(1000))) { ++count; last = p; }
    free(last);
    out[0] = count;
    out[1] = malloc(1000) == last;
    out[2] = malloc(1 << 30) == nullptr;
}
struct wide { long values[500]; };
__global__ void large(wide w, long* out) { out[0] = w.values[0] + w.values[499]; }
"""


@pytest.mark.timeout(100)
def test_variables_of_opencl_stay_between_launches(gpu):
    program, other = gpu.program(OPENCL), gpu.program(OPENCL)
    assert sorted(program.variables) == ["calls", "count", "hidden", "together", "vectors"]
    count, vectors = program.variable("count"), program.variable("vectors")
    assert count.get() == 5 and count.dtype == "i4" and vectors.get()[0].tolist() == [1, 2, 3, 4]
    out = numpy.zeros(128, "i4")
    program["add"](128, 64, out, 77)
    assert count.get() == 133 and program.variable("hidden").get() == 77 and program.variable("together").get() == 256
    assert vectors.get().tolist() == [[1, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, 0]]
    count.set(1000)
    vectors.set(numpy.full((3, 4), 2))
    program["add"](128, 64, out, 78)
    assert count.get() == 1128 and program.variable("calls").get() == 2 and vectors.get()[2].tolist() == [2] * 4
    assert other.variable("count").get() == 5
    other.variable("count").set(-1000)
    other["add"](128, 64, out, 1)
    assert other.variable("count").get() == -872 and count.get() == 1128 and not out.any()
    with pytest.raises(InputError, match="no variable 'none' in the source; there are: count"):
        program.variable("none")
    with pytest.raises(ValueError, match=r"variable 'count' has shape \(\), not \(2,\)"):
        count.set([1, 2])
    for value in 1 << 40, 1.7, float("nan"):
        with pytest.raises(ValueError, match="variable 'count' is of int32, which cannot hold "):
            count.set(value)
    count.set(2.0)
    assert count.get() == 2


@pytest.mark.timeout(100)
def test_variables_of_cuda_begin_anew_after_a_launch_that_did_not_end(gpu):
    program = gpu.program(CUDA, language="cuda")
    out = numpy.zeros(128, "i4")
    program["change"](2, 64, out)
    assert program.variable("count").get() == 133 and program.variable("general").get() == 4
    assert program.variable("table").get().tolist() == [[1, 2, 3], [4, 5, 2.5]]
    both = numpy.frombuffer(program.variable("both").get(), numpy.dtype([("a", "i4"), ("b", "f8")], align=True))
    assert both[0].tolist() == (7, 2.5)
    array = gpu.array(numpy.arange(64, dtype="i4"))
    program["change"](1, 64, array)
    endless = gpu.program("kernel void endless(global int* x) { while (*(volatile global int*)x) {} }")
    with pytest.raises(fabricvp.GuestStopped):
        endless["endless"](1, 1, numpy.ones(1, "i4"), limit="100 us")
    program["change"](1, 64, out[:64])
    assert program.variable("count").get() == 69
    with pytest.raises(InputError, match="was lost when the node was reset"):
        array.get()


CONSTANTS = """
struct pair { int a; float b; };
enum mode { OFF, ON };
__constant__ float factors[4] = {1, 2, 3, 4};
__constant__ int unset[2][4];
__constant__ pair both = {3, 2};
static __constant__ float shift[4];
namespace deep {
static __constant__ int own = 2;
__constant__ const int fixed[2] = {3, 3};
__constant__ mode state = ON;
}
__device__ int count;
__global__ void sums(float* out) {
    int i = threadIdx.x;
    out[i] = factors[i] + unset[1][i] + both.a + deep::own + deep::fixed[i % 2] + deep::state + shift[i];
    count = i;
}
"""


@pytest.mark.timeout(100)
def test_constants_of_cuda_are_set_for_later_launches(gpu, tmp_path):
    program, other = gpu.program(CONSTANTS, language="cuda"), gpu.program(CONSTANTS, language="cuda")
    assert sorted(program.variables) == ["both", "count", "factors", "own", "shift", "state", "unset"]
    out, factors = numpy.zeros(4, "f4"), numpy.arange(1, 5, dtype="f4")
    program["sums"](1, 4, out)
    assert (out == factors + 9).all() and (program.variable("factors").get() == factors).all()
    program.variable("unset").set(numpy.arange(8).reshape(2, 4))
    program.variable("state").set(0)
    program.variable("own").set(4)
    program.variable("shift").set([8, 16, 32, 64])
    program.variable("both").set(numpy.array((10, 0.5), [("a", "i4"), ("b", "f4")]))
    program["sums"](1, 4, out)
    assert (out == factors + numpy.arange(4, 8) + 17 + [8, 16, 32, 64]).all()
    assert program.variable("unset").get()[1, 3] == 7
    assert not other.variable("unset").get().any()
    other["sums"](1, 4, out)
    assert (out == factors + 9).all()
    with pytest.raises(ValueError, match=r"variable 'factors' has shape \(4,\), not \(3,\)"):
        program.variable("factors").set([1, 2, 3])
    with pytest.raises(TypeError, match="big-endian"):
        program.variable("both").set(numpy.zeros((), [("a", ">i4"), ("b", "f4")]))
    with pytest.raises(InputError, match="variable 'fixed' is const: the code has its value; leave out const"):
        program.variable("fixed")


@pytest.mark.timeout(100)
def test_the_heap(gpu):
    program = gpu.program(CUDA, language="cuda", heap="64 KiB")
    out = numpy.zeros(256, "u8")
    program["allocate"](4, 64, out, 4)
    assert len(set(out.tolist())) == 256 and out.min() > 1 << 31
    found = numpy.zeros(2, "i8")
    program["walk"](1, 1, found)
    assert found.tolist() == [256, 255 * 128]
    program["allocate"](4, 64, out, 0)  # what was given back is given out again
    assert len(set(out.tolist())) == 256
    exhausted, fresh = numpy.zeros(3, "i4"), gpu.program(CUDA, language="cuda", heap=64 << 10)
    fresh["exhaust"](1, 1, exhausted)
    assert exhausted.tolist() == [64, 1, 1]
    with pytest.raises(ValueError, match="heap=-1: must be from 0 bytes on"):
        gpu.program(CUDA, language="cuda", heap=-1)
    with pytest.raises(InputError, match=r"grid .* × block .*: at most 2\^32 - 1 work-items in a dimension"):
        fresh["exhaust"]([1 << 31], [4], exhausted)
    program = gpu.program(CUDA, language="hip")
    program["exhaust"](1, 1, exhausted)
    assert exhausted.tolist() == [8 << 10, 1, 1]


@pytest.mark.timeout(100)
def test_arguments_of_four_kibibytes(gpu):
    program, out = gpu.program(CUDA, language="cuda"), numpy.zeros(1, "i8")
    wide = numpy.zeros(1, [("values", "i8", 500)])
    wide["values"][0, 0], wide["values"][0, 499] = 5, 6
    for _ in range(3):
        program["large"](1, 1, wide[0], out)
        assert out[0] == 11
        wide["values"][0, 499] = 6
    too_wide = CUDA.replace("values[500]", "values[513]")
    with pytest.raises(InputError, match="kernel 'large' has 4120 bytes of arguments, and a launch has room for 4096"):
        gpu.program(too_wide, language="cuda")


@pytest.mark.timeout(100)
def test_names_of_any_length(gpu):
    name = "a_kernel_with_a_name_" + "of_very_many_characters_" * 10
    program = gpu.program(
        f"kernel void {name}(global int* x) {{ x[0] = 1; }}\n"
        f"kernel void {name}2(global int* x) {{ *(global int*)1 = 2; }}"
    )
    x = numpy.zeros(1, "i4")
    program[name](1, 1, x)
    assert x[0] == 1
    with pytest.raises(KernelFault, match=name[:60]):
        program[name + "2"](1, 1, x)


@pytest.mark.timeout(100)
def test_arrays_stay_on_the_gpu(gpu, tmp_path):
    program = gpu.program("kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }")
    values = numpy.arange(3000, dtype="i4").reshape(3, 1000)
    array = gpu.array(values)
    assert array.shape == (3, 1000) and array.dtype == "i4" and len(array) == 3 and (array.get() == values).all()
    for factor in 2, 4, 8:
        program["twice"](3000, 64, array)
        assert (array.get() == factor * values).all() and values[2, 999] == 2999
    array.set(values[::-1])
    program["twice"](3000, 64, array)
    assert (numpy.asarray(array) == 2 * values[::-1]).all()
    with pytest.raises(ValueError, match="an array of shape"):
        array.set(values[0])
    with pytest.raises(TypeError, match="an array of int32 for a int"):
        program["twice"](3000, 64, gpu.array(numpy.zeros(3000)))
    program.save(tmp_path / "twice.elf")
    with opencl_machine.small_gpu() as other, pytest.raises(InputError, match="is of another node"):
        program["twice"](3000, 64, other.nodes[0].gpus[0].array(values))
    done = gpu.launch(tmp_path / "twice.elf", 3000, [array], kernel="twice")
    assert (array.get() == 4 * values[::-1]).all() and done.buffers == {}
