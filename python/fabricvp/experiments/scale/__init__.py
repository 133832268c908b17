# SPDX-License-Identifier: Apache-2.0
"""What simulating a fabric costs as it grows: traffic generators, or recordings of four GPUs side by side, on 4 to
1,024 devices in a fat tree of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from .measure import PATTERNS, RECORDED, SHAPES

    parser.add_argument(
        "--devices",
        metavar="N",
        nargs="+",
        type=int,
        choices=SHAPES,
        help=f"only these sizes, of {', '.join(map(str, SHAPES))}",
    )
    parser.add_argument(
        "--patterns",
        metavar="PATTERN",
        nargs="+",
        choices=[*PATTERNS, *RECORDED],
        help=f"only these, of {', '.join((*PATTERNS, *RECORDED))} (the last ones are recordings)",
    )


EXPERIMENT = Experiment(
    "scale",
    "Fabrics of 4 to 1,024 devices",
    "What do a packet on a link and a device cost the host, in time, in calendar events and in memory, as a fat tree of"
    " clusters grows?",
    study_of(__package__),
    _options,
)
