# SPDX-License-Identifier: Apache-2.0
"""What NetCrafter gains against what the slow link costs, over sizes of the workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad_mgpusim"


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.options import add_machines, add_only
    from ..netcrafter.points import DEFAULT
    from .sizes import DEFAULT_REACH, REACHES, SIZES

    add_machines(parser, MACHINE)
    add_only(parser, SIZES)
    parser.add_argument(
        "--points",
        metavar="POINT",
        nargs="*",
        choices=DEFAULT,
        help="only these beside the baseline, the all-fast fabric and all parts, of"
        f" {', '.join(at for at in DEFAULT if at not in ('ideal', 'all'))}; without any, those three alone",
    )
    parser.add_argument(
        "--sizes",
        metavar="N",
        type=int,
        choices=range(1, 6),
        default=5,
        help="how many sizes of each workload, from the study's own downwards (default: %(default)s)",
    )
    parser.add_argument(
        "--reach",
        metavar="ENTRIES",
        nargs="+",
        choices=REACHES,
        default=[DEFAULT_REACH],
        help=f"entries of the L2 TLB, of {', '.join(REACHES)} (default: {DEFAULT_REACH})",
    )


EXPERIMENT = Experiment(
    "netcrafter-load",
    "What NetCrafter gains against what the slow link costs",
    "How do the gains of NetCrafter's parts follow from how much the slow link slows a workload down, at five sizes of"
    " each workload? Where do the published averages lie?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="NetCrafter's gains against the slow-down on {machine}",
)
