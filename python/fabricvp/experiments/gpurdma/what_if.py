# SPDX-License-Identifier: Apache-2.0
"""Where queues of kernels should live, by PCIe tree."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-what-if",
    "RDMA by kernels: where should queues live?",
    "A kernel posts and polls by itself. Should its queue pair and its completion queue lie in the memory of the GPU or"
    " of the host, if GPU and RDMA adapter are below one PCIe switch, below two, or below root ports, and links are of"
    " generation 3 or 5?",
    study_of(__package__, "what_if_study"),
)
