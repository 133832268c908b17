# SPDX-License-Identifier: Apache-2.0
"""Jacobi's method over two nodes, with the network performed by every backend."""

from __future__ import annotations

from ..frame import Experiment, study_of

EXPERIMENT = Experiment(
    "compnet-jacobi",
    "Jacobi's method: where does intra-kernel networking pay?",
    "Two nodes solve by Jacobi's method: each has rows of a grid, sends its outer ones to its neighbour after every"
    " iteration, and takes part in an all-reduce (max) of the change. CPUs alone; GPUs with the host networking"
    " between kernels; GPUs with one kernel in which the command processor, host threads, or the lanes perform"
    " the network. For which size of the local grid is which of them best? Every backend must find what the CPUs find,"
    " to the bit.",
    study_of(__package__),
)
