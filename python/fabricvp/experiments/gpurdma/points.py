# SPDX-License-Identifier: Apache-2.0
"""Pairs of nodes whose kernels post, and what their firmware (firmware/programs/gpurdma) measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...conditions import Marker
from ...data import resolve_config
from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine
from ..perturbations import name_with, perturbed_text

#: GPU and adapter below one PCIe switch, or each below a root port.
TOPOLOGIES = ("switch", "root")
#: What stands for `switch0` of the configuration, by topology; "switches": each below a switch of its own.
_BELOW = {"root": ("root", "root"), "switches": ("switch0", "switch1")}
#: Options of a hart that posts by the lanes' code, with its queues in its own memory.
BY_HART = "hart=1 gpu_queues=0 gpu_cqs=0 gpu_records=0"
#: … that posts as applications do, through the verbs library.
BY_LIBRARY = f"{BY_HART} library=1"


@dataclass(frozen=True)
class Point:
    """A run of the firmware."""

    options: str  #: of the firmware
    topology: str = "switch"
    generation: int = 3  #: of all PCIe links
    machine: str = "gpurdma_pair"
    spans: bool = False  #: record where the time of the last run's messages goes
    cost: float = 1.0
    settings: tuple[tuple[str, str], ...] = ()  #: of the machine: dotted path, value
    step: int = 0  #: of its clocks, per mille


@dataclass
class Result:
    """What it gave. Times are of the last run, in seconds a message."""

    messages: int = 0
    size: int = 0
    seconds: float = 0.0  #: of all messages
    writing: float = 0.0
    ringing: float = 0.0
    polling: float = 0.0
    polls: float = 0.0  #: a message
    stages: list[tuple[str, str, float]] = field(default_factory=list)  #: component, stage, seconds a message
    host_read: float = 0.0  #: mean read of host memory by lanes, and by the adapter of all memory
    dma_read: float = 0.0
    correct: bool = False  #: every byte was, on both nodes
    error_count: float = 0.0  #: retries, dropped doorbells, entries that could not be read

    @property
    def each(self) -> float:
        """Seconds a message."""
        return self.seconds / self.messages

    @property
    def gbps(self) -> float:
        """Payload, Gb/s."""
        return 8e-9 * self.size * self.messages / self.seconds


def text_of(point: Point) -> str:
    """The machine: that of the configuration."""
    text = perturbed_text(Path(resolve_config(point.machine)).read_text(), point.step)
    text = text.replace("  images:\n", f"  images:\n    append: {point.options}\n", 1)
    if point.topology not in _BELOW:
        return text
    gpu, adapter = _BELOW[point.topology]
    switches = "  pcie:\n    switches:\n      - name: switch0\n"
    text = text.replace(switches, f"{switches}      - name: switch1\n" if point.topology == "switches" else "")
    return text.replace("gpus:\n    - below: switch0", f"gpus:\n    - below: {gpu}").replace(
        "hcas:\n    - below: switch0", f"hcas:\n    - below: {adapter}"
    )


def overrides(point: Point) -> dict[str, object]:
    """What else is set of the machine."""
    if point.generation == 3:
        return dict(point.settings)
    ports = (
        [f"node.pcie.switches.*.{port}" for port in ("upstream_port", "downstream_port")]
        if point.topology != "root"
        else []
    )
    places = ("node.pcie.root.root_port", "node.gpus.0.link", "node.hcas.0.link", *ports)
    return {**{f"{place}.generation": point.generation for place in places}, **dict(point.settings)}


def _text(point: Point) -> str:
    settings = (f"{path}={value}" for path, value in point.settings)
    parts = (point.machine, point.topology, f"generation {point.generation}", point.options.rstrip(), *settings)
    return name_with(", ".join(parts), point.step)


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    with Platform.from_text(text_of(point), overrides=overrides(point)) as platform:
        record_machine(_text(point), platform)
        stages: list[tuple[str, str, float]] = []
        if point.spans:
            if platform.run("1 s", until=Marker("writes", "reset")).outcome != Outcome.EVENT:
                raise InputError(f"{point}: nothing was measured")
            with platform.spans:
                platform.run(until=Marker("writes", "dump"))
            stages = _stages(platform)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        values = platform.statistics.snapshot()
        line = result_lines(texts[0], "writes")[-1]
        each = 1e-12 / line["messages"]
        return Result(
            line["messages"],
            line["bytes"],
            line["time_ps"] * 1e-12,
            line["writing_time_ps"] * each,
            line["ringing_time_ps"] * each,
            line["polling_time_ps"] * each,
            line["polls"] / line["messages"],
            stages,
            values["node0.gpu0.system.read_latency.mean"] * 1e-12,
            values["node0.hca0.dma.read_latency.mean"] * 1e-12,
            all("all ok" in text for text in texts),
            sum(values[f"node0.hca0.{what}"] for what in ("retries", "bad_doorbells", "send_queues.failures")),
        )


def _stages(platform: Platform) -> list[tuple[str, str, float]]:
    """Those of messages, in their order."""
    paths = platform.spans.paths().reset_index()
    paths = paths[paths["what"] == "message"]
    count = paths.groupby("reach")["accesses"].first().sum()
    rows = paths.groupby(["component", "stage"], sort=False)[["service", "queueing"]].sum().sum(axis=1) / count
    return [(component, stage, float(seconds)) for (component, stage), seconds in rows.items()]
