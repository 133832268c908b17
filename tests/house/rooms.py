# SPDX-License-Identifier: Apache-2.0
"""Every room says what it is: `rooms.py TREE` prints folders without a short README.md, and files or tests that one
names and that do not exist; status 1 if any."""

import pathlib
import re
import sys

TOPS = ("models", "platform", "firmware", "python")
#: Folders below the first level that are rooms, too.
INNER = ("models/gpu", "python/fabricvp/experiments")
NOT_ROOMS = {"__pycache__"}
HEADS = ("- **In:** ", "- **Out:** ", "- **Read first:** ", "- **Tests:** ")
MOST_LINES = 20
#: What stands in back quotes and looks like a file or a folder with a path.
NAMED = re.compile(r"`([\w./-]+(?:\.(?:h|cpp|c|S|py|md|mk|ld|cmake|txt|yaml)|/[\w-]+))`")


def rooms(tree):
    for top in TOPS:
        if not (tree / top).is_dir():
            continue
        yield tree / top
        yield from sorted(f for f in (tree / top).iterdir() if f.is_dir() and f.name not in NOT_ROOMS)
    for inner in INNER:
        if (tree / inner).is_dir():
            yield from (
                sorted(f for f in (tree / inner).iterdir() if f.is_dir() and f.name not in NOT_ROOMS)
                if inner == "models/gpu"
                else [tree / inner]
            )


def violations(tree):
    for room in rooms(tree):
        page = room / "README.md"
        path = page.relative_to(tree)
        if not page.is_file():
            yield (
                f"{path}: missing; say what the folder is, what goes in and out, the file to read first, the tests that"
                " drive it"
            )
            continue
        text = page.read_text(encoding="utf-8")
        lines = text.splitlines()
        if lines[:1] != [f"# {room.relative_to(tree)}"] or len(lines) > MOST_LINES:
            yield f"{path}: begins with '# {room.relative_to(tree)}' and has at most {MOST_LINES} lines"
        for head in HEADS:
            if not any(line.startswith(head) for line in lines):
                yield f"{path}: no line '{head}…'"
        for name in NAMED.findall(text):
            if not (room / name).exists() and not (tree / name).exists():
                yield f"{path}: names {name}, which is not there"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every room says what it is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
