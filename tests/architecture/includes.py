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
    "pcie": {"link"},
    "virtio": {"pcie", "ethernet"},
    "fabric": {"link"},
    "network": {"link"},
    "gpu": {"riscv", "fabric", "pcie"},
    "hca": {"pcie", "network"},
    "host": {"riscv", "pcie"},
}
MODELS = set(DEPENDENCIES)
DEPENDENCIES["platform"] = MODELS | {"platform"}
DEPENDENCIES["python"] = {"platform", "analytic"}

# Folders (or single files) inside a tree: which may include which others. "" is the tree's own files. Every part also
# knows itself. Other trees are the affair of DEPENDENCIES, and of the table for firmware.
_gpu = {"memory": set(), "lanes": {"memory"}, "control": {"lanes", "memory"}}
_gpu[""] = set(_gpu)  # a core, and what attaches it
_gpu |= {"debugging": set(_gpu), "replay": set(_gpu)}

_hca = {"wiring.h": set(), "memory": {"wiring.h"}, "queues": {"wiring.h", "memory"}}
_hca["transport"] = set(_hca)
_hca["commands"] = set(_hca)

PROGRAMS = "apps cluster compnet distributed gpurdma hello misuse ordering pcie_demo pgas rdma topology".split()
# Images of one kind: those for harts with their drivers, and those that lanes or the command processor run.
_firmware = {
    "lib": set(),
    "drivers/pci": {"lib"},
    "drivers/gpu": {"lib", "drivers/pci"},
    "runtime": {"lib", "drivers/gpu", "drivers/pci"},
    "runtime/include": {"runtime/include/texture_types.h"},  # what programs include
    "runtime/include/texture_types.h": set(),  # what hosts write and lanes read
    "runtime/hip": {
        "lib",
        "drivers/gpu",
        "drivers/pci",
        "runtime",
        "runtime/include",
        "runtime/include/texture_types.h",
    },
    "runtime/opencl": {"lib", "drivers/gpu", "drivers/pci", "runtime", "runtime/include"},
    "runtime/libc": {"lib", "drivers/gpu"},
    "bare": {"lib"},  # what programs in one source begin with, without Linux
    "linux": {"lib", "drivers/gpu", "drivers/pci", "runtime"},  # in place of parts of lib and drivers/pci
    "linux/icd": {"lib", "drivers/gpu", "drivers/pci", "linux", "runtime", "runtime/include", "runtime/opencl"},
    "drivers/verbs": {"lib", "drivers/pci"},
    "lib/communicator.h": set(),  # ranks: plain C, for harts and lanes
    "drivers/bootstrap": {"lib", "lib/communicator.h", "drivers/pci", "drivers/verbs"},
    "gpu": set(),
    "gpu/hip": {"gpu", "runtime/include/texture_types.h"},
    "gpu/verbs": {"gpu"},
    "network": {"gpu", "gpu/verbs", "lib/communicator.h"},
    "gpu/pgas": {"gpu", "gpu/verbs", "network", "lib/communicator.h"},
    "gpu/kernels": {"gpu", "gpu/verbs", "gpu/pgas", "network"},
    "cp": {"network"},
    "drivers/gpu_rdma": {
        "lib",
        "lib/communicator.h",
        "drivers/bootstrap",
        "drivers/gpu",
        "drivers/pci",
        "drivers/verbs",
        "gpu/pgas",
    },
    "host": {"lib", "drivers/pci"},  # headers under their earlier names
}
_below_programs = set(_firmware) - {"cp", "host"}
for _program in PROGRAMS:
    _firmware[f"programs/{_program}"] = _below_programs
# All of these at work on one machine.
_firmware["programs/cluster"] = _below_programs | {"programs/apps", "programs/compnet", "programs/gpurdma"}

_platform = {
    "build_stamp.h": set(),
    "plugin.h": {"build_stamp.h"},
    "common": set(),
    "gdb": set(),
    "params": set(),
    "console": {"common"},
    "loader": {"common"},
    "profile": {"common", "loader"},
    "config": {"common", "params", "loader", "plugin.h"},
    "results": {"common", "config", "params"},
    "ranks": {"common", "params", "results"},
}

PARTS = {
    "platform": _platform | {"": set(_platform), "cli": set(_platform) | {""}},
    # The registration of stages is the one file that knows a mechanism.
    "models/fabric": {"": set(), "netcrafter": {""}, "stage_kind.cpp": {"", "netcrafter"}},
    "models/gpu": _gpu,
    "models/hca": _hca | {"": set(_hca)},
    "models/host": {"": set()},
    "firmware": _firmware,
}

# Models know nothing of configuration files, the command line or Python.
FOREIGN = re.compile(r"(yaml-cpp|pybind11|nlohmann|Python\.h|iostream|CLI)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def module_of(path):
    if path.parts[0] == "models":
        return path.parts[1]
    return path.parts[0]


def part_of(root, path):
    """The part of PARTS that a path inside a tree belongs to; None where it has no rule."""
    inside = path.removeprefix(root + "/")
    found = [part for part in PARTS[root] if inside == part or inside.startswith(part + "/")]
    if found:
        return max(found, key=len)
    return "" if "/" not in inside and "" in PARTS[root] else None


def known_as(path, header):
    """Where in the tree a header stands that a file includes: from models/, from firmware/, beside the file, or at the
    root."""
    first = header.split("/")[0]
    if first in MODELS and path.parts[0] != "firmware":
        return f"models/{header}"
    if path.parts[0] == "firmware":
        return f"{path.parent.as_posix()}/{header}" if "/" not in header else f"firmware/{header}"
    return header


def breaks_parts(path, header):
    """Why a file must not include a header of its own tree; nothing where it may."""
    file, header = path.as_posix(), known_as(path, header)
    for root, parts in PARTS.items():
        if not (file.startswith(root + "/") and header.startswith(root + "/")):
            continue
        own, other = part_of(root, file), part_of(root, header)
        if own is None:
            return f"{file} has no rule in PARTS of tests/architecture/includes.py"
        if other is not None and other != own and other not in parts[own]:
            return f"{root}/{own} must not know {root}/{other}".replace("/ ", " ").rstrip("/")
    return None


def circles():
    """Parts that reach each other, each pair once."""
    for root, parts in PARTS.items():
        reach = {part: set(known) for part, known in parts.items()}
        for middle in parts:
            for part in parts:
                if middle in reach[part]:
                    reach[part] |= reach[middle]
        for part in parts:
            for other in sorted(reach[part]):
                if part < other and part in reach[other]:
                    yield f"PARTS: {root}/{part} and {root}/{other} know each other"


def firmware_violations(tree):
    for file in sorted((tree / "firmware").rglob("*")):
        if file.suffix not in (".h", ".c", ".S", ".inc"):
            continue
        path = file.relative_to(tree)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] == '"' and (broken := breaks_parts(path, match[2])):
                yield f"{path}:{number}: {broken}: {line.strip()}"


def violations(tree):
    yield from circles()
    yield from firmware_violations(tree)
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
                elif broken := breaks_parts(path, header.removeprefix("fabricvp/")):
                    yield f"{path}:{number}: {broken}: {line.strip()}"
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
