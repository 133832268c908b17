# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp explain`."""

from __future__ import annotations

from ..arguments import ArgumentParser
from ..printable import printable
from .ranking import explain
from .report import MAX_FINDINGS, report


def main(arguments: list[str]) -> int:
    """`fabricvp explain FOLDER`: 0, or `InputError`."""
    parser = ArgumentParser(
        "explain",
        "Tells in ten lines where the time of a region went: critical resources by the share of the time in which they"
        " were\nbusy, the queue before each, and a parameter whose change should show.",
        "fabricvp explain results --region kernels",
    )
    parser.add_argument("folder", metavar="RUN_FOLDER", help="a folder of `fabricvp run --out`")
    parser.add_argument(
        "--region",
        metavar="NAME",
        help="a region of interest, such as kernels or node1.kernels; run: the whole run (the longest region)",
    )
    parser.add_argument(
        "--top",
        metavar="N",
        type=int,
        choices=range(1, MAX_FINDINGS + 1),
        default=MAX_FINDINGS,
        help=f"how many resources to show, 1 to {MAX_FINDINGS} (all of them)",
    )
    given = parser.parse_args(arguments)
    print("\n".join(printable(line) for line in report(explain(given.folder, given.region), given.top).split("\n")))
    return 0
