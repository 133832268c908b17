# SPDX-License-Identifier: Apache-2.0
"""Debian's opensm manages the subnet: ports have no LID and are not active before it has swept switches and
adapters."""

import re

import fabricvp
import pytest
from linux_rdma import BAD_SIGNS, WITH_IMAGES, shell_of
from test_linux_rdma_pair import CONFIG, run_pair

PORT = "/sys/class/infiniband/mthca0/ports/1"


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_opensm_brings_a_subnet_up():
    with fabricvp.spawn(CONFIG, network__subnet_manager="guest") as platform:
        shells = [shell_of(node) for node in platform.nodes]
        for number, shell in enumerate(shells, 1):
            shell("rdma")
            shell(f"network 10.0.0.{number}")
        manager, other = shells
        manager("sleep 0.1")
        for shell in shells:
            assert shell(f"cat {PORT}/state").startswith("2: INIT")
            assert shell(f"cat {PORT}/phys_state").startswith("5: LinkUp")
            assert shell(f"cat {PORT}/lid").startswith("0x0")
        manager("opensm -B -f /tmp/opensm.log > /tmp/opensm.out 2>&1")
        for _ in range(100):
            if all(shell(f"sleep 0.05; cat {PORT}/state").startswith("4: ACTIVE") for shell in shells):
                break
        output = manager("cat /tmp/opensm.log")
        assert "Entering MASTER state" in output and "ERR" not in output, output
        lids = set()
        for shell in shells:
            assert shell(f"cat {PORT}/state").startswith("4: ACTIVE")
            lids.add(int(shell(f"cat {PORT}/lid"), 16))
            assert "PORT_ACTIVE" in shell("ibv_devinfo")
        assert len(lids) == 2 and 0 not in lids
        # What a stock tool finds by directed routes.
        found = manager("ibnetdiscover")
        assert len(re.findall(r"^Switch\s+2 ", found, re.M)) == 1 and len(re.findall(r"^Ca\s+1 ", found, re.M)) == 2, (
            found
        )
        # A node beside the manager's asks the switch by its LID.
        switch = int(re.search(r"^Switch.* lid (\d+)", found, re.M)[1])
        asked = other(f"smpquery nodeinfo {switch}")
        assert "NodeType:........................Switch" in asked, asked
        for tool, arguments, wanted in (
            ("ibv_rc_pingpong", "-n 200 -s 5000 -c", "iters in"),
            ("ib_send_bw", "-n 100 -c UD -s 2048", "BW average"),
        ):
            output = run_pair(manager, other, tool, arguments)
            assert "status 0" in output and re.search(wanted, output), output
        for shell in shells:
            assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
        counts = platform.statistics.snapshot("network.")
        assert counts["network.switch0.agent.requests"] > 20 and counts["network.switch0.agent.forwarded"] > 20
        assert counts["network.packets.in_flight"] == 0
