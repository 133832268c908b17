# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions of OpenCL C: against numpy and the host's libm, in ulps, over ranges and special values."""

import ctypes
import ctypes.util
import math

import numpy
import opencl_machine
import pytest

opencl_machine.require_compiler()

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-40, 4e5, 3e38, 0.49999997]
#: math.lgamma is off by hundreds of ulps near its zeros, at 1 and 2.
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
LIBM.lgamma.restype, LIBM.lgamma.argtypes = ctypes.c_double, [ctypes.c_double]
RANDOM = numpy.random.default_rng(3)
BEGIN = RANDOM.bit_generator.state


@pytest.fixture(autouse=True)
def same_draws():
    """What a test draws does not depend on which tests ran before it."""
    RANDOM.bit_generator.state = BEGIN


def inputs(low, high, dtype, count=240):
    values = numpy.concatenate([RANDOM.uniform(low, high, count), SPECIAL])
    return values.astype(dtype)


def exact(function):
    """A function of the host's for whole arrays; NaN where it has no value."""

    def one(*x):
        try:
            return function(*map(float, x))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return lambda *x: numpy.array([one(*row) for row in zip(*x)])


n = numpy
#: Name: reference in double, range, limit of OpenCL 1.2 for float and for double in ulps (7.4; lgamma has none there).
UNARY = {
    "acos": (n.arccos, -1, 1, 4, 4),
    "acosh": (n.arccosh, 1, 100, 4, 4),
    "acospi": (lambda x: n.arccos(x) / n.pi, -1, 1, 5, 5),
    "asin": (n.arcsin, -1, 1, 4, 4),
    "asinh": (n.arcsinh, -100, 100, 4, 4),
    "asinpi": (lambda x: n.arcsin(x) / n.pi, -1, 1, 5, 5),
    "atan": (n.arctan, -10, 10, 5, 5),
    "atanh": (n.arctanh, -1, 1, 5, 5),
    "atanpi": (lambda x: n.arctan(x) / n.pi, -10, 10, 5, 5),
    "cbrt": (n.cbrt, -1000, 1000, 4, 2),
    "ceil": (n.ceil, -100, 100, 0, 0),
    "cos": (n.cos, -10, 10, 4, 4),
    "cosh": (n.cosh, -20, 20, 4, 4),
    "cospi": (exact(lambda x: cospi(x)), -10, 10, 4, 4),
    "erf": (exact(math.erf), -3, 3, 16, 16),
    "erfc": (exact(math.erfc), -3, 3, 16, 16),
    "exp": (n.exp, -80, 80, 3, 3),
    "exp2": (n.exp2, -100, 100, 3, 3),
    "exp10": (lambda x: n.power(10.0, x), -30, 30, 3, 3),
    "expm1": (n.expm1, -2, 2, 3, 3),
    "fabs": (n.abs, -10, 10, 0, 0),
    "floor": (n.floor, -100, 100, 0, 0),
    "lgamma": (exact(LIBM.lgamma), 0.5, 30, 128, 128),
    "log": (n.log, 0, 1000, 3, 3),
    "log10": (n.log10, 0, 1000, 3, 3),
    "log1p": (n.log1p, -1, 10, 2, 2),
    "log2": (n.log2, 0, 1000, 3, 3),
    "rint": (n.rint, -100, 100, 0, 0),
    "round": (lambda x: n.copysign(n.floor(n.abs(x) + 0.5), x), -100, 100, 0, 0),
    "rsqrt": (lambda x: 1 / n.sqrt(x), 0, 100, 2, 2),
    "sin": (n.sin, -10, 10, 4, 4),
    "sinh": (n.sinh, -20, 20, 4, 4),
    "sinpi": (exact(lambda x: sinpi(x)), -10, 10, 4, 4),
    "sqrt": (n.sqrt, 0, 100, 0.5, 0),
    "tan": (n.tan, -10, 10, 5, 5),
    "tanh": (n.tanh, -5, 5, 5, 5),
    "tanpi": (exact(lambda x: tanpi(x)), -10.1, 10.2, 6, 6),
    "trunc": (n.trunc, -100, 100, 0, 0),
    "degrees": (n.degrees, -10, 10, 2, 2),
    "radians": (n.radians, -400, 400, 2, 2),
    "sign": (lambda x: n.where(n.isnan(x), 0, n.sign(x)), -10, 10, 0, 0),
    "half_sin": (n.sin, -10, 10, 8192, None),
    "native_exp": (n.exp, -10, 10, 8192, None),
    "native_recip": (lambda x: 1 / x, 1, 10, 8192, None),
}
BINARY = {
    "atan2": (n.arctan2, -10, 10, 6, 6),
    "atan2pi": (lambda x, y: n.arctan2(x, y) / n.pi, -10, 10, 6, 6),
    "copysign": (n.copysign, -10, 10, 0, 0),
    "fdim": (lambda x, y: n.where(n.isnan(x) | n.isnan(y), n.nan, n.where(x > y, x - y, 0)), -10, 10, 0.5, 0),
    "fmax": (n.fmax, -10, 10, 0, 0),
    "fmin": (n.fmin, -10, 10, 0, 0),
    "fmod": (n.fmod, -100, 100, 0, 0),
    "hypot": (n.hypot, -100, 100, 4, 4),
    "maxmag": (lambda x, y: n.where(abs(x) > abs(y), x, n.where(abs(y) > abs(x), y, n.fmax(x, y))), -10, 10, 0, 0),
    "minmag": (lambda x, y: n.where(abs(x) < abs(y), x, n.where(abs(y) < abs(x), y, n.fmin(x, y))), -10, 10, 0, 0),
    "pow": (n.power, 0, 10, 16, 16),
    "powr": (lambda x, y: n.where((x < 0) | n.isnan(x) | n.isnan(y), n.nan, n.power(abs(x), y)), 0.1, 10, 16, 16),
    "remainder": (exact(lambda x, y: math.remainder(x, y)), -100, 100, 0, 0),
    "max": (n.fmax, -10, 10, 0, 0),
    "min": (n.fmin, -10, 10, 0, 0),
    "step": (lambda edge, x: n.where(x < edge, 0.0, 1.0), -10, 10, 0, 0),
    "nextafter": (None, -10, 10, 0, 0),
    "half_divide": (lambda x, y: x / y, 1, 10, 8192, None),
}
#: Pairs that a standard leaves open (pow's and powr's infinities and zeros, numbers whose order has no meaning).
ORDINARY_ONLY = {"powr", "step", "half_divide", "native_recip", "native_exp", "half_sin", "sign", "min", "max"}


def sinpi(x):
    r = math.fmod(x, 2.0)
    s = r if abs(r) <= 0.5 else math.copysign(1.0, r) - r if abs(r) <= 1.5 else r - math.copysign(2.0, r)
    return math.copysign(math.sin(math.pi * s), x) if s == 0 else math.sin(math.pi * s)


def cospi(x):
    r = abs(math.fmod(x, 2.0))
    s = 0.5 - r if r <= 1 else r - 1.5
    return math.sin(math.pi * s)


def tanpi(x):
    if cospi(x) == 0:
        return -math.inf if math.floor(x) % 2 else math.inf
    return sinpi(x) / cospi(x)


def ulps(found, reference, dtype):
    """Distances in units in the last place of the reference, 0 where both are the same special value."""
    with numpy.errstate(all="ignore"):
        rounded = reference.astype(dtype)
        same = (found == rounded) | (numpy.isnan(found) & numpy.isnan(rounded))
        difference = numpy.abs(found.astype(numpy.longdouble) - reference.astype(numpy.longdouble))
        distance = difference / numpy.spacing(numpy.abs(rounded)).astype(numpy.longdouble)
        # Lanes have subnormal numbers, and what overflows by less than half an ulp may be either.
        return numpy.where(same, 0, numpy.where(numpy.isnan(distance), numpy.inf, distance)).astype(float)


def source(names, arguments, type_):
    parameters = "".join(f", global const {type_}* {x}" for x in arguments)
    return "\n".join(
        f"kernel void k_{name}(global {type_}* out{parameters}) {{ size_t i = get_global_id(0);"
        f" out[i] = {name}({', '.join(f'{x}[i]' for x in arguments)}); }}"
        for name in names
    )


def functions_of(table, type_):
    """numpy's type, and the functions that this type has: name → reference, range, limit in ulps."""
    place = 3 if type_ == "float" else 4
    dtype = numpy.float32 if type_ == "float" else numpy.float64
    return dtype, {name: (*row[:3], row[place]) for name, row in table.items() if row[place] is not None}


def beyond(limit, dtype, out, expected, *arguments):
    """The worst result and its arguments, if it is further from its reference than ``limit`` ulps."""
    distances = ulps(out, expected, dtype)
    at = distances.argmax()
    # The reference in double has errors of its own where doubles are compared.
    slack = 1 if dtype is numpy.float64 and limit else 0
    return (
        None if distances[at] <= limit + slack else (distances[at], *(a[at] for a in arguments), out[at], expected[at])
    )


@pytest.mark.timeout(550)
@pytest.mark.parametrize("type_", ["float", "double"])
def test_functions_of_one_argument(gpu, type_):
    dtype, table = functions_of(UNARY, type_)
    program = gpu.program(source(table, "x", type_))
    wrong = {}
    for name, (reference, low, high, limit) in table.items():
        x = inputs(low, high, dtype)
        if name in ORDINARY_ONLY:
            x = x[: -len(SPECIAL)]
        out = numpy.zeros_like(x)
        program[f"k_{name}"](len(x), 64, out, x)
        with numpy.errstate(all="ignore"):
            expected = reference(x.astype(float))
        wrong[name] = beyond(limit, dtype, out, expected, x)
    assert not {name: found for name, found in wrong.items() if found}


@pytest.mark.timeout(550)
@pytest.mark.parametrize("type_", ["float", "double"])
def test_functions_of_two_arguments(gpu, type_):
    dtype, table = functions_of(BINARY, type_)
    program = gpu.program(source(table, "xy", type_))
    wrong = {}
    for name, (reference, low, high, limit) in table.items():
        x, y = inputs(low, high, dtype), inputs(low, high, dtype)[::-1].copy()
        if name not in ORDINARY_ONLY:
            pairs = numpy.array([(a, b) for a in SPECIAL for b in SPECIAL]).astype(dtype)
            x, y = numpy.concatenate([x, pairs[:, 0]]), numpy.concatenate([y, pairs[:, 1]])
        else:
            ordinary = numpy.isfinite(x) & numpy.isfinite(y) & (x != 0) & (y != 0)
            x, y = x[ordinary], y[ordinary]
        out = numpy.zeros_like(x)
        program[f"k_{name}"](len(x), 64, out, x, y)
        with numpy.errstate(all="ignore"):
            expected = reference(x.astype(float), y.astype(float)) if reference else numpy.nextafter(x, y)
            if name in ("maxmag", "minmag", "fmax", "fmin"):  # zeros of both signs are equal
                out, expected = out + 0.0, expected + 0.0
        wrong[name] = beyond(limit, dtype, out, expected, x, y)
    assert not {name: found for name, found in wrong.items() if found}


MORE = """
kernel void more(global const float* x, global float* out, global int* whole) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float a, b; int e; private float2 pair; private int4 es;
    out[i] = fract(x[i], &a);            out[n + i] = a;
    out[2 * n + i] = modf(x[i], &b);     out[3 * n + i] = b;
    out[4 * n + i] = frexp(x[i], &e);    whole[i] = e;
    out[5 * n + i] = sincos(x[i], &a);   out[6 * n + i] = a;
    out[7 * n + i] = ldexp(x[i], 3);     out[8 * n + i] = pown(x[i], 3);
    out[9 * n + i] = rootn(x[i], 3);     whole[n + i] = ilogb(x[i]);
    out[10 * n + i] = mix(x[i], 2.0f, 0.25f);
    out[11 * n + i] = smoothstep(-1.0f, 3.0f, x[i]);
    out[12 * n + i] = clamp(x[i], -1.0f, 2.0f);
    out[13 * n + i] = mad(x[i], 2.0f, 1.0f);
    out[14 * n + i] = fma(x[i], x[i], -1.0f);
    float4 v = (float4)(x[i], 2, 3, 4), w = sqrt(fabs(v));
    out[15 * n + i] = w.x + w.w;
    out[16 * n + i] = frexp(v, &es).w;   whole[2 * n + i] = es.w;
    out[17 * n + i] = fmax(v, 3.5f).y;   out[18 * n + i] = remquo(x[i], 3.0f, &e);
    whole[3 * n + i] = e & 7;
    out[21 * n + i] = remquo(v, (float4)(3), &es).x; whole[4 * n + i] = es.x & 7;
    out[19 * n + i] = nan(5u);           out[20 * n + i] = pown(v, (int4)(2)).x;
}
"""


@pytest.mark.timeout(200)
def test_functions_with_a_second_result_and_vectors(gpu):
    x = numpy.concatenate([RANDOM.uniform(-8, 8, 120), [0.75, -0.75, 5.0, -7.25, 1e-41, 100, -100, 3]]).astype("f4")
    n = len(x)
    out, whole = numpy.zeros((22, n), "f4"), numpy.zeros((5, n), "i4")
    gpu.program(MORE)["more"](n, 64, x, out, whole)
    d = x.astype(float)
    floor, (mantissa, exponent) = numpy.floor(d), numpy.frexp(d)
    close = lambda a, b: numpy.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-44)  # noqa: E731
    close(out[0], numpy.minimum((d - floor).astype("f4"), numpy.float32(0.99999994)))
    close(out[1], floor)
    close(out[2], numpy.modf(d)[0])
    close(out[3], numpy.modf(d)[1])
    close(out[4], mantissa)
    assert (whole[0] == exponent).all() and (whole[1] == exponent - 1).all()
    numpy.testing.assert_allclose(out[5], numpy.sin(d), rtol=1e-6, atol=1e-7)
    numpy.testing.assert_allclose(out[6], numpy.cos(d), rtol=1e-6, atol=1e-7)
    close(out[7], d * 8)
    close(out[8], d**3)
    close(out[9], numpy.cbrt(d))
    numpy.testing.assert_allclose(out[10], d + (2 - d) * 0.25, rtol=1e-5, atol=1e-6)
    t = numpy.clip((d + 1) / 4, 0, 1)
    numpy.testing.assert_allclose(out[11], t * t * (3 - 2 * t), rtol=1e-5, atol=1e-6)
    close(out[12], numpy.clip(d, -1, 2))
    numpy.testing.assert_allclose(out[13], 2 * d + 1, rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(out[14], d * d - 1, rtol=1e-5, atol=1e-6)
    close(out[15], numpy.sqrt(numpy.abs(d)) + 2)
    assert (out[16] == 0.5).all() and (whole[2] == 3).all() and (out[17] == 3.5).all()
    expected = numpy.array([math.remainder(value, 3.0) for value in d])
    close(out[18], expected)
    quotient = numpy.rint((d - expected) / 3).astype(int)
    assert (whole[3] == numpy.where(quotient < 0, -(-quotient & 7), quotient & 7) & 7).all()
    assert (out[21] == out[18]).all() and (whole[4] == whole[3]).all()
    assert (out[19].view("u4") == 0x7FC00005).all()
    close(out[20], d * d)
