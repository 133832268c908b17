# SPDX-License-Identifier: Apache-2.0
"""How many harts of the command processor a GPU needs, by how many of its work-groups communicate."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "compnet-scaling",
    "Command processors against larger GPUs: where do they saturate?",
    "Work-groups, one to 64 of them, send messages to those of another node and wait for answers. One to eight harts of"
    " the command processor perform the requests, or the work-groups themselves; then the same with messages"
    " without replies. How many requests a second can a hart perform, from how many work-groups on is that too few, and"
    " from where on are the lanes themselves faster?",
    study_of(__package__),
)
