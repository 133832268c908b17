# SPDX-License-Identifier: Apache-2.0
"""Intra-kernel networking, by the command processor (ComP-Net), by host threads (GHN), and by the lanes: round
trips."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "compnet-latency",
    "Intra-kernel networking: who should serve it?",
    "A work-group sends a message to a work-group on another node, which answers. The request is performed by a hart of"
    " the GPU's command processor (ComP-Net), by a host thread (GPU host networking), by the work-group itself,"
    " or between kernels by packets of the GPU's queue (GPUDirect Async). What does a round trip take by size, by"
    " number of work-groups and service threads, by the delay of the I/O bus, and how much energy do the threads take?"
    " Nothing is fitted to the published figures beside it.",
    study_of(__package__),
)
