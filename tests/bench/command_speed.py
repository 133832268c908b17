# SPDX-License-Identifier: Apache-2.0
"""Time for a result: whole commands as people type them, from start to exit; what the host of the machine does
included."""

import shutil
import statistics
import subprocess
import tempfile
import time

import tools
from registry import Result, Unavailable, measurement

REFERENCE = 3_720_000  # S of the machine on which the goals were set


def seconds_of(app, size, rounds=5):
    """Wall time of `fabricvp run gpu --app APP --size SIZE`, whose result has to be right; the median of some runs."""
    if not tools.LAUNCHER.exists():
        raise Unavailable(f"{tools.LAUNCHER.relative_to(tools.TREE)} is not there")
    took = []
    for _ in range(tools.sized(rounds, 1)):
        out = tempfile.mkdtemp(dir=tools.WORK)
        start = time.monotonic()
        done = subprocess.run(
            [tools.LAUNCHER, "run", "gpu", "--app", app, "--size", str(size), "--out", out],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        took.append(time.monotonic() - start)
        if done.returncode != 0:
            raise RuntimeError(
                f"fabricvp run gpu --app {app}: status {done.returncode}: {(done.stdout + done.stderr)[-400:]}"
            )
        shutil.rmtree(out)
    return Result(statistics.median(took), None, "s")


def goal(seconds):
    return f"≤ {seconds} s where S is {REFERENCE:,}"


@measurement("small_kernel_s", "command: vectoradd of 1,024 elements", "s", goal(0.25))
def small_kernel():
    return seconds_of("vectoradd", 1024)


@measurement("fir_262144_s", "command: fir of 262,144 elements", "s", goal(1.5))
def fir():
    return seconds_of("fir", tools.sized(262_144, 4096), rounds=3)


@measurement("transpose_1024_s", "command: transpose of 1,024 x 1,024 words", "s", goal(1.0))
def transpose():
    return seconds_of("transpose", tools.sized(1024, 64), rounds=3)
