# SPDX-License-Identifier: Apache-2.0
"""What NetCrafter's gains depend on: windows, flits, rates of links, reach of TLBs, where pages and work-groups go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from .plan import SWEEPS

    parser.add_argument(
        "--only", metavar="SWEEP", nargs="+", choices=SWEEPS, help=f"only these, of {', '.join(SWEEPS)}"
    )


EXPERIMENT = Experiment(
    "netcrafter-sensitivity",
    "What NetCrafter's gains depend on",
    "How do the gains of NetCrafter's parts, and what the slow link costs, move with the pooling window, what the"
    " published description leaves open (from when the window counts, what the cluster queue keeps, which walks go"
    " first, what rides), which responses are trimmed, the flit, the"
    " rates of the links, the reach of the TLBs, the size of pages, where pages and work-groups go,"
    " queues by destination, and the size of the input? Do the published orderings come out?",
    study_of(__package__),
    _options,
)
