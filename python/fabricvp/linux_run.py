# SPDX-License-Identifier: Apache-2.0
"""`fabricvp run MACHINE --program FILE -- ARGUMENTS`: boots Linux with a program of `fabricvp cc --target linux`,
prints what it prints as it comes, and ends with its exit status."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from . import linux_job
from .arguments import ArgumentParser, pair
from .compiler.languages import SUFFIXES
from .errors import InputError
from .linux_job import Job, make_job
from .progress import show_progress

if TYPE_CHECKING:
    import argparse

    from .platform import Platform

#: How far the machine runs before its console is looked at again.
SLICE = "5 ms"
#: How long other nodes' programs go on when one has failed, to say what they have to say.
GRACE = "100 ms"


def is_linux_program(arguments: list[str]) -> bool:
    """Whether these are arguments of `fabricvp` that run a program on Linux."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    values = [b for a, b in zip(own, own[1:]) if a == "--program"]
    values += [a.partition("=")[2] for a in own if a.startswith("--program=")]
    return own[:1] == ["run"] and any(not value.endswith(tuple(SUFFIXES)) for value in values)


def main(arguments: list[str]) -> int:
    """The exit status of the program, of several nodes' the first that is not 0; 1 if the machine ended before it.
    Raises `InputError`."""
    from . import _fabricvp
    from .platform import Platform

    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    given, others = parser.parse_known_args(arguments[:split])
    if others:
        _refuse(parser, others[0].partition("=")[0])
    if given.into and not given.collect:
        raise InputError("--into needs --collect PATTERN, the files that come there")
    variables = [pair("--env", text, "NAME=VALUE") for text in given.env]
    jobs = {
        node: make_job(program, arguments[split + 1 :], given.file, variables, given.collect, beside)
        for node, (program, *beside) in _programs(given.program).items()
    }
    if given.collect and not (given.into or given.out):
        raise InputError("--collect needs --into DIR, or --out DIR: files come into its folder 'files'")
    if given.trace and not given.out:
        raise InputError("--trace needs --out DIR: the trace is DIR/trace.pftrace")
    if given.gdb is not None and not 0 <= given.gdb < 65536:
        raise InputError(f"--gdb {given.gdb}: must be a port from 0 to 65535")
    overrides = dict(pair("--set", text) for text in given.set)
    if given.seed is not None:
        overrides["simulation.seed"] = given.seed
    if given.quiet:
        show_progress(False)
    if given.out:
        from .experiments.writing import prepare_folder

        prepare_folder(given.out)
    with Platform.from_config(given.machine, overrides=overrides) as platform:
        platform._core.set_command([os.fsencode(word) for word in ("fabricvp", "run", *arguments)])
        own = linux_job.of_nodes(jobs, len(platform.nodes), given.machine)
        _boot_with(platform, given.machine, own, given.peer_memory, keep=bool(given.out))
        outputs = [Output(job, f"node{node}: " if len(own) > 1 else "") for node, job in enumerate(own)]
        for wanted in given.log_bus:
            _fabricvp.start_bus_log(wanted)
        if given.gdb is not None:
            port = platform.listen_gdb(given.gdb, wait=True)
            print(f"fabricvp: GDB port of node0 is 127.0.0.1:{port}, waiting for a debugger", file=sys.stderr)
        status = _run(platform, outputs, given.time, given.trace)
        _fabricvp.explain_empty_bus_logs()
        if given.out:
            platform.write_results(given.out)
        if given.collect:
            _collect(platform, outputs, Path(given.into or Path(given.out, "files")))
        return status


def _programs(given: list[str]) -> dict[int | None, list[str]]:
    """Programs by node, those of all others under None."""
    programs: dict[int | None, list[str]] = {}
    for text in given:
        name, equals, program = text.partition("=")
        node = int(name[4:]) if equals and re.fullmatch(r"node\d{1,6}", name) else None
        programs.setdefault(node, []).append(text if node is None else program)
    return programs


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        "run",
        "Boots Linux with a program that `fabricvp cc --target linux` has made, and ends with its exit status.",
        "fabricvp run linux_gpu --program saxpy -- 1000 2.5",
    )
    parser.prog = "fabricvp run MACHINE --program FILE"
    parser.usage = f"{parser.prog} [options] [-- ARGUMENTS]"
    parser.add_argument("machine", metavar="MACHINE", help="a machine that boots Linux, such as linux_gpu")
    program = "arguments stand behind --; repeatable: programs of a node run at the same time"
    parser.add_argument("--program", metavar="[node1=]FILE", action="append", required=True, help=program)
    beside = "a file beside it, or at a path of its own; repeatable"
    parser.add_argument("--file", metavar="FILE[=/PATH]", action="append", default=[], help=beside)
    variable = "a variable of its environment; repeatable"
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help=variable)
    peer = "load a kernel module by which other devices reach the GPUs' memory"
    parser.add_argument("--peer-memory", action="store_true", help=peer)
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the machine")
    parser.add_argument("--time", metavar="TIME", help="simulated time, boot included, after which the run ends")
    seed = "of everything random in the machine (default 1); simulation.seed"
    parser.add_argument("--seed", metavar="N", help=seed)
    parser.add_argument("--out", metavar="DIR", help="folder of results")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--trace", action="store_true", help="record a trace for ui.perfetto.dev from its begin on")
    log = "print what blocks of a kind read and write, as for other runs: gpu or hca, gpu:queue=0; repeatable"
    parser.add_argument("--log-bus", metavar="KIND[:FILTER,…]", action="append", default=[], help=log)
    gdb = "wait for GDB on this loopback port (0: any); it sees node 0, with the kernels on its GPUs"
    parser.add_argument("--gdb", metavar="PORT", type=int, help=gdb)
    collect = "files that the program has written, by a pattern of their names; repeatable"
    parser.add_argument("--collect", metavar="PATTERN", action="append", default=[], help=collect)
    parser.add_argument("--into", metavar="DIR", help="where they come, in place of DIR/files of --out")
    return parser


def _refuse(parser: argparse.ArgumentParser, word: str) -> NoReturn:
    """Raises `InputError` for an argument that is none here, be it one of other runs."""
    known = [name for action in parser._actions for name in action.option_strings]
    if not word.startswith("-"):
        parser.error(f"'{word}': arguments of the program stand behind --")
    near = difflib.get_close_matches(word, known, 1, 0.81)
    parser.error(f"{word} does not go with programs on Linux{f', did you mean {near[0]}?' if near else ''}")


def _boot_with(platform: Platform, machine: str, jobs: list[Job], peer_memory: bool, keep: bool) -> None:
    """Gives each node an initramfs with its program, which runs in place of the shell, and which results are to have if
    it is to ``keep``."""
    for node, job in enumerate(jobs):
        base = linux_job.initramfs(
            platform, machine, node, job, peer_memory=peer_memory, mpi=job.mpi, opencl=job.opencl
        )
        lines = ["#!/bin/busybox sh", "trap 'poweroff -f' EXIT", "stty -onlcr"]
        lines += [*linux_job.set_up(node, len(jobs), peer_memory)]
        lines += [*(linux_job.FIND_DISK if job.collect else []), "cd /job", *job.script()]
        with tempfile.TemporaryDirectory() as scratch:
            initrd = Path(scratch, "initramfs.cpio")
            initrd.write_bytes(base + linux_job.cpio(linux_job.shell_text(lines), job.files))
            platform.load_images(node, initrd=initrd)
            if keep:
                platform._core.keep_initrd(node)


def _collect(platform: Platform, outputs: list[Output], folder: Path) -> None:
    from .linux_files import collected, place

    files: dict[str, bytes] = {}
    for node, output in enumerate(outputs):
        if output.status is not None:
            found = collected(platform.nodes[node].disks[linux_job.EXCHANGE], output.collected)
            files |= {linux_job.file_name(name, node, len(outputs)): data for name, data in found.items()}
    if any(output.status is not None for output in outputs):
        place(folder, files)
        if not files:
            print("fabricvp run: the program wrote no file that --collect names", file=sys.stderr)


class Output:
    """Takes the program's output out of a console's, and prints it; a program that prints marks of another run
    changes nothing. With ``prefix`` it prints whole lines behind it."""

    def __init__(self, job: Job, prefix: str = "") -> None:
        self.status: int | None = None
        self.collected = 0
        self._begin, self._end = job.begin, job.end
        self._prefix = prefix.encode()
        self._position = 0
        self.begun = False
        self._ending = re.compile(re.escape(job.end) + rb"(\d+) (\d)\n")

    def take(self, console: bytes, more: bool) -> None:
        """Prints what is new. ``console`` is all output since the start, of which ``more`` may come."""
        if not self.begun and (at := console.find(self._begin)) >= 0:
            self.begun, self._position = True, at + len(self._begin)
        if not self.begun or self.status is not None:
            return
        end = self._ending.search(console, self._position)
        upto = end.start() if end else len(console)
        if more and not end:  # what may be the first part of the end's line waits
            held = console.rfind(b"\1", max(self._position, len(console) - len(self._end) - len("255 1")))
            upto = held if held >= 0 else upto
        self._print(console, upto, whole=not more or end is not None)
        if end:
            self.status, self.collected = int(end[1]), int(end[2])

    def _print(self, console: bytes, upto: int, whole: bool) -> None:
        if self._prefix and not whole:  # a line that has not ended waits
            upto = max(console.rfind(b"\n", self._position, upto) + 1, self._position)
        text = console[self._position : upto]
        self._position = upto
        if self._prefix:
            lines = text.splitlines(keepends=True)
            text = b"".join(self._prefix + line + (b"" if line.endswith(b"\n") else b"\n") for line in lines)
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def _run(platform: Platform, outputs: list[Output], limit: str | None, trace: bool) -> int:
    """Runs until all programs have ended, or 100 ms beyond the end of one that failed. With ``trace``, what happens
    from the slice on in which the first program begins is recorded."""
    from . import _fabricvp
    from .results import Outcome

    end = limited = _fabricvp.parse_time(limit) if limit else _fabricvp.NEVER
    sys.stdout.flush()
    result: str = Outcome.TIME_LIMIT
    over = False
    while not over:
        step = min(_fabricvp.parse_time(SLICE), end - platform.now_ps)
        result = platform.run(step * 1e-12).outcome
        over = result != Outcome.TIME_LIMIT or platform.now_ps >= end
        for node, output in enumerate(outputs):
            output.take(platform.nodes[node].console.output_bytes, more=not over)
        if trace and any(output.begun for output in outputs):
            platform.start_trace(platform.now_ps * 1e-12, format="protobuf")
            trace = False
        if end == limited and any(output.status for output in outputs):
            end = min(end, platform.now_ps + _fabricvp.parse_time(GRACE))
    return _status(
        platform, outputs, f"{limit} were over" if platform.now_ps >= limited else f"the machine ended ({result})"
    )


def _status(platform: Platform, outputs: list[Output], why: str) -> int:
    """The run's exit status. Standard error has the programs that failed or did not end."""
    several = len(outputs) > 1
    failed = {node: output.status for node, output in enumerate(outputs) if output.status}
    for node, status in failed.items():
        if several:
            print(f"fabricvp run: the program of node{node} ended with status {status}", file=sys.stderr)
    for node, output in enumerate(outputs):
        if output.status is None and failed:
            print(f"fabricvp run: the program of node{node} was ended", file=sys.stderr)
        elif output.status is None:
            last = platform.nodes[node].console.output_bytes[-200:].decode(errors="replace").strip().splitlines()
            ended = f"the program of node{node}; its" if several else "the program; the"
            print(f"fabricvp run: {why} before {ended} console ends with {(last or [''])[-1]!r}", file=sys.stderr)
    return next(iter(failed.values()), int(any(output.status is None for output in outputs)))
