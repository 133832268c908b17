# SPDX-License-Identifier: Apache-2.0
"""What the whole machine's parts are worth together: NetCrafter, reversible lanes, who performs the network, where its
queues lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    from .points import WORKLOADS

    parser.add_argument(
        "--only", metavar="NAME", nargs="+", choices=WORKLOADS, help=f"only these problems, of {', '.join(WORKLOADS)}"
    )


EXPERIMENT = Experiment(
    "crossed",
    "NetCrafter × lanes × who performs the network × where its queues lie",
    "Two nodes of four GPUs each work on one problem: in every step, kernels work on data that are spread over the"
    " node's GPUs, and then each node gives the other one a part of what it has found. Inside a node NetCrafter and"
    " reversible lanes help or not; between nodes ComP-Net, GPU host networking, GPU-native or host-driven networking"
    " performs the network, with queue pairs in the GPU's memory or the host's. Which combination is"
    " best for which problem, and why?",
    study_of(__package__),
    _options,
)
