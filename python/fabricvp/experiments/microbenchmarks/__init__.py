# SPDX-License-Identifier: Apache-2.0
"""What a GPU's units do, measured from inside kernels, beside the machine's parameters and real GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "gpu"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--machine", metavar="CONFIG", default=MACHINE, help=f"the machine whose first GPU is measured ({MACHINE})"
    )


EXPERIMENT = Experiment(
    "microbenchmarks",
    "Microbenchmarks of a GPU like an R9 Nano",
    "Pointer chases, streams, arithmetic chains, LDS strides, atomics, barriers and launches: does each unit of the GPU"
    " cost what its parameters say, and does the machine reach its memory?",
    study_of(__package__),
    _options,
    MACHINE,
    "Microbenchmarks of the GPU of {machine}",
)
