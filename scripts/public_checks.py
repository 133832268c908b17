# SPDX-License-Identifier: Apache-2.0
"""How results of public programs are compared with those of their CPU versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy

Files = Mapping[str, bytes]
#: "" if the results of the first agree with those of the second, else what differs.
Check = Callable[["Outcome", "Outcome"], str]


@dataclass(frozen=True)
class Outcome:
    """What a program has printed and written."""

    status: int
    output: str
    files: Files = field(default_factory=dict)


def _numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", text)]


def _differ(what: str, ours: list[float], theirs: list[float], tolerance: float, apart_by: float | None = None) -> str:
    if not theirs or len(ours) != len(theirs):
        return f"{len(ours)} numbers of {what}, where the host's version has {len(theirs)}"
    a, b = numpy.array(ours), numpy.array(theirs)
    apart = ~numpy.isclose(a, b, rtol=tolerance, atol=tolerance if apart_by is None else apart_by)
    if not apart.any():
        return ""
    first = int(numpy.argmax(apart))
    return f"{int(apart.sum())} of {len(a)} numbers of {what} differ, the first {ours[first]:g} for {theirs[first]:g}"


def same_file(name: str, tolerance: float = 0.0, apart_by: float | None = None) -> Check:
    """All numbers of a file that both wrote, within a relative tolerance and an absolute one."""

    def check(ours: Outcome, theirs: Outcome) -> str:
        texts = []
        for outcome in (ours, theirs):
            if name not in outcome.files:
                return f"{name} was not written"
            texts.append(outcome.files[name].decode(errors="replace"))
        return _differ(name, _numbers(texts[0]), _numbers(texts[1]), tolerance, apart_by)

    return check


def same_lines(begins: str, its: str, ends: str, tolerance: float) -> Check:
    """Numbers that both printed behind ``begins`` (``its``: of the host's version), up to ``ends``."""

    def check(ours: Outcome, theirs: Outcome) -> str:
        texts = []
        for outcome, mark in ((ours, begins), (theirs, its)):
            if mark not in outcome.output:
                return f"it does not print '{mark}'"
            texts.append(outcome.output.rpartition(mark)[2].partition(ends)[0])
        return _differ("the output", _numbers(texts[0]), _numbers(texts[1]), tolerance)

    return check


def prints(wanted: str, refused: str = "(?i)fail|incorrect|mismatch|error") -> Check:
    """The program compares by itself, and says so."""

    def check(ours: Outcome, theirs: Outcome) -> str:
        found = re.search(refused, ours.output)
        if found:
            line = next(line for line in ours.output.splitlines() if re.search(refused, line))
            return f"it says '{line.strip()[:80]}'"
        return "" if re.search(wanted, ours.output) else f"it does not say '{wanted}'"

    return check


def nearest(ours: Outcome, theirs: Outcome) -> str:
    """Records of nn with their distances: the host's version prints them in another order, each behind its record."""

    def records(text: str) -> dict[str, float]:
        found = re.findall(r"^(\d{4} [^\n]*?) --> (?:Distance=)?([\d.]+)", text, re.MULTILINE)
        return {record.strip(): round(float(distance), 3) for record, distance in found}

    a, b = records(ours.output), records(theirs.output)
    return "" if a and a == b else f"nearest records {a} for {b}"


def rows(ours: Outcome, theirs: Outcome) -> str:
    """Lines of a hundred whole numbers or more: what pathfinder draws, and the lengths of its paths."""

    def long_lines(text: str) -> list[list[float]]:
        lines = [line.split() for line in text.splitlines() if re.fullmatch(r"[\d ]+", line)]
        return [[float(word) for word in line] for line in lines if len(line) >= 100]

    a, b = long_lines(ours.output), long_lines(theirs.output)
    return _differ("the rows", sum(a, []), sum(b, []), 0)


def tracks(ours: Outcome, theirs: Outcome) -> str:
    """Places of the object in each frame."""
    found = [_numbers(" ".join(re.findall(r"[XY]E: \S+", outcome.output))) for outcome in (ours, theirs)]
    return _differ("the track", found[0], found[1][-len(found[0]) :], 1e-3)


def same_bytes(ours: Outcome, theirs: Outcome) -> str:
    """Files of bytes that the host's version wrote."""
    for name, wanted in theirs.files.items():
        if message := _differ(name, list(ours.files.get(name, b"")), list(wanted), 0):
            return message
    return ""


def centres(ours: Outcome, theirs: Outcome) -> str:
    """Centres of clusters."""
    found = [
        sum((_numbers(line) for line in re.findall(r"^\d+:(.*)$", o.output, re.MULTILINE)), []) for o in (ours, theirs)
    ]
    return _differ("the centres", *found, 1e-2)
