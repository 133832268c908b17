# SPDX-License-Identifier: Apache-2.0
"""IP over InfiniBand and librdmacm between two nodes with Debian's Linux, without a subnet manager in a guest: the
configuration answers for subnet administration."""

import re

import fabricvp
import pytest
from linux_rdma import BAD_SIGNS, WITH_IMAGES
from test_linux_rdma_pair import CONFIG, up


def ipoib(shells):
    """Gives ib0 of node n the address 10.1.0.n+1."""
    for number, shell in enumerate(shells, 1):
        shell(f"ipoib 10.1.0.{number}")


def rping(server, client):
    """Both ends compare what comes back with what they sent (-V)."""
    server("rping -s -C 100 -V -S 100 -a 10.1.0.1 > /tmp/server 2>&1 &")
    output = client("sleep 0.3; rping -c -C 100 -V -v -S 100 -a 10.1.0.1 > /tmp/client 2>&1; echo status $?")
    server("wait")
    assert "status 0" in output and client("grep -c 'ping data' /tmp/client").strip().endswith("100"), output


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_ip_over_infiniband_and_librdmacm():
    with fabricvp.spawn(CONFIG) as platform:
        server, client = shells = up(platform)
        ipoib(shells)
        assert "3 packets received, 0% packet loss" in client("sleep 0.1; ping -c 3 -i 0.01 10.1.0.1")
        rping(server, client)
        server("rstream -S 4096 > /tmp/server 2>&1 &")
        output = client("sleep 0.3; rstream -S 4096 -s 10.1.0.1; echo status $?")
        assert "status 0" in output and re.search(r"^custom +4k +1k", output, re.M), output
        server("wait; ib_write_bw -R -n 50 -d mthca0 > /tmp/server 2>&1 &")
        output = client("sleep 0.3; ib_write_bw -R -n 50 -d mthca0 10.1.0.1; echo status $?")
        assert "status 0" in output and "BW average" in output, output
        # What stock tools ask of subnet administration.
        nodes = client("saquery")
        assert len(re.findall(r"node_type\.+Channel Adapter", nodes)) == 2 and "network.switch0" in nodes, nodes
        assert len(re.findall("PathRecord dump", client("saquery -p"))) == 9
        assert "ff12:401b:ffff::ffff:ffff" in client("saquery -g")
        for shell in shells:
            assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")
        counts = platform.statistics.snapshot("network.")
        assert counts["network.administration.joins"] >= 4 and counts["network.packets.in_flight"] == 0
