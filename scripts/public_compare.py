#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""public_compare.py [--samples BIN] --out OUT DIR [NAME...]: sets kernels of MGPUSim's samples, run here from their
OpenCL sources, beside our C forms of them and beside MGPUSim itself.

DIR is a clone of sarchlab/mgpusim (GitHub) at v4.0.0. BIN has its samples, built with the counts of instructions by
kind (none is kept here):

    echo '{"Replace": {"'$DIR'/amd/samples/runner/insttracer.go": "'$PWD'/scripts/mgpusim_counts.go"}}' >overlay.json
    (cd $DIR && CGO_ENABLED=0 go build -overlay $OLDPWD/overlay.json -o $BIN/ ./amd/samples/{fir,atax,…})

OUT/mgpusim/NAME keeps what MGPUSim wrote; a sample is run again if its options have changed. OUT/figures.json has all
figures, of earlier calls too; OUT/result.json the tables, which `fabricvp docs refresh OUT` puts into the page. Ends
with 1 if a result of ours is wrong.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fabricvp
import numpy
import public_runs

COMPUTE_UNITS = 64
MACHINE = "gpu"  #: a GPU of these sizes
ITS_MACHINE = "mgpusim_r9nano"  #: with MGPUSim's compute units and first-level caches
ITS_FOUR = "mgpusim_r9nano_quad"  #: four of them
#: What MGPUSim's driver does with UNIFIED_GPUS (amd/driver/driver.go and internal/device.go).
UNIFIED: Mapping[str, Any] = {"all_gpus": True, "placement": "interleaved", "dispatch": "fill"}
UNIFIED_GPUS = "-unified-gpus 1,2,3,4"
Figures = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """The same work three times: options of a bench of public_runs.py, of MGPUSim's sample, and of our application."""

    bench: Mapping[str, Any]
    mgpusim: str
    app: str = ""
    size: int = 0
    option: str = ""
    differs: str = ""  #: in which our application differs
    larger: tuple[Mapping[str, Any], str] | None = None  #: the first two at another size


SAMPLES: dict[str, Sample] = {
    "fir": Sample(
        {"n": 65536}, "-length 65536", "fir", 65536, larger=({"n": 131072}, "-length 131072"),
    ),
    "spmv": Sample(
        {"n": 8192, "per_row": 16, "group": 128, "vector": False},
        "-dim 8192 -sparsity 0.001953125", "spmv", 8192, "density=0.001953125",
        larger=({"n": 16384, "per_row": 16, "group": 128, "vector": False}, "-dim 16384 -sparsity 0.0009765625"),
    ),
    "kmeans": Sample({"points": 16384}, "-points 16384 -features 8 -clusters 5 -max-iter 1"),
    "floydwarshall": Sample({"n": 256, "passes": 2}, "-node 256 -iter 2"),
    "pagerank": Sample(
        {"n": 512, "per_row": 20, "iterations": 2}, "-node 512 -sparsity 0.0390625 -iterations 2",
        "pagerank", 512, "density=0.0390625",
        larger=({"n": 1024, "per_row": 20, "iterations": 2}, "-node 1024 -sparsity 0.01953125 -iterations 2"),
    ),
    "matrixtranspose": Sample(
        {"n": 512}, "-width 512", "transpose", 512, differs="tiles of 16×16 words, a lane a word",
        larger=({"n": 1024}, "-width 1024"),
    ),
    "stencil2d": Sample(
        {"rows": 128, "columns": 1024, "padding": 16}, "-row 128 -col 1024 -iter 1",
    ),
    "nbody": Sample({"n": 256, "group": 256}, "-iter 1"),  # 256 particles, whatever its option says
    "matrixmultiplication": Sample(
        {"n": 128, "height": 128}, "-x 128 -y 128 -z 128", "mm", 128, differs="tiles of 16×16, a lane an element",
        larger=({"n": 256, "height": 256}, "-x 256 -y 256 -z 256"),
    ),
    "bitonicsort": Sample(
        {"n": 4096}, "-length 4096", "bitonicsort", 4096, larger=({"n": 8192}, "-length 8192"),
    ),
    "atax": Sample(
        {"n": 256, "group": 256}, "-x 256 -y 256", "atax", 256,
        larger=({"n": 512, "group": 256}, "-x 512 -y 512"),
    ),
    "bicg": Sample({"n": 256, "group": 256}, "-x 256 -y 256", "mvt", 256, differs="mvt: adds to what is there"),
    "im2col": Sample(
        {"size": 64, "channels": 3, "batch": 1}, "-N 1 -C 3 -H 64 -W 64 -pad-x 1 -pad-y 1", "im2col", 1,
        differs="groups of 256×1",
    ),
}  # fmt: skip


def total(statistics: Mapping[str, float], name: str) -> float:
    pattern = re.compile(name)
    return sum(value for key, value in statistics.items() if pattern.fullmatch(key))


def ours(statistics: Mapping[str, float], host_s: float) -> Figures:
    """Figures of a GPU of ours; names as in `Gpu.statistics`."""

    def of_classes(*classes: str) -> float:
        return sum(statistics["instructions." + name] for name in classes)

    every = statistics["wavefront_instructions"]
    lds = total(statistics, r"compute_unit\d+\.lds\.(accesses|shuffles)")
    memory = of_classes("load", "store", "atomic") - total(statistics, r"compute_unit\d+\.lds\.accesses")
    kinds = {
        "integer": of_classes("alu", "multiply", "divide", "csr"),
        "float": of_classes("floating", "float_divide", "double_precision", "double_divide"),
        "memory": memory,
        "lds": lds,
        "branch": of_classes("branch", "jump"),
    }
    classes = {name.partition(".")[2]: value for name, value in statistics.items() if name.startswith("instructions.")}
    unit = r"memory\.unit\d+\."
    hits, misses = total(statistics, unit + r"l1\.hits"), total(statistics, unit + r"l1\.misses")
    merges = total(statistics, unit + r"l1\.mshr_merges")
    stored = total(statistics, unit + "stores")
    l2 = [total(statistics, rf"memory\.l2\.bank\d+\.{name}") for name in ("hits", "misses")]
    tlbs = [total(statistics, name) for name in (unit + r"tlb\.misses", r"memory\.l2_tlb\.misses")]
    return {
        "instructions": every,
        "kinds": kinds | {"other": every - sum(kinds.values())},
        "classes": classes,
        "lanes": statistics["lane_instructions"] / every,
        "lines": hits + misses + merges + stored + total(statistics, unit + "(atomic_requests|scoped_loads)"),
        "stack_lines": total(statistics, unit + "scratch"),
        "stored_lines": stored,
        "l1": [hits, misses, merges],
        "l2": l2,
        "tlb_misses": tlbs,
        "remote": total(statistics, r"fabric\.(same|other)_cluster\.(reads|writes|atomics)"),
        "gpu_us": statistics["dispatcher.duration.sum"] / 1e6,
        "host_us": host_s * 1e6,
    }  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A size, and one GPU or four, on which a sample's source runs here and the sample in MGPUSim."""

    machine: str
    larger: bool = False
    four: bool = False

    def bench(self, sample: Sample) -> Mapping[str, Any]:
        return sample.larger[0] if self.larger and sample.larger else sample.bench

    def mgpusim(self, sample: Sample) -> str:
        options = sample.larger[1] if self.larger and sample.larger else sample.mgpusim
        return f"{options} {UNIFIED_GPUS}" if self.four else options


#: What is compared with MGPUSim on its own machine: sizes of the first column by GPUs.
CELLS = {
    "its machine": Cell(ITS_MACHINE),
    "its machine, larger": Cell(ITS_MACHINE, larger=True),
    "four": Cell(ITS_FOUR, four=True),
    "four, larger": Cell(ITS_FOUR, larger=True, four=True),
}
#: The figures of MGPUSim that belong to a cell.
THERE = {name: "mgpusim" + name.removeprefix("its machine").removeprefix("four") for name in CELLS}
THERE |= {name: f"{there}, four" for name, there in THERE.items() if CELLS[name].four}


def run_source(name: str, folder: Path, cell: Cell) -> Figures:
    """The sample's OpenCL source in a process of its own."""
    program = (
        "import json, sys; import public_compare; from public_compare import Cell; from pathlib import Path\n"
        f"print('FIGURES', json.dumps(public_compare.bench(sys.argv[1], Path(sys.argv[2]), {cell!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, name, folder],
        cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.rpartition("FIGURES ")[2])


EVICTED = 8 << 20  #: bytes that are read before arrays are used for the first time: four times the L2
EVICT = "kernel void evict(global uint* x) { if (x[get_global_id(0) * 16]) x[get_global_id(0) * 16] = 0; }"


class ColdBench(public_runs.Bench):
    """Arrays stay on the GPU, or spread over all, between launches, and are in no cache before the first. A launch of
    numpy arrays would begin with an L2 that holds what was just copied; MGPUSim copies to memory."""

    def reset(self) -> None:
        super().reset()
        self.arrays: dict[int, tuple[Any, Any]] = {}  #: by address: a numpy array, and the same on the GPU
        self.big = [gpu.array(numpy.zeros(EVICTED // 4, numpy.uint32)) for gpu in self.gpus]

    def copy(self, arrays: list[Any]) -> None:
        """Puts them on the GPU, or deals them out to all, and out of its cache."""
        spread = bool(self.options.get("all_gpus"))
        copies = [self.gpu.array(array, spread=spread) for array in arrays]
        pointers = ", ".join(f"global void* p{n}" for n in range(len(copies)))
        self.gpu.program(f"kernel void copy({pointers}) {{}}")["copy"](256, 64, *copies, **self.options)
        for gpu, big in zip(self.gpus, self.big):
            gpu.program(EVICT)["evict"](EVICTED // 64, 256, big)
        self.arrays |= {array.ctypes.data: (array, copy) for array, copy in zip(arrays, copies)}

    def run(self, kernel: object, grid: public_runs.Sizes, group: public_runs.Sizes, *arguments: object) -> None:
        arrays = {a.ctypes.data: a for a in arguments if isinstance(a, numpy.ndarray)}
        if new := [array for address, array in arrays.items() if address not in self.arrays]:
            self.copy(new)
        held = [self.arrays[a.ctypes.data][1] if isinstance(a, numpy.ndarray) else a for a in arguments]
        super().run(kernel, grid, group, *held)
        for array, on_gpu in self.arrays.values():
            if array.flags.writeable:
                array[...] = on_gpu.get().reshape(array.shape)


def bench(name: str, folder: Path, cell: Cell) -> Figures:
    """In this process. Buffers of all GPUs have pages of 4 KiB, as MGPUSim's have, if there is but one as well."""
    b = ColdBench(folder, cell.machine)
    b.options = {} if cell.machine == MACHINE else dict(UNIFIED)
    right = public_runs.BENCHES[name](b, **cell.bench(SAMPLES[name]))
    found = ours(of_all_gpus(b.statistics), b.time)
    return found | {"gpu_us": b.kernel_time * 1e6, "right": right, "grids": b.grids}


def of_all_gpus(statistics: Mapping[str, float]) -> Mapping[str, float]:
    """Sums over GPUs, by the names of one."""
    sums: dict[str, float] = {}
    for name, value in statistics.items():
        name = re.sub(r"^gpu\d+\.", "", name)
        sums[name] = sums.get(name, 0) + value
    return sums


def run_app(name: str, sample: Sample) -> Figures:
    """Our C form, if there is one."""
    with fabricvp.spawn(MACHINE, app=sample.app, size=sample.size, option=sample.option) as platform:
        platform.run()
        right = platform.app_ok
        region = platform.regions()["node0", "kernels"]
    prefix = "node0.gpu0."
    statistics = {key[len(prefix) :]: value for key, value in region.items() if key.startswith(prefix)}
    return ours(statistics, region["time_s"]) | {"right": right}


def run_mgpusim(name: str, options: str, samples: Path, folder: Path) -> Figures:
    """MGPUSim's own sample; its figures in the same form."""
    folder.mkdir(parents=True, exist_ok=True)
    said = folder / "options"
    if not said.exists() or said.read_text() != options:
        said.unlink(missing_ok=True)
        command = [samples.resolve() / name, "-timing", "-report-all", *options.split()]
        with (folder / "output").open("w") as log:
            done = subprocess.run([*command, "-verify"], cwd=folder, stdout=log, stderr=log, check=False)
            if done.returncode:  # no figures then
                subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=True)
        (folder / "status").write_text(str(done.returncode))
        said.write_text(options)
    return read_mgpusim(folder)


#: Instructions of GCN3's vector ALU that compute with floats, by their names; comparisons and moves are not among them.
FLOAT = re.compile(r"v_(add|sub|subrev|mul|mac|mad|madmk|madak|fma|rcp|rsq|sqrt|max|min|div_\w+)_(legacy_)?f(32|64)\w*")


def read_mgpusim(folder: Path) -> Figures:
    """Figures of metrics.csv and instructions.csv, as MGPUSim v4.0.0 and scripts/mgpusim_counts.go write them."""
    sums: dict[tuple[str, str], float] = {}
    kernels: list[float] = []  #: of each GPU
    with (folder / "metrics.csv").open() as file:
        for _, where, what, value in list(csv.reader(file, skipinitialspace=True))[1:]:
            block = re.sub(r"\[\d+\]|GPU\.|SA\.", "", re.sub(r"\[\d+\]", "", where))
            if value != "NaN":  # of compute units that ran nothing
                sums[block, what] = sums.get((block, what), 0) + float(value)
                if (block, what) == ("CommandProcessor", "kernel_time"):
                    kernels.append(float(value))
    counts: dict[str, float] = dict.fromkeys(
        ("scalar", "scalar memory", "integer", "float", "memory", "lds", "branch"), 0
    )
    counts["other"] = 0
    names: dict[str, int] = {}
    kinds = {"Scalar": "scalar", "ScalarMem": "scalar memory", "VMem": "memory", "LDS": "lds", "Branch": "branch"}
    with (folder / "instructions.csv").open() as file:
        for row in csv.DictReader(file):
            number = int(row["count"])
            if row["kind"] == "VALU":
                kind = "float" if FLOAT.fullmatch(row["name"]) else "integer"
            else:
                kind = kinds.get(row["kind"], "other")
            counts[kind] += number
            names[row["name"]] = names.get(row["name"], 0) + number

    def step(block: str, *steps: str) -> float:
        return sum(sums.get((block, name), 0) for name in steps)

    l1, l2 = "L1VCache", "L2"
    reads = [step(l1, name) for name in ("read-hit", "read-miss", "read-mshr-hit")]
    stored = step(l1, "write-hit", "write-miss", "write-mshr-hit")
    hits = step(l2, "read-hit", "read-mshr-hit", "write-hit", "write-mshr-hit")
    return {
        "instructions": sum(counts.values()),
        "kinds": counts,
        "names": dict(sorted(names.items(), key=lambda item: -item[1])),
        "lines": sum(reads) + stored,
        "stored_lines": stored,
        "l1": reads,
        "l2": [hits, step(l2, "read-miss", "write-miss")],
        "tlb_misses": [step("L1VTLB", "miss"), step("L2TLB", "miss")],
        "remote": step("RDMA", "outgoing_trans_count"),
        "waits": {what[9:]: value for (_, what), value in sums.items() if re.match(r"CPIStack\.(?!total|Idle)", what)},
        "gpu_us": max(kernels) * 1e6,
        "host_us": sums["Driver", "kernel_time"] * 1e6,
        "right": (folder / "status").read_text() == "0",
    }


# Tables


def count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def share(parts: list[float]) -> str:
    """Of lines that were fetched for the first request of them, the complement: hits, and what waited for a fetch."""
    every = sum(parts)
    return f"{100 * (every - parts[1]) / every:.1f}" if every else "–"


def micro(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


@dataclass
class Tables:
    figures: dict[str, dict[str, Figures]]
    forms: dict[str, str] = field(default_factory=lambda: {"source": "source", "app": "C form", "mgpusim": "MGPUSim"})

    def each(self, columns: list[str], cells: Callable[[Figures], list[str]]) -> Figures:
        rows = []
        for name, found in self.figures.items():
            first = True
            for form, title in self.forms.items():
                if form in found:
                    wrong = "" if found[form]["right"] else " (fails its own check)"
                    rows.append([f"`{name}`" if first else "", title + wrong, *cells(found[form])])
                    first = False
        return {"columns": ["sample", "", *columns], "rows": rows}

    def instructions(self) -> Figures:
        kinds = ("scalar", "scalar memory", "integer", "float", "memory", "lds", "branch", "other")
        heads = ["all", "scalar", "scalar memory", "integer", "float", "memory", "LDS", "branch", "other"]
        return self.each(heads, lambda f: [count(f["instructions"]), *(count(f["kinds"].get(k)) for k in kinds)])

    def memory(self) -> Figures:
        heads = ["L1 lines", "of these stores", "of these stacks", "L1 hits, %", "L2 requests", "L2 hits, %"]
        return self.each(
            heads,
            lambda f: [
                count(f["lines"]), count(f["stored_lines"]), count(f.get("stack_lines")), share(f["l1"]),
                count(sum(f["l2"])), share(f["l2"]),
            ],
        )  # fmt: skip

    def waits(self) -> Figures:
        """Of MGPUSim: what its compute units wait for."""
        kinds = ("VALU", "VMem", "ScalarInst", "ScalarMem", "LDS", "Branch", "Fetch")
        rows = []
        for name, found in self.figures.items():
            if waits := found.get("mgpusim", {}).get("waits"):
                shares = [100 * waits.get(kind, 0) / sum(waits.values()) for kind in kinds]
                rest = 100 - sum(shares)
                rows.append([f"`{name}`", *(f"{value:.0f}" for value in [*shares, abs(rest)])])
        heads = ["vector ALU", "vector memory", "scalar", "scalar memory", "LDS", "branch", "fetch", "other"]
        return {"columns": ["% of cycles", *heads], "rows": rows}

    def times(self) -> Figures:
        def cells(found: Mapping[str, Figures], key: str, *forms: str) -> list[str]:
            times = [found[form][key] if form in found else None for form in forms]
            ratio = f"{times[0] / times[-1]:.2f}" if times[0] and times[-1] else "–"
            return [*("–" if t is None else micro(t) for t in times), ratio]

        rows = [
            [
                f"`{name}`", *cells(found, "gpu_us", "source", "app", "its machine", "mgpusim"),
                *cells(found, "host_us", "its machine", "mgpusim"),
            ]
            for name, found in self.figures.items()
        ]  # fmt: skip
        gpu = ("source", "C form", "source, its machine", "MGPUSim", "ratio")
        heads = [*(f"GPU: {head}" for head in gpu), "host: source, its machine", "host: MGPUSim", "ratio"]
        return {"columns": ["µs", *heads], "rows": rows}

    def of_cells(self, columns: list[str], shown: Callable[[Figures, Figures], list[str]]) -> Figures:
        """The same work on the simulator's machine, a row a cell: what is shown of our figures and of its."""
        rows = []
        for name, found in self.figures.items():
            for form, there in THERE.items():
                if form in found and there in found:
                    cell = CELLS[form]
                    options = cell.mgpusim(SAMPLES[name]).removesuffix(UNIFIED_GPUS).strip()
                    gpus = "4" if cell.four else "1"
                    rows.append([f"`{name}`", gpus, options, *shown(found[form], found[there])])
        return {"columns": ["sample", "GPUs", "options", *columns], "rows": rows}

    def cells(self) -> Figures:
        heads = ["kernel time here, µs", "MGPUSim, µs", "ratio", "L1 hits here, %", "MGPUSim, %", "L2 hits here, %"]
        return self.of_cells(
            [*heads, "MGPUSim, %"],
            lambda here, its: [
                micro(here["gpu_us"]), micro(its["gpu_us"]), f"{here['gpu_us'] / its['gpu_us']:.2f}",
                share(here["l1"]), share(its["l1"]), share(here["l2"]), share(its["l2"]),
            ],
        )  # fmt: skip

    def requests(self) -> Figures:
        """What misses the TLBs, and what crosses between GPUs."""
        heads = ["first TLB misses here", "MGPUSim", "L2 TLB misses here", "MGPUSim"]
        return self.of_cells(
            [*heads, "requests between GPUs here", "MGPUSim"],
            lambda here, its: [
                count(figure)
                for level in (0, 1)
                for figure in (here["tlb_misses"][level], its["tlb_misses"][level])
            ] + [count(here["remote"]), count(its["remote"])],
        )  # fmt: skip

    def inputs(self) -> Figures:
        rows = []
        for name, found in self.figures.items():
            if "source" not in found:
                continue
            grids, sample = found["source"]["grids"], SAMPLES[name]
            kinds = list(dict.fromkeys(map(tuple, grids)))
            shown = ", ".join(f"{items:,} / {group}" for items, group in kinds)
            groups = max(items / group for items, group in kinds)
            rows.append([
                f"`{name}`", sample.mgpusim, str(len(grids)), shown,
                f"{groups / COMPUTE_UNITS:.2g}", f"`{sample.app} {sample.size}`" if sample.app else "–", sample.differs,
            ])  # fmt: skip
        heads = ["sample", "options", "launches", "work-items / of a work-group", "work-groups a compute unit"]
        return {"columns": [*heads, "C form", "its difference"], "rows": rows}

    def all(self) -> Figures:
        return {
            "inputs": self.inputs(),
            "instructions": self.instructions(),
            "memory": self.memory(),
            "waits": self.waits(),
            "times": self.times(),
            "cells": self.cells(),
            "requests": self.requests(),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clone", metavar="DIR", type=Path, help="a clone of sarchlab/mgpusim at v4.0.0")
    parser.add_argument("names", metavar="NAME", nargs="*", choices=[[], *SAMPLES], help=f"of {', '.join(SAMPLES)}")
    parser.add_argument("--samples", metavar="BIN", type=Path, help="the folder of MGPUSim's built samples")
    parser.add_argument("--out", metavar="OUT", type=Path, required=True, help="the folder of figures")
    parser.add_argument(
        "--cells", metavar="CELL", nargs="+", default=list(CELLS), choices=CELLS,
        help=f"sizes and GPUs of MGPUSim's machine (default: all): {'; '.join(CELLS)}",
    )  # fmt: skip
    parser.add_argument("--only-mgpusim", action="store_true", help="leave out our own runs")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "figures.json"
    figures: dict[str, dict[str, Figures]] = json.loads(kept.read_text()) if kept.exists() else {}
    clone = given.clone.resolve()
    for name in given.names or SAMPLES:
        sample, found = SAMPLES[name], figures.setdefault(name, {})
        if not given.only_mgpusim:
            found["source"] = run_source(name, clone, Cell(MACHINE))
            for form, cell in CELLS.items():
                if form in given.cells and (sample.larger or not (cell.larger or cell.four)):
                    found[form] = run_source(name, clone, cell)
            if sample.app:
                found["app"] = run_app(name, sample)
        for form in given.cells if given.samples else ():
            cell, there = CELLS[form], THERE[form]
            if sample.larger or there == "mgpusim":
                folder = given.out / there.replace(", ", "_") / name
                found[there] = run_mgpusim(name, cell.mgpusim(sample), given.samples, folder)
        for form, f in found.items():
            print(f"{name:<20}  {form:<8}  {f['instructions']:>9.0f} wavefront-instructions  {f['gpu_us']:>8.1f} us"
                  f"  {'right' if f['right'] else 'WRONG'}", flush=True)  # fmt: skip
        ordered = {key: figures[key] for key in SAMPLES if figures.get(key)}
        kept.write_text(json.dumps(ordered, indent=1) + "\n")
    result = {
        "experiment": "public-kernels",
        "version": fabricvp.__version__,
        "command": "scripts/public_compare.py --samples BIN DIR",
        "rows": [],
        "tables": Tables(ordered).all(),
    }
    (given.out / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    ours_right = (
        f["right"] for found in ordered.values() for form, f in found.items() if not form.startswith("mgpusim")
    )
    return 0 if all(ours_right) else 1


if __name__ == "__main__":
    sys.exit(main())
