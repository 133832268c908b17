# SPDX-License-Identifier: Apache-2.0
"""Training of neural networks, projected from measured all-reduces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=int,
        choices=(2, 4, 8, 16),
        default=4,
        help="that train together, of 2, 4, 8, 16 (default: %(default)s; published: not said)",
    )


EXPERIMENT = Experiment(
    "compnet-training",
    "Training: what do faster all-reduces give?",
    "After each minibatch every parameter tensor is reduced over all nodes. All-reduces of each size are measured by"
    " every backend, those of the tensors of six workloads are put together from them, and the published share of time"
    " in which the workload waits for the network says what that gives: 1/(1 − b + b/s), at most 1/(1 − b).",
    study_of(__package__),
    _options,
)
