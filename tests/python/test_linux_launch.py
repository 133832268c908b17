# SPDX-License-Identifier: Apache-2.0
"""Where the time of a launch goes that a program on Linux makes: steps told by the program's own clock and by the GPU,
which follow each other without a gap."""

import sys
from pathlib import Path

import opencl_machine
import pytest
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

import linux_programs  # noqa: E402

ROUNDS = 10
SOURCE = linux_programs.EXAMPLES / "linux_gpu" / "launch.hip"
ORDER = ("called", "doorbell", "fetched", "launched", "ended", "seen")


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_the_steps_of_a_launch_add_up(tmp_path):
    program = linux_programs.build(SOURCE, "linux", tmp_path)
    found, statistics = linux_programs.launches("linux_gpu", ["--program", program], ROUNDS)
    assert len(found.times) == ROUNDS
    for times in found.times:
        at = [times[event] for event in ORDER]
        assert at == sorted(at) and times["called"] < times["returned"] < times["seen"], times
    for one, following in zip(found.times, found.times[1:]):
        assert one["seen"] < following["called"]
    spans = found.spans()
    assert list(spans) == list(linux_programs.STEPS) and min(spans.values()) > 0, spans
    assert sum(spans.values()) == pytest.approx(found.total(), rel=1e-6)
    # What the GPU counts, warm-ups among them, whose first one finds nothing in its caches.
    counted = statistics["node0.gpu0.launches.doorbell_to_launch.mean"] / 1e6
    assert spans["fetched"] + spans["launched"] == pytest.approx(counted, rel=0.1)


def test_what_is_read_of_the_log():
    log = """[0.500000001000 s] bus: node0.gpu0.processor: queue 1 doorbell: packet 4
[0.500000002000 s] bus: node0.gpu0.processor: queue 1 packet 4 fetched: dispatch of other
[0.500000003000 s] bus: node0.gpu0.processor: queue 1 packet 4 launched: kernel other, 0 bytes of LDS, 0 of scratch
[1.500000001000 s] bus: node0.gpu0.processor: queue 1 doorbell: packet 5
[1.500000002500 s] bus: node0.gpu0.processor: queue 1 packet 5 fetched: dispatch of nothing
[1.500000003000 s] bus: node0.gpu0.processor: queue 1 packet 5 launched: kernel nothing, 0 bytes of LDS, 0 of scratch
[1.500000004000 s] bus: node0.gpu0.processor: queue 1 packet 5 kernel nothing ended after 1.000 us
"""
    events = linux_programs.events_of(log)
    assert events == [
        {"doorbell": 1500000001.0, "fetched": 1500000002.5, "launched": 1500000003.0, "ended": 1500000004.0}
    ]
    found = linux_programs.Launches(
        [events[0] | {"called": 1500000000.0, "returned": 1500000002.0, "seen": 1500000006.0}], 0.25
    )
    assert [round(1e6 * us) for us in found.spans().values()] == [1000, 1500, 500, 250, 750, 2000]
    assert found.total() == pytest.approx(0.006)
