# SPDX-License-Identifier: Apache-2.0
"""Locality of kernels by analysis of their index expressions: LADM's table, on kernels written for each of its rows."""

import opencl_machine
import pytest
from fabricvp.compiler import Options
from fabricvp.compiler.locality import Row, dominant
from fabricvp.compiler.locality.lasp import localities
from fabricvp.compiler.locality.report import locality_of_source
from fabricvp.compiler.locality.scev import parsed
from fabricvp.errors import InputError

opencl_machine.require_compiler()

#: A statement over `x`, `i` (the global index), groups and sizes; its row, and the index as LADM writes it.
LINES = {
    "x[i] = 1;": (Row.NO_LOCALITY, "bDimx·bx + tx"),
    "for (size_t k = i; k < n; k += gx * lx) x[k] = 1;": (Row.NO_LOCALITY, "[bDimx·bx + tx] + [bDimx·gDimx·m]"),
    "for (uint k = 0; k < n; ++k) x[i + 2 * k] = 1;": (Row.NO_LOCALITY, "[bDimx·bx + tx] + [2·m]"),
    "for (uint k = 0; k < n; ++k) x[i * n + k] = 1;": (Row.INTRA_THREAD, "[bDimx·bx·n + n·tx] + [m]"),
    "for (uint k = y[i]; k < y[i + 1]; ++k) x[k] = 1;": (Row.INTRA_THREAD, "[y[…]] + [m]"),
    "for (uint k = n; k-- > 0;) x[i + k] = 1;": (Row.INTRA_THREAD, None),
    "x[y[i]] = 1;": (Row.UNCLASSIFIED, "y[…]"),
    "for (uint k = 0; k < n; ++k) x[y[i] + 3 * k] = 1;": (Row.UNCLASSIFIED, "[y[…]] + [3·m]"),
    "for (uint k = 0; k < n; ++k) x[2 * k] = 1;": (Row.UNCLASSIFIED, "2·m"),
    "x[get_local_id(0)] = 1;": (Row.UNCLASSIFIED, "tx"),
    "atomic_inc((volatile global int*)&x[i]);": (Row.NO_LOCALITY, "bDimx·bx + tx"),
    "vstore4((int4)1, i, x);": (Row.NO_LOCALITY, "bDimx·bx + tx"),
    "x[i / 7] = 1;": (Row.NO_LOCALITY, None),
}
#: The same where the kernel uses two dimensions: `r` and `c` are tiles' rows and columns, `w` is the grid's width.
LINES_2D = {
    "x[r * w + c] = 1;": (Row.NO_LOCALITY, None),
    "for (uint k = 0; k < n; ++k) x[r * w + 16 * k + tx] = 1;": (
        Row.ROW_HORIZONTAL,
        "[bDimx·bDimy·by·gDimx + bDimx·gDimx·ty + tx] + [16·m]",
    ),
    "for (uint k = 0; k < n; ++k) x[c * 64 + 16 * k + ty] = 1;": (
        Row.COLUMN_HORIZONTAL,
        "[64·bDimx·bx + 64·tx + ty] + [16·m]",
    ),
    "for (uint k = 0; k < n; ++k) x[r + k * w] = 1;": (Row.ROW_VERTICAL, "[bDimy·by + ty] + [bDimx·gDimx·m]"),
    "for (uint k = 0; k < n; ++k) x[k * w + c] = ty;": (Row.COLUMN_VERTICAL, "[bDimx·bx + tx] + [bDimx·gDimx·m]"),
    "for (uint k = 0; k < n; ++k) x[r * w + k] = 1;": (Row.INTRA_THREAD, None),
    "x[r] = 1;": (Row.UNCLASSIFIED, "bDimy·by + ty"),
}
HEAD_2D = """
    size_t tx = get_local_id(0), ty = get_local_id(1), c = get_group_id(0) * get_local_size(0) + tx;
    size_t r = get_global_id(1), w = get_global_size(0);"""


def analysed(statement: str, head: str):
    source = f"kernel void k(global int* x, global const uint* y, uint n) {{ {head} {statement} }}"
    return dominant(locality_of_source(source, "k.cl", Options())["k"].accesses["x"])


def check(statement, head, row, text):
    found = analysed(statement, head)
    assert found.row == row, f"{statement} is {found.row.name}: {found.text}"
    if text is not None:
        names = [set(t.replace("[", "").replace("]", "").split(" + ")) for t in (found.text, text)]
        assert names[0] == names[1]


@pytest.mark.parametrize("statement", LINES)
def test_rows_of_one_dimension(statement):
    head = "size_t i = get_global_id(0), gx = get_num_groups(0), lx = get_local_size(0);"
    check(statement, head, *LINES[statement])


@pytest.mark.parametrize("statement", LINES_2D)
def test_rows_of_two_dimensions(statement):
    check(statement, HEAD_2D, *LINES_2D[statement])


def test_every_row_has_a_kernel():
    assert {row for row, _ in [*LINES.values(), *LINES_2D.values()]} == set(Row)


def test_parameter_that_is_the_width_of_the_grid():
    found = analysed("for (uint k = 0; k < n; ++k) x[k * n + c] = ty;", HEAD_2D)
    assert (found.row, found.widths, found.at_width("n").row) == (Row.COLUMN_HORIZONTAL, ["n"], Row.COLUMN_VERTICAL)


def test_names_of_the_source_are_not_those_of_the_analysis():
    source = "kernel void k(global int* bx, uint m, uint tx) { for (uint q = 0; q < m; ++q) bx[q * m + tx] = 1; }"
    found = dominant(locality_of_source(source, "k.cl", Options())["k"].accesses["bx_"])
    assert (found.row, found.text) == (Row.UNCLASSIFIED, "[tx_] + [k·m]")


CUDA = """
__device__ float of(const float* p, unsigned at) { return p[at]; }
__global__ void product(const float* a, const float* b, float* c) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned width = gridDim.x * blockDim.x;
    float sum = 0;
    for (unsigned k = 0; k < width; k += 16)
        sum += of(a, y * width + k + threadIdx.x) * of(b, (k + threadIdx.y) * width + x);
    c[y * width + x] = sum;
}"""


@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_blocks_and_threads(language):
    accesses = locality_of_source(CUDA, f"product.{language[:3]}", Options(), language)["product"].accesses
    rows = [dominant(accesses[name]).row for name in "abc"]
    assert rows == [Row.ROW_HORIZONTAL, Row.COLUMN_VERTICAL, Row.NO_LOCALITY]  # as LADM says of its Fig. 6


def test_loop_that_moves_by_a_register_read_in_it():
    source = """__global__ void k(int* x, unsigned n) {
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 1;
    }"""
    found = dominant(locality_of_source(source, "k.cu", Options())["k"].accesses["x"])
    assert found.row == Row.NO_LOCALITY and found.text.endswith(" + [bDimx·gDimx·m]")


def test_a_helper_that_stays_one_leaves_its_buffer_unclassified():
    source = """__attribute__((noinline)) void set(global int* p) { *p = 1; }
    kernel void k(global int* x) { set(x + get_global_id(0)); }"""
    found = dominant(locality_of_source(source, "k.cl", Options())["k"].accesses["x"])
    assert (found.row, found.text, found.access.kind) == (Row.UNCLASSIFIED, "unknown", "call")


def test_report_of_the_command(command, tmp_path):
    (tmp_path / "k.cl").write_text(
        "kernel void add(global const int* a, global int* b, local int* s, int n) {"
        " for (int k = 0; k < n; ++k) b[get_global_id(0)] += a[get_global_id(0) + k * get_global_size(0)]; }"
    )
    done = command("cc", "k.cl", "--placement-report")
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split("  ") for line in done.stdout.splitlines()]
    assert head[0] == "kernel" and not list(tmp_path.glob("*.elf"))
    cells = [[cell.strip() for cell in row if cell] for row in rows]
    assert [row[:4] for row in cells] == [
        ["add", "a*", "load", "1"],
        ["add", "b*", "load", "1"],
        ["add", "b", "store", "1"],
    ]
    assert cells[0][-3:] == ["align-aware", "stride-aware", "[bDimx·bx + tx] + [bDimx·gDimx·m]"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("k.cl", "what is this", "k.cl:1:1: error: unknown type name 'what'"),
        ("k.cl", "int f(int x) { return x; }", "the source has no kernel"),
        ("k.c", "\0\1\2 {", "error:"),
        ("k.c", "int f(int x) { return x; }", "k.c: the source has no kernel"),
        ("k.txt", "kernel", "k.txt: kernels are in files with"),
    ],
)
def test_bad_sources_end_in_one_line(command, tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    done = command("cc", name, "--placement-report")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and says in done.stderr, done.stderr


def test_a_source_without_gpu_h_does_not_end_in_a_traceback():
    with pytest.raises(InputError, match="file not found"):
        locality_of_source('#include "nothing.h"', "k.c", Options())


MATMUL = """
kernel void product(global const float* a, global const float* b, global float* c, uint n) {
    uint tx = get_local_id(0), ty = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k += 16) sum += a[y * n + k + tx] * b[(k + ty) * n + x];
    c[y * n + x] = sum;
}
kernel void stride(global float* x, global const uint* y, ulong n) {
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = y[0];
}
kernel void along(global float* x, uint n, uint pitch) {
    for (uint k = 0; k < n; ++k) x[get_global_id(1) + k * get_global_size(0)] = get_local_id(0);
}
kernel void pairs(global float2* x, global float* sum) { x[get_global_id(0)] = 1; sum[0] = 1; }
"""


@pytest.mark.parametrize(
    ("kernel", "items", "group", "values", "expected"),
    [
        # b's iterations skip whole rows where n is the grid's width, and are in another row where it is not.
        ("product", (64, 64, 1), (16, 16, 1), {"n": 64}, {"a": (2, 256, 0), "b": (5, 256, 0), "c": (1, 0, 1024)}),
        ("product", (64, 64, 1), (16, 16, 1), {"n": 96}, {"a": (2, 384, 0), "b": (3, 384, 0), "c": (1, 0, 1024)}),
        ("stride", (4096, 1, 1), (64, 1, 1), {"n": 1 << 20}, {"x": (1, 16384, 256), "y": (7, 0, 0)}),
        ("along", (512, 64, 1), (64, 4, 1), {"n": 8, "pitch": 1}, {"x": (4, 2048, 0)}),
        ("pairs", (512, 1, 1), (64, 1, 1), {}, {"x": (1, 0, 512), "sum": (7, 0, 0)}),
    ],
)
def test_what_a_launch_gives_the_driver(kernel, items, group, values, expected):
    found = locality_of_source(MATMUL, "k.cl", Options())[kernel]
    assert localities(found, items, group, values) == expected


def test_widths_of_rows_where_work_items_lie_along_them():
    source = """kernel void k(global int* x, uint w, uint n) {
        for (uint i = 0; i < n; ++i) x[get_global_id(0) * w + 16 * i + get_local_id(1)] = 1;
    }"""
    found = locality_of_source(source, "k.cl", Options())["k"]
    assert localities(found, (64, 8, 1), (8, 8, 1), {"w": 500, "n": 3}) == {"x": (3, 2000, 0)}


@pytest.mark.timeout(100)
def test_long_computations_of_an_index_end_and_are_unclassified():
    steps = "".join(f"h = (h ^ (h >> {n % 13 + 1})) * 0x9e3779b1u + y[{n}];" for n in range(600))
    source = (
        f"kernel void k(global int* x, global const uint* y, uint n) {{ uint h = get_global_id(0); {steps} x[h] = 1; }}"
    )
    found = locality_of_source(source, "k.cl", Options())["k"].accesses
    assert dominant(found["x"]).row == Row.UNCLASSIFIED


@pytest.mark.timeout(100)
def test_products_of_many_terms_end():
    sum_of = " + ".join(f"n{n}" for n in range(12))
    parameters = ", ".join(f"uint n{n}" for n in range(12))
    power = " * ".join(f"({sum_of} + {n} * i)" for n in range(8))
    source = f"kernel void k(global int* x, {parameters}) {{ uint i = get_global_id(0); x[{power}] = 1; }}"
    assert dominant(locality_of_source(source, "k.cl", Options())["k"].accesses["x"]).row == Row.NO_LOCALITY


def test_text_that_scalar_evolution_has_in_no_known_form():
    for text in ("", "(", "(a +", "{0,+,1", "(zext i32"):
        assert parsed(text).kind == "unknown"
    assert parsed("(4 + (8 * %a)<nsw>)<nuw>").kind == "+"
