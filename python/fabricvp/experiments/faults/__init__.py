# SPDX-License-Identifier: Apache-2.0
"""A campaign of injected faults: faults at random times of one run, and what becomes of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse


MACHINE = "cluster"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--machine",
        metavar="MACHINE",
        default=MACHINE,
        help="cluster: our firmware, GPUs and RDMA; linux_rdma_pair: Debian's Linux on two nodes with RDMA, which `make"
        " linux` fetches (default: %(default)s)",
    )
    parser.add_argument(
        "--injections",
        metavar="N",
        type=int,
        help="how many (default: 10,000; on linux_rdma_pair 2,500, which take about an hour of a core; with --quick 500"
        " and 110)",
    )
    parser.add_argument(
        "--number",
        metavar="N",
        type=int,
        help="only the injection of this number of the campaign, with the same --kinds and --seed",
    )
    parser.add_argument(
        "--ecc",
        action="store_true",
        help="with --number: of the injections into memories with ECC, which have own ones",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of all draws (default: %(default)s)")
    parser.add_argument(
        "--kinds", metavar="KIND", nargs="+", help="only these, as the table names them, such as 'link down'"
    )


EXPERIMENT = Experiment(
    "faults",
    "Faults, counted",
    "What becomes of a fault in machines at work: is it masked, corrected, reported, recovered from after a time-out,"
    " does the machine hang, or is the result wrong without a word?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="Faults, counted, on {machine}",
)
