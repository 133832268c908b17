# SPDX-License-Identifier: Apache-2.0
"""`fabricvp run MACHINE --program FILE -- ARGUMENTS`: boots Linux with a program of `fabricvp cc --target linux`,
prints what it prints as it comes, and ends with its exit status."""

from __future__ import annotations

import hashlib
import re
import shlex
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import ArgumentParser, pair
from .compiler.languages import SUFFIXES
from .compiler.linux_program import require_linux_program
from .errors import InputError

if TYPE_CHECKING:
    from .platform import Platform

#: How far the machine runs before its console is looked at again.
SLICE = "5 ms"
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")


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
    parser = ArgumentParser(
        "run",
        "Boots Linux with a program that `fabricvp cc --target linux` has made, and ends with its exit status.",
        "fabricvp run linux_gpu --program saxpy -- 1000 2.5",
    )
    parser.add_argument("machine", metavar="MACHINE", help="a machine that boots Linux, such as linux_gpu")
    parser.add_argument("--program", metavar="FILE", required=True, help="arguments of the program stand behind --")
    parser.add_argument("--file", metavar="FILE", action="append", default=[], help="a file beside it; repeatable")
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="repeatable")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the machine")
    parser.add_argument("--time", metavar="TIME", help="simulated time, boot included, after which the run ends")
    parser.add_argument("--out", metavar="DIR", help="folder of results")
    given = parser.parse_args(arguments[:split])
    files = _files([given.program, *given.file])
    name = Path(given.program).name
    require_linux_program(files[name], given.program)
    environment = [_variable(text) for text in given.env]
    output = _Output(_nonce(name, arguments[split + 1 :], environment, files))
    start = _start_script(name, arguments[split + 1 :], environment, output)
    overrides = dict(pair("--set", text) for text in given.set)
    if given.out:
        from .experiments.writing import prepare_folder

        prepare_folder(given.out)
    with Platform.from_config(given.machine, overrides=overrides) as platform:
        with tempfile.TemporaryDirectory() as scratch:
            initrd = Path(scratch, "initramfs.cpio")
            initrd.write_bytes(_initramfs(platform, given.machine) + _archive(start, files))
            platform.load_images(initrd=initrd)
        status = _run(platform, output, given.time)
        if given.out:
            platform.write_results(given.out)
        return status


def _variable(text: str) -> tuple[str, str]:
    name, value = pair("--env", text, "NAME=VALUE")
    if not name.isidentifier():
        raise InputError(f"--env '{text}': must be NAME=VALUE, where a name has letters, digits and _")
    return name, value


def _files(names: list[str]) -> dict[str, bytes]:
    """Contents by the names that they have on Linux."""
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


def _initramfs(platform: Platform, machine: str) -> bytes:
    if len(platform.nodes) != 1:
        raise InputError(f"{machine}: {len(platform.nodes)} nodes: programs run on machines of one")
    images = {p.path.rpartition(".")[2]: p.text for p in platform.config.parameters() if ".images." in p.path}
    if not images.get("initrd"):
        raise InputError(f"{machine}: a machine that boots no Linux: linux_gpu does")
    data = Path(images["initrd"]).read_bytes()
    if b"bin/gpus\0" not in data:
        raise InputError(f"{images['initrd']}: its initramfs hands no GPU to programs: renew it by `make linux`")
    return data


def _nonce(name: str, arguments: list[str], environment: list[tuple[str, str]], files: dict[str, bytes]) -> str:
    """What tells the marks of this run from a program's output: the same for the same inputs, as all results are."""
    digest = hashlib.sha256(repr((name, arguments, environment)).encode("utf-8", "surrogateescape"))
    for file, data in files.items():
        digest.update(f"{file} {len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def _start_script(name: str, arguments: list[str], environment: list[tuple[str, str]], output: _Output) -> bytes:
    variables = ["env", *(f"{key}={value}" for key, value in environment)] if environment else []
    lines = [
        "#!/bin/busybox sh",
        "trap 'poweroff -f' EXIT",
        "stty -onlcr",
        "gpus",
        "cd /job",
        f"printf '\\001{output.begin}\\n'",
        shlex.join([*variables, f"./{name}", *arguments]) + " </dev/null",
        f"printf '\\001{output.end}%d\\n' $?",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _archive(start: bytes, files: dict[str, bytes]) -> bytes:
    """What the kernel unpacks over the initramfs (cpio, newc)."""
    entries = [("job", stat.S_IFDIR | 0o755, b""), ("job/start", stat.S_IFREG | 0o755, start)]
    entries += [(f"job/{name}", stat.S_IFREG | 0o755, data) for name, data in files.items()]
    archive = b"".join(_record(100_000 + number, *entry) for number, entry in enumerate(entries))
    archive += _record(0, "TRAILER!!!", 0, b"")
    return archive + b"\0" * (-len(archive) % 512)


def _record(number: int, name: str, mode: int, data: bytes) -> bytes:
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


class _Output:
    """Takes the program's output out of the console's, and prints it. Lines that begin with the byte 1 and ``begin``
    or ``end`` stand around it; a program that prints such lines of another run changes nothing."""

    def __init__(self, nonce: str) -> None:
        self.begin, self.end = f"fabricvp {nonce} begins", f"fabricvp {nonce} ends "
        self.status: int | None = None
        self._position = 0
        self._begun = False
        self._ending = re.compile(b"\1" + self.end.encode() + rb"(\d+)\n")

    def take(self, console: bytes, more: bool) -> None:
        """Prints what is new. ``console`` is all output since the start, of which ``more`` may come."""
        begin = f"\1{self.begin}\n".encode()
        if not self._begun and (at := console.find(begin)) >= 0:
            self._begun, self._position = True, at + len(begin)
        if not self._begun or self.status is not None:
            return
        end = self._ending.search(console, self._position)
        upto = end.start() if end else len(console)
        if more and not end:  # what may be the first part of the end's line waits
            held = console.rfind(b"\1", max(self._position, len(console) - len(self.end) - 5))
            upto = held if held >= 0 else upto
        sys.stdout.buffer.write(console[self._position : upto])
        sys.stdout.buffer.flush()
        self._position = upto
        if end:
            self.status = int(end[1])


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
