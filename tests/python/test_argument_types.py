# SPDX-License-Identifier: Apache-2.0
"""Arguments of kernels that are enumerations, and numbers of the other byte order."""

import ctypes
import enum

import numpy
import opencl_machine
import pytest
from fabricvp.byte_order import require_little_endian
from fabricvp.launch import Arguments

opencl_machine.require_compiler()

CUDA = """#include <cstddef>
enum Mode { A, B = 7 };
enum class Small : unsigned char { X, Y };
typedef enum { MINUS = -5 } signed_one;
typedef Mode mine;
__device__ Mode modes[3] = {B, A, B};
__global__ void f(const mine m, Small s, signed_one n, std::byte b, wchar_t w, char16_t c, int* o) {
    int all[] = {m, (int)s, n, (int)b, (int)w, c};
    for (int i = 0; i < 6; ++i) o[i] = all[i];
}
__global__ void g(mine* to, const Small* from) { to[0] = (Mode)((int)from[1] * 7); modes[1] = to[0]; }
"""
OPENCL = """
enum mode { A, B = 7 };
typedef enum { X = -1, Y } other;
kernel void f(enum mode m, other k, global enum mode* o) { o[0] = m; o[1] = k + 1; }
"""
SOURCE = """
typedef struct { float x; int n; } pair;
kernel void f(global float* x) { x[0] = 1; }
kernel void s(pair p, global float* o) { o[0] = p.n; }
"""


class Mode(enum.IntEnum):
    B = 7


@pytest.mark.timeout(100)
def test_enumerations_are_integers(gpu):
    program, out = gpu.program(CUDA, language="cuda"), numpy.zeros(6, "i4")
    for seven in Mode.B, 7, numpy.uint8(7), ctypes.c_int(7), numpy.array(7, ">i4"):
        program["f"](1, 1, seven, 1, -5, 255, 3, 65535, out)
        assert out.tolist() == [7, 1, -5, 255, 3, 65535]
    with pytest.raises(ValueError, match=r"argument 1 's': 256 does not fit a Small \(0 to 255\)"):
        program["f"](1, 1, 7, 256, -5, 255, 3, 65535, out)
    with pytest.raises(TypeError, match="argument 0 'm': a number for a const mine, not str"):
        program["f"](1, 1, "B", 1, -5, 255, 3, 65535, out)
    to = numpy.zeros(1, "u4")
    program["g"](1, 1, to, numpy.ones(2, "u1"))
    assert to[0] == 7 and program.variable("modes").get().tolist() == [7, 7, 7]
    with pytest.raises(TypeError, match="argument 0 'to': an array of uint32 for a mine"):
        program["g"](1, 1, numpy.zeros(1, "u8"), numpy.ones(2, "u1"))
    program, out = gpu.program(OPENCL), numpy.zeros(2, "u4")
    program["f"](1, 1, Mode.B, -1, out)
    assert out.tolist() == [7, 0]


@pytest.mark.timeout(100)
def test_enumerations_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cu").write_text(CUDA)
    arguments = [f"--arg={text}" for text in ("i32:7", "u32:1", "i32:-5", "u32:2", "i32:3", "u32:4", "out:24B:o.bin")]
    done = command("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cu", "--block", 1, *arguments)
    assert done.returncode == 0, done.stderr
    assert numpy.fromfile(tmp_path / "o.bin", "i4").tolist() == [7, 1, -5, 2, 3, 4]


def test_big_endian_numbers_are_refused(gpu, tmp_path):
    program = gpu.program(SOURCE)
    fields = numpy.dtype([("x", "f4"), ("n", ">i4")])
    for array in numpy.ones(4, ">f4"), numpy.zeros(2, fields):
        with pytest.raises(TypeError, match=r"argument 0 'x': numbers of type .* are big-endian, and kernels read"):
            program["f"](1, 1, array)
        with pytest.raises(TypeError, match="are big-endian"):
            gpu.array(array)
        with pytest.raises(TypeError, match="buffer 'b': numbers of type"):
            Arguments(["b"], {"b": array}, None)
    with pytest.raises(TypeError, match="argument 0 'p': .* are big-endian"):
        program["s"](1, 1, numpy.zeros(1, fields)[0], numpy.zeros(1, "f4"))
    with pytest.raises(TypeError, match="argument 0: c_int_be is big-endian"):
        Arguments([ctypes.c_int.__ctype_be__(1)], {}, None)
    with pytest.raises(TypeError, match="argument 0: numbers of type >i4 are big-endian"):
        Arguments([numpy.array(1, ">i4")], {}, None)


class Inner(ctypes.BigEndianStructure):
    _fields_ = (("n", ctypes.c_int),)


class Outer(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("many", Inner * 2))


class Native(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("many", ctypes.c_double * 2), ("name", ctypes.c_char * 4))


@pytest.mark.parametrize(
    "value", [Inner(), Outer(), numpy.zeros(2, [("a", [("b", ">f8", (2, 2))])]), numpy.zeros(1, ">U2")]
)
def test_other_byte_orders_are_found_in_fields(value):
    with pytest.raises(TypeError, match="big-endian"):
        require_little_endian(value)


@pytest.mark.parametrize(
    "value", [Native(), numpy.zeros(2, [("a", "<f8", (2, 2)), ("b", "S3")]), numpy.ones(2, "u1"), 5]
)
def test_native_values_pass(value):
    require_little_endian(value)
