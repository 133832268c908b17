# SPDX-License-Identifier: Apache-2.0
"""What kernels move by size of messages and by how they post them."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-throughput",
    "RDMA by kernels: message rate and bandwidth",
    "What do kernels move by size of messages, step by step from one lane that does one message after the other to"
    " thirty queue pairs, beside a CPU that does the same? Nothing is fitted to the published figures beside it.",
    study_of(__package__, "throughput_study"),
)
