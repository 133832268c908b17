# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that stand behind a seam: `mentions.py TREE` prints the lines of models and platform that name one outside
of its own folder and its registration; status 1 if any. Pages may name it as an example."""

import pathlib
import re
import sys

#: the mechanism's name, and where it may stand
MECHANISMS = {
    "netcrafter": re.compile(
        r"models/fabric/netcrafter/"  # its folder
        r"|models/fabric/(stage_kind\.cpp|CMakeLists\.txt)$"  # its registration, its sources
        r"|(.*/)?README\.md$"
    )
}
TOPS = ("models", "platform")


def violations(root):
    found = []
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if not path.is_file():
                continue
            at = path.relative_to(root).as_posix()
            for name, allowed in MECHANISMS.items():
                if allowed.match(at):
                    continue
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
                found += [
                    f"{at}:{n}: '{name}' stands outside of its folder: ask the stage through its interface"
                    for n, line in enumerate([at, *lines])
                    if name in line.lower()
                ]
    return found


if __name__ == "__main__":
    problems = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
