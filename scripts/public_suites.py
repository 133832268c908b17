# SPDX-License-Identifier: Apache-2.0
"""Public programs in CUDA and HIP that public_programs.py compiles and runs as they stand: their sources, a small size,
and what their results are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import public_inputs as data
from public_inputs import Outcome


@dataclass(frozen=True)
class Host:
    """A version of the program for the CPU, which the host's compiler makes."""

    sources: str
    arguments: str
    options: str = ""


@dataclass(frozen=True)
class Program:
    """Sources stand below the suite's folder, in ``folder``; words of texts are separated by spaces."""

    suite: str
    name: str
    folder: str
    sources: str
    arguments: str
    check: data.Check
    compared: str  #: with what, for the table; or `NOTHING`
    options: str = ""  #: of `fabricvp cc`; {suite} and {scripts} are folders
    inputs: Callable[[Path], None] | None = None
    environment: str = ""  #: NAME=VALUE
    files: str = ""  #: that it reads: names, or NAME=PATH on Linux
    collect: str = ""  #: what it writes
    host: Host | Callable[[Path], Outcome] | None = None
    needed: str = ""  #: that programs of simpler suites do not


def rodinia(name: str, folder: str, sources: str, arguments: str, **more) -> Program:
    more.setdefault("compared", "its OpenMP version")
    return Program("rodinia", name, f"cuda/{folder}", sources, arguments, **more)


#: Of programs that print times alone.
NOTHING = "nothing"
SAYS_PASSED = data.prints("Passed!|PASSED!")


def application(name: str, arguments: str, **more) -> Program:
    """Of HIP-Examples-Applications, whose option -e compares with the CPU."""
    more.setdefault("check", SAYS_PASSED)
    more.setdefault("compared", "its own CPU version (-e)")
    more.setdefault("needed", "-x hip, hipThreadIdx_x …")
    return Program("hip-examples", name, f"HIP-Examples-Applications/{name}", f"{name}.cpp", arguments,
                   options="-x hip", **more)  # fmt: skip


def example(name: str, folder: str, sources: str, arguments: str, **more) -> Program:
    more["options"] = f"-x hip {more.get('options', '')}"
    more.setdefault("needed", "-x hip, hipThreadIdx_x …")
    return Program("hip-examples", name, folder, sources, arguments, **more)


PROGRAMS = [
    rodinia("backprop", "backprop", "backprop_cuda.cu backprop.c imagenet.c {scripts}/public_backprop.c", "1024",
        options="-I {suite}/cuda/backprop", collect="weights.txt", check=data.same_file("weights.txt", 1e-4),
        host=Host("{scripts}/public_backprop.c openmp/backprop/backprop.c openmp/backprop/imagenet.c", "1024",
                  "-std=gnu89 -DPUBLIC_HOST -Iopenmp/backprop"),
        needed="omp.h, standard headers by cuda_runtime.h"),
    rodinia("bfs", "bfs", "bfs.cu", "graph.txt", inputs=data.graph, files="graph.txt", collect="result.txt",
        check=data.same_file("result.txt"), host=Host("openmp/bfs/bfs.cpp", "1 graph.txt")),
    rodinia("hotspot", "hotspot", "hotspot.cu", "64 2 8 temp.txt power.txt output.txt", inputs=data.heat,
        files="temp.txt power.txt", collect="output.txt", check=data.same_file("output.txt", 1e-4),
        host=data.hotspot, compared="the same formulas in numpy"),
    rodinia("lud", "lud/cuda", "lud.cu lud_kernel.cu ../common/common.c", "-s 64 -v",
        options="-I {suite}/cuda/lud/common",
        check=data.prints(">>>Verify<<<<", "dismatch"), compared="its own product of the factors (-v)",
        needed="standard headers by cuda_runtime.h"),
    rodinia("nn", "nn", "nn_cuda.cu", "filelist -r 5 -lat 30 -lng 90", inputs=data.hurricanes,
        files="filelist hurricanes.db", check=data.nearest, host=Host("openmp/nn/nn_openmp.c", "filelist 5 30 90"),
        needed="standard headers by cuda_runtime.h"),
    rodinia("nw", "nw", "needle.cu", "128 10", options="-D TRACEBACK", collect="result.txt",
        check=data.same_file("result.txt"), host=Host("openmp/nw/needle.cpp", "128 10 1")),
    rodinia("pathfinder", "pathfinder", "pathfinder.cu", "1000 40 5", options="-D BENCH_PRINT",
        check=data.rows, host=Host("openmp/pathfinder/pathfinder.cpp", "1000 40", "-DBENCH_PRINT")),
    rodinia("srad_v1", "srad/srad_v1", "main.cu", "2 0.5 64 64", inputs=data.picture,
        files="image.pgm=/data/srad/image.pgm", collect="image_out.pgm", check=data.same_file("image_out.pgm", 0, 1),
        host=Host("openmp/srad/srad_v1/main.c", "2 0.5 64 64 1"), needed="--file FILE=PATH"),
    rodinia("srad_v2", "srad/srad_v2", "srad.cu", "64 64 0 31 0 31 0.5 2", options="-D OUTPUT",
        environment="FABRICVP_MARGIN=4096", needed="FABRICVP_MARGIN: it reads a row before and behind its array",
        check=data.same_lines("Printing Output:", "Start the SRAD main loop", "Computation Done", 1e-4),
        host=Host("openmp/srad/srad_v2/srad.cpp", "64 64 0 31 0 31 1 0.5 2", "-DOUTPUT")),
    application("BinomialOption", "-e -x 64 -i 1"),
    application("BitonicSort", "-e -x 1024 -i 1"),
    application("dct", "-e -x 64 -y 64 -i 1"),
    application("dwtHaar1D", "-e -x 1024 -i 1"),
    application("FastWalshTransform", "-e -x 1024 -i 1"),
    application("FloydWarshall", "-e -x 64 -i 1"),
    application("HelloWorld", "", check=data.prints("HelloWorld\n"), compared="the text that it must print"),
    application("Histogram", "-e -x 256 -y 256 -i 1"),
    application("MatrixMultiplication", "-e -x 64 -y 64 -z 64 -i 1"),
    application("PrefixSum", "-e -x 64 -i 1", needed="totalConstMem, memPitch …, hipThreadIdx_x …"),
    application("RecursiveGaussian", "-e -i 1", inputs=data.bitmap, files="RecursiveGaussian_Input.bmp"),
    application("SimpleConvolution", "-e -x 64 -y 64 -i 1"),
    example("vectorAdd", "vectorAdd", "vectoradd_hip.cpp", "", check=SAYS_PASSED, compared="its own sums"),
    example("reduction", "reduction", "reduction.cpp", "65536", check=data.prints("result is CORRECT"),
        compared="its own sum"),
    example("add4", "add4", "hip-stream.cpp common.cpp", "--arraysize 65536 --numtimes 2 --groups 64",
        check=data.prints("Triad|GEOMEAN"), compared=NOTHING),
    *(example(f"nbody-{form}", "mini-nbody/hip", f"nbody-{form}.cpp", "512", options="-D SHMOO -I {suite}/mini-nbody",
              check=data.prints("512, [0-9.]+"), compared=NOTHING) for form in ("block", "orig", "soa")),
    example("cuda-stream", "cuda-stream", "stream.cpp", "-n 65536", check=data.prints("Triad"), compared=NOTHING),
]  # fmt: skip
