# SPDX-License-Identifier: Apache-2.0
"""Speed and size of a GPU: caches, TLBs and HBM modelled, one core. Processor time, so other load hardly counts."""

import os
import shutil
import statistics
import subprocess
import tempfile

import tools
from registry import Result, Unavailable, measurement


def run_app(name, *arguments, machine="gpu.yaml"):
    """(statistics, processor seconds, MiB resident at most) of an application on a stock machine; its result has to be
    right."""
    out = tempfile.mkdtemp(dir=tools.WORK)
    log = tools.WORK / "gpu_app.log"
    command = [*map(str, tools.fabricvp(machine, "--app", name, "--quiet", "--console", "none", *arguments, out=out))]
    with open(log, "wb") as sink:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)}: status {process.returncode}: {log.read_text(errors='replace')[-400:]}"
        )
    found = {path: row["value"] if isinstance(row, dict) else row for path, row in tools.statistics_of(out).items()}
    shutil.rmtree(out)
    return found, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def total(found, suffix):
    return sum(value for path, value in found.items() if ".gpu" in path and path.endswith(suffix))


def instructions(found):
    return total(found, ".wavefront_instructions_total")


def transactions(found):
    return total(found, ".l1.transactions_total")


def applications():
    if not tools.FABRICVP.exists():
        raise Unavailable(f"{tools.FABRICVP.relative_to(tools.TREE)} is not built")
    lines = subprocess.run([tools.FABRICVP, "apps"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines[1 : lines.index("")]]


@measurement(
    "gpu_alu_wavefront_instructions_per_s",
    "GPU lanes, arithmetic in registers",
    "wavefront-instructions/s",
    goal="≥ 6 S",
)
def alu():
    rows = tools.rows("lanes_bench", tools.BUILD / "firmware", "alu", rounds=5)
    return Result(
        statistics.median(row["alu_wavefront_instructions_per_s"] for row in rows),
        None,
        "wavefront-instructions/s",
        note=f"64 compute units, lanes by {rows[0]['operations']}",
    )


@measurement(
    "gpu_wavefront_instructions_per_s",
    "GPU, all applications at their default sizes",
    "wavefront-instructions/s",
    goal="≥ 0.5 S",
)
def kernel_set():
    """All instructions of all applications over all time: the host's part (input, reference) included."""
    notes, executed, took = [], 0, 0
    for name in tools.sized(applications(), ["vectoradd", "reduction"]):
        found, seconds, _ = run_app(name)
        executed += instructions(found)
        took += seconds
        notes.append(f"{name} {instructions(found) / seconds / 1e6:.2f}")
    return Result(
        executed / took,
        None,
        "wavefront-instructions/s",
        note=f"{executed / 1e6:.1f} million in {took:.1f} s; millions/s: " + ", ".join(notes),
    )


@measurement("gpu_memory_transactions_per_s", "GPU, random updates (gups)", "L1 transactions/s", goal="≥ 0.14 S")
def gups():
    found, seconds, _ = run_app(
        "gups", "--option", "atomics=1", *tools.sized(("--size", "8388608"), ("--size", "4096"))
    )
    return Result(
        transactions(found) / seconds,
        None,
        "L1 transactions/s",
        note=f"{transactions(found) / 1e6:.1f} million, a table larger than L2",
    )


@measurement("gpu_mb_per_gpu", "host memory for a GPU that is full of wavefronts", "MB", goal="≤ 150")
def megabytes():
    """Against the same host alone; what the application touches of host and device memory counts too."""
    _, _, full = run_app("mm", *tools.sized((), ("--size", "64")))  # nearly all wavefront slots, little data
    bare = tools.WORK / "no_gpu.yaml"
    config = (tools.TREE / "configs" / "gpu.yaml").read_text()
    bare.write_text(config[: config.index("  pcie:")])
    process = subprocess.Popen(
        [
            *map(
                str,
                [
                    tools.FABRICVP,
                    "run",
                    bare,
                    "--out",
                    tempfile.mkdtemp(dir=tools.WORK),
                    "--quiet",
                    "--console",
                    "none",
                    "--firmware",
                    tools.BUILD / "firmware" / "hello.elf",
                ],
            )
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(process.stderr.read().decode(errors="replace")[-400:])
    empty = usage.ru_maxrss / 1024
    mib = 1.048576
    return Result(
        (full - empty) * mib,
        None,
        "MB",
        note=f"resident at most: {full * mib:.0f} MB running mm, {empty * mib:.0f} MB without a GPU",
    )


@measurement("transpose_2048_quad_s", "transpose of 2048 x 2048 words over four GPUs", "s", goal="< 30")
def transpose_on_quad():
    found, seconds, _ = run_app("transpose", "--size", str(tools.sized(2048, 128)), machine="netcrafter_quad.yaml")
    return Result(
        seconds,
        None,
        "s",
        note=f"256 compute units, {transactions(found) / 1e6:.1f} million L1 transactions, host's part included",
    )
