# SPDX-License-Identifier: Apache-2.0
"""What a notification and a large transfer cost there and back, with a CPU or a kernel at the other end."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-pingpong",
    "RDMA by kernels: there and back",
    "What does a notification cost there and back, and what does a large transfer move, if a CPU answers, one"
    " persistent kernel, or each of its work-groups by itself? Nothing is fitted to the published figures beside it.",
    study_of(__package__, "pingpong_study"),
)
