#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage_report.py BUILD JOBS: what the counters of a build say, by gcovr: BUILD/index.html, BUILD/coverage.json, and
a table on standard output."""

import json
import pathlib
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Any

#: Files with most lines that no test executes.
LARGEST = 20
KINDS = ("lines", "branches")


def main(build: pathlib.Path, jobs: str) -> None:
    counted = build / "coverage.json"
    subprocess.run(
        [sys.executable, "-m", "gcovr", "-j", jobs, "--root", ".", "--filter", "models/", "--filter", "platform/"]
        + ["--exclude-throw-branches", "--exclude-unreachable-branches", "--merge-mode-functions", "separate"]
        # Threads of a test count without locks.
        + ["--gcov-ignore-parse-errors", "negative_hits.warn_once_per_file", "--gcov-suspicious-hits-threshold", "0"]
        + ["--json", counted, "--html-details", build / "index.html", "--html-single-page", build],
        check=True,
    )
    files = {file["file"]: totals_of(file["lines"]) for file in json.loads(counted.read_text())["files"]}
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for name, totals in files.items():
        path = pathlib.PurePath(name).parts
        for folder in ("/".join(path[:2]) if len(path) > 2 else path[0], f"all of {path[0]}"):
            folders[folder].update(totals)
    print(f"\n{'':44}{'lines':>8}{'left':>8}{'':9}{'branches':>8}{'left':>8}")
    for name in sorted(folders, key=lambda name: (name.startswith("all"), name)):
        print(row(name, folders[name]))
    print("\nfiles with most lines left:")
    for name in sorted(files, key=lambda name: (-files[name]["lines left"], name))[:LARGEST]:
        print(row(name, files[name]))
    print(f"{build}/index.html shows each line")


def totals_of(lines: list[dict[str, Any]]) -> Counter[str]:
    """Lines and branches of a file, and how many of them no test executes. gcovr has the lines of each instance of a
    template; what one of them executes counts."""
    executed: dict[int, bool] = {}
    taken: dict[tuple[int, int], bool] = {}
    for line in lines:
        number = line["line_number"]
        executed[number] = executed.get(number, False) or line["count"] > 0
        for place, branch in enumerate(line["branches"]):
            taken[number, place] = taken.get((number, place), False) or branch["count"] > 0
    totals: Counter[str] = Counter()
    for kind, found in (("lines", executed.values()), ("branches", taken.values())):
        totals[kind] = len(found)
        totals[f"{kind} left"] = sum(not one for one in found)
    return totals


def row(name: str, totals: Counter[str]) -> str:
    text = f"{name:44}"
    for kind in KINDS:
        total, left = totals[kind], totals[f"{kind} left"]
        share = f"{100 * (total - left) / total:.1f} %" if total else "-"
        text += f"{total:8}{left:8}{share:>9}"
    return text.rstrip()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
