# SPDX-License-Identifier: Apache-2.0
"""NetCrafter's controllers on the slow link between clusters: each part alone, and all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import Experiment, study_of

if TYPE_CHECKING:
    import argparse

MACHINE = "netcrafter_quad"


def _options(parser: argparse.ArgumentParser) -> None:
    from ..gpu_workloads.workloads import PUBLISHED
    from .points import PAGE_SIZES, POINTS

    parser.add_argument(
        "--machine", default=MACHINE, help="configuration with a slow link between clusters (default: %(default)s)"
    )
    parser.add_argument("--ideal", default="netcrafter_quad_ideal", help="the same without (default: %(default)s)")
    parser.add_argument(
        "--only", metavar="NAME", nargs="+", choices=PUBLISHED, help=f"only these workloads, of {', '.join(PUBLISHED)}"
    )
    parser.add_argument(
        "--points",
        metavar="POINT",
        nargs="+",
        choices=POINTS,
        help=f"only these beside the baseline, of {', '.join(POINTS)} (default: all but data-first)",
    )
    parser.add_argument(
        "--no-spans", action="store_true", help="do not record where the latency of loads goes at the baseline (faster)"
    )
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
    parser.add_argument(
        "--page-size",
        default=PAGE_SIZES[0],
        choices=PAGE_SIZES,
        help="pages of the workloads' buffers (default: %(default)s)",
    )


EXPERIMENT = Experiment(
    "netcrafter",
    "NetCrafter on the slow link between clusters",
    "What do stitching, pooling, trimming and sequencing gain, alone and together, beside a sector cache and beside an"
    " all-fast fabric?",
    study_of(__package__),
    _options,
    machine=MACHINE,
    other_title="NetCrafter on {machine}",
)
