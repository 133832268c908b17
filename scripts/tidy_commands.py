# SPDX-License-Identifier: Apache-2.0
"""tidy_commands.py BUILD: writes BUILD/tidy/compile_commands.json, the build's commands as clang-tidy can read them.
The build's compiler has precompiled headers of its own, which clang takes for broken ones of its kind."""

import json
import pathlib
import re
import shlex
import sys

COMPILER_ONLY = {"-Winvalid-pch", "-fpch-preprocess", "-fno-crossjumping"}


def readable(command):
    """The command without what names or serves precompiled headers: sources include what they use."""
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word == "-include":
            header = next(words)
            if "cmake_pch" not in header:
                kept += [word, header]
        elif word not in COMPILER_ONLY:
            kept.append(word)
    return shlex.join(kept)


def alone(entry):
    """The entry, or where it is of a group of sources that are compiled as one, an entry for each of them."""
    group = pathlib.Path(entry["file"])
    if "Unity" not in group.parent.parts:
        return [entry]
    sources = re.findall(r'^#include "(/[^"]+)"', group.read_text(encoding="utf-8"), re.MULTILINE)
    command = entry["command"]
    return [{**entry, "file": source, "command": command.replace(entry["file"], source)} for source in sources]


def main():
    build = pathlib.Path(sys.argv[1])
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [one for entry in commands for one in alone(entry)]
    for entry in commands:
        entry["command"] = readable(entry["command"])
    # clang-tidy would guess a command for a source without one, and report errors of the guess.
    known = {entry["file"] for entry in commands}
    wanted = {path for folder in ("models", "platform") for path in (pathlib.Path.cwd() / folder).rglob("*.cpp")}
    if missing := sorted(str(path) for path in wanted if str(path) not in known):
        sys.exit(f"tidy: no command of the build for {', '.join(missing)}: build with tests and MPI (make test)")
    (build / "tidy").mkdir(exist_ok=True)
    (build / "tidy" / "compile_commands.json").write_text(json.dumps(commands, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
