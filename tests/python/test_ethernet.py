# SPDX-License-Identifier: Apache-2.0
"""The Ethernet between nodes in configurations: what is joined by itself, and what is refused. Linux uses it in
test_linux_rdma_pair."""

import subprocess
import sys
from pathlib import Path

import fabricvp
import pytest

LAUNCHER = Path(sys.prefix) / "bin" / "fabricvp"
NODES = """\
nodes: 2
node:
  pcie:
    endpoints: [{name: net0, below: root, kind: virtio_net}]
"""
MORE = (
    NODES
    + """\
ethernet:
  switches: [{name: s}, {name: t}]
  links:
    - {from: node0.pcie.net0, to: s}
"""
)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            "    - {from: node0.pcie.net0, to: t}",
            r"machine.yaml:9: ethernet: 'node0.pcie.net0' is linked twice: it has one port",
        ),
        (
            "    - {from: net0, to: t}",
            r"machine.yaml:9: ethernet: 'net0' is none of: node0.pcie.net0, node1.pcie.net0, s, t",
        ),
        (
            "    - {from: s, to: t}\n    - {from: t, to: s}",
            r"machine.yaml:10: ethernet: the link from 't' to 's' closes a ring",
        ),
        ("    - {from: s, to: t, rate: fast}", r"machine.yaml:9: .*rate.*fast"),
        ("    - {from: s, to: t, speed: 1 GB/s}", r"machine.yaml:9: .*speed"),
        ("node0: 5", "machine.yaml:9: node0 stands in a list"),
    ],
)
def test_refusals(tmp_path, lines, why):
    config = tmp_path / "machine.yaml"
    config.write_text(MORE + lines + "\n")
    done = subprocess.run([LAUNCHER, "run", config, "--time", "1us"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, done
    with pytest.raises(fabricvp.InputError, match=why):
        fabricvp.spawn(config)


def test_addresses():
    own = NODES.replace("kind: virtio_net", "kind: virtio_net, address: '02:00:00:00:00:07'")
    with pytest.raises(
        fabricvp.InputError, match="ethernet: node0.pcie.net0 and node1.pcie.net0 have one address, 02:00:00:00:00:07"
    ):
        fabricvp.spawn(text=own)
    with pytest.raises(
        fabricvp.InputError, match="'03:00:00:00:00:07' is no address of a station: give six bytes such as"
    ):
        fabricvp.spawn(text=own.replace("02:", "03:"))


def test_two_adapters_are_joined_by_themselves(tmp_path):
    config = tmp_path / "machine.yaml"
    for nodes, joined in (2, True), (3, False):
        config.write_text(NODES.replace("nodes: 2", f"nodes: {nodes}"))
        done = subprocess.run(
            [LAUNCHER, "run", config, "--time", "1us", "--out", tmp_path / str(nodes)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done
        resolved = (tmp_path / str(nodes) / "config.resolved.yaml").read_text()
        assert ("to: node1.pcie.net0" in resolved) == joined
