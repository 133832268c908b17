# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/programs/cluster) in which all GPUs of two nodes work on one problem."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

MACHINE = "cluster"
STEPS = {"jacobi": 4, "spmv": 4, "training": 2}
#: By name: the value of the options `scheme` and `placement` of the firmware.
BACKENDS = {"ComP-Net": "compnet", "GHN": "ghn", "GPU-native": "gpu_native", "HDN": "hdn"}
PLACEMENTS = {"GPU": "gpu", "host": "host"}
#: Options of the firmware.
WORKLOADS = {
    "jacobi": "work=jacobi rows=256 columns=1024",
    "spmv": "work=spmv rows=4096",
    "training": "work=training rows=4 columns=64",
}
QUICK = {
    "jacobi": "work=jacobi rows=32 columns=256",
    "spmv": "work=spmv rows=1024",
    "training": "work=training rows=4 columns=16",
}
OFF = {
    f"node.fabric.switches.*.stage.{key}": value
    for key, value in (("stitching", "false"), ("trimming", "false"), ("pooling", "none"), ("sequencing", "none"))
}
REGIONS = {"jacobi": "grid", "spmv": "vector", "training": "training"}  #: as the firmware marks them


@dataclass(frozen=True)
class Point:
    """One combination."""

    workload: str
    options: str  #: of the firmware
    netcrafter: bool
    lanes: bool  #: of the link between clusters turn, by the published policy
    backend: str  #: of `BACKENDS`
    queues: str  #: of `PLACEMENTS`: where queue pairs, completions and doorbell records lie

    def __str__(self) -> str:
        return (
            f"{self.workload}, NetCrafter {'on' if self.netcrafter else 'off'}, lanes"
            f" {'reversible' if self.lanes else 'fixed'}, {self.backend}, queues in {self.queues}"
        )


@dataclass
class Result:
    """What it gave; seconds a step, of node 0."""

    step_s: float
    computing_s: float  #: of these: kernels on all GPUs, launches included
    correct: bool
    inter_cluster_bytes: float  #: on node 0's link between clusters in the measured region
    utilisation: float  #: of that link, mean of both directions
    network_packets: float  #: between the nodes, in all
    lost: float  #: of them
    in_flight: float  #: packets of the fabrics at the end


def points(workloads: dict[str, str], backends: Sequence[str], placements: Sequence[str]) -> list[Point]:
    """All combinations."""
    return [
        Point(w, o, n, t, s, q)
        for (w, o), n, t, s, q in itertools.product(
            workloads.items(), (False, True), (False, True), backends, placements
        )
    ]


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    settings = {
        "node.images.firmware": "firmware:cluster.elf",
        "node.host.harts": 2,  # one of them is the thread that may serve
        "node.images.append": (
            f"{point.options} steps={STEPS[point.workload]} scheme={BACKENDS[point.backend]}"
            f" placement={PLACEMENTS[point.queues]}"
        ),
    }
    if not point.netcrafter:
        settings |= OFF
    if not point.lanes:
        settings["node.fabric.links.4.reversible.policy"] = "none"
    with Platform.from_config(MACHINE, overrides=settings) as platform:
        record_machine(str(point), platform)
        ended = platform.run("1 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        lines = result_lines(texts[0], "iterate")
        if ended.outcome != Outcome.POWER_OFF or not lines:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        values = platform.statistics.snapshot()
        region = platform.regions()["node0", REGIONS[point.workload]]
        line = lines[0]
        return Result(
            line["time_ps"] / line["steps"] / 1e12,
            line["computing_time_ps"] / line["steps"] / 1e12,
            all("all ok" in t for t in texts),
            float(region["node0.fabric.inter_cluster.bytes"]),
            float(region["node0.fabric.inter_cluster.utilisation"]),
            values["network.packets.sent"],
            values["network.packets.sent"] - values["network.packets.delivered"],
            sum(values[f"node{n}.fabric.packets_in_flight"] for n in (0, 1)),
        )
