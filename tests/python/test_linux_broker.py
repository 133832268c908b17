# SPDX-License-Identifier: Apache-2.0
"""Several processes on one GPU of a Linux machine: each has its own address space, and one that ends, is killed in
mid-kernel, or takes all memory harms no other."""

import os
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
WAIT = SHARE.with_name("linux_gpu_wait.hip")
STARTS = int(os.environ.get("FABRICVP_PROGRAM_STARTS", "10"))  # 1,000 in `make test-deep PARTS=linux`
BATCH = 25  #: starts of each kind between two looks
RIGHT = "1000 elements, 0 wrong, y[999] = 4495.5"
FREE = "sleep 0.1; cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A booted machine, whose shell takes a line and gives what it prints; programs are in its folder."""
    sources = {"saxpy": EXAMPLES / "saxpy.hip", "share": SHARE, "wait": WAIT}
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

        def active(line):
            """Cycles of the hart outside of `wfi`, and what the line prints."""
            before = platform.statistics.snapshot("node0.host.hart0.")["node0.host.hart0.active_cycles"]
            said = run(line)
            return platform.statistics.snapshot("node0.host.hart0.")["node0.host.hart0.active_cycles"] - before, said

        run.active = active
        run("stty cols 500; cd /job; ln -s saxpy fabricvp-smi; ln -s saxpy fabricvp-broker; gpus")
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


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_what_the_broker_tells(shell):
    said = shell("./fabricvp-smi")
    assert re.search(r"\n  0  \w\w:\w\w\.0 +64 +2 +4096 +0 +0\n", said) and "0 used by processes, 31 free" in said, said
    said = shell("./share forever & sleep 0.3; ./fabricvp-smi")
    assert re.search(r"\n +\d+  share +0 +1698 +1  wait_for\n", said) and "1 used by processes, 30 free" in said, said
    # What runs is lost when the GPU is reset, and its program is told; others go on.
    said = shell("./fabricvp-smi --reset 0; sleep 0.1; ./saxpy 1000 2.5; jobs")
    assert "gpu0 was reset: this program cannot use it any more\nit ends: hipErrorLaunchFailure\n" in said, said
    assert RIGHT in said and "Done" in said, said
    said = shell("sleep 0.1; ./fabricvp-smi --reset 7; echo ended $?; ./fabricvp-smi --x; echo ended $?")
    assert "the broker of GPUs cannot do it\nended 1\nusage: fabricvp-smi [--reset GPU]\nended 2" in said, said
    said = shell("./fabricvp-broker --timeout x; echo ended $?")
    assert "--timeout x: must be milliseconds from 0 to 1000000000\nended 2" in said, said


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_a_kernel_that_never_ends(shell):
    said = shell("export FABRICVP_KERNEL_TIMEOUT=50; ./share forever & ./share rounds 1; ./saxpy 1000 2.5; wait")
    assert "a kernel ended with 'timed out'\n" in said and "it ends: hipErrorLaunchTimeOut\n" in said, said
    assert RIGHT in said and re.search(r"0x\w+ 0 wrong", said), said
    said = shell(
        "unset FABRICVP_KERNEL_TIMEOUT; sleep 0.1; ./fabricvp-broker --stay --timeout 20 & sleep 0.1; ./share forever"
    )
    assert "it ends: hipErrorLaunchTimeOut" in said, said
    assert "31 free" in shell("sleep 0.1; ./fabricvp-smi; kill %1")
    said = shell("sleep 0.1; export FABRICVP_KERNEL_TIMEOUT=-1; ./saxpy 1000 2.5; unset FABRICVP_KERNEL_TIMEOUT")
    assert "FABRICVP_KERNEL_TIMEOUT -1: must be milliseconds" in said and "there is no GPU" in said, said


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_processes_that_sleep(shell):
    """They wait for an interrupt by the GPU's pin, and the hart is in `wfi` meanwhile."""

    def numbers(said):
        """Microseconds of kernels, of waits beside them, and in which the process ran: of each process."""
        found = re.findall(r": 0 wrong, kernels ([\d.]+) us, beside them ([\d.]+) us, busy (\d+) us", said)
        return [tuple(float(number) for number in row) for row in found]

    pin = shell("lspci-full -vv -d fab0:")
    assert re.search(r"Interrupt: pin A routed to IRQ \d+", pin) and "uio_pci_generic" in pin, pin
    count = "grep uio_pci_generic /proc/interrupts"
    shell("./share stay & sleep 0.3")  # so that the broker stays
    before = int(shell(count).split(":")[-1].split()[0])
    spinning, said = shell.active("./wait spin 6")
    assert numbers(said), said
    ((kernels, beside, busy),) = numbers(said)
    assert busy > kernels > 1000 and beside < 10, said
    assert int(shell(count).split(":")[-1].split()[0]) == before
    for how in ("block", "event"):
        sleeping, said = shell.active(f"./wait {how} 6")
        ((same, beside, busy),) = numbers(said)
        assert abs(same - kernels) < kernels / 100 and beside < 100 and busy < kernels / 5, said
        # Of 4,000 cycles a microsecond; a hart that polls is active for somewhat more than a third of them.
        assert spinning - sleeping > 6 * kernels * 4000 / 4, (spinning, sleeping)
    assert int(shell(count).split(":")[-1].split()[0]) >= before + 12
    # Several on one GPU: each finds its own signal, and one that spins does not keep them from it.
    said = shell(
        "./wait block 4 50000 & ./wait event 4 60000 & ./wait yield 3 50000 & ./wait block 3; wait $!; sleep 0.1"
    )
    assert len(numbers(said)) == 4, said
    shell("kill -9 %1; wait; sleep 0.1")


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_what_wakes_a_process_but_its_signal(shell):
    said = shell("export FABRICVP_KERNEL_TIMEOUT=50; ./wait block 1 4000000000; unset FABRICVP_KERNEL_TIMEOUT")
    assert "block: hipErrorLaunchTimeOut" in said, said
    said = shell("sleep 0.1; ./wait event 1 4000000000 & sleep 0.3; ./fabricvp-smi --reset 0; wait")
    assert "event: hipErrorLaunchFailure" in said, said
    assert RIGHT in shell("sleep 0.1; ./saxpy 1000 2.5")


def memory_free(shell):
    """Kilobytes that the kernel has free, once a first pair of programs has filled its caches."""
    shell("./saxpy 100 1; ./share forever & sleep 0.05; kill -9 $!; wait $!")
    return int(re.search(r"MemFree: +(\d+) kB", shell("sleep 0.1; grep MemFree /proc/meminfo"))[1])


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(40_000)
def test_starts_and_ends_beside_a_process_leave_nothing(shell):
    """The broker stays, since one process does: programs that end well, and some that are killed in a kernel."""
    shell("./share stay & sleep 0.3")
    before = shell("./fabricvp-smi")
    loop = "./saxpy 100 1; ./share forever & sleep 0.0$((i % 6 + 1)); kill -9 $!; wait $!"
    free = memory_free(shell)
    for first in range(0, STARTS // 2, BATCH):
        count = min(BATCH, STARTS // 2 - first)
        said = shell(f"for i in $(seq {first + 1} {first + count}); do {loop}; done 2>&1 | grep -c '0 wrong'")
        assert said.split()[-1] == str(count), said
        assert shell("sleep 0.1; ./fabricvp-smi") == before and re.search(r"\n +\d+  share +0 +162 +1\n", before), (
            before
        )
    assert memory_free(shell) > free - 4096, "kB of the kernel's memory that starts keep"
    shell("kill -9 %1; wait")
    assert shell(FREE).split()[-1] == "32"
