# SPDX-License-Identifier: Apache-2.0
"""Every module says what it is: `modules.py TREE` prints folders without a short README.md, and files or tests that one
names and that do not exist; status 1 if any."""

import pathlib
import re
import sys

TOPS = ("abi", "models", "platform", "firmware", "python")
#: Folders below the first level that are modules, too.
INNER = ("models/gpu", "python/fabricvp/experiments")
NOT_MODULES = {"__pycache__"}
HEADS = ("- **In:** ", "- **Out:** ", "- **Read first:** ", "- **Tests:** ")
MAX_LINES = 20
#: What stands in back quotes and looks like a file or a folder with a path.
NAMED = re.compile(r"`([\w./-]+(?:\.(?:h|cpp|c|S|py|md|mk|ld|cmake|txt|yaml)|/[\w-]+))`")


def modules(tree):
    for top in TOPS:
        if not (tree / top).is_dir():
            continue
        yield tree / top
        yield from sorted(f for f in (tree / top).iterdir() if f.is_dir() and f.name not in NOT_MODULES)
    for inner in INNER:
        if (tree / inner).is_dir():
            yield from (
                sorted(f for f in (tree / inner).iterdir() if f.is_dir() and f.name not in NOT_MODULES)
                if inner == "models/gpu"
                else [tree / inner]
            )


def violations(tree):
    for module in modules(tree):
        page = module / "README.md"
        path = page.relative_to(tree)
        if not page.is_file():
            yield (
                f"{path}: missing; say what the folder is, what goes in and out, the file to read first, the tests that"
                " drive it"
            )
            continue
        text = page.read_text(encoding="utf-8")
        lines = text.splitlines()
        if lines[:1] != [f"# {module.relative_to(tree)}"] or len(lines) > MAX_LINES:
            yield f"{path}: begins with '# {module.relative_to(tree)}' and has at most {MAX_LINES} lines"
        for head in HEADS:
            if not any(line.startswith(head) for line in lines):
                yield f"{path}: no line '{head}…'"
        for name in NAMED.findall(text):
            if not (module / name).exists() and not (tree / name).exists():
                yield f"{path}: names {name}, which is not there"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every module says what it is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
