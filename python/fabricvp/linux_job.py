# SPDX-License-Identifier: Apache-2.0
"""A program of `fabricvp cc --target linux` with what it is started with, as Linux on a machine gets it: a script that
starts it, in an archive with its files. Marks on the console stand around the program's output."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import stat
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .compiler.linux_libraries import needed_libraries, needs_opencl
from .compiler.linux_program import require_linux_program
from .errors import InputError

if TYPE_CHECKING:
    from .platform import Platform
    from .remote import RemotePlatform

#: The disk that files travel on, and how much of it is read at a time.
EXCHANGE = "exchange"
BLOCK = 64 << 10
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_PATH = re.compile(rf"(/{_NAME.pattern})+")
#: PCI IDs of RDMA adapters' vendor and of virtio's network cards, as sysfs has them.
_RDMA_VENDOR, _NETWORK_DEVICE = "0x15b3", "0x1041"
#: What makes images and archives, in an installed package and in a clone.
_FETCH = "`fabricvp linux fetch --again`, or `make linux` in a clone,"
#: Lets the shell variable `disk` name it on Linux.
FIND_DISK = [
    "insmod /lib/modules/virtio_blk.ko",
    f'for d in /sys/block/vd*; do [ "$(cat $d/serial)" = {EXCHANGE} ] && disk=/dev/${{d##*/}}; done',
]


@dataclass(frozen=True)
class Job:
    """A program, its arguments, environment and files, and patterns of files that are to come back."""

    name: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    files: Mapping[str, bytes]  #: by the names that they have on Linux, the program among them
    places: Mapping[str, str]  #: of files that do not stay beside the program: absolute paths by names
    collect: tuple[str, ...]
    beside: tuple[str, ...] = ()  #: programs that run at the same time, with the same arguments
    mpi: bool = False  #: one rank on each node
    opencl: bool = False  #: a program that finds OpenCL by its loader
    node: int = 0
    nodes: int = 1

    def on(self, node: int, nodes: int) -> Job:
        """The same on a node of so many, of which the program's environment tells unless MPI does."""
        told = () if self.mpi else (("FABRICVP_NODE", str(node)), ("FABRICVP_NODES", str(nodes)))
        return replace(self, environment=(*told, *self.environment), node=node, nodes=nodes)

    @cached_property
    def nonce(self) -> str:
        """What tells the marks of this run from a program's output: the same for the same inputs, as all results."""
        started = repr((self.name, *self.beside, self.arguments, self.environment, sorted(self.places.items())))
        digest = hashlib.sha256(started.encode("utf-8", "surrogateescape"))
        for file, data in self.files.items():
            digest.update(f"{file} {len(data)}\0".encode() + data)
        return digest.hexdigest()[:16]

    @property
    def begin(self) -> bytes:
        """The line before the program's output."""
        return f"\1fabricvp {self.nonce} begins\n".encode()

    @property
    def end(self) -> bytes:
        """How the line behind its output begins; exit status and `COLLECTED` or another digit follow."""
        return f"\1fabricvp {self.nonce} ends ".encode()

    def script(self) -> list[str]:
        """Lines for the shell, in the working folder: runs the program, then collects files, with marks around."""
        old = ["find . -type f -exec touch -d @0 {} +"] if self.collect else []
        moved = [f"mkdir -p {Path(path).parent}; mv ./{name} {path}" for name, path in self.places.items()]
        return [
            *moved,
            *old,
            f"printf '\\001{self.begin.decode()[1:-1]}\\n'",
            *self._running(),
            "collected=0",
            *self._collecting(),
            f"printf '\\001{self.end.decode()[1:]}%d %d\\n' $ended $collected",
        ]

    def _running(self) -> list[str]:
        """Leaves the first status that is not 0, in the order of programs, in the shell's `ended`."""
        lines = [shlex.join(self._command(name)) for name in (self.name, *self.beside)]
        if not self.beside:
            return [lines[0] + " </dev/null", "ended=$?"]
        started = [f"{line} </dev/null & p{n}=$!" for n, line in enumerate(lines)]
        waits = [f"wait $p{n}; status=$?; [ $ended != 0 ] || ended=$status" for n in range(len(lines))]
        return [*started, "ended=0", *waits]

    def _command(self, name: str) -> list[str]:
        settings = ["env", *(f"{key}={value}" for key, value in self.environment)] if self.environment else []
        started = [f"./{name}", *self.arguments]
        if not self.mpi:
            return [*settings, *started]
        if self.node:
            return ["serve_ranks"]
        passed = [word for key, _ in self.environment for word in ("-x", key)]
        return [*settings, "start_ranks", str(self.nodes), *passed, *started]

    def _collecting(self) -> list[str]:
        if not self.collect:
            return []
        wanted = " -o ".join(f"-path {shlex.quote('./' + pattern)}" for pattern in self.collect)
        return [
            f"files=$(find . -type f -newer start \\( {wanted} \\) 2>/dev/null | sort)",
            f'[ -z "$files" ] || collected={NOT_COLLECTED}',
            f"(set -f; IFS='\n'; exec tar c -f $disk $files) 2>/dev/null && collected={COLLECTED}",
        ]


#: What the end's mark says of files to collect, if there are any: they are on the disk, or do not fit.
COLLECTED, NOT_COLLECTED = 1, 2


def make_job(
    program: str | os.PathLike[str],
    arguments: Iterable[str],
    files: Iterable[str | os.PathLike[str]],
    environment: Iterable[tuple[str, str]],
    collect: Iterable[str],
    beside: Iterable[str] = (),
) -> Job:
    """Programs ``beside`` run at the same time.

    Raises `InputError` for a program that cannot run on Linux here, files that cannot be read, and names."""
    placed = dict(_place(os.fspath(file)) for file in files)
    programs = [os.fspath(program), *beside]
    contents = _files([*dict.fromkeys(programs), *placed])
    for each in programs:
        require_linux_program(contents[Path(each).name], each)
    for key, _ in environment:
        if not key.isidentifier():
            raise InputError(f"variable '{key}': a name has letters, digits and _")
    for pattern in collect:
        if not pattern or pattern[0] == "/" or not pattern.isprintable():
            raise InputError(f"--collect '{pattern}': must be a pattern of names in the program's working folder")
    places = {Path(file).name: path for file, path in placed.items() if path}
    name, *others = (Path(each).name for each in programs)
    mpi = [each for each in (name, *others) if _is_of_mpi(contents[each])]
    if mpi and others:
        raise InputError(f"--program '{mpi[0]}': a program of MPI runs alone")
    opencl = any(needs_opencl(contents[each]) for each in (name, *others))
    variables, patterns, beside = tuple(environment), tuple(collect), tuple(others)
    return Job(name, tuple(arguments), variables, contents, places, patterns, beside, bool(mpi), opencl)


def _is_of_mpi(program: bytes) -> bool:
    with contextlib.suppress(InputError):  # a malformed one is refused when it is to run
        return any(library.startswith("libmpi.so") for library in needed_libraries(program, ""))
    return False


def _place(file: str) -> tuple[str, str]:
    """What stands before `=/PATH`, and that path; "" without."""
    name, equals, path = file.rpartition("=/")
    if not equals:
        return file, ""
    if not _PATH.fullmatch("/" + path) or ".." in path.split("/"):
        raise InputError(f"--file {file}: a path on Linux has names of a-z, A-Z, 0-9 and _ . + - between slashes")
    return name, "/" + path


def _files(names: list[str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name in names:
        if Path(name).name in files:
            raise InputError(f"--file {name}: the program or another file has that name on Linux, too")
        files[Path(name).name] = _contents(name)
    return files


def _contents(name: str) -> bytes:
    if not _NAME.fullmatch(Path(name).name) or Path(name).name == "start":
        raise InputError(f"{name}: names on Linux have letters, digits and _ . + - here, and are not 'start'")
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None


def of_nodes(jobs: Mapping[int | None, Job], nodes: int, machine: str) -> list[Job]:
    """The job of each node: its own, or what None has. Raises `InputError` for a node without, or that is not there."""
    for node in jobs:
        if node is not None and node >= nodes:
            raise InputError(f"{machine}: no node{node}: it has {nodes} node{'s' * (nodes > 1)}")
    found = [jobs.get(node) or jobs.get(None) for node in range(nodes)]
    if None in found:
        raise InputError(f"{machine}: node{found.index(None)} has no program")
    if len(set(jobs)) > 1 and any(job.mpi for job in jobs.values()):
        raise InputError(f"{machine}: a program of MPI runs on all nodes, with no other beside it")
    if nodes < 2 and any(job.mpi for job in jobs.values()):
        raise InputError(f"{machine}: a program of MPI needs several nodes, as linux_cluster has them")
    return [job.on(node, nodes) for node, job in enumerate(found) if job]


def file_name(name: str, node: int, nodes: int) -> str:
    """A collected file's: below a folder of its node where there are several."""
    return f"node{node}/{name}" if nodes > 1 else name


def initramfs(
    platform: Platform | RemotePlatform,
    machine: str,
    node: int,
    job: Job | None = None,
    *,
    peer_memory: bool = False,
    mpi: bool = False,
    opencl: bool = False,
) -> bytes:
    """That of a node, for programs one after the other, or for one. Raises `InputError` if there is none, if it runs no
    programs, has no disk for an exchange of files, or lacks libraries, the module for ``peer_memory``, Open MPI for
    ``mpi`` or the loader for ``opencl``."""
    where = f"{machine}: node{node}:" if len(platform.nodes) > 1 else f"{machine}:"
    initrd = str(platform.config[f"node{node}.images.initrd"])
    if not initrd:
        raise InputError(f"{where} a machine that boots no Linux: linux_gpu does")
    if not Path(initrd).exists():
        raise InputError(f"{initrd}: no such file: {_FETCH} makes it")
    data = Path(initrd).read_bytes()
    if b"bin/gpus\0" not in data:
        raise InputError(f"{initrd}: its initramfs hands no GPU to programs: {_FETCH} renews it")
    if peer_memory and b"bin/peer_memory\0" not in data:
        raise InputError(f"{initrd}: its initramfs has no module peer_memory: {_FETCH} says why")
    if mpi:
        data += _archive_beside(initrd, "mpi.cpio", "Open MPI")
    if opencl:
        data += _archive_beside(initrd, "opencl.cpio", "the loader of OpenCL") + _opencl_driver()
    if (job is None or job.collect) and EXCHANGE not in platform.nodes[node].disks:
        raise InputError(f"{where} files need a disk of kind virtio_blk with the name '{EXCHANGE}', as of linux_gpu")
    for name in (job.name, *job.beside) if job else ():
        for library in needed_libraries(job.files[name], name) if job else ():
            if job and f"lib/{library}\0".encode() not in data and f"/lib/{library}" not in job.places.values():
                raise InputError(
                    f"{where} {name} needs {library}, which is not in {initrd}: linux_cluster has libraries"
                )
    return data


def _archive_beside(initrd: str, name: str, what: str) -> bytes:
    archive = Path(initrd).with_name(name)
    if not archive.exists():
        raise InputError(f"{archive}: no such file, which has {what}: {_FETCH} says why")
    return archive.read_bytes()


def _opencl_driver() -> bytes:
    """The run-time as a driver, and what tells the loader of it."""
    from .compiler.linux_program import require_cross_tools
    from .compiler.linux_runtime import DRIVER, opencl_driver

    require_cross_tools()
    folders = ("lib", "etc", "etc/OpenCL", "etc/OpenCL/vendors")
    files = {f"lib/{DRIVER}": opencl_driver(), "etc/OpenCL/vendors/fabricvp.icd": f"/lib/{DRIVER}\n".encode()}
    return archive_of(60_000, folders, files)


def set_up(node: int, nodes: int, peer_memory: bool = False) -> list[str]:
    """Lines for the shell that make devices ready for programs: GPUs, with ``peer_memory`` for other devices, too, and
    where there are some, RDMA adapters and the network, and Open MPI. Nodes know each other by name."""
    lines = ["gpus", *(["peer_memory"] if peer_memory else [])]
    for pattern, file, command in (
        (_RDMA_VENDOR, "vendor", "rdma"),
        (_NETWORK_DEVICE, "device", f"network {_address(node)}"),
    ):
        lines.append(
            f"[ ! -x /bin/{command.split()[0]} ] || ! grep -q {pattern} /sys/bus/pci/devices/*/{file} || {command}"
        )
    if nodes > 1:
        lines.append(f"hostname node{node}")
        lines += [f"echo {_address(n)} node{n} >>/etc/hosts" for n in range(nodes)]
        lines.append("[ ! -x /bin/mpi ] || mpi")
    return lines


def _address(node: int) -> str:
    return f"10.0.0.{node + 1}"


# ---- archives for the guest ----


def cpio(start: bytes, files: Mapping[str, bytes]) -> bytes:
    """What the kernel unpacks over the initramfs (cpio, newc): the folder /job with a script and files."""
    return archive_of(100_000, ["job"], {"job/start": start, **{f"job/{name}": data for name, data in files.items()}})


def archive_of(first: int, folders: Iterable[str], files: Mapping[str, bytes]) -> bytes:
    """``first`` is a number that no other archive's files have."""
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in folders]
    entries += [(name, stat.S_IFREG | 0o755, data) for name, data in files.items()]
    archive = b"".join(_record(first + number, *entry) for number, entry in enumerate(entries))
    archive += _record(0, "TRAILER!!!", 0, b"")
    return archive + b"\0" * (-len(archive) % 512)


def _record(number: int, name: str, mode: int, data: bytes) -> bytes:
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def shell_text(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def tar(job: Job) -> bytes:
    """The script `start` and the files, in whole blocks of the disk."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as made:
        for name, data in {"start": shell_text(job.script()), **job.files}.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o755
            made.addfile(member, io.BytesIO(data))
    data = archive.getvalue()
    return data + b"\0" * (-len(data) % BLOCK)
