# SPDX-License-Identifier: Apache-2.0
"""A service that multiplies vectors by a matrix, with a kernel for each batch or one that serves all."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-matvec",
    "RDMA by kernels: a service of matrix-vector products",
    "How many vectors a second does a GPU multiply for another node, if its CPU receives, starts a kernel and answers"
    " for each batch, and if one kernel does all of that? Nothing is fitted to the published figures beside it.",
    study_of(__package__, "matvec_study"),
)
