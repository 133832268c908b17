# SPDX-License-Identifier: Apache-2.0
"""The kernel module peer_memory, by which RDMA adapters reach the memory of GPUs: programs of two nodes exchange it
without copies. `make linux` builds the module where it can."""

import re

import fabricvp
import opencl_machine
import pytest
from linux_rdma import IMAGES, ROOT
from test_linux_cluster import EXAMPLES, with_images

opencl_machine.require_compiler()

PEERS = ROOT / "tests" / "python" / "linux_gpu_peer.hip"
WITHOUT = not IMAGES[1].exists() or b"bin/peer_memory\0" not in IMAGES[1].read_bytes()
WITH_MODULE = pytest.mark.skipif(WITHOUT, reason="make linux has not built the module peer_memory; it says why")


@pytest.fixture(scope="module")
def cluster():
    with fabricvp.linux("linux_cluster", peer_memory=True) as linux:
        yield linux


def compile_verbs(command, source):
    done = command("cc", source, "-o", "program", "--target", "linux", "-l", "ibverbs")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@with_images
@WITH_MODULE
@pytest.mark.timeout(6000)
def test_memory_of_gpus_goes_from_node_to_node(cluster, command, tmp_path):
    compile_verbs(command, EXAMPLES / "pingpong.hip")
    result = cluster.run(tmp_path / "program", "100001", "2", fork=True)
    form = r"100001 bytes by pinned memory: ([\d.]+) us, .*\n100001 bytes directly: ([\d.]+) us, [\d.]+ GB/s\n"
    times = re.fullmatch(form, result.nodes[0].stdout)
    assert times and (result.returncode, result.nodes[1].stdout) == (0, ""), result
    # Copies of both nodes are gone.
    assert float(times[2]) < 0.6 * float(times[1])


@with_images
@WITH_MODULE
@pytest.mark.timeout(6000)
@pytest.mark.parametrize(
    "source, arguments, wanted",
    [
        ("jacobi.hip", ("16", "200", "5"), "16 x 200 of 32 rows, 5 steps, 0 wrong; a step without copies: .*\n"),
        ("allreduce.cu", ("5000",), r"with node \d directly: .*\n5000 elements, 0 wrong\n"),
    ],
    ids=["jacobi", "allreduce"],
)
def test_examples_copy_nothing_by_the_host(cluster, command, tmp_path, source, arguments, wanted):
    compile_verbs(command, EXAMPLES / source)
    result = cluster.run(tmp_path / "program", *arguments, fork=True)
    assert result.returncode == 0, result
    assert all(re.fullmatch(wanted, node.stdout) for node in result.nodes), result
    result = cluster.run(tmp_path / "program", *arguments, "pinned", fork=True)
    assert result.returncode == 0 and "directly" not in result.stdout and "without" not in result.stdout, result


@with_images
@WITH_MODULE
@pytest.mark.timeout(6000)
def test_pages_of_a_gpu(cluster, command, tmp_path):
    compile_verbs(command, PEERS)
    with cluster.fork() as branch:
        assert [node.returncode for node in branch.run(tmp_path / "program", "abort").nodes] == [134, 134]
        result = branch.run(tmp_path / "program")
        assert (result.returncode, result.stdout) == (0, "node0: good\nnode1: good\n")


@with_images
@pytest.mark.timeout(6000)
def test_without_the_module(command, programs):
    done = command("run", "linux_gpu", "--peer-memory", "--program", programs / "saxpy", "--", "1000", "2.5")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert "its initramfs has no module peer_memory: `fabricvp linux fetch --again`" in done.stderr
