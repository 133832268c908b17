# SPDX-License-Identifier: Apache-2.0
"""libm in kernels: results against the host's in units in the last place, functions with state, and what is missing."""

import ctypes
import subprocess

import fabricvp
import numpy
import pytest
from fabricvp.data import sdk_folder

HOST = ctypes.CDLL("libm.so.6")
#: Where a function is compared: ends of ranges, beside the special values.
EVERYWHERE = (-1e30, 1e30)
#: Functions of one argument: ranges, and the largest error in ulps that float and double may have.
UNARY = {
    "sin": ((-10, 10), EVERYWHERE, 1, 1),
    "cos": ((-10, 10), EVERYWHERE, 2, 1),
    "tan": ((-10, 10), EVERYWHERE, 1, 1),
    "asin": ((-1, 1), (-2, 2), 1, 1),
    "acos": ((-1, 1), (-2, 2), 1, 1),
    "atan": ((-10, 10), EVERYWHERE, 1, 1),
    "sinh": ((-5, 5), (-100, 100), 2, 2),
    "cosh": ((-5, 5), (-100, 100), 2, 2),
    "tanh": ((-5, 5), (-100, 100), 2, 2),
    "asinh": ((-5, 5), EVERYWHERE, 2, 2),
    "acosh": ((1, 5), (1, 1e30), 2, 2),
    "atanh": ((-1, 1), (-2, 2), 2, 2),
    "exp": ((-5, 5), (-800, 800), 1, 1),
    "exp2": ((-5, 5), (-1100, 1100), 1, 1),
    "expm1": ((-1, 1), (-800, 800), 1, 1),
    "log": ((0.1, 10), (0, 1e30), 1, 1),
    "log2": ((0.1, 10), (0, 1e30), 2, 2),
    "log10": ((0.1, 10), (0, 1e30), 2, 2),
    "log1p": ((-0.9, 1), (-1, 1e30), 1, 1),
    "cbrt": ((-10, 10), EVERYWHERE, 3, 2),
    "erf": ((-3, 3), EVERYWHERE, 1, 1),
    "erfc": ((-4, 10), (-10, 27), 1, 3),
    "sqrt": ((0, 10), (-1, 1e30), 0.5, 0),
    "tgamma": ((0.1, 5), (-20, 170), 200, 2000),
    "fabs": ((-1, 1), EVERYWHERE, 0, 0),
    "floor": ((-10, 10), EVERYWHERE, 0, 0),
    "ceil": ((-10, 10), EVERYWHERE, 0, 0),
    "trunc": ((-10, 10), EVERYWHERE, 0, 0),
    "round": ((-10, 10), EVERYWHERE, 0, 0),
    "rint": ((-10, 10), EVERYWHERE, 0, 0),
    "nearbyint": ((-10, 10), EVERYWHERE, 0, 0),
}
#: Functions of two arguments.
BINARY = {
    "pow": ((0, 10), (-30, 30), 3, 1),
    "atan2": ((-10, 10), EVERYWHERE, 2, 1),
    "hypot": ((-10, 10), EVERYWHERE, 1, 1),
    "fmod": ((-10, 10), EVERYWHERE, 0, 0),
    "remainder": ((-10, 10), EVERYWHERE, 0, 0),
    "fmax": ((-10, 10), EVERYWHERE, 0, 0),
    "fmin": ((-10, 10), EVERYWHERE, 0, 0),
    "copysign": ((-10, 10), EVERYWHERE, 0, 0),
    "fdim": ((-10, 10), EVERYWHERE, 1, 0),
}
KERNEL = """#include "gpu/gpu.h"
#include <math.h>
struct arguments { const TYPE *x, *y; TYPE *result; uint64_t which, n; };
KERNEL(evaluate, struct arguments)
{
    const size_t i = global_id(0);
    if (i >= args->n) return;
    const TYPE x = args->x[i], y = args->y[i];
    TYPE r = 0;
    switch (args->which) {
        CASES
    }
    args->result[i] = r;
}
"""


def build(folder, source, *arguments):
    (folder / "mine.c").write_text(source)
    (folder / "Makefile").write_text(f"include {sdk_folder()}/fabricvp.mk\nmine.elf: mine.c\n\t$(build_kernel)\n")
    return subprocess.run(
        ["make", "-s", "-C", folder, "mine.elf", *arguments], capture_output=True, text=True, timeout=100
    )


def of_host(name, *arguments):
    function = getattr(HOST, name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(arguments)
    return numpy.array([function(*values) for values in zip(*arguments, strict=True)])


def inputs(dtype, near, far, random):
    limits = numpy.finfo(dtype)
    special = [0.0, 0.5, 1.0, 2.0, 3.0, limits.smallest_subnormal, limits.tiny, limits.eps, limits.max, numpy.inf]
    return numpy.concatenate(
        [
            [s for value in special for s in (value, -value)],
            [numpy.nan],
            random.uniform(*near, 300),
            random.uniform(*far, 300),
        ]
    ).astype(dtype)


def ulps(got, reference, dtype):
    """The distance of each result from the reference; 0 where it is the number nearest to it, or both are no number."""
    with numpy.errstate(all="ignore"):
        rounded = reference.astype(dtype)
        same = (got == rounded) | (numpy.isnan(got) & numpy.isnan(rounded))
        step = numpy.spacing(numpy.abs(rounded)).astype("f8")
        return numpy.where(same, 0, numpy.abs(got.astype("f8") - reference) / step)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_results_are_those_of_the_host(dtype, tmp_path):
    functions = {**UNARY, **BINARY}
    suffix, column = ("f", 2) if dtype == "f4" else ("", 3)
    cases = [
        f"case {i}: r = {name}{suffix}({'x, y' if name in BINARY else 'x'}); break;" for i, name in enumerate(functions)
    ]
    source = KERNEL.replace("CASES", "\n        ".join(cases))
    done = build(tmp_path, source.replace("TYPE", "float" if dtype == "f4" else "double"))
    assert done.returncode == 0 and not done.stderr, done.stderr
    wrong = []
    with fabricvp.spawn("gpu", **{"node__gpus__0__compute_units": 4}) as platform:
        random = numpy.random.default_rng(1)
        for which, (name, limits) in enumerate(functions.items()):
            x = inputs(dtype, *limits[:2], random)
            y = inputs(dtype, *limits[:2], random)
            y[:21] = numpy.roll(y[:21], which)
            result = (
                platform.nodes[0]
                .gpus[0]
                .launch(
                    tmp_path / "mine.elf",
                    x.size,
                    [x, y, "r", ctypes.c_uint64(which), ctypes.c_uint64(x.size)],
                    {"r": numpy.zeros_like(x)},
                    outputs=["r"],
                )
                .buffers["r"]
            )
            reference = of_host(name, *((x, y) if name in BINARY else (x,)))
            error = ulps(result, reference, dtype)
            worst = int(numpy.nanargmax(numpy.where(numpy.isnan(error), numpy.inf, error)))
            if not error[worst] <= limits[column]:
                wrong.append(f"{name}({x[worst]!r}, {y[worst]!r}) = {result[worst]!r}: {error[worst]} ulps")
            zeros = (reference == 0) & (result == 0)
            if not (numpy.signbit(reference) == numpy.signbit(result))[zeros].all():
                wrong.append(f"{name}: the sign of zero")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "call, says",
    [
        ("lgammaf(x)", "signgam' referenced in section `.text.lgammaf'"),
        ("(float)lgamma(x)", "signgam' referenced in section `.text.lgamma'"),
        ("(float)errno", "`errno' referenced"),
        ("(float)rand()", "in section `.text.random'"),
        ("(float)fetestexcept(FE_INEXACT)", "`fetestexcept' referenced"),
        ("(float)fesetround(FE_UPWARD)", "`fesetround' referenced"),
    ],
)
def test_functions_that_need_state_are_link_errors(call, says, tmp_path):
    source = KERNEL.replace("TYPE", "float").replace("CASES", f"default: r = {call};")
    headers = "#include <errno.h>\n#include <fenv.h>\n#include <stdlib.h>\n"
    done = build(tmp_path, headers + source)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert not (tmp_path / "mine.elf").exists()


def test_a_missing_picolibc_is_one_line(tmp_path):
    done = build(tmp_path, KERNEL.replace("TYPE", "float").replace("CASES", "default:;"), "PICOLIBC=/nowhere")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "picolibc-riscv64-unknown-elf" in done.stderr and "/nowhere/lib" in done.stderr
