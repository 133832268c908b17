# SPDX-License-Identifier: Apache-2.0
"""The same kernels a decade later."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-modern",
    "RDMA by kernels: a decade later",
    "The same kernels on a GPU like an H200 and an adapter like a ConnectX-7 at 200 Gb/s: what do fences, lanes, queue"
    " pairs and batches cost and bring, which orderings that were published come out, and which do not? Nothing is"
    " fitted to the published figures beside it.",
    study_of(__package__, "modern_study"),
)
