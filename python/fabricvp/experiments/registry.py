# SPDX-License-Identifier: Apache-2.0
"""All experiments by name. A module is imported when its experiment runs."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from .frame import Experiment

#: name → (module with an `EXPERIMENT`, one line of help)
EXPERIMENTS: dict[str, tuple[str, str]] = {
    "pcie-congestion": (
        "fabricvp.experiments.pcie_congestion",
        "the PCIe congestion model against the simulated tree; COSMO schedules",
    ),
    "netcrafter": (
        "fabricvp.experiments.netcrafter",
        "NetCrafter on the slow link between clusters: its parts alone and together",
    ),
    "netcrafter-load": (
        "fabricvp.experiments.netcrafter_load",
        "NetCrafter's gains against what the slow link costs, at five sizes of each workload, as MGPUSim has the GPUs",
    ),
    "netcrafter-sensitivity": (
        "fabricvp.experiments.netcrafter_sensitivity",
        "what NetCrafter's gains depend on: window, flit, rates, TLBs, policies, size",
    ),
    "locality": (
        "fabricvp.experiments.locality",
        "where LADM's analysis puts pages and work-groups of each application, beside what the application declares",
    ),
    "replay": (
        "fabricvp.experiments.replay",
        "recordings played over another fabric: how far from the software itself, and how much faster",
    ),
    "scale": ("fabricvp.experiments.scale", "what simulating a fabric costs as it grows: 4 to 1,024 devices"),
    "lanes": (
        "fabricvp.experiments.lanes",
        "reversible lanes between four sockets, beside links of twice the bandwidth",
    ),
    "what-if": (
        "fabricvp.experiments.what_if",
        "NetCrafter and reversible lanes on the slow link, alone and together, at several bandwidths",
    ),
    "rdma": (
        "fabricvp.experiments.rdma",
        "RDMA between two nodes: latency, bandwidth, message rate beside published hardware",
    ),
    "gpurdma-ordering": (
        "fabricvp.experiments.gpurdma_ordering",
        "kernels that poll what RDMA writes: old and early data, a CRC that finds them, what repairs cost",
    ),
    "fidelity": (
        "fabricvp.experiments.fidelity",
        "every published figure of the five systems beside ours, from results at hand",
    ),
    "compnet-latency": (
        "fabricvp.experiments.compnet_latency",
        "intra-kernel networking by the command processor, by the host, by the lanes: round trips",
    ),
    "compnet-jacobi": (
        "fabricvp.experiments.compnet_jacobi",
        "Jacobi's method over two nodes, with the network performed by every backend",
    ),
    "compnet-locking": (
        "fabricvp.experiments.compnet_locking",
        "lines of the command processor's queues locked in the L2, beside work-groups that stream",
    ),
    "crossed": (
        "fabricvp.experiments.crossed",
        "two nodes of four GPUs: NetCrafter, reversible lanes, who performs the network, where its queues lie",
    ),
    "compnet-reduction": (
        "fabricvp.experiments.compnet_reduction",
        "all-reduces over 2 to 16 nodes by every backend: time and energy",
    ),
    "compnet-training": (
        "fabricvp.experiments.compnet_training",
        "training of six workloads, projected from measured all-reduces of their tensors",
    ),
    "compnet-scaling": (
        "fabricvp.experiments.compnet_scaling",
        "how many harts of the command processor a GPU needs, by its work-groups that communicate",
    ),
    "gpurdma-placement": (
        "fabricvp.experiments.gpurdma.placement",
        "RDMA by kernels: what a message costs by where queues lie",
    ),
    "gpurdma-throughput": (
        "fabricvp.experiments.gpurdma.throughput",
        "RDMA by kernels: message rate and bandwidth by how they post",
    ),
    "gpurdma-pingpong": (
        "fabricvp.experiments.gpurdma.pingpong",
        "RDMA by kernels: notifications and large transfers there and back",
    ),
    "gpurdma-matvec": ("fabricvp.experiments.gpurdma.matvec", "RDMA by kernels: a service of matrix-vector products"),
    "gpurdma-what-if": (
        "fabricvp.experiments.gpurdma.what_if",
        "RDMA by kernels: where queues should live, by PCIe tree and generation",
    ),
    "gpurdma-modern": (
        "fabricvp.experiments.gpurdma.modern",
        "RDMA by kernels on a GPU like an H200 and an adapter like a ConnectX-7",
    ),
    "gpu-workloads": (
        "fabricvp.experiments.gpu_workloads",
        "workloads on four GPUs in two clusters, beside an all-fast fabric",
    ),
    "microbenchmarks": (
        "fabricvp.experiments.microbenchmarks",
        "latencies, rates and limits of one GPU, beside its parameters and real GPUs",
    ),
}


def find(name: str) -> Experiment:
    """An experiment by name. Raises `InputError` with a hint."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, 1)
        hint = f", did you mean '{near[0]}'?" if near else ""
        raise InputError(f"no experiment '{name}'{hint} (there are: {', '.join(EXPERIMENTS)})")
    return importlib.import_module(EXPERIMENTS[name][0]).EXPERIMENT
