# SPDX-License-Identifier: Apache-2.0
"""The PCIe congestion model in closed form against the simulated tree, and COSMO's best schedule on that tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "cs_storm"


def _options(parser: argparse.ArgumentParser) -> None:
    from ...arguments import add_node, number

    parser.add_argument(
        "--machine", default=MACHINE, help="configuration with the tree, of 8 copy engines (default: %(default)s)"
    )
    add_node(parser)
    parser.add_argument(
        "--graphs",
        type=lambda text: int(number(text, "graphs", 1, 22_259)),
        metavar="N",
        help="random graphs to run on the tree (default: 3000, quick: 60)",
    )
    parser.add_argument(
        "--seed",
        type=lambda text: int(number(text, "seed", 0, 2**31)),
        default=1,
        help="of the random graphs (default: %(default)s)",
    )


EXPERIMENT = Experiment(
    "pcie-congestion",
    "PCIe congestion: closed form against simulated tree",
    "How well do the closed forms of the PCIe congestion model (Martinasso et al., SC'16) predict a packet-level tree"
    " of PCIe switches, with B and τ measured on that tree and nothing fitted, and what is the best order of COSMO's"
    " halo exchange worth there?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="PCIe congestion: closed form against {machine}",
)
