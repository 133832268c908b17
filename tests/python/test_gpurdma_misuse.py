# SPDX-License-Identifier: Apache-2.0
"""Lanes that use queue pairs wrongly (firmware/programs/misuse): others are unharmed, and the program hears of it
where it can."""

import fabricvp

CASES = [
    "both queue pairs work",
    "sending what belongs to another process of this node: an error,",
    "writing to another process of the other node: an error,",
    "writing beyond a region's end: an error,",
    "both queue pairs work",
    "doorbells of another page, of no queue pair: silence,",
    "both queue pairs work",
    "entries in memory that is not mapped: a fault,",
    "completions in memory that is not mapped: a fault,",
    "both queue pairs work",
    "posting beyond the ring: an event, the queue pair has failed,",
    "the other queue pair works",
    "a completion queue that is gone: silence, and its memory stays as it was,",
    "the neighbour's memory is untouched",
]


def test_lanes_that_misuse_the_adapter():
    with fabricvp.spawn("gpurdma_pair", node__images__firmware="firmware:gpurdma_misuse.elf") as platform:
        ended = platform.run("100 ms")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        values = platform.statistics.snapshot()
    assert ended.outcome == fabricvp.Outcome.POWER_OFF, (ended.detail, consoles)
    lines = [line for line in consoles[0].splitlines() if not line.startswith("gpu0 fault: unmapped")]
    assert lines == [f"{case} ok" for case in CASES] + ["all ok, powering off"]
    assert consoles[0].count("gpu0 fault: unmapped, queue 0 packet") == 2
    assert consoles[1].splitlines() == [
        "the neighbour's memory is untouched ok",
        "nothing that was refused has been written ok",
        "what the first one wrote ok",
        "what the other one wrote ok",
        "all ok, powering off",
    ]
    assert values["node0.hca0.bad_doorbells"] == 3 and values["node1.hca0.bad_doorbells"] == 0
    assert values["node0.hca0.completion_queues.dropped"] == 1
