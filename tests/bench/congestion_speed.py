# SPDX-License-Identifier: Apache-2.0
"""Seconds in which the schedule search evaluates every order of a halo exchange, exactly, on one core."""

import json
import statistics
import subprocess

import tools
from registry import Result, Unavailable, measurement

PYTHON = tools.TREE / ".venv" / "bin" / "python"


def search(pattern, orders):
    if not PYTHON.exists():
        raise Unavailable(f"{PYTHON.relative_to(tools.TREE)} is not there")
    took = []
    for _ in range(tools.sized(5, 1)):
        done = subprocess.run(
            [
                PYTHON,
                "-m",
                "fabricvp",
                "congestion-search",
                tools.TREE / "configs" / "cs_storm.yaml",
                "--pattern",
                pattern,
                "--json",
            ],
            check=True,
            capture_output=True,
            timeout=300,
        )
        found = json.loads(done.stdout)
        if found["orders"] != orders:
            raise RuntimeError(f"{found['orders']} orders evaluated, there are {orders}")
        took.append(found["wall_s"])
    return Result(statistics.median(took), None, "s")


@measurement("congestion_2d_s", "all 20,736 orders of the 2-D exchange", "s", goal="< 1")
def two_dimensions():
    return search("2d", 20_736)


@measurement("congestion_3d_s", "all 1,679,616 orders of the 3-D exchange", "s", goal="< 60")
def three_dimensions():
    if tools.quick:
        raise Unavailable("takes too long for a quick run")
    return search("3d", 1_679_616)
