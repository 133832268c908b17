#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""public_kernels.py SUITE DIR [PATTERN]: compiles every OpenCL C file of a public suite, and says which do not and why.

SUITE is mgpusim, rodinia, pannotia, shoc, or any other name; DIR is a clone of it (none is kept here). Macros that a
suite's host programs pass to the compiler are in MACROS. Ends with 1 if a file does not compile.

    .venv/bin/python scripts/public_kernels.py mgpusim /tmp/mgpusim
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fabricvp.compiler import Options, build
from fabricvp.errors import InputError

#: What host programs define, by parts of paths: their values for a device without vendor extensions.
MACROS: dict[str, dict[str, dict[str, object]]] = {
    "mgpusim": {name: {"SINGLE_PRECISION": 1} for name in ("spmv.cl", "fft.cl", "stencil2d.cl")},
    "shoc": {
        "md.cl": {"SINGLE_PRECISION": 1, "POTENTIAL": 1},
        "spmv.cl": {"SINGLE_PRECISION": 1},
        "stencil2d/": {"SINGLE_PRECISION": 1, "LROWS": 8, "LCOLS": 8},
        "s3d/": {"SINGLE_PRECISION": 1, "N_GP": 4096},
        "": {"SINGLE_PRECISION": 1},
    },
    "rodinia": {
        "b+tree/": {"DEFAULT_ORDER": 256, "DEFAULT_ORDER_2": 256},
        "hotspot/": {"BLOCK_SIZE": 16},
        "lud/": {"BLOCK_SIZE": 16},
        "nw/": {"BLOCK_SIZE": 16},
    },
}


def one(file: Path, macros: dict[str, object]) -> str:
    """ "" or why a file does not compile."""
    try:
        build(
            file.read_text(errors="surrogateescape"), str(file), Options.of(macros, [file.parent, file.parent.parent])
        )
        return ""
    except InputError as error:
        return str(error).splitlines()[0]


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__.strip().splitlines()[0], file=sys.stderr)
        return 2
    suite, folder, pattern = sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) == 4 else "*.cl"
    files = sorted(folder.rglob(pattern))
    by_part = MACROS.get(suite, {})
    start = time.monotonic()
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        macros = [next((m for part, m in by_part.items() if part in str(f)), {}) for f in files]
        reasons = list(pool.map(one, files, macros))
    failed = 0
    for file, reason in zip(files, reasons):
        print(f"{'FAILED ' if reason else 'ok     '} {file.relative_to(folder)}{f': {reason}' if reason else ''}")
        failed += bool(reason)
    print(f"{suite}: {len(files) - failed} of {len(files)} compile, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
