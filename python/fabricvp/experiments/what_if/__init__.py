# SPDX-License-Identifier: Apache-2.0
"""NetCrafter and reversible lanes on the slow link between clusters: alone, together, neither, at several
bandwidths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.options import add_only
    from ..lanes.points import POLICIES
    from .points import RATIOS, WORKLOADS

    add_only(parser, WORKLOADS)
    parser.add_argument(
        "--ratios",
        metavar="N",
        nargs="+",
        type=int,
        choices=RATIOS,
        help=f"only links between clusters that are slower by these, of {', '.join(map(str, RATIOS))}",
    )
    parser.add_argument(
        "--policy",
        default="milic2017",
        choices=POLICIES,
        help=f"policy of the reversible lanes: {', '.join(POLICIES)} (default: %(default)s)",
    )


EXPERIMENT = Experiment(
    "what-if",
    "What if NetCrafter's links had reversible lanes",
    "NetCrafter lets a slow link carry less; reversible lanes let it carry more one way. Where does each win, and where"
    " do they lose together?",
    study_of(__package__),
    _options,
)
