# SPDX-License-Identifier: Apache-2.0
"""Recordings of what GPUs send to each other, played over another fabric, beside the software itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad"


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.workloads import PUBLISHED

    parser.add_argument(
        "--machine", default=MACHINE, help="configuration over whose fabric is played (default: %(default)s)"
    )
    parser.add_argument(
        "--recorded", default="netcrafter_quad_ideal", help="where recordings are made (default: %(default)s)"
    )
    parser.add_argument(
        "--only", metavar="NAME", nargs="+", choices=PUBLISHED, help=f"only these workloads, of {', '.join(PUBLISHED)}"
    )


EXPERIMENT = Experiment(
    "replay",
    "Recordings played over another fabric",
    "How far is the time of a replay from that of the software itself, and how much less work is it for the host?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="Recordings played over {machine}",
)
