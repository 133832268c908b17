# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux loads its own ib_mthca on both adapters of a node; `make linux` fetches it."""

import re
from pathlib import Path

import pytest

import fabricvp

IMAGES = [Path(__file__).resolve().parents[2] / "build" / "linux" / name for name in ("Image", "initramfs_rdma.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
CONFIG = Path(__file__).resolve().parents[2] / "configs" / "linux_rdma.yaml"
PROMPT = "~ # "
WITH_IMAGES = pytest.mark.skipif(bool(MISSING), reason=f"make linux has not made {', '.join(MISSING)}")

#: What the driver says when the adapter does not behave as it should.
BAD_SIGNS = re.compile(r"failed to generate interrupt|is old|couldn't map|Catastrophic error detected|Profile requires|unknown QP|bogus|Unhandled event"
                       r"|CQ overrun|modify QP .* returned|MAD_IFC returned|[RS]Q full|nobody cared|Missing|aborting|error -|WARNING")


@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize(("interrupts", "messages"), [("plic", False), ("aplic_imsic", True)])
def test_the_driver_of_linux_brings_both_ports_up(interrupts, messages):
    with fabricvp.spawn(CONFIG, node__host__interrupts=interrupts) as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")

        def shell(line):
            return console.command(line, PROMPT, timeout="60 s")

        shell("rdma debug_level=1")
        said = shell("dmesg")
        assert not BAD_SIGNS.search(said), BAD_SIGNS.search(said)
        assert said.count("NOP command IRQ test passed") == 2
        ports = "/sys/class/infiniband/mthca*/ports/1"
        shell("sleep 1")
        assert shell(f"cat {ports}/state").split("\n")[:2] == ["4: ACTIVE"] * 2
        assert shell(f"cat {ports}/phys_state").split("\n")[:2] == ["5: LinkUp"] * 2
        assert "PORT_ACTIVE" in shell("ibv_devinfo")
        assert "ATOMIC_HCA" in shell("ibv_devinfo -v")
        lines = shell("grep mthca /proc/interrupts")
        assert ("ib_mthca-comp" in lines) == messages, lines
        assert not BAD_SIGNS.search(shell("dmesg"))
        # It goes as it came.
        assert shell("rmmod ib_mthca && echo gone").strip().endswith("gone")
        assert not BAD_SIGNS.search(shell("dmesg"))
        shell("insmod /lib/modules/ib_mthca.ko")
        shell("sleep 1")
        assert shell(f"cat {ports}/state").split("\n")[:2] == ["4: ACTIVE"] * 2


#: Tool, its arguments, and what it must print.
TOOLS = [
    ("ibv_rc_pingpong", "-n 200 -s 5000 -c", "iters in"),
    ("ibv_uc_pingpong", "-n 200 -s 5000 -c", "iters in"),
    ("ibv_ud_pingpong", "-n 200 -s 2000", "iters in"),
    ("ibv_srq_pingpong", "-n 200 -s 5000 -q 4", "iters in"),
    ("ib_write_lat", "-n 100 -s 8", "BW average|t_avg"),
    ("ib_read_lat", "-n 100 -s 4096", "t_avg"),
    ("ib_send_lat", "-n 100 -s 64", "t_avg"),
    ("ib_atomic_lat", "-n 100", "t_avg"),
    ("ib_write_bw", "-n 100 -s 65536", "BW average"),
    ("ib_read_bw", "-n 100 -s 65536", "BW average"),
    ("ib_send_bw", "-n 100 -s 65536", "BW average"),
    ("ib_send_bw", "-n 100 -c UD -s 2048", "BW average"),
]


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_stock_tools_of_rdma_run_between_two_adapters():
    with fabricvp.spawn(CONFIG) as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")

        def shell(line):
            return console.command(line, PROMPT, timeout="60 s")

        shell("rdma")
        for tool, arguments, wanted in TOOLS:
            server = f"taskset 2 {tool} -d mthca0 {arguments} > /tmp/server 2>&1 & sleep 0.3"
            said = shell(f"{server}; taskset 1 {tool} -d mthca1 {arguments} 127.0.0.1; echo status $?; wait; cat /tmp/server")
            assert "status 0" in said and re.search(wanted, said), f"{tool} {arguments}: {said}"
            assert "Failed" not in said and "error" not in said.lower(), f"{tool} {arguments}: {said}"
        said = shell("dmesg")
        assert not BAD_SIGNS.search(said), BAD_SIGNS.search(said)
        statistics = platform.statistics.snapshot()
        assert statistics["node0.hca0.retries"] == 0 and statistics["node0.hca0.messages"] >= 1000
