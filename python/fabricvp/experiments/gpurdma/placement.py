# SPDX-License-Identifier: Apache-2.0
"""What a message costs a kernel by where its queues lie."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-placement",
    "RDMA by kernels: where queues lie",
    "What does a message cost a kernel that posts and polls by itself, with its queue pair and its completion queue in"
    " the memory of the host or of the GPU, and where does the time go? Nothing is fitted to the published figures"
    " beside it.",
    study_of(__package__, "placement_study"),
)
