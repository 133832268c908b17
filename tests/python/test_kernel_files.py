# SPDX-License-Identifier: Apache-2.0
"""Buffers of `run --kernel-elf` that come from files and go back into them."""

import numpy
import pytest

SOURCE = """
#include "gpu.h"
struct add { const uint32_t *in; uint32_t *inout, *out; };
KERNEL(add, struct add)
{
    const size_t i = global_id(0);
    args->out[i] = args->in[i] + args->inout[i];
    args->inout[i] *= 2;
}
struct one { uint64_t *where; };
KERNEL(wild, struct one)
{
    args->where[1ull << 40] = 1;
}
"""
SMALL = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--kernel-elf")


def buffers(*names):
    return [word for name in names for word in ("--arg", name)]


@pytest.mark.timeout(200)
def test_results_come_back(elf, command, tmp_path):
    a, b = numpy.arange(1000, dtype="<u4"), numpy.arange(7, 1007, dtype="<u4")
    a.tofile(tmp_path / "a.bin"), b.tofile(tmp_path / "b.bin")
    done = command(
        *SMALL, elf, "--kernel-name", "add", "--grid", 1000, *buffers("in:a.bin", "inout:b.bin", "out:4000B:c:d.bin")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (numpy.fromfile(tmp_path / "c:d.bin", "<u4") == a + b).all()
    assert (numpy.fromfile(tmp_path / "b.bin", "<u4") == 2 * b).all()
    assert (numpy.fromfile(tmp_path / "a.bin", "<u4") == a).all()


@pytest.mark.timeout(200)
def test_a_kernel_that_fails_leaves_files_alone(elf, command, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"as it was")
    for more, status in (["--kernel-name", "wild"], 1), (["--kernel-name", "add", "--time", "1us"], 1):
        done = command(*SMALL, elf, *more, *buffers("inout:a.bin", "out:8B:b.bin", "zeros:8B"))
        assert done.returncode == status, done.stdout + done.stderr
        assert "'a.bin' is not written: the kernel has not ended well" in done.stderr
        assert (tmp_path / "a.bin").read_bytes() == b"as it was" and not (tmp_path / "b.bin").exists()


@pytest.mark.parametrize(
    "buffer, says",
    [
        ("inout:none.bin", "none.bin"),
        ("in:none.bin", "none.bin"),
        ("out:c.bin", "must be out:SIZE:PATH"),
        ("out:x:c.bin", "--arg out:"),
        ("out:0B:c.bin", "a buffer of 0 bytes"),
        ("out:8B:", "the file's name is missing"),
        ("out:8B:no/where.bin", "no/where.bin"),
        ("out:8B:.", "."),
        ("inoutput:a.bin", "inout:PATH or out:SIZE:PATH"),
    ],
)
def test_bad_input(buffer, says, elf, command, tmp_path):
    done = command(*SMALL, elf, "--arg", buffer)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_two_buffers_for_one_file(elf, command):
    done = command(*SMALL, elf, *buffers("out:8B:a.bin", "out:8B:a.bin"))
    assert done.returncode == 2 and "another buffer goes into that file" in done.stderr, done.stderr
