# SPDX-License-Identifier: Apache-2.0
"""What a second rank gains: four nodes, each a GPU, that solve Jacobi's method with halos by their command
processors."""

import json
import os
import pathlib
import re
import shutil
import tempfile

import tools
from registry import Result, Unavailable, alternately, measurement

NODES = 4
PROPAGATION = SWITCH = "100 ns"


def machine(folder):
    """`compnet_4` with links and a switch of a machine room."""
    links = "".join(f"    - {{from: node{i}.hca0, to: switch0, propagation: {PROPAGATION}}}\n" for i in range(NODES))
    file = pathlib.Path(folder) / "machine.yaml"
    file.write_text(
        f"base: {tools.TREE}/configs/compnet_4.yaml\nnetwork:\n  switches:\n    - {{name: switch0, latency:"
        f" {SWITCH}}}\n  links:\n{links}"
    )
    return file


def run(folder, ranks, options):
    """Statistics, the wall time that simulating took, and the processor time of the whole command."""
    out = pathlib.Path(folder) / f"out{ranks}"
    before = os.times()
    tools.seconds(
        [
            tools.FABRICVP,
            "run",
            machine(folder),
            "--ranks",
            str(ranks),
            "--quiet",
            "--console",
            "none",
            "--append",
            options,
            "--out",
            out,
        ],
        limit=1500,
    )
    after = os.times()
    statistics = tools.statistics_of(out)
    return (
        statistics,
        statistics["sim.wall_s"],
        after.children_user + after.children_system - before.children_user - before.children_system,
    )


def compared(one, two):
    """Whether two runs gave the same; what is said of the simulation itself may differ."""
    return all(re.match("sim[.]", path) or two.get(path) == value for path, value in one.items())


@measurement("mpi_speedup_2_ranks", "Jacobi on four nodes, two ranks over one process", "1", goal="≥ 1.5")
def speedup():
    if not (tools.BUILD / "python" / "fabricvp" / "libfabricvp_mpi.so").exists() or not shutil.which("mpirun"):
        raise Unavailable("the platform was built without MPI, or mpirun is not installed")
    size, iterations = tools.sized((1024, 16), (16, 1))
    options = (
        f"work=jacobi scheme=compnet rows={size} columns={size}"
        f" groups={tools.sized(32, 4)} iterations={iterations} reference=0"
    )
    with tempfile.TemporaryDirectory() as folder:
        last = {}

        def measured(ranks):
            last[ranks], wall, processor = run(folder, ranks, options)
            return wall, processor

        (one, processor), (two, _) = alternately(tools.sized(2, 1), lambda: measured(1), lambda: measured(2))
    if not compared(last[1], last[2]):
        raise RuntimeError(f"two ranks give other statistics than one process: {json.dumps(options)}")
    alone = [last[2]["sim.wall_s"] - last[2][f"sim.rank{r}.waited_s"] for r in (0, 1)]
    windows, events = last[2]["sim.rank0.windows"], last[1]["sim.events"]
    return Result(
        one / two,
        None,
        "1",
        note=(
            f"{one:.1f} s and {two:.1f} s ({processor:.1f} s of processor time in one process); the two ranks are at"
            f" work for {alone[0]:.1f} s and {alone[1]:.1f} s, which alone would be {one / max(alone):.2f};"
            f" {windows:.0f} windows of {events / windows:.0f} events, {windows / two:.0f} a second"
        ),
    )
