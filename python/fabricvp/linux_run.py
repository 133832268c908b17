# SPDX-License-Identifier: Apache-2.0
"""`fabricvp run MACHINE --program FILE -- ARGUMENTS`: boots Linux with a program of `fabricvp cc --target linux`,
prints what it prints as it comes, and ends with its exit status."""

from __future__ import annotations

import re
import shlex
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import ArgumentParser
from .compiler.languages import SUFFIXES
from .compiler.linux_program import require_linux_program
from .errors import InputError

if TYPE_CHECKING:
    from .platform import Platform

#: How far the machine runs before its console is looked at again.
SLICE = "5 ms"
_BEGIN, _END = b"\1fabricvp begins\n", re.compile(rb"\x01fabricvp ends (\d+)\n")
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
    files = {Path(name).name: _contents(name) for name in [given.program, *given.file]}
    require_linux_program(files[Path(given.program).name], given.program)
    start = _start_script(
        Path(given.program).name, arguments[split + 1 :], [_pair("--env", text) for text in given.env]
    )
    overrides = dict(_pair("--set", text) for text in given.set)
    with Platform.from_config(given.machine, overrides=overrides) as platform, tempfile.TemporaryDirectory() as scratch:
        initrd = Path(scratch, "initramfs.cpio")
        initrd.write_bytes(_initramfs(platform, given.machine) + _archive(start, files))
        platform.load_images(initrd=initrd)
        status = _run(platform, given.time)
        if given.out:
            platform.write_results(given.out)
        return status


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or (option == "--env" and not name.isidentifier()):
        raise InputError(f"{option} '{text}': must be NAME=VALUE")
    return name, value


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


def _start_script(name: str, arguments: list[str], environment: list[tuple[str, str]]) -> bytes:
    lines = [
        "#!/bin/busybox sh",
        "stty -onlcr",
        "gpus",
        "cd /job",
        *(f"export {key}={shlex.quote(value)}" for key, value in environment),
        "printf '\\001fabricvp begins\\n'",
        shlex.join([f"./{name}", *arguments]) + " </dev/null",
        "printf '\\001fabricvp ends %d\\n' $?",
        "poweroff -f",
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
    """Takes the program's output out of the console's, and prints it."""

    def __init__(self) -> None:
        self.position = 0
        self.status: int | None = None
        self._begun = False

    def take(self, console: bytes) -> None:
        """Prints what is new. ``console`` is all output since the start."""
        if not self._begun and (at := console.find(_BEGIN)) >= 0:
            self._begun, self.position = True, at + len(_BEGIN)
        if not self._begun or self.status is not None:
            return
        end = _END.search(console, self.position)
        mark = console.find(b"\1", max(self.position, len(console) - 32))
        upto = end.start() if end else mark if mark >= 0 else len(console)
        sys.stdout.buffer.write(console[self.position : upto])
        sys.stdout.buffer.flush()
        self.position = upto
        if end:
            self.status = int(end[1])


def _run(platform: Platform, limit: str | None) -> int:
    from . import _fabricvp
    from .results import Outcome

    output, console = _Output(), platform.nodes[0].console
    end = _fabricvp.parse_time(limit) if limit else _fabricvp.NEVER
    sys.stdout.flush()
    for result in _slices(platform, end):
        output.take(console.output_bytes)
        if result != Outcome.TIME_LIMIT or platform.now_ps >= end:
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
