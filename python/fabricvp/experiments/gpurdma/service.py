# SPDX-License-Identifier: Apache-2.0
"""A master that sends batches and a worker that answers (firmware/programs/gpurdma/serve.h)."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine
from ..perturbations import name_with
from . import points

GROUPS = 30
#: Who answers: what the firmware is told.
WORKERS = {
    "CPU": "serve=hart",
    "one kernel": f"serve=kernel replies={GROUPS}",
    "each work-group by itself": f"serve=kernel replies={GROUPS} own=1",
}


@dataclass(frozen=True)
class Service:
    """A run of it."""

    options: str
    launch: str = "0 us"  #: what a vendor's driver adds to a launch
    cost: float = 1.0
    step: int = 0  #: of the machine's clocks, per mille


@dataclass
class ServiceResult:
    """What it gave."""

    rounds: int
    bytes: int  #: of a batch
    seconds: float  #: of all rounds
    correct: bool
    error_count: float
    launches: float  #: of kernels, by the worker

    @property
    def each(self) -> float:
        """Seconds a round."""
        return self.seconds / self.rounds


def measure(service: Service) -> ServiceResult:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    text = points.text_of(points.Point(service.options, step=service.step))
    overrides = {"node.gpus.*.launches.software_overhead": service.launch}
    with Platform.from_text(text, overrides=overrides) as platform:
        record_machine(name_with(f"{service.options}, {service.launch} a launch", service.step), platform)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{service}: {ended.detail}: {texts[0][-300:]}")
        values = platform.statistics.snapshot()
        line = result_lines(texts[0], "serve")[-1]
        return ServiceResult(
            line["rounds"],
            line["bytes"],
            line["time_ps"] * 1e-12,
            all("all ok" in text for text in texts),
            sum(
                values[f"node{n}.hca0.{what}"]
                for n in (0, 1)
                for what in ("retries", "bad_doorbells", "send_queues.failures")
            ),
            values["node1.gpu0.dispatcher.dispatches"],
        )
