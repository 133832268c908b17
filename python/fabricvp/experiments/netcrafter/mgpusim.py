# SPDX-License-Identifier: Apache-2.0
"""The same on GPUs as MGPUSim models them, the simulator of the published figures."""

from __future__ import annotations

from functools import partial

from ..frame import Experiment, study_of
from . import add_options

MACHINE = "netcrafter_quad_mgpusim"

EXPERIMENT = Experiment(
    "netcrafter-mgpusim",
    "NetCrafter on GPUs as MGPUSim models them",
    "What do stitching, pooling, trimming and sequencing gain on the machine of the published figures: compute units,"
    " caches, TLBs and page walkers as in studies on MGPUSim? Workloads and sizes are those of `netcrafter`.",
    study_of(__package__),
    partial(add_options, MACHINE),
    machine=MACHINE,
    other_title="NetCrafter on {machine}",
)
