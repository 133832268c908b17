#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kernels keep in scratch memory, and why: reads images and prints a Markdown table.

    scripts/scratch_report.py [FOLDER or IMAGE.elf …]      (default: build/release/firmware)

Counts instructions in the machine code that an entry can reach. Each access of 64 lanes is eight lines of scratch
memory. Needs the cross compiler's objdump."""

import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

OBJDUMP = "riscv64-unknown-elf-objdump"
LINES = 8  # of an access by 64 lanes: scratch memory interleaves lanes by 8 bytes
KEPT = {f"s{n}" for n in range(12)} | {f"fs{n}" for n in range(12)}

INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+[0-9a-f]+\s+(\S+)\s*(.*)$")
FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
STACK = re.compile(r"^(\w+),-?\d+\((sp|s0)\)$")
TARGET = re.compile(r"<([^>+]+)>")


class Scratch(NamedTuple):
    """Instructions of a kernel that access its stack."""

    saves: int  # of registers that a caller might want: s0 … s11, fs0 … fs11
    links: int  # of ra
    stores: int  # others
    loads: int
    arrays: int  # addresses taken of variables on the stack
    calls: int
    functions: int = 1

    def reasons(self) -> str:
        found = []
        if self.saves > self.functions:
            found.append("keeps registers for a caller")
        elif self.saves:
            found.append("s0, which flags cannot free")
        if self.links:
            found.append("return addresses" if self.calls else "ra, as one register more")
        if self.arrays:
            found.append("arrays or structs on the stack")
        if self.stores > self.arrays:
            found.append("more values alive than registers" + (", or alive across calls" if self.calls else ""))
        return "; ".join(found)


def functions(image: pathlib.Path) -> dict[str, list[tuple[str, str]]]:
    """Name of each function of an image → its instructions, operation and operands."""
    text = subprocess.run([OBJDUMP, "-d", str(image)], check=True, capture_output=True, text=True).stdout
    found: dict[str, list[tuple[str, str]]] = {}
    body: list[tuple[str, str]] = []
    for line in text.splitlines():
        if name := FUNCTION.match(line):
            body = found.setdefault(name[1], [])
        elif instruction := INSTRUCTION.match(line):
            body.append((instruction[1], instruction[2].split(" #")[0].strip()))
    return found


def reachable(all_functions: dict[str, list[tuple[str, str]]], entry: str) -> set[str]:
    todo, seen = [entry], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in all_functions:
            continue
        seen.add(name)
        for _, operands in all_functions[name]:
            todo += TARGET.findall(operands)
    return seen


def scratch_of(body: list[tuple[str, str]]) -> Scratch:
    saves = links = stores = loads = arrays = calls = 0
    written: set[str] = set()
    prologue = False  # in the block that makes the frame
    frame_pointer = any(re.match(r"^s0,sp,\d+$", operands) for _, operands in body)
    for operation, operands in body:
        access = STACK.match(operands)
        if access and access[2] == "s0" and not frame_pointer:
            access = None
        if access and operation in {"sd", "sw", "sh", "sb", "fsd", "fsw"}:
            if access[1] == "ra":
                links += 1
            elif prologue and access[1] in KEPT and access[1] not in written:
                saves += 1
            else:
                stores += 1
        elif access and operation.lstrip("f").startswith(("ld", "lw", "lh", "lb")):
            loads += 1
        elif re.match(r"^(?!s[p0],)\w+,sp(,-?\d+)?$", operands):
            arrays += 1
        if operands.startswith("sp,sp,-"):
            prologue = True
        elif operation.startswith(("b", "j", "ret")):
            prologue = False
        if operation in {"jal", "jalr", "call"} and not operands.startswith("zero"):
            calls += 1
        written.add(operands.split(",")[0])
    return Scratch(saves, links, stores, loads, arrays, calls)


def kernels_of(image: pathlib.Path) -> dict[str, Scratch]:
    """Name of each kernel of an image → what it and the functions that it calls keep in scratch memory."""
    all_functions = functions(image)
    found = {}
    for entry in sorted(name for name in all_functions if name.endswith("_entry")):
        parts = [scratch_of(all_functions[name]) for name in sorted(reachable(all_functions, entry))]
        found[entry.removesuffix("_entry")] = Scratch(*map(sum, zip(*parts, strict=True)))
    return found


def images_of(path: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path.glob("*.elf")) if path.is_dir() else [path]


def is_kernel_image(image: pathlib.Path) -> bool:
    headers = subprocess.run([OBJDUMP, "-h", str(image)], check=True, capture_output=True, text=True).stdout
    return " .kernels " in headers


def main(arguments: list[str]) -> int:
    paths = [pathlib.Path(a) for a in arguments] or [pathlib.Path("build/release/firmware")]
    for path in paths:
        if not path.exists():
            print(f"scratch_report.py: {path}: no such file or folder", file=sys.stderr)
            return 2
    rows = []
    without = []
    for image in (i for path in paths for i in images_of(path) if is_kernel_image(i)):
        for kernel, s in kernels_of(image).items():
            name = kernel if kernel == image.stem else f"{image.stem}: {kernel}"
            if s.saves + s.links + s.stores + s.loads:
                rows.append((name, s))
            else:
                without.append(name)
    print("| kernel | saves | ra | other stores | loads | lines a pass | why |")
    print("|---|---|---|---|---|---|---|")
    for name, s in rows:
        lines = LINES * (s.saves + s.links + s.stores + s.loads)
        print(f"| `{name}` | {s.saves} | {s.links} | {s.stores} | {s.loads} | {lines} | {s.reasons()} |")
    print(f"\nNothing in scratch memory ({len(without)} kernels): {', '.join(f'`{n}`' for n in without)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
