# SPDX-License-Identifier: Apache-2.0
"""Bare-metal programs of RDMA at every MTU that a port may have, with messages from 1 byte on."""

import fabricvp
import pytest

PROGRAMS = {
    "rdma_pair": "nodes=2 latency=1 min=1 max=64 bandwidth=16 rate=32",
    "gpurdma_pair": "nodes=2 messages=16 runs=1",
    "compnet_pair": "nodes=2 max=64 rounds=1",
}


@pytest.mark.parametrize("mtu", [256, 512, 1024, 2048, 4096])
@pytest.mark.parametrize("machine", PROGRAMS)
def test_every_mtu(machine, mtu):
    settings = {"node.hcas.*.network.link.mtu": mtu}
    with fabricvp.spawn(machine, overrides=settings, node__images__append=PROGRAMS[machine]) as platform:
        ended = platform.run("2 s")
        consoles = [node.console.output for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, consoles
        assert all("all ok" in text and "FAILED" not in text for text in consoles), consoles
        if machine == "rdma_pair":
            assert f"MTU {mtu}" in consoles[0]
            assert "# bandwidth verb=write bytes=1 " in consoles[0]
