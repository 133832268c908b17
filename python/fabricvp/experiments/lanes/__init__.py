# SPDX-License-Identifier: Apache-2.0
"""Reversible lanes, as proposed for NUMA-aware GPUs (MICRO 2017): on traffic whose gain arithmetic knows, and on
workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.options import add_only
    from ..netcrafter.points import PAGE_SIZES
    from .points import ALL, MIGRATION_SIZES

    add_only(parser, ALL)
    parser.add_argument(
        "--page-size",
        default=PAGE_SIZES[0],
        choices=PAGE_SIZES,
        help="pages of the workloads' buffers (default: %(default)s)",
    )
    parser.add_argument(
        "--migration-sizes",
        nargs="*",
        default=MIGRATION_SIZES[:1],
        choices=MIGRATION_SIZES,
        metavar="SIZE",
        help="run with first touch that moves blocks of these sizes, too (default: '64 KiB'; allowed:"
        f" {', '.join(MIGRATION_SIZES)}); none with --quick",
    )
    parser.add_argument(
        "--no-pairs", action="store_true", help="leave out the runs with lines of 128 bytes (so does --quick)"
    )
    parser.add_argument(
        "--small", action="store_true", help="sizes of which a run takes seconds, where others take minutes"
    )
    parser.add_argument("--no-sweeps", action="store_true", help="leave out other sample and switch times")
    parser.add_argument(
        "--no-moves", action="store_true", help="leave out the runs whose pages move while they are measured"
    )


EXPERIMENT = Experiment(
    "lanes",
    "Reversible lanes between four sockets",
    "What does a link gain if its lanes reverse to the direction that needs them, beside links of twice the bandwidth,"
    " and which rule reverses them best?",
    study_of(__package__),
    _options,
)
