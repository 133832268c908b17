# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux loads its own ib_mthca on both adapters of a node; `make linux` fetches it."""

import re

import fabricvp
import pytest
from linux_rdma import BAD_SIGNS, CONFIGS, TOOLS, WITH_IMAGES, WITH_PROGRAM, shell_of

CONFIG = CONFIGS / "linux_rdma.yaml"


@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize(("interrupts", "messages"), [("plic", False), ("aplic_imsic", True)])
def test_the_driver_of_linux_brings_both_ports_up(interrupts, messages):
    with fabricvp.spawn(CONFIG, node__host__interrupts=interrupts) as platform:
        shell = shell_of(platform.nodes[0])
        shell("rdma debug_level=1")
        output = shell("dmesg")
        assert not BAD_SIGNS.search(output), BAD_SIGNS.search(output)
        assert output.count("NOP command IRQ test passed") == 2
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


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_stock_tools_of_rdma_run_between_two_adapters():
    with fabricvp.spawn(CONFIG) as platform:
        shell = shell_of(platform.nodes[0])
        shell("rdma")
        for tool, arguments, wanted in TOOLS:
            server = f"taskset 2 {tool} -d mthca0 {arguments} > /tmp/server 2>&1 & sleep 0.3"
            output = shell(
                f"{server}; taskset 1 {tool} -d mthca1 {arguments} 127.0.0.1; echo status $?; wait; cat /tmp/server"
            )
            assert "status 0" in output and re.search(wanted, output), f"{tool} {arguments}: {output}"
            assert "Failed" not in output and "error" not in output.lower(), f"{tool} {arguments}: {output}"
        output = shell("dmesg")
        assert not BAD_SIGNS.search(output), BAD_SIGNS.search(output)
        statistics = platform.statistics.snapshot()
        assert statistics["node0.hca0.retries"] == 0 and statistics["node0.hca0.messages"] >= 1000


@WITH_IMAGES
@WITH_PROGRAM
@pytest.mark.timeout(6000)
def test_every_byte_of_every_verb():
    with fabricvp.spawn(CONFIG) as platform:
        shell = shell_of(platform.nodes[0])
        shell("rdma")
        output = shell("sleep 0.1; verbs_check mthca0 mthca1; echo status $?", timeout="300 s")
        assert "status 0" in output and re.search(r"all \d+ checks passed", output), output
        assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
