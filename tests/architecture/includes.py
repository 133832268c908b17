# SPDX-License-Identifier: Apache-2.0
"""Which module may include which: `includes.py TREE` prints every #include line that breaks the rule; status 1 if any
does."""

import pathlib
import re
import sys

# Every module also knows base, itself and the headers shared with firmware (abi).
DEPENDENCIES = {
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
MODELS = set(DEPENDENCIES)
DEPENDENCIES["platform"] = MODELS | {"platform"}
DEPENDENCIES["python"] = {"platform", "analytic"}

# Models know nothing of configuration files, the command line or Python.
FOREIGN = re.compile(r"(yaml-cpp|pybind11|nlohmann|Python\.h|iostream|CLI)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def module_of(path):
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
            module = module_of(path)
            if module not in DEPENDENCIES:
                yield f"{path}: module '{module}' has no rule in tests/architecture/includes.py"
                continue
            allowed = DEPENDENCIES[module] | {module, "abi"} | ({"base"} if module != "analytic" else set())
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                header = match[2]
                first = header.removeprefix("fabricvp/").split("/")[0]
                if first in DEPENDENCIES and "/" in header and first not in allowed:
                    yield f"{path}:{number}: {module} must not know {first}: {line.strip()}"
                elif match[1] == '"' and ".." in header:
                    yield f"{path}:{number}: a relative path hides which module is known: {line.strip()}"
                elif module in MODELS and FOREIGN.match(header):
                    yield f"{path}:{number}: a model must not know {header}: {line.strip()}"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every #include keeps to the modules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
