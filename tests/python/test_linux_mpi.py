# SPDX-License-Identifier: Apache-2.0
"""Programs of Open MPI, Debian's own, on two nodes with Linux: ranks exchange memory of the host and of GPUs by RDMA.
`make linux` has Open MPI where the suite has it."""

import re
import stat
import struct
import sys

import opencl_machine
import pytest
from fabricvp import linux_job
from fabricvp.errors import InputError
from linux_rdma import IMAGES, ROOT
from test_linux_cluster import EXAMPLES, with_images
from test_linux_peer_memory import WITH_MODULE

opencl_machine.require_compiler()

ARCHIVE = IMAGES[0].with_name("mpi.cpio")
WITH_MPI = pytest.mark.skipif(not ARCHIVE.exists(), reason="make linux has found no Open MPI; it says why")
SCRIPTS = ROOT / "scripts"


@with_images
@WITH_MPI
@WITH_MODULE
@pytest.mark.timeout(6000)
def test_ranks_add_vectors_of_their_gpus(command, tmp_path):
    source = EXAMPLES / "mpi_allreduce.hip"
    done = command("cc", source, "-o", "program", "--target", "linux", "-l", "mpi", "-l", "ibverbs")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    run = ("run", "linux_cluster", "--peer-memory", "--program", "program", "--", "65536")
    done = command(*run, timeout=6000)
    form = r"node0: 65536 elements on 2 ranks directly: 0 wrong, [\d.]+ us, [\d.]+ GB/s\n"
    assert done.returncode == 0 and re.fullmatch(form, done.stdout), done
    done = command("run", "linux_gpu", "--program", "program", "--", "5000")
    assert (done.returncode, done.stdout) == (2, "") and "needs several nodes" in done.stderr


def mpi_job(name="program"):
    return linux_job.Job(name, ("a b",), (("KEY", "1 2"),), {name: b""}, {}, (), mpi=True)


def test_how_ranks_are_started():
    first, second = linux_job.of_nodes({None: mpi_job()}, 2, "m")
    assert "env 'KEY=1 2' start_ranks 2 -x KEY ./program 'a b' </dev/null" in first.script()
    assert "serve_ranks </dev/null" in second.script()
    with pytest.raises(InputError, match="m: a program of MPI needs several nodes"):
        linux_job.of_nodes({None: mpi_job()}, 1, "m")
    with pytest.raises(InputError, match="m: a program of MPI runs on all nodes, with no other beside it"):
        linux_job.of_nodes({0: mpi_job(), 1: mpi_job("other")}, 2, "m")


def test_what_the_archive_has(tmp_path, monkeypatch):
    """From packages that have as little as they may."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import mpi_archive

    elf = bytearray(64)
    elf[:4] = b"\x7fELF"
    struct.pack_into("<HH", elf, 54, 56, 0)
    library = tmp_path / "usr" / "lib" / "riscv64-linux-gnu"
    files = [library / "libmpi.so.40", library / "ucx" / "libuct_ib.so.0"]
    files += [tmp_path / "usr" / "bin" / name for name in mpi_archive.PROGRAMS]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(elf)
    found = {name: (mode, data) for name, mode, data, _ in mpi_archive.entries(tmp_path)}
    assert found["usr/bin/prted"] == found["lib/libmpi.so.40"] == (stat.S_IFREG | 0o755, bytes(elf))
    assert found["lib/ucx/libuct_ib.so.0"][1] == bytes(elf)
    assert all(found[f"bin/{name}"][1].startswith(b"#!/bin/busybox sh\n") for name in mpi_archive.SCRIPTS)
    sys.modules.pop("mpi_archive")
