# SPDX-License-Identifier: Apache-2.0
"""All experiments by name, the published systems that they are of, and what they cost. A module is imported when its
experiment runs."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from .frame import Experiment


@dataclass(frozen=True)
class Budget:
    """Core seconds that an experiment may take with its default options, where stock SystemC executes 8 million timed
    events a second (docs/explanation/speed.md)."""

    full_s: float
    quick_s: float

    def core_s(self, quick: bool) -> float:
        """Those of one of the two forms."""
        return self.quick_s if quick else self.full_s


@dataclass(frozen=True)
class Registered:
    """An experiment that has not been imported yet."""

    module: str  #: with an `EXPERIMENT`
    summary: str  #: one line of help
    budget: Budget


@dataclass(frozen=True)
class System:
    """A published system."""

    title: str
    published: tuple[str, ...]  #: experiments with published figures of it; the first has the best known one
    further: tuple[str, ...] = ()  #: experiments that go on from there

    @property
    def experiments(self) -> tuple[str, ...]:
        """All of them."""
        return self.published + self.further


#: Budgets of experiments of `SYSTEMS` but for full ones of netcrafter-load and netcrafter-training, and full ones of
#: locality, replay and crossed, are measured times and a quarter more; those of compnet-locking and
#: gpurdma-placement in proportion to their points. Others follow from sizes and numbers of points.
EXPERIMENTS: dict[str, Registered] = {
    "pcie-congestion": Registered(
        "fabricvp.experiments.pcie_congestion",
        "the PCIe congestion model against the simulated tree; COSMO schedules",
        Budget(350, 15),
    ),
    "netcrafter": Registered(
        "fabricvp.experiments.netcrafter",
        "NetCrafter on the slow link between clusters: its parts alone and together",
        Budget(1120, 65),
    ),
    "netcrafter-load": Registered(
        "fabricvp.experiments.netcrafter_load",
        "NetCrafter's gains against what the slow link costs, at five sizes of each workload, as MGPUSim has the GPUs",
        Budget(13700, 45),
    ),
    "netcrafter-mgpusim": Registered(
        "fabricvp.experiments.netcrafter.mgpusim",
        "the same as netcrafter, on GPUs as MGPUSim has them: the machine of the published figures",
        Budget(1200, 65),
    ),
    "netcrafter-training": Registered(
        "fabricvp.experiments.netcrafter_training",
        "NetCrafter's gains for networks, by how their training is spread over the GPUs",
        Budget(11000, 30),
    ),
    "netcrafter-sensitivity": Registered(
        "fabricvp.experiments.netcrafter_sensitivity",
        "what NetCrafter's gains depend on: window, flit, rates, TLBs, policies, size",
        Budget(2450, 125),
    ),
    "locality": Registered(
        "fabricvp.experiments.locality",
        "where LADM's analysis puts pages and work-groups of each application, beside what the application declares",
        Budget(310, 10),
    ),
    "replay": Registered(
        "fabricvp.experiments.replay",
        "recordings played over another fabric: how far from the software itself, and how much faster",
        Budget(1200, 30),
    ),
    "scale": Registered(
        "fabricvp.experiments.scale", "what simulating a fabric costs as it grows: 4 to 1,024 devices", Budget(1200, 60)
    ),
    "lanes": Registered(
        "fabricvp.experiments.lanes",
        "reversible lanes between four sockets, beside links of twice the bandwidth",
        Budget(8500, 60),
    ),
    "what-if": Registered(
        "fabricvp.experiments.what_if",
        "NetCrafter and reversible lanes on the slow link, alone and together, at several bandwidths",
        Budget(230, 30),
    ),
    "rdma": Registered(
        "fabricvp.experiments.rdma",
        "RDMA between two nodes: latency, bandwidth, message rate beside published hardware",
        Budget(35, 15),
    ),
    "gpurdma-ordering": Registered(
        "fabricvp.experiments.gpurdma_ordering",
        "kernels that poll what RDMA writes: old and early data, a CRC that finds them, what repairs cost",
        Budget(55, 30),
    ),
    "faults": Registered(
        "fabricvp.experiments.faults",
        "what becomes of faults at random times of a cluster at work: masked, corrected, reported, hung, silent",
        Budget(6000, 600),
    ),
    "fidelity": Registered(
        "fabricvp.experiments.fidelity",
        "every published figure of the five systems beside ours, from results at hand",
        Budget(5, 5),
    ),
    "compnet-latency": Registered(
        "fabricvp.experiments.compnet_latency",
        "intra-kernel networking by the command processor, by the host, by the lanes: round trips",
        Budget(125, 40),
    ),
    "compnet-jacobi": Registered(
        "fabricvp.experiments.compnet_jacobi",
        "Jacobi's method over two nodes, with the network performed by every backend",
        Budget(310, 35),
    ),
    "compnet-locking": Registered(
        "fabricvp.experiments.compnet_locking",
        "lines of the command processor's queues locked in the L2, beside work-groups that stream",
        Budget(190, 25),
    ),
    "crossed": Registered(
        "fabricvp.experiments.crossed",
        "two nodes of four GPUs: NetCrafter, reversible lanes, who performs the network, where its queues lie",
        Budget(240, 60),
    ),
    "compnet-reduction": Registered(
        "fabricvp.experiments.compnet_reduction",
        "all-reduces over 2 to 16 nodes by every backend: time and energy",
        Budget(165, 25),
    ),
    "compnet-training": Registered(
        "fabricvp.experiments.compnet_training",
        "training of six workloads, projected from measured all-reduces of their tensors",
        Budget(250, 60),
    ),
    "compnet-scaling": Registered(
        "fabricvp.experiments.compnet_scaling",
        "how many harts of the command processor a GPU needs, by its work-groups that communicate",
        Budget(130, 30),
    ),
    "gpurdma-placement": Registered(
        "fabricvp.experiments.gpurdma.placement",
        "RDMA by kernels: what a message costs by where queues lie",
        Budget(70, 35),
    ),
    "gpurdma-throughput": Registered(
        "fabricvp.experiments.gpurdma.throughput",
        "RDMA by kernels: message rate and bandwidth by how they post",
        Budget(95, 25),
    ),
    "gpurdma-pingpong": Registered(
        "fabricvp.experiments.gpurdma.pingpong",
        "RDMA by kernels: notifications and large transfers there and back",
        Budget(32, 10),
    ),
    "gpurdma-matvec": Registered(
        "fabricvp.experiments.gpurdma.matvec", "RDMA by kernels: a service of matrix-vector products", Budget(55, 20)
    ),
    "gpurdma-what-if": Registered(
        "fabricvp.experiments.gpurdma.what_if",
        "RDMA by kernels: where queues should live, by PCIe tree and generation",
        Budget(120, 40),
    ),
    "gpurdma-modern": Registered(
        "fabricvp.experiments.gpurdma.modern",
        "RDMA by kernels on a GPU like an H200 and an adapter like a ConnectX-7",
        Budget(160, 40),
    ),
    "gpu-workloads": Registered(
        "fabricvp.experiments.gpu_workloads",
        "workloads on four GPUs in two clusters, beside an all-fast fabric",
        Budget(1200, 60),
    ),
    "microbenchmarks": Registered(
        "fabricvp.experiments.microbenchmarks",
        "latencies, rates and limits of one GPU, beside its parameters and real GPUs",
        Budget(600, 60),
    ),
}

#: Systems by the name that commands take.
SYSTEMS: dict[str, System] = {
    "netcrafter": System(
        "NetCrafter (ISCA 2025)",
        ("netcrafter", "netcrafter-mgpusim", "netcrafter-load", "netcrafter-sensitivity"),
        ("netcrafter-training",),
    ),
    "lanes": System("Asymmetric links (MICRO 2017)", ("lanes",), ("what-if",)),
    "pcie-congestion": System("PCIe congestion model (SC 2016)", ("pcie-congestion",)),
    "gpurdma": System(
        "GPUrdma (ROSS 2016)",
        ("gpurdma-placement", "gpurdma-throughput", "gpurdma-pingpong", "gpurdma-matvec", "gpurdma-modern", "rdma"),
        ("gpurdma-what-if", "gpurdma-ordering"),
    ),
    "compnet": System(
        "ComP-Net (PACT 2018)",
        ("compnet-latency", "compnet-jacobi", "compnet-reduction"),
        ("compnet-locking", "compnet-scaling", "compnet-training"),
    ),
}


def find(name: str) -> Experiment:
    """An experiment by name. Raises `InputError` with a hint."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, 1)
        hint = f", did you mean '{near[0]}'?" if near else ""
        raise InputError(f"no experiment '{name}'{hint} (there are: {', '.join(EXPERIMENTS)})")
    return importlib.import_module(EXPERIMENTS[name].module).EXPERIMENT
