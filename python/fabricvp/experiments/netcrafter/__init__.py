# SPDX-License-Identifier: Apache-2.0
"""NetCrafter's controllers on the slow link between clusters: each part alone, and all together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad"


def add_options(machine: str, parser: argparse.ArgumentParser) -> None:
    """Options of an experiment whose machine is ``machine`` unless another is given."""
    from ..gpu_workloads.options import add_machines, add_only, add_policies
    from ..gpu_workloads.workloads import PUBLISHED
    from .points import PAGE_SIZES, POINTS

    add_machines(parser, machine)
    add_only(parser, PUBLISHED)
    parser.add_argument(
        "--points",
        metavar="POINT",
        nargs="+",
        choices=POINTS,
        help=f"only these beside the baseline, of {', '.join(POINTS)} (default: all but data-first)",
    )
    parser.add_argument(
        "--no-spans", action="store_true", help="do not record where the latency of loads goes at the baseline (faster)"
    )
    add_policies(parser)
    parser.add_argument(
        "--page-size",
        default=PAGE_SIZES[0],
        choices=PAGE_SIZES,
        help="pages of the workloads' buffers (default: %(default)s)",
    )


EXPERIMENT = Experiment(
    "netcrafter",
    "NetCrafter on the slow link between clusters",
    "What do stitching, pooling, trimming and sequencing gain, alone and together, beside a sector cache and beside an"
    " all-fast fabric?",
    study_of(__package__),
    partial(add_options, MACHINE),
    machine=MACHINE,
    other_title="NetCrafter on {machine}",
)
