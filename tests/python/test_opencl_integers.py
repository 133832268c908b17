# SPDX-License-Identifier: Apache-2.0
"""Integer, relational and common functions of OpenCL C, conversions, vector loads and stores, against models."""

import math
from fractions import Fraction

import numpy
import opencl_machine
import pytest

opencl_machine.require_compiler()

RANDOM = numpy.random.default_rng(4)
BEGIN = RANDOM.bit_generator.state


@pytest.fixture(autouse=True)
def same_draws():
    """What a test draws does not depend on which tests ran before it."""
    RANDOM.bit_generator.state = BEGIN


TYPES = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
}


def limits(type_):
    found = numpy.iinfo(TYPES[type_])
    return int(found.min), int(found.max)


def wrap(value, type_):
    low, high = limits(type_)
    return (value - low) % (high - low + 1) + low


def clip(value, type_):
    return max(limits(type_)[0], min(limits(type_)[1], value))


def bits(type_):
    return 8 * numpy.dtype(TYPES[type_]).itemsize


def rotated(x, y, t):
    n, unsigned = y % bits(t), x % (1 << bits(t))
    return wrap(unsigned << n | unsigned >> (bits(t) - n), t)


#: Functions of two numbers and a third, of a type.
MODELS = {
    "add_sat(x, y)": lambda x, y, z, t: clip(x + y, t),
    "sub_sat(x, y)": lambda x, y, z, t: clip(x - y, t),
    "hadd(x, y)": lambda x, y, z, t: (x + y) >> 1,
    "rhadd(x, y)": lambda x, y, z, t: (x + y + 1) >> 1,
    "mul_hi(x, y)": lambda x, y, z, t: (x * y) >> bits(t),
    "mad_hi(x, y, z)": lambda x, y, z, t: wrap(((x * y) >> bits(t)) + z, t),
    "mad_sat(x, y, z)": lambda x, y, z, t: clip(x * y + z, t),
    "rotate(x, y)": lambda x, y, z, t: rotated(x, y, t),
    "clz(x)": lambda x, y, z, t: bits(t) - (x % (1 << bits(t))).bit_length(),
    "ctz(x)": lambda x, y, z, t: (x & -x).bit_length() - 1 if x else bits(t),
    "popcount(x)": lambda x, y, z, t: (x % (1 << bits(t))).bit_count(),
    "min(x, y)": lambda x, y, z, t: min(x, y),
    "max(x, y)": lambda x, y, z, t: max(x, y),
    "clamp(x, min(y, z), max(y, z))": lambda x, y, z, t: max(min(y, z), min(x, max(y, z))),
    "abs(x)": lambda x, y, z, t: wrap(abs(x), t),
    "abs_diff(x, y)": lambda x, y, z, t: wrap(abs(x - y), t),
    "bitselect(x, y, z)": lambda x, y, z, t: (x & ~z) | (y & z),
    "select(x, y, z)": lambda x, y, z, t: y if z else x,
}


def numbers(type_, count):
    low, high = limits(type_)
    edge = [low, low + 1, high, high - 1, 0, 1, 2, min(high, 77)]
    edge += [-1, -2] if low else [high // 2, high // 2 + 1]
    return [*edge, *(int(RANDOM.integers(low, high, endpoint=True, dtype=TYPES[type_])) for _ in range(count))]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("type_", TYPES)
def test_integer_functions(gpu, type_):
    """Scalars, and the last element of vectors of four."""
    body = "".join(
        f"out[{2 * k} * n + i] = ({type_}){call};\n{{"
        f" {type_}4 x = ({type_}4)(1, 2, 3, a[i]), y = ({type_}4)(1, 2, 3, b[i]),"
        f" z = ({type_}4)(0, 0, 0, {'c[i] ? m : 0' if 'select(x, y, z)' == call else 'c[i]'});"
        f" out[{2 * k + 1} * n + i] = as_{type_}4({call}).w; }}\n"
        for k, call in enumerate(MODELS)
    )
    text = f"""kernel void f(global {type_}* out, global const {type_}* a, global const {type_}* b,
                               global const {type_}* c) {{
        size_t i = get_global_id(0), n = get_global_size(0);
        {type_} x = a[i], y = b[i], z = c[i], m = ({type_})1 << {bits(type_) - 1};
        {body} }}"""
    x, y, z = ([*numbers(type_, 118)] for _ in range(3))
    RANDOM.shuffle(y)
    RANDOM.shuffle(z)
    out = numpy.zeros((2 * len(MODELS), len(x)), TYPES[type_])
    a, b, c = (numpy.array(v, TYPES[type_]) for v in (x, y, z))
    gpu.program(text)["f"](len(x), 64, out, a, b, c)
    for k, (call, model) in enumerate(MODELS.items()):
        expected = [model(*row, type_) for row in zip(x, y, z)]
        for form, row in ("scalar", out[2 * k]), ("vector", out[2 * k + 1]):
            wrong = [(row_in, int(got), want) for row_in, got, want in zip(zip(x, y, z), row, expected) if got != want]
            assert not wrong, (call, form, wrong[:5])


def rounded(value, mode):
    """A whole number from a fraction."""
    down = value.numerator // value.denominator
    rest = value - down
    if mode == "rtz":
        return down + (rest != 0 and value < 0)
    if mode == "rtp":
        return down + (rest != 0)
    if mode == "rtn":
        return down
    return down + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down & 1))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("source", [*TYPES, "float", "double"])
def test_conversions_to_integers(gpu, source):
    """With and without saturation, in each rounding mode; not saturated only where the value fits or wraps."""
    floating = source in ("float", "double")
    dtype = {"float": "f4", "double": "f8"}.get(source) or TYPES[source]
    modes = ["", "_rte", "_rtz", "_rtp", "_rtn"]
    parts = [(t, sat, mode) for t in TYPES for sat in ("", "_sat") for mode in modes]
    out_of = {t: [p for p in parts if p[0] == t] for t in TYPES}
    text = ""
    for t, own in out_of.items():
        lines = "".join(f"out[{k} * n + i] = convert_{t}{sat}{mode}(x[i]);\n" for k, (_, sat, mode) in enumerate(own))
        lines += "".join(
            f"out[{k + 10} * n + i] = convert_{t}4{sat}{mode}(({source}4)(0, 1, 2, x[i])).w;\n"
            for k, (_, sat, mode) in enumerate(own)
        )
        text += f"""kernel void to_{t}(global {t}* out, global const {source}* x)
            {{ size_t i = get_global_id(0), n = get_global_size(0);\n{lines}}}\n"""
    if floating:
        values = [
            0.0,
            -0.0,
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
            127.5,
            128.5,
            255.5,
            -128.5,
            3e9,
            -3e9,
            1e19,
            1e20,
            -1e20,
            math.inf,
        ]
        values += [-math.inf, math.nan, *RANDOM.uniform(-300, 300, 60), *RANDOM.uniform(-1e5, 1e5, 51)]
    else:
        values = numbers(source, 118)
    x = numpy.array(values, dtype)
    program = gpu.program(text)
    for t, own in out_of.items():
        out = numpy.zeros((20, len(x)), TYPES[t])
        program[f"to_{t}"](len(x), 64, out, x)
        for k, (_, sat, mode) in enumerate(own):
            for value, got, vector in zip(x, out[k], out[k + 10]):
                if floating and not math.isfinite(value):
                    want = 0 if math.isnan(value) else limits(t)[int(value > 0)]
                    fits = bool(sat)
                else:
                    whole = rounded(Fraction(float(value)), mode[1:] or "rtz") if floating else int(value)
                    fits = sat or not floating or clip(whole, t) == whole
                    want = clip(whole, t) if sat else wrap(whole, t)
                if fits:
                    assert got == want and vector == want, (t, sat, mode, value, got, vector, want)


@pytest.mark.timeout(300)
def test_conversions_to_floating_point(gpu):
    modes = {"": "rte", "_rte": "rte", "_rtz": "rtz", "_rtp": "rtp", "_rtn": "rtn"}
    for source, dtype in {**TYPES, "double": "f8"}.items():
        lines = "".join(
            f"out[{k} * n + i] = convert_float{m}(x[i]);"
            f" wide[{k} * n + i] = convert_double2{m}(({source}2)(0, x[i])).y;\n"
            for k, m in enumerate(modes)
        )
        text = f"""kernel void f(global float* out, global double* wide, global const {source}* x)
            {{ size_t i = get_global_id(0), n = get_global_size(0);\n{lines}}}"""
        values = RANDOM.normal(0, 1e6, 128) if source == "double" else numbers(source, 118)
        x = numpy.array(values, dtype)
        out, wide = numpy.zeros((5, len(x)), "f4"), numpy.zeros((5, len(x)), "f8")
        gpu.program(text)["f"](len(x), 64, out, wide, x)
        for found, kind in (out, numpy.float32), (wide, numpy.float64):
            for row, mode in zip(found, modes.values()):
                for value, got in zip(x.tolist(), row):
                    assert got == nearest(value, kind, mode), (source, mode, value, got)


def nearest(value, kind, mode):
    """A number rounded to a type of numpy."""
    with numpy.errstate(over="ignore"):
        found = kind(value)
    exact = Fraction(value)
    if mode == "rte" or Fraction(float(found)) == exact:
        return found
    above = found if Fraction(float(found)) > exact else numpy.nextafter(found, kind(math.inf))
    below = numpy.nextafter(above, kind(-math.inf))
    return {"rtp": above, "rtn": below, "rtz": below if value > 0 else above}[mode]


VECTORS = """
kernel void f(global const float* x, global float* out, global const ushort* bits, global float* halves,
              global ushort* back, global const float* wide) {
    size_t i = get_global_id(0);
    float3 three = vload3(i, x + 1);
    vstore3(three * 2, i, out + 1);
    local float16 shared;
    private float p[20];
    vstore16(vload16(0, x), 0, p + 1);
    if (i == 0) { float8 e = vload8(0, p + 3); out[800] = e.s0; out[801] = e.s7; }
    halves[i] = vload_half(i, (global const half*)bits);
    float4 four = vload_half4(i / 4, (global const half*)bits);
    halves[256 + i] = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    vstore_half(wide[i], i, (global half*)back);
    vstore_half_rtz(wide[i], 256 + i, (global half*)back);
    vstore_half_rtp(wide[i], 512 + i, (global half*)back);
    vstore_half_rtn(wide[i], 768 + i, (global half*)back);
    vstore_half2((float2)(wide[i], 1.0f), i, (global half*)(back + 1024));
}
kernel void shuffled(global uint4* out, global const uint4* x) {
    out[0] = shuffle(x[0], (uint4)(3, 2, 1, 0));
    out[1] = shuffle2(x[0], x[1], (uint4)(7, 0, 5, 2));
    out[2] = as_uint4(shuffle((float8)(0, 1, 2, 3, 4, 5, 6, 7), (uint4)(7, 5, 3, 1)));
}
"""


@pytest.mark.timeout(200)
def test_vector_loads_and_stores(gpu):
    x = RANDOM.random(1000, dtype="f4")
    out = numpy.zeros(1000, "f4")
    bits = numpy.concatenate(
        [RANDOM.integers(0, 1 << 16, 246), [0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x8000, 0xFC00, 0x7E00, 0x8001]]
    )
    bits = bits.astype("u2")
    wide = numpy.concatenate(
        [RANDOM.normal(0, 1, 120), RANDOM.normal(0, 1e-6, 60), RANDOM.normal(0, 5e4, 60), [0, -0.0, 65504, 65519]]
    )
    wide = numpy.concatenate(
        [wide, [65520, 65536, 1e30, -1e30, 2.0**-24, 2.0**-25, 2.0**-26, -(2.0**-25), math.inf, -math.inf, 1, 2]]
    )
    wide = wide.astype("f4")
    halves, back = numpy.zeros(512, "f4"), numpy.zeros(1536, "u2")
    program = gpu.program(VECTORS)
    program["f"](256, 64, x, out, bits, halves, back, wide)
    assert (out[1:769] == 2 * x[1:769]).all() and out[800] == x[2] and out[801] == x[9]
    numpy.testing.assert_array_equal(halves[:256], bits.view("f2").astype("f4"))
    numpy.testing.assert_array_equal(halves[256:], bits.view("f2").astype("f4"))
    with numpy.errstate(over="ignore"):
        expected = wide.astype("f2")
    numpy.testing.assert_array_equal(back[:256], expected.view("u2"))
    numpy.testing.assert_array_equal(back[1024::2], expected.view("u2"))
    for row, direction in (back[512:768], math.inf), (back[768:1024], -math.inf), (back[256:512], 0):
        for value, got, near in zip(wide, row.view("f2"), expected):
            # The nearest, or its neighbour on the side of the mode.
            towards = direction if direction else (0.0 if not math.isinf(value) else value)
            a, b = float(near), float(value)
            past = a < b if direction > 0 else a > b if direction < 0 else abs(a) > abs(b)
            with numpy.errstate(over="ignore"):
                want = numpy.nextafter(near, numpy.float16(towards)) if past else near
            assert got == want, (value, got, want, direction)
    found, source = numpy.zeros((3, 4), "u4"), numpy.arange(8, dtype="u4").reshape(2, 4) + 10
    program["shuffled"](1, 1, found, source)
    assert found[0].tolist() == [13, 12, 11, 10] and found[1].tolist() == [17, 10, 15, 12]
    assert found[2].view("f4").tolist() == [7, 5, 3, 1]


RELATIONS = """
kernel void f(global const float* x, global const float* y, global int* out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float a = x[i], b = y[i]; float4 v = (float4)(1, 2, 3, a), w = (float4)(1, 1, 1, b);
    int k = 0;
#define PUT(e) out[k++ * n + i] = e;
#define BOTH(f) PUT(f(a, b)) PUT(f(v, w).w)
    BOTH(isequal) BOTH(isnotequal) BOTH(isgreater) BOTH(isgreaterequal) BOTH(isless) BOTH(islessequal)
    BOTH(islessgreater) BOTH(isordered) BOTH(isunordered)
#define ONE(f) PUT(f(a)) PUT(f(v).w)
    ONE(isfinite) ONE(isinf) ONE(isnan) ONE(isnormal) ONE(signbit)
    PUT(any((int4)(0, 0, 0, a < 0 ? -1 : 0))) PUT(all((int2)(-1, a < 0 ? -1 : 0)))
}
kernel void geometry(global const float4* x, global const float4* y, global float4* out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    out[i] = cross(x[i], y[i]);
    out[n + i] = (float4)(dot(x[i], y[i]), length(x[i].xyz), distance(x[i], y[i]), fast_length(x[i].xy));
    out[2 * n + i] = normalize(x[i]);
    out[3 * n + i].xyz = fast_normalize(x[i].xyz);
}
"""


@pytest.mark.timeout(200)
def test_relational_and_geometric_functions(gpu):
    special = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 1e-40]
    pairs = numpy.array([(a, b) for a in special for b in special], "f4")
    x, y = pairs[:, 0].copy(), pairs[:, 1].copy()
    out = numpy.zeros((30, 64), "i4")
    program = gpu.program(RELATIONS)
    program["f"](64, 64, x, y, out)
    ordered = ~(numpy.isnan(x) | numpy.isnan(y))
    normal = numpy.isfinite(x) & (abs(x) >= 2.0**-126)
    two = [x == y, x != y, x > y, x >= y, x < y, x <= y, (x < y) | (x > y), ordered, ~ordered]
    one = [numpy.isfinite(x), numpy.isinf(x), numpy.isnan(x), normal, numpy.signbit(x)]
    for k, expected in enumerate([*two, *one]):
        assert (out[2 * k] == expected).all() and (out[2 * k + 1] == -expected.astype(int)).all(), k
    assert (out[28] == (x < 0)).all() and (out[29] == (x < 0)).all()
    a, b = RANDOM.normal(0, 1, (2, 64, 4)).astype("f4")
    a[0], a[1] = 0, [3e30, 4e30, 0, 0]
    found = numpy.zeros((4, 64, 4), "f4")
    program["geometry"](64, 64, a, b, found)
    d, e = a.astype(float), b.astype(float)
    numpy.testing.assert_allclose(found[0, :, :3], numpy.cross(d[:, :3], e[:, :3]), rtol=1e-4, atol=1e-5)
    assert (found[0, :, 3] == 0).all()
    numpy.testing.assert_allclose(found[1, :, 0], (d * e).sum(1), rtol=1e-5, atol=1e-5)
    numpy.testing.assert_allclose(found[1, :, 1], numpy.linalg.norm(d[:, :3], axis=1), rtol=1e-6)
    numpy.testing.assert_allclose(found[1, :, 2], numpy.linalg.norm(d - e, axis=1), rtol=1e-5)
    unit = d / numpy.maximum(numpy.linalg.norm(d, axis=1), 1e-300)[:, None]
    numpy.testing.assert_allclose(found[2], unit, rtol=1e-6, atol=1e-7)
