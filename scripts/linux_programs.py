#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linux_programs.py [--out OUT] [--rounds N] [PART...]: programs in HIP and CUDA on simulated Linux beside bare metal.

Parts are `programs` (kernel times of examples/programs), `launch` (where the time of a launch goes) and `cost`
(processor time of fir). Tables go to standard output, and with --out to OUT/result.json, where tables of other calls
stay, and which `fabricvp docs refresh OUT` puts into the page. Ends with 1 if results differ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fabricvp
from fabricvp.compiler.bare_program import build_bare
from fabricvp.compiler.linux_program import build_linux
from fabricvp.compiler.sources import Options
from fabricvp.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = sorted(path.stem for path in (EXAMPLES / "programs").glob("*.cu"))
LANGUAGES = {"HIP": ".hip", "CUDA": ".cu"}
COMMAND = [sys.executable, "-m", "fabricvp"]
#: The machines: one GPU, which is the same in both.
LINUX, BARE = "linux_gpu", "gpu"
KERNEL_TIME = "node0.kernels.time"
#: What the cost is measured with.
COSTLY, SIZE = "fir", "262144"


@dataclass(frozen=True)
class Done:
    """What a run of a program printed, and for how long kernels ran."""

    output: str
    kernel_us: float


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Raises `InputError` if the command fails."""
    done = subprocess.run([*COMMAND, *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise InputError(f"`fabricvp {' '.join(map(str, command))}` ended with {done.returncode}: {' '.join(last)}")
    return done


def build(source: Path, target: str, folder: Path) -> Path:
    program = folder / f"{source.name}.{target}"
    build_for = {"linux": build_linux, "bare": build_bare}[target]
    program.write_bytes(build_for({str(source): source.read_text()}, Options.of()))
    return program


# ---- kernel times ----


def on_bare_metal(program: Path, *arguments: str) -> Done:
    with tempfile.TemporaryDirectory() as out:
        append = ["--append", " ".join(arguments)] if arguments else []
        done = run("run", BARE, "--firmware", program, *append, "--quiet", "--out", out)
        return Done(done.stdout.replace("\r", ""), statistics_of(Path(out))[KERNEL_TIME] / 1e6)


def statistics_of(out: Path) -> dict[str, float]:
    rows = (line.split(",")[:2] for line in (out / "stats.csv").read_text().splitlines()[1:])
    return {name: float(value) for name, value in rows if value}


def on_linux(linux: fabricvp.Linux, program: Path, *arguments: str) -> Done:
    with linux.fork() as branch:
        before = branch.platform.statistics[KERNEL_TIME]
        done = branch.run(program, *arguments)
        if done.returncode:
            raise InputError(f"{program.name} ended with {done.returncode} on Linux: {done.stdout[-200:]}")
        return Done(done.stdout, (branch.platform.statistics[KERNEL_TIME] - before) / 1e6)


@dataclass(frozen=True)
class Pair:
    name: str
    language: str
    bare: Done
    linux: Done

    @property
    def same(self) -> bool:
        return self.bare.output == self.linux.output and ": 0 wrong, checksum " in self.bare.output

    @property
    def ratio(self) -> float:
        return self.linux.kernel_us / self.bare.kernel_us


def measure(names: list[str], folder: Path) -> list[Pair]:
    """Each program in each language, compiled from one source for both."""
    pairs = []
    with fabricvp.linux(LINUX) as linux:
        for name in names:
            for language, suffix in LANGUAGES.items():
                source = EXAMPLES / "programs" / f"{name}{suffix}"
                bare = on_bare_metal(build(source, "bare", folder))
                pairs.append(Pair(name, language, bare, on_linux(linux, build(source, "linux", folder))))
                print(f"{name} {language}: {bare.kernel_us:.3f}, {pairs[-1].linux.kernel_us:.3f} us", flush=True)
    return pairs


def programs(given: argparse.Namespace, folder: Path) -> tuple[dict[str, object], bool]:
    pairs = measure(PROGRAMS, folder)
    rows = [
        [f"`{p.name}`", p.language, f"{p.bare.kernel_us:.2f}", f"{p.linux.kernel_us:.2f}", f"{p.ratio:.3f}",
         "yes" if p.same else "no"]
        for p in pairs
    ]  # fmt: skip
    columns = ["program", "language", "bare metal, µs", "Linux, µs", "ratio", "same results"]
    return {"columns": columns, "rows": rows}, all(p.same for p in pairs)


# ---- where the time of a launch goes ----

_LINE = re.compile(r"^\[(\d+)\.(\d{12}) s\] bus: [\w.]+: queue (\d+) (.*)$", re.MULTILINE)
_EVENTS = {
    "doorbell": re.compile(r"doorbell: packet (\d+)$"),
    "fetched": re.compile(r"packet (\d+) fetched: .*\bnothing\b"),
    "launched": re.compile(r"packet (\d+) launched: kernel nothing,"),
    "ended": re.compile(r"packet (\d+) kernel nothing ended after "),
}
#: Nanoseconds of a tick of the timer: the programs' own clock is as fine as that.
TIMEBASE = "node.host.clint.timebase=1 GHz"
STEPS = {
    "doorbell": "the program calls `hipLaunchKernel`; the run-time writes arguments, packet and doorbell, which arrive",
    "fetched": "the command processor finds the queue and fetches the packet",
    "launched": "it checks the packet, reads the kernel's descriptor, and writes the dispatcher's registers",
    "instruction": "the dispatcher starts the first wavefront, which fetches its first instruction",
    "ended": "the kernel runs, and its end is told",
    "seen": "the command processor writes times and signal into the host's memory; the program sees it and is back",
}


def events_of(log: str) -> list[dict[str, float]]:
    """Nanoseconds at which each packet with the kernel passed each step, in the order of launches."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for seconds, rest, queue, text in _LINE.findall(log):
        for event, pattern in _EVENTS.items():
            if match := pattern.match(text):
                found.setdefault((queue, match[1]), {})[event] = int(seconds) * 1e9 + int(rest) / 1e3
    return [times for times in found.values() if "launched" in times]


@dataclass(frozen=True)
class Launches:
    """Of each launch, nanoseconds of simulated time: "called" and "returned" and "seen" by the program, and events of
    the GPU. ``to_instruction`` is the mean from a launch to the first instruction."""

    times: list[dict[str, float]]
    to_instruction: float

    def spans(self) -> dict[str, float]:
        """Means, in microseconds, of the steps from a call to when its program sees that the kernel has ended."""

        def mean(first: str, second: str) -> float:
            return sum(t[second] - t[first] for t in self.times) / len(self.times) / 1e3

        return {
            "doorbell": mean("called", "doorbell"),
            "fetched": mean("doorbell", "fetched"),
            "launched": mean("fetched", "launched"),
            "instruction": self.to_instruction / 1e3,
            "ended": mean("launched", "ended") - self.to_instruction / 1e3,
            "seen": mean("ended", "seen"),
        }

    def total(self) -> float:
        return sum(t["seen"] - t["called"] for t in self.times) / len(self.times) / 1e3


def launches(machine: str, program: list[str | Path], rounds: int) -> tuple[Launches, dict[str, float]]:
    """Runs examples/linux_gpu/launch.hip; also gives the statistics of the run."""
    with tempfile.TemporaryDirectory() as out:
        options = ["--set", TIMEBASE, "--log-bus", "gpu", "--out", out]
        arguments = ["--append", rounds, "--quiet"] if machine == BARE else ["--", rounds]
        done = run("run", machine, *map(str, program), *options, *map(str, arguments))
        statistics = statistics_of(Path(out))
    own = [
        [float(word) for word in line.split()[1:]] for line in done.stdout.splitlines() if line.startswith("launch ")
    ]
    events = events_of(done.stderr)[-len(own) :]
    times = [e | dict(zip(("called", "returned", "seen"), o)) for e, o in zip(events, own)]
    port = "node0.gpu0.launches."
    to_instruction = (
        statistics[f"{port}doorbell_to_instruction.mean"] - statistics[f"{port}doorbell_to_launch.mean"]
    ) / 1e3
    return Launches(times, to_instruction), statistics


def launch(given: argparse.Namespace, folder: Path) -> tuple[dict[str, object], bool]:
    source = EXAMPLES / "linux_gpu" / "launch.hip"
    bare, _ = launches(BARE, ["--firmware", build(source, "bare", folder)], given.rounds)
    linux, _ = launches(LINUX, ["--program", build(source, "linux", folder)], given.rounds)
    one, other = linux.spans(), bare.spans()
    rows = [[text, f"{one[step]:.3f}", f"{other[step]:.3f}"] for step, text in STEPS.items()]
    rows.append(["in all", f"{linux.total():.3f}", f"{bare.total():.3f}"])
    return {"columns": ["step, µs", "Linux", "bare metal"], "rows": rows}, True


# ---- what it costs the simulating host ----


def processor_time(*command: str | Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_process(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_branch(linux: fabricvp.Linux, program: Path, *arguments: str) -> float:
    with linux.fork() as branch:
        done = branch.run(program, *arguments)
        assert done.returncode == 0, done.stdout
        return of_process(branch.platform.pid)


def cost(given: argparse.Namespace, folder: Path) -> tuple[dict[str, object], bool]:
    source = EXAMPLES / "programs" / f"{COSTLY}.hip"
    bare, program = build(source, "bare", folder), build(source, "linux", folder)
    rounds = range(3)
    with fabricvp.linux(LINUX) as linux:
        forked = min(of_branch(linux, program, SIZE) for _ in rounds)
    times = {
        "bare metal": min(processor_time("run", BARE, "--firmware", bare, "--append", SIZE) for _ in rounds),
        "Linux, boot included": min(processor_time("run", LINUX, "--program", program, "--", SIZE) for _ in rounds),
        "Linux, on a branch of a booted machine": forked,
    }
    rows = [[what, f"{seconds:.2f}"] for what, seconds in times.items()]
    return {"columns": [f"`{COSTLY}` of {int(SIZE):,}", "processor time, s"], "rows": rows}, True


# ---- the result ----

Part = Callable[[argparse.Namespace, Path], tuple[dict[str, object], bool]]
PARTS: dict[str, Part] = {"programs": programs, "launch": launch, "cost": cost}


def write(tables: dict[str, dict[str, object]], out: Path) -> None:
    """Tables that are there already stay."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "result.json"
    kept = json.loads(file.read_text())["tables"] if file.exists() else {}
    result = {
        "experiment": "linux-programs",
        "version": fabricvp.__version__,
        "command": "scripts/linux_programs.py",
        "rows": [],
        "tables": kept | tables,
    }
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="folder of the result")
    parser.add_argument("--rounds", type=int, default=20, help="launches that are measured (default: %(default)s)")
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    given = parser.parse_args()
    if unknown := [name for name in given.parts if name not in PARTS]:
        parser.error(f"{unknown[0]}: must be one of {', '.join(PARTS)}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in given.parts or PARTS:
            table, right = PARTS[name](given, Path(folder))
            good &= right
            for row in (table["columns"], *table["rows"]):
                print(" | ".join(row), flush=True)
            if given.out:
                write({name: table}, given.out)
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        print(f"linux_programs.py: {error}", file=sys.stderr)
        sys.exit(2)
