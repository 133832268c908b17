# SPDX-License-Identifier: Apache-2.0
"""A fault that a configuration or Python orders lasts until its time is over, whatever is reset meanwhile."""

IDLE = """
_start:
    wfi
    j _start
"""

MACHINE = """
node:
  pcie:
    switches: [{name: board, below: root}]
    endpoints: [{name: left, below: board}, {name: right, below: board}]
  fabric:
    generators: [{name: a, requests: 0}, {name: b, requests: 100}]
    switches: [{name: s, cluster: 0}]
    links: [{from: a, to: s}, {from: b, to: s}]
faults:
  - {at: 1 us, target: node0.pcie.right, kind: link_down, lasting: 50 ms}
  - {at: 1 us, target: node0.pcie.left, kind: surprise_removal}
  - {at: 1 us, target: node0.fabric.a.link, kind: lanes, lanes: 3}
"""

HELD = "node0.pcie.right.link"


def test_configured_faults_outlast_a_reset_of_the_machine(machine):
    platform = machine(IDLE, text=MACHINE)
    statistics = platform.statistics
    platform.run("100 us")
    counts = {k: v for k, v in statistics.snapshot().items() if ".faults." in k and v}
    assert len(counts) == 3
    platform.reset()
    platform.run("40 ms")
    assert {k: v for k, v in statistics.snapshot().items() if ".faults." in k and v} == counts
    # The link that was cut has not trained yet; then it does, once, and the device that was pulled does not.
    assert statistics[f"{HELD}.transmitter.retrains"] == 0
    platform.run("20 ms")
    assert statistics[f"{HELD}.transmitter.retrains"] == 1
    assert statistics["node0.pcie.left.link.transmitter.retrains"] == 0
    platform.inject("node0.pcie.left", "insertion")
    platform.run("1 ms")
    assert statistics["node0.pcie.left.link.transmitter.retrains"] == 1
