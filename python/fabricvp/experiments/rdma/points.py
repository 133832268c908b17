# SPDX-License-Identifier: Apache-2.0
"""Machines of two nodes, and what their firmware (firmware/programs/rdma) measures on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...conditions import Marker
from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

_NODE = """
node:
  images:
    firmware: firmware:rdma.elf
    append: {options} check=0 exchange=0 latency=0 bandwidth=0 rate=0
  host:
    memory: 256 MiB
    interrupts: aplic_imsic
    memory_timing: caches
    hart:
      clock: 4 GHz
{devices}
nodes:
  - {{}}
  - {{}}
{network}"""
_DIRECT = "  hcas:\n    - below: root\n"
_BEHIND = "  pcie:\n    switches:\n      - name: switch0\n  hcas:\n    - below: switch0\n"
_GPU = _BEHIND + "  gpus:\n    - below: switch0\n      compute_units: 1\n      memory:\n        capacity: 512 MiB\n"
_SWITCHED = (
    "network:\n  switches:\n    - name: switch0\n  links:\n    - {from: node0.hca0, to: switch0}\n    - {from:"
    " node1.hca0, to: switch0}\n"
)
#: By name: the HCA below the root port and a cable; a network switch between; the HCA behind a PCIe switch; and a GPU
#: beside it.
MACHINES = {
    "cable": (_DIRECT, ""),
    "network switch": (_DIRECT, _SWITCHED),
    "PCIe switch": (_BEHIND, ""),
    "GPU": (_GPU, ""),
}


@dataclass(frozen=True)
class Point:
    """A run of the firmware."""

    machine: str  #: of `MACHINES`
    options: str  #: of the firmware
    spans: bool = False  #: record where the time of the rate's messages goes
    cost: float = 1.0


@dataclass
class Result:
    """What it gave."""

    latency: dict[tuple[str, int], float] = field(default_factory=dict)  #: by verb and size, seconds
    bandwidth: dict[tuple[str, int], tuple[int, float]] = field(
        default_factory=dict
    )  #: by verb and size: messages, seconds
    rate: float = 0.0  #: messages a second
    stages: list[tuple[str, str, float, float]] = field(
        default_factory=list
    )  #: component, stage, seconds of service and of queueing a message
    correct: bool = False  #: every check of the firmware held on both nodes
    retries: float = 0.0
    dropped: float = 0.0


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    devices, network = MACHINES[point.machine]
    with Platform.from_text(_NODE.format(options=point.options, devices=devices, network=network)) as platform:
        record_machine(f"{point.machine}, {point.options}", platform)
        stages: list[tuple[str, str, float, float]] = []
        if point.spans:
            if platform.run(until=Marker("rate", "reset")).outcome != Outcome.EVENT:
                raise InputError(f"{point}: nothing was measured")
            with platform.spans:
                platform.run(until=Marker("rate", "dump"))
            stages = _stages(platform)
        ended = platform.run("20 s")
        texts = [node.console.output for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        text = texts[0].replace("\r", "")
        values = platform.statistics.snapshot()
        found = Result(stages=stages, correct=all("all ok" in t for t in texts))
        found.latency = {
            (line["verb"], line["bytes"]): line["time_ps"] / 1e12 for line in result_lines(text, "latency")
        }
        found.bandwidth = {
            (line["verb"], line["bytes"]): (line["messages"], line["time_ps"] / 1e12)
            for line in result_lines(text, "bandwidth")
        }
        for line in result_lines(text, "rate"):
            found.rate = line["messages"] / (line["time_ps"] / 1e12)
        found.retries = sum(values[f"node{n}.hca0.retries"] for n in (0, 1))
        found.dropped = sum(values[f"node{n}.hca0.{what}"] for n in (0, 1) for what in ("dropped", "bad_doorbells"))
        return found


def _stages(platform: Platform) -> list[tuple[str, str, float, float]]:
    """Those of messages; seconds a message."""
    paths = platform.spans.paths().reset_index()
    paths = paths[paths["what"] == "message"]
    count = paths.groupby("reach")["accesses"].first().sum()
    rows = paths.groupby(["component", "stage"], sort=False)[["service", "queueing"]].sum() / count
    return [(component, stage, float(r["service"]), float(r["queueing"])) for (component, stage), r in rows.iterrows()]
