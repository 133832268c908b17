# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, and how their time is taken."""

import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time

from registry import Unavailable

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = TREE / "build" / "release"
FABRICVP = BUILD / "bin" / "fabricvp"
LAUNCHER = TREE / ".venv" / "bin" / "fabricvp"
FIRMWARE = pathlib.Path(__file__).parent / "firmware"
WORK = TREE / "build" / "bench"

quick = False  # set before measurements are imported: the frame itself is on trial


def sized(full, small):
    """How much a measurement does: `full`, or `small` where only the frame is tried (bench.py --quick)."""
    return small if quick else full


def rows(name, *arguments, rounds=1):
    """What a program of this folder prints, run after run: one JSON object each."""
    bench = BUILD / "bin" / name
    if not bench.exists():
        raise Unavailable(f"{bench.relative_to(TREE)} is not built")
    found = []
    for _ in range(sized(rounds, 1)):
        lines = subprocess.run(
            [bench, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=300
        ).stdout
        found.append(json.loads(lines.splitlines()[-1]))
    return found


def program(name):
    path = shutil.which(name)
    if not path:
        raise Unavailable(f"{name} is not installed")
    return path


def qemu(*arguments, memory="512M"):
    """The command line of QEMU's `virt` machine with its console on the standard streams."""
    return [program("qemu-system-riscv64"), "-M", "virt", "-m", memory, "-nographic", "-monitor", "none", *arguments]


def compile_loop(name, iterations):
    """A bare-metal ELF that runs tests/bench/firmware/NAME.S that often and powers off."""
    WORK.mkdir(parents=True, exist_ok=True)
    elf = WORK / f"{name}.{iterations}.elf"
    subprocess.run(
        [
            program("riscv64-unknown-elf-gcc"),
            "-march=rv64gc",
            "-mabi=lp64d",
            "-nostdlib",
            "-static",
            f"-DITERATIONS={iterations}",
            "-T",
            FIRMWARE / "loop.ld",
            FIRMWARE / "start.S",
            FIRMWARE / f"{name}.S",
            "-o",
            elf,
        ],
        check=True,
    )
    return elf


def instructions_per_iteration(name):
    """As the head of the source says; the loops are written so that every iteration has the same number."""
    return int(re.search(r"# (\d+) instructions an iteration", (FIRMWARE / f"{name}.S").read_text())[1])


def seconds(command, limit=300):
    """Wall time of a command, which has to succeed."""
    start = time.monotonic()
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit
    )
    took = time.monotonic() - start
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(map(str, command))}: status {done.returncode}: {done.stdout.decode(errors='replace')[-400:]}"
        )
    return took


def processor_seconds_of_run(config, options):
    """Processor time of a run of a machine of configs/ whose program gets these options."""
    with tempfile.TemporaryDirectory() as folder:
        command = fabricvp(
            config, "--quiet", "--console", "none", "--append", options, out=pathlib.Path(folder) / "out"
        )
        before = os.times()
        seconds(command)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def processor_seconds(pid):
    """Processor time that a process has used in all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_to_text(command, text, limit=120):
    """(wall time, processor time) of a command until it has printed the text; the command is then ended."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    start = time.monotonic()
    seen = b""
    try:
        while text.encode() not in seen:
            left = start + limit - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise RuntimeError(f"{command[0]}: no '{text}' within {limit} s; last output: {seen[-200:]!r}")
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                raise RuntimeError(f"{command[0]}: ended before '{text}': {seen[-400:]!r}")
            seen += chunk
        return time.monotonic() - start, processor_seconds(process.pid)
    finally:
        process.kill()
        process.communicate()


def fabricvp(config, *arguments, out=None):
    """The command line of the C++ executable for a machine of configs/."""
    if not FABRICVP.exists():
        raise Unavailable(f"{FABRICVP.relative_to(TREE)} is not built")
    return [FABRICVP, "run", TREE / "configs" / config, "--out", out or tempfile.mkdtemp(dir=WORK), *arguments]


def statistics_of(folder):
    return json.loads((pathlib.Path(folder) / "stats.json").read_text())
