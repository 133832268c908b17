# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp linux`: Debian's kernel and tools for the machines that boot Linux, from an installed package
as from a clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import _fabricvp
from .arguments import ArgumentParser
from .errors import InputError

#: What the script runs; all but the first are Debian's.
TOOLS = ("bash", "apt-get", "apt-cache", "dpkg-deb")


def folder() -> Path:
    """Where `fabricvp linux fetch` puts kernel and initramfs, and where machines look for them: `FABRICVP_LINUX`, or
    `fabricvp/linux` in the user's cache. Raises `InputError` if there is neither that variable nor a home."""
    if not (found := _fabricvp.linux_folder()):
        raise InputError("no folder for Linux: set FABRICVP_LINUX")
    return Path(found)


def _script() -> Path:
    for package in (Path(__file__), Path(_fabricvp.__file__)):
        if (script := package.with_name("linux") / "linux.sh").is_file():
            return script
    if (script := Path(__file__).resolve().parents[2] / "scripts" / "linux.sh").is_file():
        return script
    raise InputError("linux/linux.sh is missing in this installation")


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(
        "linux",
        "fetch: gets Debian's riscv64 kernel, busybox and RDMA tools from this machine's Debian archive, and makes\n"
        "the images of the machines linux, linux_gpu, linux_quad, linux_cluster, linux_rdma and linux_rdma_pair,\n"
        "and what `fabricvp cc -l` links with. path: prints where they are.\n"
        "FABRICVP_LINUX names another folder than fabricvp/linux in the user's cache.",
        "fabricvp linux fetch && fabricvp run linux",
    )
    parser.add_argument("what", choices=["fetch", "path"])
    parser.add_argument("--suite", metavar="NAME", default="", help="Debian suite; else trixie, then stable")
    parser.add_argument("--image", metavar="FILE", type=Path, help="a kernel of your own (uncompressed RISC-V Image)")
    parser.add_argument("--initramfs", metavar="FILE", type=Path, help="an initramfs of your own")
    parser.add_argument("--again", action="store_true", help="fetch even if everything is there")
    given = parser.parse_args(arguments)
    out = folder()
    if given.what == "path":
        print(out)
        return 0
    for file in (given.image, given.initramfs):
        if file and not file.is_file():
            raise InputError(f"{file}: no such file")
    needed = TOOLS[:1] if given.image and given.initramfs else TOOLS
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise InputError(f"{', '.join(missing)}: not found; kernel and tools are fetched by Debian's apt")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: {error.strerror}") from None
    environment = os.environ | {"LINUX_OUT": str(out), "PYTHON": sys.executable, "LINUX_SUITE": given.suite}
    for name, file in (("LINUX_IMAGE", given.image), ("LINUX_INITRAMFS", given.initramfs)):
        environment[name] = str(file.resolve()) if file else ""
    done = subprocess.run(["bash", str(_script()), *(["--again"] if given.again else [])], env=environment)
    return 2 if done.returncode else 0
