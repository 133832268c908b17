# SPDX-License-Identifier: Apache-2.0
"""Programs in HIP and CUDA, host and device in one source, on Debian's Linux: one command compiles, one boots and
runs. What is wrong with a program is said before the boot; what goes wrong in one harms none after it. `make linux`
fetches kernel and cross libraries."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp import linux_job, linux_run
from fabricvp.compiler import build, linux_program
from fabricvp.errors import InputError

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples" / "linux_gpu"
HALO = Path(__file__).with_name("linux_gpu_halo.hip")
IMAGES = [REPOSITORY / "build" / "linux" / name for name in ("Image", "initramfs.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
SHELL = re.compile(r"\n(?:~|/job) # ")


def cross_tools_missing() -> str:
    try:
        linux_program.require_cross_tools()
    except InputError as error:
        return str(error)
    return ""


WITH_CROSS_TOOLS = pytest.mark.skipif(bool(cross_tools_missing()), reason=cross_tools_missing() or "there")
WITH_IMAGES = pytest.mark.skipif(
    bool(MISSING) or b"bin/gpus\0" not in IMAGES[1].read_bytes(), reason="make linux has not made its images"
)


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("source", ["saxpy.hip", "saxpy.cu"])
def test_one_command_compiles_and_one_runs(command, source):
    done = command("cc", EXAMPLES / source, "-o", "saxpy", "--target", "linux")
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stderr
    done = command("run", "linux_gpu", "--program", "saxpy", "--", 100000, 2.5, timeout=6000)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"100000 elements, 0 wrong, y\[99999\] = 449996, [\d.]+ us\n", done.stdout), done.stdout
    assert not done.stderr
    done = command("run", "linux_gpu", "--program", "saxpy", "--", timeout=6000)
    assert (done.returncode, done.stdout) == (2, "usage: saxpy N A\n"), done.stderr


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_files_variables_and_the_end_of_time(command, programs, tmp_path):
    (tmp_path / "data.txt").write_text("in a file\n")
    run = ("run", "linux_gpu", "--program", programs / "linux_gpu_misuse")
    given = ("--file", "data.txt", "--env", "WORD=it's a word")
    done = command(*run, *given, "--out", "results", "--", "echo", "two words", "", "$HOME", timeout=6000)
    assert done.stdout == "<two words><><$HOME>\nit's a word\nin a file\n", done.stdout + done.stderr
    assert done.returncode == 0 and (tmp_path / "results" / "stats.json").is_file()
    done = command(*run, "--time", "600 ms", "--", "forever", timeout=6000)
    assert done.returncode == 1 and done.stdout == "it waits\n", done.stdout + done.stderr
    assert "600 ms were over before the program" in done.stderr and done.stderr.count("\n") == 1
    # A program that prints what ends the output of another run; and one whose shell must not see its environment.
    done = command(*run, "--env", "PATH=/nowhere", "--env", "é=1", "--", "marks", timeout=6000)
    marks = "\1fabricvp ends 0\n\1fabricvp 0123456789abcdef ends 0\nno line's end\1"
    assert (done.returncode, done.stdout, done.stderr) == (201, marks, "")
    given = ("--file", "data.txt", "--collect", "*.txt", "--collect", "deep/*")
    done = command(*run, *given, "--out", "results", "--", "write", 3, timeout=6000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = {str(p.relative_to(tmp_path / "results/files")): p for p in (tmp_path / "results/files").rglob("*.*")}
    assert {name: len(path.read_bytes()) for name, path in found.items()} == {"deep/er/3.bin": 3, "a b.txt": 2}
    done = command(*run, *given, "--into", "o", "--", "echo", timeout=6000)
    assert "the program wrote no file that --collect names" in done.stderr, done.stderr
    done = command(*run, "--", "touch", timeout=6000)
    assert done.returncode == 139 and "Segmentation fault" in done.stdout, done.stdout + done.stderr


def test_output_appears_as_it_comes_and_only_its_own_mark_ends_it(capfdbinary):
    """Whatever stretches of it the console has when it is looked at."""
    job = linux_job.Job("program", (), (), {"program": b""}, {}, ())
    begin = job.begin
    output = linux_run.Output(job)
    program = b"a\1b\1fabricvp ends 0\n\1fabricvp 0123456789abcdee ends 0 0\nc" + job.end + b"x\n\1"
    console = b"boot" + begin + program + job.end + b"77 0\n[ 1.0] reboot"
    for length in range(len(console)):
        assert output.status is None or length > len(console) - 16
        output.take(console[:length], more=True)
    assert (output.status, output.collected) == (77, 0)
    assert capfdbinary.readouterr().out == program
    cut = linux_run.Output(job)
    cut.take(b"boot" + begin + b"a" + job.end, more=True)
    assert capfdbinary.readouterr().out == b"a"
    cut.take(b"boot" + begin + b"a" + job.end, more=False)
    assert capfdbinary.readouterr().out == job.end


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_processes_after_each_other(programs, tmp_path):
    with fabricvp.spawn("linux_gpu") as platform:
        initrd = Path(platform.config["node0.images.initrd"]).read_bytes()
        (programs / "kernels.elf").write_bytes(build("__global__ void add(int* p) { *p += 33; }", "kernels.hip").elf)
        files = {path.name.removeprefix("linux_gpu_"): path.read_bytes() for path in programs.iterdir()}
        (tmp_path / "initrd").write_bytes(initrd + linux_job.cpio(b"", files).replace(b"job/start", b"job/no___"))
        platform.load_images(initrd=tmp_path / "initrd")
        console = platform.nodes[0].console
        console.expect(SHELL, timeout="60 s")

        def shell(line):
            return console.command(line, SHELL, timeout="60 s")

        right = "1000 elements, 0 wrong, y[999] = 4495.5"
        shell("cd /job")
        said = shell("./saxpy 1000 2.5")
        assert "uio_pci_generic does not hold it" in said and "there is no GPU" in said, said
        shell("gpus")
        assert right in shell("./saxpy 1000 2.5")
        # Many calls, and what must be refused.
        said = shell("./misuse calls")
        assert "0 wrong" in said and "FAILED" not in said, said
        assert "modules: 33 33" in shell("./misuse module kernels.elf") and "nothing: no such file" in shell(
            "./misuse module nothing"
        )
        # A wild pointer of a kernel: its name, line, lane and address, an error, and the process goes on.
        said = shell("./misuse wild; echo ended $?")
        source = Path(__file__).with_name("linux_gpu_misuse.hip")
        line = source.read_text().split("p[threadIdx.x] = 1;")[0].count("\n") + 1
        assert re.search(rf"\(wild\.kernel\+0x\w+, {source.name}:{line}\), address 0x1234000", said), said
        assert "lane 0" in said, said
        assert "wild: a kernel used an address that is not there" in said and "then: no error" in said, said
        assert "ended 0" in said
        # What the run-time cannot go on with ends the program in a line.
        said = shell("./misuse panic; echo ended $?")
        assert "fabricvp: more than 16 launches in each other's arguments\n" in said.replace("\r", ""), said
        assert "ended 1" in said, said
        # One of the host to device memory.
        assert "ended 139" in shell("./misuse touch; echo ended $?")
        # One that leaves a kernel behind harms no later one.
        assert right in shell("./misuse leave; ./saxpy 1000 2.5")
        assert shell("sleep 0.1; cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").split() == ["32"]


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_four_gpus_over_the_fabric(command, tmp_path):
    assert command("cc", HALO, "-o", "halo", "--target", "linux").returncode == 0
    done = command("run", "linux_quad", "--program", "halo", "--out", "results", timeout=6000)
    assert (done.returncode, done.stdout) == (0, "1111 4 GPUs, the numbers are right\n"), done.stdout + done.stderr
    statistics = dict(line.split(",")[:2] for line in (tmp_path / "results" / "stats.csv").read_text().splitlines())
    assert float(statistics["node0.fabric.cluster0.to_cluster1.sent.bytes"]) > 1000


@WITH_CROSS_TOOLS
def test_what_cannot_be_compiled_is_said_in_a_line(command, tmp_path):
    (tmp_path / "unknown.hip").write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" hipError_t hipMallocArray(void**, unsigned);\n'
        "int main() { void* array; return hipMallocArray(&array, 0); }\n"
    )
    (tmp_path / "wrong.hip").write_text("#include <hip/hip_runtime.h>\nint main() { return hipMaloc(); }\n")
    (tmp_path / "k.cl").write_text("kernel void k() {}\n")
    (tmp_path / "host.cpp").write_text("int f() { return nothing; }\n")
    (tmp_path / "wrong.cpp").write_text("__global__ void k(int* p) { *p = nothing; }\n")
    (tmp_path / "kernel.cpp").write_text("__global__ void k(int* p) { *p = 1; }\nint main() {}\n")
    (tmp_path / "apart.hip").write_text(
        "extern __device__ int elsewhere;\n__global__ void k(int* p) { *p = elsewhere; }\nint main() {}\n"
    )
    for source, said in (
        ("unknown.hip", "undefined: hipMallocArray"),
        ("wrong.hip", "wrong.hip:2:21: error: use of undeclared identifier 'hipMaloc'"),
        ("k.cl", "programs for Linux are in HIP (.hip) or CUDA (.cu)"),
        ("wrong.hip ./wrong.hip", "./wrong.hip: given twice"),
        ("host.cpp unknown.hip", "host.cpp:1:18: error: use of undeclared identifier 'nothing'"),
        ("apart.hip", "apart.hip: undefined: elsewhere"),
        ("-x hip k.cl", "programs for Linux are in HIP (.hip) or CUDA (.cu)"),
        ("-x hip wrong.cpp", "wrong.cpp:1:34: error: use of undeclared identifier 'nothing'"),
        ("kernel.cpp", "kernel.cpp:1:1: error: unknown type name '__global__'"),
    ):
        done = command("cc", *source.split(), "--target", "linux")
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "unknown").exists()
    done = command("cc", "wrong.hip")  # a main() makes it a program for Linux
    assert done.returncode == 2 and "wrong.hip:2:21: error" in done.stderr, done.stderr
    done = command("cc", "-x", "hip", "kernel.cpp")
    assert done.returncode == 2 and "-x hip is for --target linux" in done.stderr, done.stderr


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="no gdb-multiarch")
def test_gdb_stops_at_a_line_of_a_kernel_and_a_trace_is_kept(programs, command, tmp_path):
    image = command("cc", REPOSITORY / "examples/linux_gpu/saxpy.hip", "-o", tmp_path / "saxpy.elf", "--target", "gpu")
    assert image.returncode == 0, image.stderr
    run = [sys.executable, "-m", "fabricvp", "run", "linux_gpu", "--program", programs / "saxpy", "--gdb", "0"]
    with subprocess.Popen(
        [*map(str, run), "--trace", "--out", "found", "--", "1000", "2.5"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        try:
            port = re.fullmatch(r"fabricvp: GDB port of node0 is 127\.0\.0\.1:(\d+), .*\n", process.stderr.readline())[
                1
            ]
            told = f"""set architecture riscv:rv64
source {REPOSITORY}/scripts/gpu.gdb
file saxpy.elf
target remote 127.0.0.1:{port}
monitor kernel saxpy
tbreak saxpy.hip:19
continue
lane
continue
"""
            (tmp_path / "told.gdb").write_text(told)
            gdb = subprocess.run(
                ["gdb-multiarch", "-batch", "-x", "told.gdb"],
                capture_output=True,
                text=True,
                timeout=5000,
                cwd=tmp_path,
            )
            output, _ = process.communicate(timeout=5000)
        finally:
            process.kill()
    assert "node0.gpu0 cu0 wavefront 0 saxpy group 0,0,0 lane 0" in gdb.stderr, gdb.stdout + gdb.stderr
    assert "exited normally" in gdb.stdout and "1000 elements, 0 wrong" in output, gdb.stdout + output
    assert (tmp_path / "found" / "trace.pftrace").stat().st_size > 10000


def test_what_cannot_run_is_said_in_a_line(command, tmp_path):
    def elf(machine: int, section: bytes) -> bytes:
        return (
            b"\x7fELF\2\1\1" + bytes(9) + b"\2\0" + machine.to_bytes(2, "little") + bytes(44) + b"\0" + section + b"\0"
        )

    (tmp_path / "text").write_text("no program")
    (tmp_path / "x86").write_bytes(elf(62, b".fabricvp"))
    (tmp_path / "plain").write_bytes(elf(243, b".text"))
    (tmp_path / "whole").write_bytes(elf(243, b".fabricvp"))
    initrd = tmp_path / "initrd"
    initrd.write_bytes(b"bin/gpus\0")
    (tmp_path / "no_disk.yaml").write_text(f"base: gpu\nnode:\n  images:\n    kernel: {initrd}\n    initrd: {initrd}\n")
    for arguments, said in (
        (["linux_gpu", "--program", "nowhere"], "nowhere: No such file"),
        (["linux_gpu", "--program", "text"], "text: no program: `fabricvp cc --target linux` makes one"),
        (["linux_gpu", "--program", "x86"], "x86: a program for another machine (ELF machine 62)"),
        (["linux_gpu", "--program", "plain"], "plain: a program without the run-time"),
        (["gpu", "--program", "whole"], "gpu: a machine that boots no Linux: linux_gpu does"),
        (["linux_gpu", "--program", "whole", "--env", "1"], "--env '1': must be NAME=VALUE"),
        (["linux_gpu", "--program", "whole", "--env", "a b=1"], "variable 'a b': a name has letters"),
        (["linux_gpu", "--program", "whole", "--set", "1"], "--set '1': must be KEY=VALUE"),
        (["linux_gpu", "--program", "whole", "--file", "a b"], "a b: names on Linux have letters"),
        (["linux_gpu", "--program", "whole", "--file", "o/whole"], "--file o/whole: the program or another file has"),
        (["linux_gpu", "--program", "whole", "--file", "text=/a b"], "--file text=/a b: a path on Linux has names of"),
        (["linux_gpu", "--program", "whole", "--file", "text=/a/../b"], "--file text=/a/../b: a path on Linux has"),
        (["linux_gpu", "--program", "whole", "--collect", "a"], "--collect needs --into DIR, or --out DIR"),
        (["linux_gpu", "--program", "whole", "--into", "o", "--collect", "/a"], "--collect '/a': must be a pattern"),
        (
            ["no_disk.yaml", "--program", "whole", "--into", "o", "--collect", "a"],
            "files need a disk of kind virtio_blk",
        ),
        (["linux_gpu", "--program", "whole", "--trace"], "--trace needs --out DIR"),
        (["linux_gpu", "--program", "whole", "--gdb", "65536"], "--gdb 65536: must be a port from 0 to 65535"),
        (["linux_gpu", "--program", "whole", "--out", "text/o"], "text/o: cannot be written to (Not a directory)"),
    ):
        done = command("run", *arguments)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
