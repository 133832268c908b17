# SPDX-License-Identifier: Apache-2.0
"""Inputs of public programs, in the formats of their suites, and CPU versions that suites lack. Numbers are drawn from
a generator of their own, so inputs are the same on every machine."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy
from public_checks import Outcome

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


def heat_of_layers(folder: Path, side: int = 64, layers: int = 8) -> None:
    """Rodinia's hotspot3D: as hotspot, for each layer."""
    draw = numpy.random.default_rng(6)
    for name, low, high in (("temp.txt", 323.0, 341.0), ("power.txt", 0.0, 0.5)):
        (folder / name).write_text("".join(f"{x:.6f}\n" for x in draw.uniform(low, high, side * side * layers)))


def keys(folder: Path, count: int = 4096) -> None:
    """Rodinia's b+tree: how many keys, and these; 64 searches for keys, and 64 for ranges of keys."""
    (folder / "keys.txt").write_text("\n".join(map(str, [count, *range(count)])) + "\n")
    (folder / "commands.txt").write_text("j 64 100\nk 64\n")


def points(folder: Path, count: int = 512, features: int = 8) -> None:
    """Rodinia's kmeans: lines of a number and features."""
    draw = numpy.random.default_rng(7)
    rows = draw.uniform(0, 8, (count, features)) + 20 * draw.integers(0, 5, (count, 1))
    (folder / "points.txt").write_text(
        "".join(f"{i} {' '.join(f'{x:.3f}' for x in row)}\n" for i, row in enumerate(rows))
    )


def text(folder: Path, size: int = 65536) -> None:
    """Rodinia's huffman: bytes, some of which are frequent."""
    draw = numpy.random.default_rng(8)
    (folder / "text.bin").write_bytes(numpy.clip(draw.normal(64, 1.2, size), 0, 255).astype(numpy.uint8).tobytes())


def numbers(folder: Path, count: int = 8192) -> None:
    """Rodinia's hybridsort: numbers, and empty headers of OpenGL, which it includes and does not use."""
    draw = numpy.random.default_rng(9)
    (folder / "numbers.txt").write_text("\n".join(f"{x:.6f}" for x in draw.uniform(0, 1, count)))
    (folder / "GL").mkdir()
    for name in ("GL/glew.h", "GL/glut.h", "cuda_gl_interop.h"):
        (folder / name).touch()


def mesh(folder: Path, elements: int = 192) -> None:
    """Rodinia's cfd: volumes, each with its size and four neighbours (from 1 on, -1: a wall, -2: far field) and the
    normals of its faces. A ring of cubes without two faces."""
    lines = [str(elements)]
    for i in range(elements):
        faces = [
            ((i + 1) % elements + 1, (1, 0, 0)),
            ((i - 1) % elements + 1, (-1, 0, 0)),
            (-2, (0, 1, 0)),
            (-2, (0, -1, 0)),
        ]
        lines.append("1.0 " + " ".join(f"{n} {x} {y} {z}" for n, (x, y, z) in faces))
    (folder / "mesh.txt").write_text("\n".join(lines) + "\n")


def pixels(folder: Path, side: int = 64) -> None:
    """Rodinia's dwt2d: bytes of red, green and blue."""
    draw = numpy.random.default_rng(10)
    (folder / "image.rgb").write_bytes(draw.integers(0, 256, (side, side, 3), dtype=numpy.uint8).tobytes())


# ---- CPU versions that suites lack ----


def gaussian(folder: Path, size: int = 32) -> Outcome:
    """The system that Rodinia's program makes."""
    i, j = numpy.mgrid[0:size, 0:size]
    solution = numpy.linalg.solve(10 * numpy.exp(-0.01 * abs(i - j)), numpy.ones(size))
    return Outcome(0, "The final solution is:\n" + " ".join(f"{x:.2f}" for x in solution) + "\nTime")


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


def kmeans(folder: Path, clusters: int = 5) -> Outcome:
    """From the first points on, until none changes its cluster."""
    rows = numpy.loadtxt(folder / "points.txt")[:, 1:]
    centres, found = rows[:clusters], None
    while True:
        nearest = ((rows[:, None] - centres[None]) ** 2).sum(2).argmin(1)
        if found is not None and (nearest == found).all():
            break
        found = nearest
        centres = numpy.array([rows[found == k].mean(0) if (found == k).any() else centres[k] for k in range(clusters)])
    return Outcome(0, "".join(f"{k}: {' '.join(f'{x:.2f}' for x in row)}\n" for k, row in enumerate(centres)))


def wavelet(folder: Path, side: int = 64) -> Outcome:
    """One level of the 5/3 transform of JPEG 2000 of each colour, rounded as C does: four bands in a row."""

    def along(x: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        even, odd = x[0::2], x[1::2]
        high = odd - numpy.trunc((even + numpy.concatenate((even[1:], even[-1:]))) / 2).astype(int)
        return even + numpy.trunc((numpy.concatenate((high[:1], high[:-1])) + high + 2) / 4).astype(int), high

    image = numpy.frombuffer((folder / "image.rgb").read_bytes(), numpy.uint8).reshape(side, side, 3).astype(int) - 128
    files = {}
    for colour, name in enumerate("rgb"):
        low, high = along(image[:, :, colour])
        bands = [band.T for rows in (low, high) for band in along(rows.T)]
        files[f"image.dwt.{name}"] = b"".join(numpy.clip(b + 128, 0, 255).astype(numpy.uint8).tobytes() for b in bands)
    return Outcome(0, "", files)
