# SPDX-License-Identifier: Apache-2.0
"""Lanes that part ways meet again where the structure of the source says so, whatever the compiler made of it."""

import shutil
import subprocess
from collections import Counter

import fabricvp
import numpy
import pytest
from diverging_programs import LANES, PROLOGUE, Program
from fabricvp.data import sdk_folder


def programs(count, seed):
    """Some whose lanes do not make too many marks, and enough."""
    found = []
    while len(found) < count:
        program = Program(f"k{len(found)}", seed)
        seed += 1
        expected = program.marks(7)
        if expected and 40 < sum(expected.values()) < 3000:
            found.append(program)
    return found


LEVELS = ("-O0", "-O1", "-O2", "-O3")
# clang makes assembly, jump tables included; GCC's tools do the rest.
MAKEFILE = """include {sdk}/fabricvp.mk
CFLAGS := {options}
mine.elf: mine.{source}
\t$(build_kernel)
mine.S: mine.c
\tclang-14 --target=riscv64 -march=rv64imafd -mabi=lp64d -mcmodel=medany -msmall-data-limit=0 -ffreestanding \
\t  -fno-addrsig -S -DFABRICVP_KERNEL -I{sdk} -I{sdk}/gpu {options} $< -o $@
"""


def build(folder, compiler, options, chosen):
    folder.mkdir()
    (folder / "mine.c").write_text(PROLOGUE + "".join(p.source() for p in chosen))
    text = MAKEFILE.format(sdk=sdk_folder(), options=options, source="S" if compiler == "clang" else "c")
    (folder / "Makefile").write_text(text)
    done = subprocess.run(["make", "-C", folder, "mine.elf"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder / "mine.elf"


def met(log, counts, first):
    """(mark, mask): how often, of one wavefront."""
    groups = {}
    for lane in range(LANES):
        for entry in log[first + lane, : counts[first + lane]].tolist():
            groups[entry] = groups.get(entry, 0) | 1 << lane
    return Counter((entry & 0xFFFF, mask) for entry, mask in groups.items())


@pytest.fixture(scope="module")
def gpu():
    with fabricvp.spawn("gpu", node__gpus__0__compute_units=1) as platform:
        yield platform.nodes[0].gpus[0]


def check(gpu, elf, chosen):
    for program in chosen:
        done = gpu.launch(
            elf,
            LANES,
            ["log", "counts", 7],
            {"log": numpy.zeros((LANES, 512), "<u8"), "counts": numpy.zeros(LANES, "<u8")},
            kernel=program.name,
        )
        found = met(done.buffers["log"], done.buffers["counts"], 0)
        expected = program.marks(7)
        assert found == expected, f"{program.name}: not as modelled: {found - expected}, missing {expected - found}"


@pytest.mark.timeout(2000)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_lanes_reconverge_where_the_source_joins(gpu, tmp_path, compiler, level):
    if compiler == "clang" and not shutil.which("clang-14"):
        pytest.skip("clang-14 is not installed")
    chosen = programs(12, 100 * LEVELS.index(level))
    check(gpu, build(tmp_path / "kernels", compiler, level, chosen), chosen)


@pytest.mark.timeout(2000)
def test_jumps_through_tables_are_followed(gpu, tmp_path):
    chosen = programs(12, 1000)
    check(gpu, build(tmp_path / "kernels", "gcc", "-O2 -fjump-tables", chosen), chosen)


@pytest.mark.timeout(200)
def test_code_that_lies_on_all_gpus_is_read():
    with fabricvp.spawn("netcrafter_quad", app="gups", size=65536) as platform:
        platform.run()
        for gpu in platform.nodes[0].gpus:
            assert gpu.statistics["dispatcher.unread_kernels"] == 0
            assert gpu.statistics["lanes_per_instruction"] > 50
