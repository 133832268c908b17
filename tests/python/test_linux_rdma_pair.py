# SPDX-License-Identifier: Apache-2.0
"""Two nodes with Debian's Linux: TCP over virtio network adapters, RDMA between adapters behind a switch."""

import re

import fabricvp
import pytest
from linux_rdma import BAD_SIGNS, CONFIGS, TOOLS, WITH_IMAGES, shell_of

CONFIG = CONFIGS / "linux_rdma_pair.yaml"


def up(platform):
    """Shells of both nodes, whose adapters have drivers and addresses."""
    shells = [shell_of(node) for node in platform.nodes]
    for number, shell in enumerate(shells, 1):
        shell("rdma")
        shell(f"network 10.0.0.{number}")
    return shells


def run_pair(server, client, tool, arguments):
    """What a tool prints at both ends."""
    server(f"{tool} -d mthca0 {arguments} > /tmp/server 2>&1 &")
    client("sleep 0.3")
    output = client(f"{tool} -d mthca0 {arguments} 10.0.0.1; echo status $?")
    return output + server("wait; cat /tmp/server")


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_stock_tools_of_rdma_run_between_two_nodes():
    with fabricvp.spawn(CONFIG) as platform:
        server, client = up(platform)
        assert "3 packets received, 0% packet loss" in client("ping -c 3 -i 0.01 10.0.0.1")
        early = platform.statistics.snapshot()
        for tool, arguments, wanted in TOOLS:
            output = run_pair(server, client, tool, arguments)
            assert "status 0" in output and re.search(wanted, output), f"{tool} {arguments}: {output}"
            assert "Failed" not in output and "error" not in output.lower(), f"{tool} {arguments}: {output}"
        # Bytes of TCP are checked by the sum of a file.
        server("dd if=/dev/urandom of=/tmp/file bs=64k count=16 2> /dev/null; nc -l -p 5000 < /tmp/file &")
        client("sleep 0.1; nc 10.0.0.1 5000 > /tmp/file")
        assert client("md5sum /tmp/file").split()[0] == server("md5sum /tmp/file").split()[0]
        for shell in (server, client):
            assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
        counts = platform.statistics.snapshot()
        for node in ("node0", "node1"):
            assert counts[f"{node}.hca0.retries"] == 0
            # What comes before Linux has given buffers is lost, as on any network card; from then on nothing is.
            assert counts[f"{node}.pcie.net0.no_buffer"] == early[f"{node}.pcie.net0.no_buffer"] <= 2
            assert counts[f"{node}.pcie.net0.malformed"] == counts[f"{node}.pcie.net0.port.dropped"] == 0
        assert counts["node0.pcie.net0.port.bytes_sent"] > 1 << 20
        assert counts["node0.pcie.net0.port.bytes_sent"] == counts["node1.pcie.net0.port.bytes_received"]
