# SPDX-License-Identifier: Apache-2.0
"""The record of kernels in an image (abi/program_record.h), as `fabricvp cc` writes it and as C lays it out."""

import re
import subprocess
from pathlib import Path

import opencl_machine
import pytest
from fabricvp.compiler import Image, build, record
from fabricvp.compiler.elf import Elf
from fabricvp.errors import InputError

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = """
struct pair { int a; double b; };
global int count = 5;
global float table[2][3];
kernel __attribute__((reqd_work_group_size(32, 2, 1))) void everything(
    global const float* in, constant int* set, local int* scratch, uchar c, float3 v, struct pair s) {
    scratch[0] = in[0] + set[c] + v.x + s.a;
    count += scratch[0];
    table[1][2] = count;
}
kernel void plain(global int* out) { out[0] = 1; }
"""


def test_an_image_has_what_the_source_says():
    image = build(SOURCE, "program.cl")
    kernels, block = record.decode(record.encode(list(image.kernels.values()), image.block))
    assert {k.name: k for k in kernels} == image.kernels and block == image.block
    everything = image.kernels["everything"]
    assert [(p.name, p.kind, p.const, p.offset, p.size) for p in everything.parameters] == [
        ("in", "global", True, 0, 8),
        ("set", "constant", True, 8, 8),
        ("scratch", "local", False, 16, 8),
        ("c", "value", False, 24, 1),
        ("v", "value", False, 32, 16),
        ("s", "value", False, 48, 16),
    ]
    assert everything.required_group == [32, 2, 1] and everything.block == 64 and everything.argument_bytes == 72
    assert image.kernels["plain"].required_group == [] and list(image.kernels) == ["everything", "plain"]
    assert image.block.variables["table"].shape == (2, 3) and image.block.variables["count"].dtype == "<i4"


def test_names_of_functions_and_limits_of_blocks():
    source = "__global__ void __launch_bounds__(128) scale(float* x, float f) { x[threadIdx.x] *= f; }"
    kernel = build(source, "k.hip").kernels["scale"]
    assert kernel.function == "_Z5scalePff" and kernel.blocks and kernel.max_group == 128 and kernel.block == -1


def test_structures_are_those_of_c(tmp_path):
    """Offsets that `record.py` packs at, by a compiler."""
    (tmp_path / "sizes.c").write_text(
        '#include <stdio.h>\n#include <stddef.h>\n#include "abi/program_record.h"\n'
        'int main(void) { printf("%zu %zu %zu %zu %zu %zu\\n", sizeof(struct program_record), '
        "sizeof(struct program_kernel), sizeof(struct program_parameter), sizeof(struct program_variable), "
        "offsetof(struct program_record, block), offsetof(struct program_parameter, kind)); return 0; }\n"
    )
    subprocess.run(["cc", "-I", REPOSITORY, "sizes.c", "-o", "sizes"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout.split()
    assert [int(n) for n in said] == [
        record._HEADER.size,
        record._KERNEL.size,
        record._PARAMETER.size,
        record._VARIABLE.size,
        40,
        24,
    ]
    magic = re.search(r"MAGIC UINT64_C\((\w+)\)", (REPOSITORY / "abi/program_record.h").read_text())
    assert int(magic[1], 16) == record._MAGIC


def test_malformed_records_are_refused():
    whole = record.encode(list(build(SOURCE, "program.cl").kernels.values()), None)
    for data in (b"", whole[:50], whole[:200], b"x" + whole[1:], whole.replace(b"\1", b"\xff")):
        with pytest.raises(InputError, match="record of kernels is malformed"):
            record.decode(data)
    image = build(SOURCE, "program.cl").elf
    section = Elf(image).section(record.SECTION)
    with pytest.raises(InputError, match="no kernels with known parameters"):
        Image.read(image.replace(record.SECTION.encode(), b".fabricvp.another"))
    assert section is not None and section.size == len(Elf(image).contents(section))
