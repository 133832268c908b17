# SPDX-License-Identifier: Apache-2.0
"""What every file keeps to: `files.py TREE` prints files that are too long or too wide, lack the licence line, or whose
name breaks the pattern of unit tests; status 1 if any."""

import pathlib
import re
import sys

MAX_LINES, MAX_COLUMNS = 600, 120
NARROW = {".h", ".hpp", ".cpp", ".c", ".py"}
MAX_SVG_BYTES, MAX_PNG_BYTES = 40_000, 250_000  # bytes of a picture in docs/
SOURCES = {".h", ".hpp", ".cpp", ".c", ".S", ".ld", ".py", ".sh", ".cmake", ".inc"}
SPLIT = ("abi", "models", "platform", "python", "firmware", "tests", "scripts")
LICENSED = (*SPLIT, "cmake", "configs")
SPDX = "SPDX-License-Identifier: Apache-2.0"
# Mirrors and registries are the machine's own setting, never ours.
HOST = re.compile(
    r"https?://(?!(127\.0\.0\.1|localhost|www\.apache\.org|\$|%|\{))[\w.-]*(debian|pypi|pythonhosted|github)[\w.-]*"
)

#: A guest may cause what models warn of again and again: base/counted_warning.h logs it once, and counts.
UNCOUNTED = re.compile(r"\blog(?:_message)?\(\s*log_level::(?:warning|error)\b")
#: What comes at most once, or is told once by other means.
LOGGED_ONCE = {
    "models/base/trace.cpp",  # the trace has come to its limit
    "models/fabric/interconnect.cpp",  # a link or a switch is dead, by the user's fault plan
    "models/network/switch.cpp",
    "models/host/address_bus.cpp",  # once for each initiator, kind of access and response
    "models/riscv/hart_traps.cpp",  # once a hart
}


def files(tree, tops):
    for top in tops:
        for file in sorted((tree / top).rglob("*")):
            if file.is_file() and not {"__pycache__", "build", ".venv"} & set(file.relative_to(tree).parts):
                yield file


def violations(tree):
    for file in files(tree, LICENSED):
        path = file.relative_to(tree)
        licensed = file.suffix in SOURCES | {".yaml"} or file.name == "CMakeLists.txt"
        if not licensed:
            continue
        text = file.read_text(encoding="utf-8")
        if SPDX not in "\n".join(text.splitlines()[:3]):
            yield f"{path}: no '{SPDX}' line on top"
        if file.suffix in SOURCES and path.parts[0] in SPLIT and text.count("\n") > MAX_LINES:
            yield f"{path}: {text.count(chr(10))} lines, more than {MAX_LINES}; split it by sub-unit"
        if file.suffix in NARROW and "templates" not in path.parts:
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > MAX_COLUMNS:
                    yield f"{path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
        if path.parts[:2] == ("tests", "unit") and re.fullmatch(r"test_\w+\.cpp", path.name):
            yield f"{path}: unit tests are called {path.stem.removeprefix('test_')}_test.cpp"
        if path.parts[0] == "models" and UNCOUNTED.search(text) and str(path) not in LOGGED_ONCE:
            yield f"{path}: a warning that may come again and again: use count_warning() of base/counted_warning.h"
        if HOST.search(text):
            yield f"{path}: names a mirror or registry: {HOST.search(text)[0]}"


def plots(tree):
    """Plots in pages are light: PNG, or SVG that a person could read."""
    for file in files(tree, ("docs",)):
        path, size = file.relative_to(tree), file.stat().st_size
        if file.suffix == ".svg" and size > MAX_SVG_BYTES or file.suffix == ".png" and size > MAX_PNG_BYTES:
            yield (
                f"{path}: {size} bytes, more than {MAX_SVG_BYTES if file.suffix == '.svg' else MAX_PNG_BYTES}; make it"
                " a PNG file with fewer colours or pixels"
            )


def main():
    tree = pathlib.Path(sys.argv[1])
    found = [*violations(tree), *plots(tree)]
    print("\n".join(found) or f"every file has its licence line and at most {MAX_LINES} lines of {MAX_COLUMNS} columns")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
