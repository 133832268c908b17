# SPDX-License-Identifier: Apache-2.0
"""Public programs in CUDA and HIP that public_programs.py compiles and runs as they stand: their sources, a small size,
and what their results are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import public_checks as checks
import public_inputs as data
from public_checks import Outcome


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
    check: checks.Check
    compared: str  #: with what, for the table; or `NOTHING`
    options: str = ""  #: of `fabricvp cc`; {suite}, {scripts} and {folder}, where its inputs are, are folders
    inputs: Callable[[Path], None] | None = None
    environment: str = ""  #: NAME=VALUE
    files: str = ""  #: that it reads: names, or NAME=PATH on Linux
    collect: str = ""  #: what it writes
    host: Host | Callable[[Path], Outcome] | None = None
    needed: str = ""  #: that programs of simpler suites do not
    limit: str = ""  #: why it is known to be wrong


def rodinia(name: str, folder: str, sources: str, arguments: str, **more) -> Program:
    more.setdefault("compared", "its OpenMP version")
    return Program("rodinia", name, f"cuda/{folder}", sources, arguments, **more)


#: Of programs that print times alone.
NOTHING = "nothing"
SAYS_PASSED = checks.prints("Passed!|PASSED!")


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


#: Of several programs of Rodinia.
UTILITIES = "util/timer/timer.c util/num/num.c"
#: Makes programs that draw their input by the time of day draw the same.
SEED = "{scripts}/public_time.c"
PARTICLES = "-x 32 -y 32 -z 4 -np 256"


def below(folder: str, sources: str) -> str:
    return " ".join(f"{folder}/{source}" for source in sources.split())


PROGRAMS = [
    rodinia("backprop", "backprop", "backprop_cuda.cu backprop.c imagenet.c {scripts}/public_backprop.c", "1024",
        options="-I {suite}/cuda/backprop", collect="weights.txt", check=checks.same_file("weights.txt", 1e-4),
        host=Host("{scripts}/public_backprop.c openmp/backprop/backprop.c openmp/backprop/imagenet.c", "1024",
                  "-std=gnu89 -DPUBLIC_HOST -Iopenmp/backprop"),
        needed="omp.h, standard headers by cuda_runtime.h"),
    rodinia("bfs", "bfs", "bfs.cu", "graph.txt", inputs=data.graph, files="graph.txt", collect="result.txt",
        check=checks.same_file("result.txt"), host=Host("openmp/bfs/bfs.cpp", "1 graph.txt")),
    rodinia("hotspot", "hotspot", "hotspot.cu", "64 2 8 temp.txt power.txt output.txt", inputs=data.heat,
        files="temp.txt power.txt", collect="output.txt", check=checks.same_file("output.txt", 1e-4),
        host=data.hotspot, compared="the same formulas in numpy"),
    rodinia("lud", "lud/cuda", "lud.cu lud_kernel.cu ../common/common.c", "-s 64 -v",
        options="-I {suite}/cuda/lud/common",
        check=checks.prints(">>>Verify<<<<", "dismatch"), compared="its own product of the factors (-v)",
        needed="standard headers by cuda_runtime.h"),
    rodinia("nn", "nn", "nn_cuda.cu", "filelist -r 5 -lat 30 -lng 90", inputs=data.hurricanes,
        files="filelist hurricanes.db", check=checks.nearest, host=Host("openmp/nn/nn_openmp.c", "filelist 5 30 90"),
        needed="standard headers by cuda_runtime.h"),
    rodinia("nw", "nw", "needle.cu", "128 10", options="-D TRACEBACK", collect="result.txt",
        check=checks.same_file("result.txt"), host=Host("openmp/nw/needle.cpp", "128 10 1")),
    rodinia("pathfinder", "pathfinder", "pathfinder.cu", "1000 40 5", options="-D BENCH_PRINT",
        check=checks.rows, host=Host("openmp/pathfinder/pathfinder.cpp", "1000 40", "-DBENCH_PRINT")),
    rodinia("srad_v1", "srad/srad_v1", "main.cu", "2 0.5 64 64", inputs=data.picture,
        files="image.pgm=/data/srad/image.pgm", collect="image_out.pgm", check=checks.same_file("image_out.pgm", 0, 1),
        host=Host("openmp/srad/srad_v1/main.c", "2 0.5 64 64 1"), needed="--file FILE=PATH"),
    rodinia("srad_v2", "srad/srad_v2", "srad.cu", "64 64 0 31 0 31 0.5 2", options="-D OUTPUT",
        environment="FABRICVP_MARGIN=4096", needed="FABRICVP_MARGIN: it reads a row before and behind its array",
        check=checks.same_lines("Printing Output:", "Start the SRAD main loop", "Computation Done", 1e-4),
        host=Host("openmp/srad/srad_v2/srad.cpp", "64 64 0 31 0 31 1 0.5 2", "-DOUTPUT")),
    rodinia("b+tree", "b+tree", f"main.c kernel/kernel_gpu_cuda_wrapper.cu "
            f"kernel/kernel_gpu_cuda_wrapper_2.cu {UTILITIES} util/cuda/cuda.cu",
        "file keys.txt command commands.txt", inputs=data.keys, files="keys.txt commands.txt",
        collect="output.txt", check=checks.same_file("output.txt"),
        host=Host(below("openmp/b+tree", f"main.c kernel/kernel_cpu.c kernel/kernel_cpu_2.c {UTILITIES}"),
                  "core 1 file keys.txt command commands.txt"), needed="cudaSetDevice undeclared in a C file"),
    rodinia("dwt2d", "dwt2d", "main.cu dwt.cu components.cu dwt_cuda/common.cu dwt_cuda/fdwt53.cu dwt_cuda/fdwt97.cu "
            "dwt_cuda/rdwt53.cu dwt_cuda/rdwt97.cu", "image.rgb image.dwt -d 64x64 -f -5 -l 1",
        options="-I {suite}/cuda/dwt2d -D OUTPUT", inputs=data.pixels, files="image.rgb=/data/dwt2d/image.rgb",
        collect="image.dwt.*", check=checks.same_bytes, host=data.wavelet, compared="the same transform in numpy",
        needed="headers beside a source come first, signed char"),
    rodinia("euler3d", "cfd", "euler3d.cu", "mesh.txt", options="-I {suite}/cuda/hybridsort -D block_length=192",
        inputs=data.mesh, files="mesh.txt", collect="density", check=checks.same_file("density", 1e-3),
        host=Host("openmp/cfd/euler3d_cpu.cpp", "mesh.txt", "-Dblock_length=1"), needed="CUDA's errors by all names"),
    rodinia("gaussian", "gaussian", "{scripts}/public_gaussian.cu", "-s 32", options="-I {suite}/cuda/gaussian",
        check=checks.same_lines("The final solution is:", "The final solution is:", "Time", 1e-3),
        host=data.gaussian, compared="the same system in numpy"),
    rodinia("hotspot3D", "hotspot3D", "3D.cu", "64 8 4 power.txt temp.txt output.txt", inputs=data.heat_of_layers,
        files="temp.txt power.txt", check=checks.prints(r"Accuracy: \d\.\d+e-0[4-9]"), compared="its own CPU version"),
    rodinia("huffman", "huffman", "main_test_cu.cu stats_logger.cpp vlc_kernel_sm64huff.cu scan.cu pack_kernels.cu "
            "cpuencode.cpp", "text.bin", options="-D TESTING", inputs=data.text, files="text.bin",
        check=checks.prints("PASS! vectors are matching!", "FAIL|Diff"), compared="its own CPU version",
        needed="max() of mixed types, deviceOverlap",
        limit="it shifts by 32 bits, which gives 0 on NVIDIA's GPUs alone"),
    rodinia("hybridsort", "hybridsort", "bucketsort.cu mergesort.cu main.cu", "numbers.txt",
        options="-D VERIFY -I {folder}", inputs=data.numbers, files="numbers.txt", check=checks.prints("PASSED"),
        compared="its own CPU version (VERIFY)", needed="texture references, CUDA's errors by all names"),
    rodinia("kmeans", "kmeans", "cluster.c getopt.c kmeans.c kmeans_clustering.c kmeans_cuda.cu rmse.c",
        "-i points.txt -m 5 -n 5 -o", inputs=data.points, files="points.txt", check=checks.centres, host=data.kmeans,
        compared="the same algorithm in numpy", needed="texture references, a constant by its name"),
    rodinia("lavaMD", "lavaMD", f"main.c kernel/kernel_gpu_cuda_wrapper.cu {UTILITIES} util/device/device.cu {SEED}",
        "-boxes1d 2", options="-D OUTPUT", collect="result.txt", check=checks.same_file("result.txt", 1e-4),
        host=Host(below("openmp/lavaMD", f"main.c kernel/kernel_cpu.c {UTILITIES}") + f" {SEED}", "-cores 1 -boxes1d 2",
                  "-DOUTPUT")),
    *(rodinia(f"particlefilter_{form}", "particlefilter", f"ex_particle_CUDA_{form}_seq.cu {SEED}", PARTICLES,
              check=checks.tracks, host=Host(f"openmp/particlefilter/ex_particle_OPENMP_seq.c {SEED}", PARTICLES),
              needed=needed)
      for form, needed in (("float", "launches apart, `<< <`"), ("naive", ""))),
    rodinia("streamcluster", "streamcluster", "streamcluster_cuda_cpu.cpp streamcluster_cuda.cu "
            "streamcluster_header.cu",
        "2 4 16 256 256 50 none output.txt 1", collect="output.txt", check=checks.same_file("output.txt", 1e-4),
        host=Host("openmp/streamcluster/streamcluster_omp.cpp", "2 4 16 256 256 50 none output.txt 1")),
    application("BinomialOption", "-e -x 64 -i 1"),
    application("BitonicSort", "-e -x 1024 -i 1"),
    application("dct", "-e -x 64 -y 64 -i 1"),
    application("dwtHaar1D", "-e -x 1024 -i 1"),
    application("FastWalshTransform", "-e -x 1024 -i 1"),
    application("FloydWarshall", "-e -x 64 -i 1"),
    application("HelloWorld", "", check=checks.prints("HelloWorld\n"), compared="the text that it must print"),
    application("Histogram", "-e -x 256 -y 256 -i 1"),
    application("MatrixMultiplication", "-e -x 64 -y 64 -z 64 -i 1"),
    application("PrefixSum", "-e -x 64 -i 1", needed="totalConstMem, memPitch …, hipThreadIdx_x …"),
    application("RecursiveGaussian", "-e -i 1", inputs=data.bitmap, files="RecursiveGaussian_Input.bmp"),
    application("SimpleConvolution", "-e -x 64 -y 64 -i 1"),
    example("vectorAdd", "vectorAdd", "vectoradd_hip.cpp", "", check=SAYS_PASSED, compared="its own sums"),
    example("reduction", "reduction", "reduction.cpp", "65536", check=checks.prints("result is CORRECT"),
        compared="its own sum"),
    example("add4", "add4", "hip-stream.cpp common.cpp", "--arraysize 65536 --numtimes 2 --groups 64",
        check=checks.prints("Triad|GEOMEAN"), compared=NOTHING),
    *(example(f"nbody-{form}", "mini-nbody/hip", f"nbody-{form}.cpp", "512", options="-D SHMOO -I {suite}/mini-nbody",
              check=checks.prints("512, [0-9.]+"), compared=NOTHING) for form in ("block", "orig", "soa")),
    example("cuda-stream", "cuda-stream", "stream.cpp", "-n 65536", check=checks.prints("Triad"), compared=NOTHING),
]  # fmt: skip
