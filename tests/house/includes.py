# SPDX-License-Identifier: Apache-2.0
"""Which room may include which: `includes.py TREE` prints every #include line that breaks the rule; status 1 if any
does."""

import pathlib
import re
import sys

# Every room also knows base, itself and the headers shared with firmware (abi).
KNOWS = {
    "base": set(),
    "link": set(),
    "riscv": set(),
    "analytic": set(),
    "ethernet": {"link"},
    "pcie": {"link", "ethernet"},
    "fabric": {"link"},
    "network": {"link"},
    "gpu": {"riscv", "fabric", "pcie"},
    "hca": {"pcie", "network"},
    "host": {"riscv", "pcie"},
}
MODELS = set(KNOWS)
KNOWS["platform"] = MODELS | {"platform"}
KNOWS["python"] = {"platform", "analytic"}

# Models know nothing of configuration files, the command line or Python.
FOREIGN = re.compile(r"(yaml-cpp|pybind11|nlohmann|Python\.h|iostream|CLI)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def room_of(path):
    if path.parts[0] == "models":
        return path.parts[1]
    return path.parts[0]


def violations(tree):
    for top in ("models", "platform", "python"):
        for file in sorted((tree / top).rglob("*")):
            if (
                file.suffix not in (".h", ".cpp", ".hpp", ".c", ".inc") or "templates" in file.parts
            ):  # of projects outside
                continue
            path = file.relative_to(tree)
            room = room_of(path)
            if room not in KNOWS:
                yield f"{path}: room '{room}' has no rule in tests/house/includes.py"
                continue
            allowed = KNOWS[room] | {room, "abi"} | ({"base"} if room != "analytic" else set())
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                header = match[2]
                first = header.removeprefix("fabricvp/").split("/")[0]
                if first in KNOWS and "/" in header and first not in allowed:
                    yield f"{path}:{number}: {room} must not know {first}: {line.strip()}"
                elif match[1] == '"' and ".." in header:
                    yield f"{path}:{number}: a relative path hides which room is known: {line.strip()}"
                elif room in MODELS and FOREIGN.match(header):
                    yield f"{path}:{number}: a model must not know {header}: {line.strip()}"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every #include keeps to the rooms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
