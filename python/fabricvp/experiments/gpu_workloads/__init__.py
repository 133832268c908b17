# SPDX-License-Identifier: Apache-2.0
"""What workloads do on four GPUs in two clusters, beside the same GPUs with fast links everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad"


def _options(parser: argparse.ArgumentParser) -> None:
    from .options import add_machines, add_only, add_policies
    from .workloads import WORKLOADS

    add_machines(parser, MACHINE)
    add_only(parser, WORKLOADS)
    parser.add_argument(
        "--no-spans", action="store_true", help="do not record where the latency of loads goes (faster)"
    )
    parser.add_argument(
        "--no-sizes",
        action="store_true",
        help="do not run the four most sensitive workloads at smaller sizes, nor closer looks at syr2k, gups and atax",
    )
    add_policies(parser)
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        nargs="+",
        default=[],
        action="extend",
        help="override parameters of both machines, e.g. 'node.gpus.*.memory.l2_tlb.sets=8'",
    )


EXPERIMENT = Experiment(
    "gpu-workloads",
    "Workloads on four GPUs in two clusters",
    "How much do slow links between clusters cost, what travels over them, and how much of that is of use: page tables,"
    " padding, bytes that no load needs?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="Workloads on {machine}",
)
