# SPDX-License-Identifier: Apache-2.0
"""`fabricvp run MACHINE --program FILE -- ARGUMENTS`: boots Linux with a program of `fabricvp cc --target linux`,
prints what it prints as it comes, and ends with its exit status."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import linux_job
from .arguments import ArgumentParser, pair
from .compiler.languages import SUFFIXES
from .errors import InputError
from .linux_job import Job, make_job

if TYPE_CHECKING:
    import argparse

    from .platform import Platform

#: How far the machine runs before its console is looked at again.
SLICE = "5 ms"


def is_linux_program(arguments: list[str]) -> bool:
    """Whether these are arguments of `fabricvp` that run a program on Linux."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    values = [b for a, b in zip(own, own[1:]) if a == "--program"]
    values += [a.partition("=")[2] for a in own if a.startswith("--program=")]
    return own[:1] == ["run"] and any(not value.endswith(tuple(SUFFIXES)) for value in values)


def main(arguments: list[str]) -> int:
    """The exit status of the program, 1 if the machine ended before it. Raises `InputError`."""
    from .platform import Platform

    split = arguments.index("--") if "--" in arguments else len(arguments)
    given = _parser().parse_args(arguments[:split])
    job = make_job(
        given.program,
        arguments[split + 1 :],
        given.file,
        [pair("--env", text, "NAME=VALUE") for text in given.env],
        given.collect,
    )
    if job.collect and not (given.into or given.out):
        raise InputError("--collect needs --into DIR, or --out DIR: files come into its folder 'files'")
    overrides = dict(pair("--set", text) for text in given.set)
    if given.out:
        from .experiments.writing import prepare_folder

        prepare_folder(given.out)
    with Platform.from_config(given.machine, overrides=overrides) as platform:
        _boot_with(platform, given.machine, job)
        output = _Output(job)
        status = _run(platform, output, given.time)
        if given.out:
            platform.write_results(given.out)
        if job.collect and output.status is not None:
            _collect(platform, output, Path(given.into or Path(given.out, "files")))
        return status


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        "run",
        "Boots Linux with a program that `fabricvp cc --target linux` has made, and ends with its exit status.",
        "fabricvp run linux_gpu --program saxpy -- 1000 2.5",
    )
    parser.add_argument("machine", metavar="MACHINE", help="a machine that boots Linux, such as linux_gpu")
    parser.add_argument("--program", metavar="FILE", required=True, help="arguments of the program stand behind --")
    beside = "a file beside it, or at a path of its own; repeatable"
    parser.add_argument("--file", metavar="FILE[=/PATH]", action="append", default=[], help=beside)
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="repeatable")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the machine")
    parser.add_argument("--time", metavar="TIME", help="simulated time, boot included, after which the run ends")
    parser.add_argument("--out", metavar="DIR", help="folder of results")
    collect = "files that the program has written, by a pattern of their names; repeatable"
    parser.add_argument("--collect", metavar="PATTERN", action="append", default=[], help=collect)
    parser.add_argument("--into", metavar="DIR", help="where they come, in place of DIR/files of --out")
    return parser


def _boot_with(platform: Platform, machine: str, job: Job) -> None:
    """Gives the machine an initramfs with the program, which runs in place of the shell."""
    base = linux_job.initramfs(platform, machine, exchange=bool(job.collect))
    lines = ["#!/bin/busybox sh", "trap 'poweroff -f' EXIT", "stty -onlcr", "gpus"]
    lines += [*(linux_job.FIND_DISK if job.collect else []), "cd /job", *job.script()]
    with tempfile.TemporaryDirectory() as scratch:
        initrd = Path(scratch, "initramfs.cpio")
        initrd.write_bytes(base + linux_job.cpio(linux_job.shell_text(lines), job.files))
        platform.load_images(initrd=initrd)


def _collect(platform: Platform, output: _Output, folder: Path) -> None:
    from .linux_files import collected, place

    files = collected(platform.nodes[0].disks[linux_job.EXCHANGE], output.collected)
    place(folder, files)
    if not files:
        print("fabricvp run: the program wrote no file that --collect names", file=sys.stderr)


class _Output:
    """Takes the program's output out of the console's, and prints it; a program that prints marks of another run
    changes nothing."""

    def __init__(self, job: Job) -> None:
        self.status: int | None = None
        self.collected = 0
        self._begin, self._end = job.begin, job.end
        self._position = 0
        self._begun = False
        self._ending = re.compile(re.escape(job.end) + rb"(\d+) (\d)\n")

    def take(self, console: bytes, more: bool) -> None:
        """Prints what is new. ``console`` is all output since the start, of which ``more`` may come."""
        if not self._begun and (at := console.find(self._begin)) >= 0:
            self._begun, self._position = True, at + len(self._begin)
        if not self._begun or self.status is not None:
            return
        end = self._ending.search(console, self._position)
        upto = end.start() if end else len(console)
        if more and not end:  # what may be the first part of the end's line waits
            held = console.rfind(b"\1", max(self._position, len(console) - len(self._end) - len("255 1")))
            upto = held if held >= 0 else upto
        sys.stdout.buffer.write(console[self._position : upto])
        sys.stdout.buffer.flush()
        self._position = upto
        if end:
            self.status, self.collected = int(end[1]), int(end[2])


def _run(platform: Platform, output: _Output, limit: str | None) -> int:
    from . import _fabricvp
    from .results import Outcome

    console = platform.nodes[0].console
    end = _fabricvp.parse_time(limit) if limit else _fabricvp.NEVER
    sys.stdout.flush()
    for result in _slices(platform, end):
        over = result != Outcome.TIME_LIMIT or platform.now_ps >= end
        output.take(console.output_bytes, more=not over)
        if over:
            break
    if output.status is not None:
        return output.status
    last = console.output_bytes[-200:].decode(errors="replace").strip().splitlines()
    why = f"{limit} were over" if platform.now_ps >= end else f"the machine ended ({result})"
    print(f"fabricvp run: {why} before the program; the console ends with {(last or [''])[-1]!r}", file=sys.stderr)
    return 1


def _slices(platform: Platform, end: int) -> Iterator[str]:
    from . import _fabricvp

    step = _fabricvp.parse_time(SLICE)
    while True:
        yield platform.run(min(step, end - platform.now_ps) * 1e-12).outcome
