# SPDX-License-Identifier: Apache-2.0
"""What experiments on the machines of ComP-Net have in common: their configurations, measured parts of a run, and their
energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._renamed import renamed_attributes
from ..conditions import Marker
from ..errors import InputError
from ..platform import Platform
from ..plot import PALETTE
from ..results import Outcome
from .machines import record_machine

#: By number of nodes.
MACHINES = {2: "compnet_pair", 4: "compnet_4", 8: "compnet_8", 16: "compnet_16"}
#: Clocks of each of them.
CLOCKS = {"node.host.hart.clock": "4 GHz", "node.gpu0.clock": "1.5 GHz", "node.gpu0.processor.hart.clock": "2 GHz"}
#: The backend that runs on the same computers with their GPUs on the host's bus.
APU = "GHN, APU"
#: By name: the value of the option `scheme` of the firmware (firmware/programs/compnet).
BACKENDS = {
    "CPU only": "cpu",
    "HDN": "hdn",
    "GDS": "gds",
    "GHN": "ghn",
    APU: "ghn",
    "ComP-Net": "compnet",
    "GPU-native": "gpu_native",
}
COLORS = {
    "CPU only": PALETTE[8],
    "HDN": PALETTE[4],
    "GHN": PALETTE[0],
    APU: PALETTE[9],
    "ComP-Net": PALETTE[2],
    "GPU-native": PALETTE[5],
    "GDS": PALETTE[1],
}
#: Statistics of a node's `energy`, and what tables call them.
PARTS = {
    "host_cores": "CPU cores",
    "host_caches": "CPU caches",
    "host_memory": "DRAM",
    "processor_cores": "CP cores",
    "gpu_lanes": "GPU lanes",
    "gpu_caches": "GPU caches",
    "gpu_memory": "HBM",
    "pcie": "PCIe",
    "network": "network",
}
#: Harts of a host and of a command processor: as many as the slides of ComP-Net have.
HOST_HARTS, PROCESSOR_HARTS = 8, 2


@dataclass
class Part:
    """A region of interest of a run, on all nodes."""

    seconds: float
    energy: dict[str, float]  #: of all nodes, by `PARTS`; and "total"


@dataclass
class Measured:
    """A run of the firmware on all nodes."""

    consoles: list[str] = field(default_factory=list)
    correct: bool = False
    retries: float = 0.0
    parts: dict[str, Part] = field(default_factory=dict)  #: by the firmware's name of the region


def machine_of(backend: str, nodes: int) -> str:
    """The configuration that a backend runs on."""
    return MACHINES[nodes].replace("compnet_", "compnet_apu_") if backend == APU else MACHINES[nodes]


def energy_of(values: Mapping[str, float], nodes: int) -> dict[str, float]:
    """Of all nodes, by part."""
    return {part: sum(values[f"node{n}.energy.{part}"] for n in range(nodes)) for part in (*PARTS, "total")}


def retries_of(values: Mapping[str, float], nodes: int) -> float:
    """Times that adapters began to send anew."""
    return sum(values[f"node{n}.hca0.retries"] for n in range(nodes))


def run_firmware(
    name: str,
    backend: str,
    nodes: int,
    options: str,
    regions: Sequence[str],
    settings: Mapping[str, object] | None = None,
) -> Measured:
    """Runs the firmware to its end on the machine of ``backend``, and measures ``regions``, in their order. Raises
    `InputError` if it does not come there."""
    overrides = {"node.images.append": options, **(settings or {})}
    with Platform.from_config(machine_of(backend, nodes), overrides=overrides) as platform:
        record_machine(name, platform)
        found = Measured()
        for region in regions:
            if platform.run("20 s", until=Marker(region, "reset")).outcome != Outcome.EVENT:
                break
            found.retries += retries_of(platform.statistics.snapshot(), nodes)
            platform.statistics.reset()
            begin = platform.now
            if platform.run("20 s", until=Marker(region, "dump")).outcome != Outcome.EVENT:
                break
            found.parts[region] = Part(float(platform.now - begin), energy_of(platform.statistics.snapshot(), nodes))
        ended = platform.run("20 s")
        found.consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF or len(found.parts) != len(regions):
            raise InputError(f"{name}: {ended.detail}: {found.consoles[0][-300:]}")
        found.correct = all("all ok" in text for text in found.consoles)
        found.retries += retries_of(platform.statistics.snapshot(), nodes)
        return found


__getattr__ = renamed_attributes(__name__, {"SCHEMES": "BACKENDS"})
