# SPDX-License-Identifier: Apache-2.0
"""Latency, bandwidth and message rate of RDMA between two nodes, driven by the firmware's verbs, beside published
hardware."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "rdma",
    "RDMA between two nodes, beside published hardware",
    "What do verbs cost by size between two simulated nodes, where does a message's time go, and what do inline data,"
    " doorbell batching, several queue pairs and queues or payload in a GPU's memory change? Nothing is fitted to the"
    " published figures beside it.",
    study_of(__package__),
)
