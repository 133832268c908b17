#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""public_programs.py --sources DIR [--out OUT] [--machine NAME] [NAME...]: compiles public programs in CUDA and HIP as
they stand, runs them on simulated Linux, and compares results with their CPU versions.

DIR has a folder for each suite (public_suites.py): scripts/public_programs.sh clones them. None is kept here. The table
goes to standard output, and with --out to OUT/result.json, where programs of other calls stay, and which
`fabricvp docs refresh OUT` puts into the page. Ends with 1 if a program does not compile, or its results are wrong.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import fabricvp
from fabricvp.errors import InputError
from public_checks import Outcome
from public_suites import NOTHING, PROGRAMS, Host, Program

SCRIPTS = Path(__file__).resolve().parent
LIMIT = "120 s"  #: of simulated time, for a program


@dataclass(frozen=True)
class Row:
    """What became of a program; ``wrong`` is empty if its results are right."""

    program: Program
    version: str
    wrong: str

    @property
    def result(self) -> str:
        if self.wrong and self.program.limit:
            return f"wrong: {self.program.limit}"
        return self.wrong or ("runs" if self.program.compared == NOTHING else "right")

    @property
    def fails(self) -> bool:
        """Whether this is not what is known of the program."""
        return bool(self.wrong) != bool(self.program.limit)


class Runner:
    """Compiles and runs in a scratch folder, with a machine that is booted once."""

    def __init__(self, sources: Path, scratch: Path, machine: str) -> None:
        self.sources, self.scratch, self.machine = sources, scratch, machine
        self.linux: fabricvp.Linux | None = None

    def row(self, program: Program) -> Row:
        suite = self.sources / program.suite
        if not suite.is_dir():
            raise InputError(f"{suite}: no such folder: scripts/public_programs.sh clones it")
        folder = self.scratch / program.name
        folder.mkdir()
        return Row(program, version_of(suite), self._wrong(program, suite, folder))

    def _wrong(self, program: Program, suite: Path, folder: Path) -> str:
        if program.inputs:
            program.inputs(folder)
        if message := compiled(program, suite, folder):
            return f"does not compile: {message}"
        host = Outcome(0, "")
        if isinstance(program.host, Host):
            host = on_host(program.host, suite, folder, program)
        elif program.host:
            host = program.host(folder)
        if host.status:
            return f"its CPU version ends with {host.status}: {last_line(host.output)}"
        try:
            ours = self._run(program, folder)
        except fabricvp.ExpectTimeout:
            return f"does not end within {LIMIT}"
        if ours.status:
            return f"ends with {ours.status}: {last_line(ours.output)}"
        return program.check(ours, host)

    def _run(self, program: Program, folder: Path) -> Outcome:
        if self.linux is None:
            self.linux = fabricvp.linux(self.machine)
        done = self.linux.run(
            folder / "program", *shlex.split(program.arguments),
            files=[f"{folder}/{file}" for file in program.files.split()], collect=program.collect.split(),
            environment=dict(word.split("=") for word in program.environment.split()), time=LIMIT, fork=True,
        )  # fmt: skip
        (folder / "output").write_text(done.stdout)
        return Outcome(done.returncode, done.stdout, done.files)


def words(text: str, suite: Path, folder: Path = SCRIPTS) -> list[str]:
    return [word.format(suite=suite, scripts=SCRIPTS, folder=folder) for word in text.split()]


def compiled(program: Program, suite: Path, folder: Path) -> str:
    """Makes ``folder``/program; the compiler's message if it cannot."""
    sources = [suite / program.folder / word for word in words(program.sources, suite)]
    command = [Path(sys.executable).with_name("fabricvp"), "cc", "--target", "linux", "-o", folder / "program"]
    done = subprocess.run([*command, *words(program.options, suite, folder), *sources], capture_output=True, text=True)
    return last_line(done.stderr).removeprefix("fabricvp cc: ").replace(f"{suite}/", "") if done.returncode else ""


def on_host(host: Host, suite: Path, folder: Path, program: Program) -> Outcome:
    """Compiles and runs a version for the CPU, in a folder of its own deep enough for files that lie above it."""
    binary, place = folder / "host", folder / "a" / "b" / "c"
    place.mkdir(parents=True)
    for file in program.files.split():
        name, _, path = file.partition("=")
        at = place / f"../../..{path}" if path else place / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes((folder / name).read_bytes())
    sources = words(host.sources, suite)
    compiler = "g++" if sources[0].endswith(".cpp") else "gcc"
    done = subprocess.run(
        [compiler, "-O2", "-w", "-fopenmp", *words(host.options, suite), *sources, "-o", binary, "-lm"],
        cwd=suite, capture_output=True, text=True,
    )  # fmt: skip
    if not done.returncode:
        done = subprocess.run(
            [binary, *shlex.split(host.arguments)], cwd=place, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    output = done.stdout or done.stderr or ""
    written = [path for name in program.collect.split() if (path := place / name).is_file()]
    return Outcome(done.returncode, output, {path.name: path.read_bytes() for path in written})


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1].strip()[:160]


def version_of(suite: Path) -> str:
    """The commit of a clone, "–" of another folder."""
    done = subprocess.run(["git", "-C", suite, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 and (suite / ".git").exists() else "–"


def table(rows: list[Row]) -> dict[str, list]:
    return {
        "columns": ["program", "suite", "version", "arguments", "result", "compared with", "needed"],
        "rows": [
            [f"`{r.program.name}`", r.program.suite, r.version, r.program.arguments and f"`{r.program.arguments}`",
             r.result, r.program.compared, r.program.needed]
            for r in rows
        ],
    }  # fmt: skip


def write(rows: list[Row], out: Path) -> None:
    """Rows that are there already stay, of a call at the same time, too, so that suites can be run in parts."""
    made = table(rows)
    result = {
        "experiment": "public-programs",
        "version": fabricvp.__version__,
        "command": "scripts/public_programs.sh",
        "rows": [],
        "tables": {"programs": made},
    }
    file = out / "result.json"
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            _keep(json.loads(file.read_text())["tables"]["programs"]["rows"], made["rows"])
        file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def _keep(earlier: list[list[str]], rows: list[list[str]]) -> None:
    """Adds rows of programs that did not run this time, in the order of the suites."""
    ran = {row[0] for row in rows}
    places = {f"`{program.name}`": place for place, program in enumerate(PROGRAMS)}
    rows += [row for row in earlier if row[0] not in ran and row[0] in places]
    rows.sort(key=lambda row: places[row[0]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sources", type=Path, required=True, help="a folder with a folder for each suite")
    parser.add_argument("--out", type=Path, help="folder of the result")
    parser.add_argument("--machine", default="linux_gpu", help="default: %(default)s")
    parser.add_argument("names", metavar="NAME", nargs="*", help="programs (default: all)")
    given = parser.parse_args()
    known = {program.name for program in PROGRAMS}
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"{unknown[0]}: must be one of {', '.join(sorted(known))}")
    rows = []
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(given.sources.resolve(), Path(scratch), given.machine)
        for program in PROGRAMS:
            if not given.names or program.name in given.names:
                rows.append(runner.row(program))
                print(f"{program.suite:<14}{program.name:<22}{rows[-1].result}", flush=True)
                if given.out:
                    write(rows, given.out)
        if runner.linux:
            runner.linux.close()
    return any(row.fails for row in rows)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        print(f"public_programs.py: {error}", file=sys.stderr)
        sys.exit(2)
