# SPDX-License-Identifier: Apache-2.0
"""What a second rank gains, alone and beside a process that wants one of two cores: four nodes, each a GPU, that solve
Jacobi's method with halos by their command processors. And what an exchange between two ranks costs."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
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


def has_mpi():
    return (tools.BUILD / "python" / "fabricvp" / "libfabricvp_mpi.so").exists() and shutil.which("mpirun")


def run(folder, ranks, options, transport="shared_memory"):
    """Statistics, the wall time that simulating took, and the processor time of the whole command."""
    out = pathlib.Path(folder) / f"out{ranks}"
    before = os.times()
    tools.seconds(
        [
            *(tools.FABRICVP, "run", machine(folder), "--ranks", str(ranks), "--transport", transport),
            *("--quiet", "--console", "none", "--append", options, "--out", out),
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


def jacobi(size, iterations):
    return (
        f"work=jacobi scheme=compnet rows={size} columns={size}"
        f" groups={tools.sized(32, 4)} iterations={iterations} reference=0"
    )


def times(rounds, options):
    """Median seconds of one process, of two ranks by shared memory, and by MPI where there is MPI; and the last
    statistics of each. All are the same but for the simulation's own."""
    with tempfile.TemporaryDirectory() as folder:
        last = {}

        def measured(key, *how):
            last[key], wall, _ = run(folder, *how)
            return wall

        kinds = [lambda: measured("one", 1, options), lambda: measured("two", 2, options)]
        if has_mpi():
            kinds.append(lambda: measured("mpi", 2, options, "mpi"))
        medians = alternately(rounds, *kinds)
    for key, statistics in last.items():
        if not compared(last["one"], statistics):
            raise RuntimeError(f"two ranks ({key}) give other statistics than one process: {options}")
    return medians, last


def in_words(medians):
    text = f"{medians[0]:.1f} s in one process, {medians[1]:.1f} s in two ranks"
    return text + (f", {medians[2]:.1f} s by MPI" if len(medians) > 2 else "")


@measurement("mpi_speedup_2_ranks", "Jacobi on four nodes, two ranks over one process", "1", goal="≥ 1.7")
def speedup():
    size, iterations = tools.sized((1024, 16), (16, 1))
    medians, last = times(tools.sized(2, 1), jacobi(size, iterations))
    two = last["two"]
    windows, events = two["sim.rank0.windows"], last["one"]["sim.events"]
    return Result(
        medians[0] / medians[1],
        None,
        "1",
        note=(
            f"{in_words(medians)}; the windows' busiest ranks would allow {two['sim.parallel.bound']:.2f};"
            f" {windows:.0f} windows of {events / windows:.0f} events, {windows / two['sim.wall_s']:.0f} a second"
        ),
    )


@contextlib.contextmanager
def busy_process():
    """One that always wants a core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@measurement("ranks_contended_ratio", "two ranks over one process, each beside a busy process", "1", goal="≤ 1.3")
def contended():
    if len(os.sched_getaffinity(0)) != 2:
        raise Unavailable("there are not two cores: run it by taskset -c 0,1")
    with busy_process():
        medians, _ = times(tools.sized(3, 1), jacobi(*tools.sized((512, 8), (16, 1))))
    return Result(medians[1] / medians[0], None, "1", note=in_words(medians))


@measurement("rank_exchange_us", "an empty window's exchange between two ranks, over MPI's", "µs", goal="≤ 0.5")
def exchange():
    bench = [tools.BUILD / "bin" / "exchange_bench", str(tools.sized(200_000, 2000))]
    by_mpi = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root", *bench]

    def measured(command):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=300
        )
        return tuple(json.loads(done.stdout.splitlines()[-1])[key] for key in ("fastest_us", "median_us"))

    kinds = [lambda: measured(bench)] + ([lambda: measured(by_mpi)] if has_mpi() else [])
    rows = alternately(tools.sized(5, 1), *kinds)
    note = "the fastest 200 exchanges; the median ones took " + " and ".join(f"{median:.2f} µs" for _, median in rows)
    return Result(rows[0][0], rows[1][0] if len(rows) > 1 else None, "µs", note=note)
