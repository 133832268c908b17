# SPDX-License-Identifier: Apache-2.0
"""What NetCrafter gains for networks that are trained on four GPUs, by how the training is spread over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad_mgpusim"


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.options import add_machines, add_only
    from .ways import NETWORKS

    add_machines(parser, MACHINE)
    add_only(parser, NETWORKS)


EXPERIMENT = Experiment(
    "netcrafter-training",
    "What NetCrafter gains for networks, by how their training is spread over the GPUs",
    "How much of the slow link does training use where one network is spread over all GPUs, where its products are"
    " split along their depth, and where each GPU trains a copy? What do NetCrafter's parts gain then?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="Training on {machine}, by how it is spread over the GPUs",
)
