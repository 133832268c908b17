# SPDX-License-Identifier: Apache-2.0
"""Several processes on one GPU of a Linux machine: each has its own address space, and one that ends, is killed in
mid-kernel, or takes all memory harms no other."""

import re
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp import linux_job
from fabricvp.compiler.linux_program import Options, build_linux
from test_linux_gpu import EXAMPLES, SHELL, WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

SHARE = Path(__file__).with_name("linux_gpu_share.hip")
RIGHT = "1000 elements, 0 wrong, y[999] = 4495.5"
FREE = "sleep 0.1; cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A booted machine, whose shell takes a line and gives what it prints; programs are in its folder."""
    sources = {"saxpy": EXAMPLES / "saxpy.hip", "share": SHARE}
    files = {name: build_linux({str(path): path.read_text()}, Options.of()) for name, path in sources.items()}
    with fabricvp.spawn("linux_gpu") as platform:
        initrd = tmp_path_factory.mktemp("machine") / "initrd"
        base = Path(platform.config["node0.images.initrd"]).read_bytes()
        initrd.write_bytes(base + linux_job.cpio(b"", files).replace(b"job/start", b"job/no___"))
        platform.load_images(initrd=initrd)
        console = platform.nodes[0].console
        console.expect(SHELL, timeout="60 s")

        def run(line):
            return console.command(line, SHELL, timeout="60 s").replace("\r", "")

        run("stty cols 500; cd /job; gpus")
        yield run


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_two_processes_at_once(shell):
    said = shell("./share rounds 1000 & ./share rounds 2000; wait $!")
    found = re.findall(r"(0x\w+) 0 wrong", said)
    assert len(found) == 2 and found[0] == found[1], said  # the same addresses mean two places
    # A pointer to where another process has memory, and this one has none.
    said = shell("./share forever & sleep 0.3; ./share beyond; jobs")
    assert "beyond: hipErrorIllegalAddress\nthen: hipSuccess\n" in said and "Running" in said, said
    assert "unmapped, queue 1 packet 0" in said, said
    # One is killed in mid-kernel, with another one behind it on the GPU.
    said = shell("./share rounds 3000 & kill -9 %1; ./saxpy 1000 2.5; wait %2")
    assert RIGHT in said and "0 wrong\n" in said.replace(RIGHT, ""), said
    assert shell(FREE).split()[-1] == "32"


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_memory_that_others_have(shell):
    said = shell("./share exhaust memory & sleep 0.5; ./share exhaust all; ./saxpy 1000 2.5")
    first, second = (int(n) for n in re.findall(r"hipErrorOutOfMemory after (\d+) of 256 MiB", said))
    assert first == 15 and second == 0 and said.count("pinned: hipErrorOutOfMemory") == 1, said
    assert RIGHT in said, said  # less than 256 MiB remain, of which a small queue takes little
    said = shell("kill -9 %1; sleep 0.1; ./share exhaust pinned & sleep 0.5; ./saxpy 1000 2.5")
    assert "GPUs: no huge page is left for this process" in said and "there is no GPU" in said, said
    said = shell("kill -9 %2; sleep 0.1; ./share exhaust all; ./saxpy 1000 2.5; wait")
    assert "hipErrorOutOfMemory after 15" in said and RIGHT in said, said
    assert shell(FREE).split()[-1] == "32"
