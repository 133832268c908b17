# SPDX-License-Identifier: Apache-2.0
"""Every published figure of the five systems beside ours, from results that are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...source_tree import TREE
from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

RESULTS = TREE / "docs/experiments/results"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results",
        metavar="DIR",
        nargs="+",
        default=[str(RESULTS)],
        help="folders of results: those of `fabricvp experiment --out`, or what pages show (default: those of the"
        " source tree's pages)",
    )


EXPERIMENT = Experiment(
    "fidelity",
    "Published figures beside ours",
    "How near do the machines come to what was published of the five systems, and what makes each miss? Nothing is"
    " simulated: figures come from results at hand, and those that are missing or older than the code are named.",
    study_of(__package__),
    _options,
)
