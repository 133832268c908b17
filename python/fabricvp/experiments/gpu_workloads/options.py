# SPDX-License-Identifier: Apache-2.0
"""Options of experiments that compare a machine with a slow link with one without."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...arguments import add_node

if TYPE_CHECKING:
    import argparse


def add_machines(parser: argparse.ArgumentParser, machine: str) -> None:
    """`--machine` and `--ideal`: ``machine``, and the one named after it, unless others are given; and `--node`."""
    parser.add_argument(
        "--machine", default=machine, help="configuration with a slow link between clusters (default: %(default)s)"
    )
    parser.add_argument("--ideal", default=f"{machine}_ideal", help="the same without (default: %(default)s)")
    add_node(parser)


def add_only(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """`--only`: some of the workloads."""
    names = list(names)
    parser.add_argument(
        "--only", metavar="NAME", nargs="+", choices=names, help=f"only these workloads, of {', '.join(names)}"
    )


def add_policies(parser: argparse.ArgumentParser) -> None:
    """`--placement` and `--dispatch`."""
    parser.add_argument(
        "--placement",
        default="lasp",
        metavar="POLICY",
        help="where pages go: contiguous, interleaved, first_touch or lasp (default)",
    )
    parser.add_argument(
        "--dispatch",
        default="lasp",
        metavar="POLICY",
        help="where work-groups run: contiguous, round_robin, fill or lasp (default)",
    )
