# SPDX-License-Identifier: Apache-2.0
"""opencl_archive.py ROOT OUTPUT: writes Debian's loader of OpenCL's drivers, libOpenCL.so.1, with the C++ library that
programs may need beside it, as an archive (cpio, newc) for behind an initramfs.

ROOT holds unpacked Debian packages. The driver is not among them: `fabricvp run` compiles it, and adds it with the file
in /etc/OpenCL/vendors that names it."""

import pathlib
import stat
import sys

from initramfs import libraries, record

NAMES = ["libOpenCL.so.1", "libstdc++.so.6", "libgcc_s.so.1"]


def entries(root):
    found = {}
    for name in NAMES:
        (path,) = root.glob(f"usr/lib/*/{name}")
        found[name] = path.read_bytes()
        found |= libraries(root, found[name])
    yield "lib", stat.S_IFDIR | 0o755, b"", (0, 0)
    yield from ((f"lib/{name}", stat.S_IFREG | 0o755, data, (0, 0)) for name, data in sorted(found.items()))


def main(root, output):
    # Numbers of their own, as in mpi_archive.py.
    archive = b"".join(record(number, *entry) for number, entry in enumerate(entries(pathlib.Path(root)), 55_000))
    archive += record(0, "TRAILER!!!", 0)
    pathlib.Path(output).write_bytes(archive + b"\0" * (-len(archive) % 512))


if __name__ == "__main__":
    main(*sys.argv[1:])
