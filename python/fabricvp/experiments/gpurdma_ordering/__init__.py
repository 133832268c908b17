# SPDX-License-Identifier: Apache-2.0
"""What a running kernel sees of data that RDMA writes into its GPU's memory, and what makes it see the right ones."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "gpurdma-ordering",
    "Kernels that poll what RDMA writes",
    "A running kernel waits for a flag or a completion, and then reads the data that were written before it. How often"
    " are they old, because L1 has kept them or because the flag has overtaken them on the way to L2, does a CRC find"
    " out, and what do the check and the repairs cost?",
    study_of(__package__),
)
