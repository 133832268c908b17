# SPDX-License-Identifier: Apache-2.0
"""All-reduces over 2 to 16 nodes, with the network performed by every backend: time and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from .points import byte_count

    parser.add_argument(
        "--bytes",
        metavar="N",
        nargs="+",
        type=byte_count,
        help="sizes of the vector, such as 65536 or 64MiB (default: 64KiB, and 1MiB on up to 8 nodes; published: 64MB)",
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        nargs="+",
        type=int,
        choices=(2, 4, 8, 16),
        help="only these numbers of nodes, of 2, 4, 8, 16",
    )


EXPERIMENT = Experiment(
    "compnet-reduction",
    "Strong scaling of an all-reduce: who should perform the network?",
    "All nodes sum a vector of floats by a ring; its size stays while nodes are added. CPUs alone; GPUs with the host"
    " networking between kernels; one kernel in which the command processor, host threads, or the lanes perform"
    " the network. Which takes how long, and how much energy? Every sum is checked to the bit.",
    study_of(__package__),
    _options,
)
