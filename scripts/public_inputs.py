# SPDX-License-Identifier: Apache-2.0
"""Inputs of public programs, in the formats of their suites, and how their results are compared. Numbers are drawn from
a generator of their own, so inputs are the same on every machine."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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


# ---- inputs: each writes files into a folder ----


def graph(folder: Path, nodes: int = 4096, degree: int = 6) -> None:
    """Rodinia's bfs: a node's first edge and their number, the source, then each edge's end and cost."""
    draw = numpy.random.default_rng(1)
    counts = draw.integers(1, 2 * degree, nodes)
    starts = numpy.concatenate(([0], numpy.cumsum(counts)[:-1]))
    ends = draw.integers(0, nodes, int(counts.sum()))
    lines = [str(nodes), *(f"{s} {c}" for s, c in zip(starts, counts)), "", "0", "", str(len(ends))]
    lines += [f"{end} {cost}" for end, cost in zip(ends, draw.integers(1, 10, len(ends)))]
    (folder / "graph.txt").write_text("\n".join(lines) + "\n")


def heat(folder: Path, side: int = 64) -> None:
    """Rodinia's hotspot: temperatures and powers, a cell in a line."""
    draw = numpy.random.default_rng(2)
    for name, low, high in (("temp.txt", 323.0, 341.0), ("power.txt", 0.0, 0.5)):
        (folder / name).write_text("".join(f"{x:.6f}\n" for x in draw.uniform(low, high, side * side)))


def hurricanes(folder: Path, records: int = 2048) -> None:
    """Rodinia's nn: lines of 48 characters, latitude from the 29th and longitude from the 34th on."""
    draw = numpy.random.default_rng(3)
    names = ["ALBERTO", "BERYL", "CHRIS", "DEBBY", "ERNESTO", "FLORENCE", "GORDON", "HELENE"]
    lines = []
    for _ in range(records):
        year, month, day, hour = draw.integers((1950, 1, 1, 0), (2005, 13, 29, 4))
        latitude, longitude = draw.uniform((7, 0), (70, 358))
        number, speed, pressure = draw.integers((1, 10, 0), (29, 165, 900))
        lines.append(
            f"{year:4d} {month:2d} {day:2d} {6 * hour:2d} {number:2d} {names[int(draw.integers(8))]:<9s} "
            f"{latitude:5.1f} {longitude:5.1f} {speed:4d} {pressure:4d}\n"
        )
    (folder / "hurricanes.db").write_text("".join(lines))
    (folder / "filelist").write_text("hurricanes.db\n")


def picture(folder: Path, rows: int = 502, columns: int = 458) -> None:
    """Rodinia's srad: a grey picture in plain PGM. It reads one of this size, and cuts out what it is asked for."""
    draw = numpy.random.default_rng(4)
    y, x = numpy.mgrid[0:rows, 0:columns]
    grey = 120 + 60 * numpy.sin(x / 17) * numpy.cos(y / 23) + draw.normal(0, 20, (rows, columns))
    text = "\n".join(" ".join(str(int(v)) for v in row) for row in numpy.clip(grey, 1, 255))
    (folder / "image.pgm").write_text(f"P2\n# generated\n{columns} {rows}\n255\n{text}\n")


def bitmap(folder: Path, width: int = 256, height: int = 256) -> None:
    """A bitmap of 24 bits, as the picture filter of HIP-Examples reads."""
    draw = numpy.random.default_rng(5)
    pixels = draw.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
    head = struct.pack("<2sIHHI", b"BM", 54 + pixels.size, 0, 0, 54)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, pixels.size, 2835, 2835, 0, 0)
    (folder / "RecursiveGaussian_Input.bmp").write_bytes(head + pixels.tobytes())


# ---- CPU versions that suites lack ----


def hotspot(folder: Path, side: int = 64, steps: int = 8) -> Outcome:
    """The formulas of Rodinia's kernel; its OpenMP version takes steps of a thousandth."""
    f = numpy.float32
    chip, thick, conductance, heat_capacity, max_power, precision = 0.016, 0.0005, 100, 1.75e6, 3.0e6, 0.001
    cell = f(chip / side)
    capacity = f(0.5 * heat_capacity * thick * cell * cell)
    lateral, vertical = f(1 / (2.0 * conductance * thick)), f(thick / (conductance * cell * cell))
    step = f(precision / (max_power / (0.5 * thick * heat_capacity))) / capacity
    t, power = (numpy.loadtxt(folder / name, dtype=f).reshape(side, side) for name in ("temp.txt", "power.txt"))
    for _ in range(steps):
        e = numpy.pad(t, 1, mode="edge")
        rows, columns = e[2:, 1:-1] + e[:-2, 1:-1] - 2 * t, e[1:-1, 2:] + e[1:-1, :-2] - 2 * t
        t = t + step * (power + rows / lateral + columns / lateral + (f(80) - t) / vertical)
    text = "".join(f"{i}\t{x:g}\n" for i, x in enumerate(t.ravel()))
    return Outcome(0, "", {"output.txt": text.encode()})


# ---- comparisons ----


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
