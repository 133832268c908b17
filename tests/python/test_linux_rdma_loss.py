# SPDX-License-Identifier: Apache-2.0
"""Two nodes with Debian's Linux, whose network loses packets: stock tools complete, what they check is right, and
performance management says where packets were lost."""

import re

import fabricvp
import pytest
from linux_rdma import BAD_SIGNS, CONFIGS, WITH_IMAGES, WITH_PROGRAM, shell_of
from test_linux_ipoib import ipoib, rping
from test_linux_rdma_pair import CONFIG, run_pair, up

PORTS = [f"network.switch0.to_node{n}_hca0" for n in range(2)]

#: Tool, its arguments, and what it must print. The first checks every byte (-c).
TOOLS = [
    ("ibv_rc_pingpong", "-n 100 -s 5000 -c", "iters in"),
    ("ib_write_bw", "-n 50 -s 65536", "BW average"),
    ("ib_read_bw", "-n 50 -s 65536", "BW average"),
    ("ib_send_bw", "-n 50 -s 65536", "BW average"),
    ("ib_atomic_bw", "-n 100", "BW average"),
]


@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_stock_tools_complete_under_loss(rate):
    with fabricvp.spawn(CONFIG) as platform:
        server, client = shells = up(platform)
        ipoib(shells)
        client("sleep 0.1; ping -c 1 10.1.0.1")
        for port in PORTS:
            platform.inject(port, "loss", rate=rate)
        for tool, arguments, wanted in TOOLS:
            # One end may leave when the acknowledgement of its last message is lost: no handshake ends these programs.
            for _ in range(4):
                output = run_pair(server, client, tool, arguments)
                if "retry counter exceeded" not in output:
                    break
            assert "status 0" in output and re.search(wanted, output), f"{tool} {arguments}: {output}"
            assert "Failed" not in output and "error" not in output.lower(), f"{tool} {arguments}: {output}"
        rping(server, client)
        for port in PORTS:
            platform.inject(port, "loss", rate=0)
        for shell in (server, client):
            assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
        # What perfquery says of the switch, by its LID.
        switch = int(re.search(r"^Switch.* lid (\d+)", client("ibnetdiscover"), re.M)[1])
        counts = platform.statistics.snapshot()
        lost = [counts[f"{port}.dropped.injected"] for port in PORTS]
        assert min(lost) > 0 and sum(counts[f"node{n}.hca0.requester.retries"] for n in range(2)) > 0
        for number, of_port in enumerate(lost, 1):
            said = client(f"perfquery {switch} {number}")
            assert re.search(rf"^PortXmitDiscards:\.+{of_port:.0f}$", said.replace("\r", ""), re.M), said
        # And what ibqueryerrors finds in a sweep of its own.
        errors = client("ibqueryerrors").replace("\r", "")
        for number, of_port in enumerate(lost, 1):
            assert re.search(rf"port {number}: .*\[PortXmitDiscards == {of_port:.0f}\]", errors), errors
        cleared = client(f"perfquery -R {switch} 1; perfquery {switch} 1")
        assert re.search(r"^PortXmitDiscards:\.+0$", cleared.replace("\r", ""), re.M), cleared
        assert re.search(r"^PortXmitPkts:\.+\d+$", client(f"perfquery -x {switch} 1").replace("\r", ""), re.M)


@WITH_IMAGES
@WITH_PROGRAM
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_every_byte_of_reliable_verbs_under_loss(rate):
    links = [f"node0.hca{n}.network.link" for n in range(2)]
    with fabricvp.spawn(CONFIGS / "linux_rdma.yaml") as platform:
        shell = shell_of(platform.nodes[0])
        shell("rdma")
        shell("sleep 0.1")
        for link in links:
            platform.inject(link, "loss", rate=rate)
        output = shell("verbs_check mthca0 mthca1 reliable; echo status $?", timeout="300 s")
        assert "status 0" in output and re.search(r"all \d+ checks passed", output), output
        counts = platform.statistics.snapshot("node0.")
        assert all(counts[f"{link}.dropped.injected"] > 0 for link in links)
        assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
