# SPDX-License-Identifier: Apache-2.0
"""Two nodes with Debian's Linux, each with a GPU that programs drive from user space and an RDMA adapter that the
kernel's own driver has: a program on both at the same time, or one on each."""

import re

import fabricvp
import opencl_machine
import pytest
from fabricvp import linux_job, linux_run
from fabricvp.compiler import linux_libraries
from fabricvp.errors import InputError
from linux_rdma import IMAGES, ROOT
from linux_rdma import WITH_IMAGES as WITH_RDMA_IMAGES
from test_linux_gpu import WITH_CROSS_TOOLS
from test_linux_gpu import WITH_IMAGES as WITH_GPU_IMAGES

opencl_machine.require_compiler()

EXAMPLES = ROOT / "examples" / "linux_gpu"
OLD = not linux_libraries._folders() or (IMAGES[1].exists() and b"misc/pci.ids\0" not in IMAGES[1].read_bytes())
WITHOUT_OLD_IMAGES = pytest.mark.skipif(OLD, reason="make linux has not renewed initramfs_rdma.cpio and sysroot")


def with_images(test):
    for mark in (WITH_CROSS_TOOLS, WITH_GPU_IMAGES, WITH_RDMA_IMAGES, WITHOUT_OLD_IMAGES):
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def cluster():
    with fabricvp.linux("linux_cluster") as linux:
        yield linux


@with_images
@pytest.mark.timeout(6000)
def test_a_program_on_all_nodes_and_one_on_each(cluster, programs):
    saxpy, misuse = programs / "saxpy", programs / "linux_gpu_misuse"
    right = "1000 elements, 0 wrong, y[999] = 4495.5"
    result = cluster.run(saxpy, "1000", "2.5")
    assert result.returncode == 0 and [each.returncode for each in result.nodes] == [0, 0], result
    assert [line.rpartition(",")[0] for line in result.stdout.splitlines()] == [f"node{n}: {right}" for n in (0, 1)]
    result = cluster.run({"node1": misuse, 0: saxpy}, "write", "7", "more", collect=["deep/*"], fork=True)
    assert (result.nodes[0].returncode, result.nodes[1].returncode, result.returncode) == (2, 0, 2), result
    assert result.files == {"node1/deep/er/7.bin": b"xxxxxxx"}
    with pytest.raises(InputError, match="node1 has no program"):
        cluster.run({0: saxpy})


@with_images
@pytest.mark.timeout(6000)
@pytest.mark.parametrize(
    "source, arguments, wanted",
    [
        (
            "jacobi.hip",
            ("16", "256", "5"),
            r"16 x 256 of 32 rows, 5 steps, 0 wrong; a step: kernel [\d.]+ us, copies [\d.]+ us, network [\d.]+ us",
        ),
        (
            "allreduce.cu",
            ("5000",),
            r"with node {other} by pinned memory: [\d.]+ us, [\d.]+ GB/s\n5000 elements, 0 wrong",
        ),
    ],
    ids=["jacobi", "allreduce"],
)
def test_nodes_exchange_memory_of_gpus(cluster, command, tmp_path, source, arguments, wanted):
    done = command("cc", EXAMPLES / source, "-o", "program", "--target", "linux", "-l", "ibverbs")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    with cluster.fork() as branch:
        before = branch.platform.statistics.snapshot("node0.hca0.")
        result = branch.run(tmp_path / "program", *arguments)
        after = branch.platform.statistics.snapshot("node0.hca0.")
        for node, each in enumerate(result.nodes):
            assert each.returncode == 0 and re.fullmatch(wanted.format(other=1 - node) + "\n", each.stdout), result
        sent = after["node0.hca0.data_mover.bytes_read"] - before["node0.hca0.data_mover.bytes_read"]
        assert sent == (5 * 256 * 4 if source == "jacobi.hip" else 5000 * 4)
        assert branch.run(tmp_path / "program").returncode == 2
    # Where there is no such library, before the boot.
    done = command("run", "linux_gpu", "--program", "program", "--", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and "program needs libibverbs.so.1, which is not in" in done.stderr


@with_images
@pytest.mark.timeout(6000)
def test_one_that_fails_ends_the_others(command, programs):
    misuse, saxpy = programs / "linux_gpu_misuse", programs / "saxpy"
    run = ("run", "linux_cluster", "--program", f"node1={misuse}", "--program", saxpy, "--collect", "*", "--into", "o")
    done = command(*run, "--", "forever", timeout=6000)
    assert (done.returncode, done.stdout) == (2, "node0: usage: saxpy N A\n"), done.stderr
    assert done.stderr.splitlines() == [
        "fabricvp run: the program of node0 ended with status 2",
        "fabricvp run: the program of node1 was ended",
        "fabricvp run: the program wrote no file that --collect names",
    ]


def test_libraries_that_are_not_there(command, monkeypatch, tmp_path):
    (tmp_path / "a.hip").write_text("__global__ void k() {}\n")
    done = command("cc", "a.hip", "-l", "ibverbs")
    assert (done.returncode, done.stderr) == (2, "fabricvp cc: -l ibverbs is for --target linux\n")
    for place in ("build/linux/sysroot/lib", "configs"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(linux_libraries._fabricvp, "config_folder", lambda: str(tmp_path / "configs"))
    monkeypatch.setattr(linux_libraries._fabricvp, "linux_folder", lambda: "")
    with pytest.raises(InputError, match="-l ibverbs: no libraries for Linux: `make linux`"):
        linux_libraries.require(("ibverbs",))
    (tmp_path / "build/linux/sysroot/lib/libibverbs.so").touch()
    assert linux_libraries.require(("ibverbs",)) == tmp_path / "build/linux/sysroot"
    with pytest.raises(InputError, match="-l other: no such library for Linux; there are ibverbs"):
        linux_libraries.require(("ibverbs", "other"))
    with pytest.raises(InputError, match="p: a malformed program"):
        linux_libraries.needed_libraries(b"\x7fELF" + bytes(100), "p")


def test_lines_stand_behind_their_node(capfdbinary):
    """Whole lines only, whatever stretches of them the console has when it is looked at."""
    job = linux_job.Job("program", (), (), {"program": b""}, {}, ()).on(1, 2)
    assert job.environment == (("FABRICVP_NODE", "1"), ("FABRICVP_NODES", "2"))
    output = linux_run.Output(job, "node1: ")
    console = b"boot" + job.begin + b"one\n\ntwo\1\nno line's end" + job.end + b"7 0\n"
    printed = b""
    for length in range(len(console) + 1):
        output.take(console[:length], more=True)
        printed += capfdbinary.readouterr().out
        assert printed == b"" or printed.endswith(b"\n")
    assert (output.status, printed) == (7, b"node1: one\nnode1: \nnode1: two\1\nnode1: no line's end\n")


def test_nodes_without_programs_and_programs_without_nodes():
    job = linux_job.Job("program", (), (), {"program": b""}, {}, ())
    assert linux_job.of_nodes({1: job, None: job}, 2, "m") == [job.on(0, 2), job.on(1, 2)]
    with pytest.raises(InputError, match="m: node0 has no program"):
        linux_job.of_nodes({1: job}, 2, "m")
    with pytest.raises(InputError, match="m: no node2: it has 2 nodes"):
        linux_job.of_nodes({2: job, None: job}, 2, "m")
    assert linux_run._programs(["a=b", "node1=c", "node0=d"]) == {None: ["a=b"], 1: ["c"], 0: ["d"]}
    assert linux_run._programs(["a", "node1=b", "a"]) == {None: ["a", "a"], 1: ["b"]}
