# SPDX-License-Identifier: Apache-2.0
"""A machine with Linux that runs program after program."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import linux_job
from .errors import InputError
from .linux_files import collected
from .linux_job import Job, make_job
from .nodes import node_index
from .remote import RemotePlatform
from .spawning import spawn
from .units import PICOSECONDS, Time, to_picoseconds

if TYPE_CHECKING:
    from .node import Node
    from .platform import Platform

_READY = "\1fabricvp is ready\n"
#: Each line on the console says how many blocks the archive of a job has.
_SERVE = [
    *linux_job.FIND_DISK,
    f"printf '{_READY.encode('unicode_escape').decode()}'",
    "while read -r blocks; do",
    "    cd /; rm -rf /job/run; mkdir /job/run; cd /job/run",
    f"    dd if=$disk bs={linux_job.BLOCK} count=$blocks iflag=direct 2>/dev/null | tar x",
    "    . ./start",
    "done",
]


@dataclass(frozen=True)
class LinuxResult:
    """How a program on Linux ended."""

    returncode: int  #: its exit status, 128 + N after signal N; of several nodes' the first that is not 0
    stdout: str  #: standard output and error; bytes that are no UTF-8 are replaced; with several nodes "node0: …" lines
    files: dict[str, bytes] = field(
        default_factory=dict
    )  #: that ``collect`` names, by name ("node0/…" of several nodes)
    nodes: tuple[LinuxResult, ...] = ()  #: what each of several nodes' programs did

    def __repr__(self) -> str:
        files = {name: f"{len(data)} bytes" for name, data in self.files.items()}
        return f"LinuxResult(returncode={self.returncode}, stdout={self.stdout!r}, files={files}, nodes={self.nodes})"


class Linux:
    """A machine on which Linux waits for programs; from `linux()`. ``platform`` is the machine.

    That of `linux()` is in a process of its own, which ends with `close()`, the ``with`` block or this process."""

    def __init__(self, platform: Platform | RemotePlatform, mpi: bool = False, opencl: bool = False) -> None:
        self.platform = platform
        self._mpi, self._opencl = mpi, opencl

    def run(
        self,
        program: str | os.PathLike[str] | Mapping[int | str, str | os.PathLike[str]],
        *arguments: str,
        files: Iterable[str | os.PathLike[str]] = (),
        environment: Mapping[str, str] | None = None,
        collect: Iterable[str] = (),
        time: Time | None = None,
        fork: bool = False,
    ) -> LinuxResult:
        """Runs a program of `fabricvp cc --target linux` to its end, in a new folder with ``files`` beside it.

        On a machine of several nodes it runs on all of them at the same time, and `FABRICVP_NODE` and `FABRICVP_NODES`
        of its environment tell which node it is on; a mapping such as ``{"node0": "server", "node1": "client"}`` has a
        program for each. ``collect`` are patterns of names of files that it writes there: `*` stands for any
        characters, `/` included. All of them fit together onto the node's disk `exchange`. With ``fork`` the program
        runs on a branch of the machine, and leaves this one as it was.

        Raises `InputError` for what cannot run or be read, `ExpectTimeout` when ``time`` (simulated) passes before the
        program's end, after which this machine is of no more use, and `GuestStopped` when the machine ends before."""
        variables, files, collect = [*(environment or {}).items()], [*files], [*collect]
        programs = program if isinstance(program, Mapping) else {None: program}
        jobs = {
            None if node is None else node_index(node): make_job(each, arguments, files, variables, collect)
            for node, each in programs.items()
        }
        own = linux_job.of_nodes(jobs, len(self.platform.nodes), "the machine")
        if own[0].mpi and not self._mpi:
            raise InputError(f"{own[0].name}: a program of MPI: it needs fabricvp.linux(…, mpi=True)")
        for job in own:
            if job.opencl and not self._opencl:
                raise InputError(f"{job.name}: it needs libOpenCL.so.1: fabricvp.linux(…, opencl=True)")
        if not fork:
            return self._run(own, time)
        with self.fork() as branch:
            return branch._run(own, time)

    def _run(self, jobs: list[Job], time: Time | None) -> LinuxResult:
        nodes, archives = self.platform.nodes, [linux_job.tar(job) for job in jobs]
        for node, job, archive in zip(nodes, jobs, archives):
            disk = node.disks[linux_job.EXCHANGE]
            if len(archive) > disk.size:
                raise InputError(f"{job.name}: the disk for it and its files has {disk.size} bytes; they take more")
            disk.write(0, archive)
        for node, archive in zip(nodes, archives):
            node.console.type(f"{len(archive) // linux_job.BLOCK}\n")
        end = None if time is None else self.platform.now_ps + to_picoseconds(time)
        results = [self._result(*each, end) for each in zip(nodes, jobs)]
        if len(results) == 1:
            return results[0]
        lines = [f"node{n}: {line}\n" for n, result in enumerate(results) for line in result.stdout.splitlines()]
        files = {f"node{n}/{name}": data for n, result in enumerate(results) for name, data in result.files.items()}
        status = next((result.returncode for result in results if result.returncode), 0)
        return LinuxResult(status, "".join(lines), files, tuple(results))

    def _result(self, node: Node, job: Job, end: int | None) -> LinuxResult:
        ending = re.compile(re.escape(job.end.decode()) + r"(\d+) (\d)\n")
        left = None if end is None else max(0, end - self.platform.now_ps) / PICOSECONDS
        match = node.console.expect(ending, timeout=left)
        _, _, output = match.before.partition(job.begin.decode())
        status, state = (int(group or 0) for group in match.groups)
        stdout = output.encode(errors="surrogateescape").decode(errors="replace")
        return LinuxResult(status, stdout, collected(node.disks[linux_job.EXCHANGE], state))

    def fork(self) -> Linux:
        """A branch of the machine as it stands, which runs programs of its own."""
        return Linux(self.platform.fork(), self._mpi, self._opencl)

    def close(self) -> None:
        """Ends the machine. May be called again."""
        self.platform.close()

    def __enter__(self) -> Linux:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Linux on {self.platform!r}>"


def linux(
    machine: str | os.PathLike[str] = "linux_gpu",
    *,
    overrides: Mapping[str, Any] | None = None,
    peer_memory: bool = False,
    mpi: bool = False,
    opencl: bool = False,
    **keywords: Any,
) -> Linux:
    """Boots Linux on a machine in a process of its own, and gives it ready for programs.

    ``machine``, ``overrides`` and keywords are those of `spawn()`. With ``peer_memory`` a kernel module is loaded by
    which RDMA adapters reach the GPUs' memory; with ``mpi`` there is Open MPI for programs of `cc -l mpi`, with
    ``opencl`` Debian's loader and the driver of OpenCL for those of `cc -l OpenCL`.

    Raises `InputError` for a machine that boots no Linux, has no disk with the name `exchange`, as `linux_gpu` and
    `linux_quad` have, or lacks the module, Open MPI or the loader."""
    platform = spawn(machine, overrides=overrides, **keywords)
    try:
        return boot_linux(platform, os.fspath(machine), peer_memory, mpi, opencl)
    except BaseException:
        platform.close()
        raise


def boot_linux(
    platform: Platform | RemotePlatform,
    machine: str = "the machine",
    peer_memory: bool = False,
    mpi: bool = False,
    opencl: bool = False,
) -> Linux:
    """Boots Linux on a machine that has not run yet, and gives it ready for programs; as ``warm_up`` of `sweep()` it
    lets points branch from there. ``machine`` is its name in messages. ``peer_memory``, ``mpi``, ``opencl`` and what is
    raised are those of `linux()`."""
    nodes = len(platform.nodes)
    for node in range(nodes):
        base = linux_job.initramfs(platform, machine, node, peer_memory=peer_memory, mpi=mpi, opencl=opencl)
        lines = ["#!/bin/busybox sh", "trap 'poweroff -f' EXIT", "stty -onlcr -echo"]
        script = linux_job.shell_text([*lines, *linux_job.set_up(node, nodes, peer_memory), *_SERVE])
        with tempfile.TemporaryDirectory() as scratch:
            initrd = Path(scratch, "initramfs.cpio")
            initrd.write_bytes(base + linux_job.cpio(script, {}))
            platform.load_images(node, initrd=initrd)
    for each in platform.nodes:
        each.console.expect(_READY, timeout="60 s")
    return Linux(platform, mpi, opencl)
