# SPDX-License-Identifier: Apache-2.0
"""What a replay saves the host: the measured part of applications executed on the slow quad, over recordings of them
played there."""

import json
import subprocess

import tools
from registry import Result, Unavailable, measurement


@measurement("replay_speedup", "replay of recordings on the slow quad, over execution", "1", goal="≥ 4")
def speed_up():
    """Processor time of the measured parts alone; the geometric mean over applications."""
    python = tools.LAUNCHER.parent / "python"
    if not python.exists():
        raise Unavailable(f"{python} is not there")
    names = tools.sized(["spmv", "pagerank", "transpose", "reduction", "lenet"], ["transpose"])
    command = [python, "-m", "fabricvp.experiments.replay.measure", *names, *tools.sized([], ["--size", "256"])]
    found = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout.splitlines()[-1]
    )
    return Result(
        found["geometric_mean"],
        None,
        "1",
        note=", ".join(f"{name} {value:.1f}" for name, value in found["speed_ups"].items()),
    )
