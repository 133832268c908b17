# SPDX-License-Identifier: Apache-2.0
"""Memory of programs on Linux that kernels reach where it is: registered ranges, which nothing moves any more, and
variables of both sides."""

import re
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp.compiler.linux_program import Options, build_linux
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

SOURCE = Path(__file__).with_name("linux_gpu_host_memory.hip")
IN_CUDA = """
#include <cstdio>
__device__ __managed__ int total = 5;
__global__ void add(const int* p) { atomicAdd(&total, p[threadIdx.x]); }
int main() {
    int* p = new int[64];
    for (int i = 0; i < 64; ++i) p[i] = i;
    void* there;
    if (cudaHostRegister(p, 64 * sizeof(int), cudaHostRegisterMapped) || cudaHostGetDevicePointer(&there, p, 0))
        return 1;
    add<<<1, 64>>>((const int*)there);
    if (cudaDeviceSynchronize() || cudaHostUnregister(p)) return 2;
    printf("%d\\n", total);
}
"""
ALONE = """
#include <hip/hip_runtime.h>
__managed__ int x = 3;
__global__ void k() { ++x; }
int main() {
    k<<<1, 1>>>();
    return x;
}
"""


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_memory_of_the_host(tmp_path):
    sources = {"host": SOURCE.read_text(), "cuda": IN_CUDA}
    for name, source in sources.items():
        suffix = "cu" if name == "cuda" else "hip"
        (tmp_path / name).write_bytes(build_linux({f"{name}.{suffix}": source}, Options.of()))
    with fabricvp.linux() as linux:
        assert linux.run(tmp_path / "host", "managed").stdout == "0 wrong\n"
        assert linux.run(tmp_path / "cuda").stdout == "2021\n"
        result = linux.run(tmp_path / "host", "registered")
        assert result.stdout.endswith("\n0 wrong\n") and "FAILED" not in result.stdout, result
        # The kernel moves other pages, not those that a kernel of the GPU uses.
        result = linux.run(tmp_path / "host", "compaction")
        found = re.fullmatch(r"(\d+) of 8192 pages moved, 0 of 1024 registered ones\n0 wrong\n", result.stdout)
        assert found and int(found[1]) > 1000, result


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_managed_variables_without_a_gpu_are_the_hosts(tmp_path):
    """A machine whose GPU no driver holds."""
    from fabricvp import linux_job
    from test_linux_gpu import SHELL

    program = build_linux({"alone.hip": ALONE}, Options.of())
    with fabricvp.spawn("linux_gpu") as platform:
        initrd = Path(platform.config["node0.images.initrd"]).read_bytes()
        files = linux_job.cpio(b"", {"alone": program}).replace(b"job/start", b"job/no___")
        (tmp_path / "initrd").write_bytes(initrd + files)
        platform.load_images(initrd=tmp_path / "initrd")
        console = platform.nodes[0].console
        console.expect(SHELL, timeout="60 s")
        said = console.command("/job/alone; echo ended $?", SHELL, timeout="60 s")
        assert "ended 3" in said and "uio_pci_generic does not hold it" in said, said
