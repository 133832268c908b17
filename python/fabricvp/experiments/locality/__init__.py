# SPDX-License-Identifier: Apache-2.0
"""Locality that applications declare for LASP, beside that of an analysis of their kernels' index expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad"


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.options import add_only
    from .declared import SIZES

    parser.add_argument("--machine", metavar="MACHINE", default=MACHINE, help="default: %(default)s")
    add_only(parser, SIZES)
    parser.add_argument(
        "--times",
        action="store_true",
        help="also runs the workloads of NetCrafter's evaluation by contiguous chunks, by declarations and by the"
        " analysis, on a machine of four GPUs with pages of 4 KiB",
    )


EXPERIMENT = Experiment(
    "locality",
    "Declared locality beside analysed",
    "Where LADM's analysis of index expressions puts pages and work-groups of each application, is that what the"
    " application declares?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="Declared locality beside analysed, on {machine}",
)
