# SPDX-License-Identifier: Apache-2.0
"""Lines of the command processor's queues, locked in the L2 beside work-groups that stream."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "compnet-locking",
    "Lines of queues that stay in the L2",
    "Requests of work-groups for the network wait in the GPU's L2 until the command processor takes them. Other"
    " work-groups that stream through memory drive them out meanwhile. How many are still there when they are looked"
    " for, what do round trips take, and what goes to memory, with lines locked while there are requests in them, and"
    " without?",
    study_of(__package__),
)
