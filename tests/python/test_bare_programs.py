# SPDX-License-Identifier: Apache-2.0
"""Programs in HIP and CUDA, host and device in one source, on bare metal: `fabricvp cc --target bare`. The examples
give the same results as on Linux, and their kernels take the same time."""

import subprocess
import sys
from pathlib import Path

import opencl_machine
import pytest
from test_device_link import LINKED
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

import linux_programs  # noqa: E402

PROGRAM = """
#include <hip/hip_runtime.h>
#include <functional>
#include <string>
#include <vector>

__device__ int offset = 30;
__managed__ int managed = 4;
__global__ void add(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] += offset + managed; }

struct Noisy {
    Noisy() : name("a constructor that runs before main()") { puts(name.c_str()); }
    ~Noisy() { puts("a destructor that runs after it"); }
    std::string name;
} noisy;
struct Base { virtual ~Base() = default; virtual int value() const = 0; };
struct Derived : Base { int value() const override { return 7; } };

static int deep(int levels) {  // more stack than a hart has
    volatile char frame[4096];
    frame[levels] = (char)levels;
    return levels ? deep(levels - 1) + frame[levels] : 0;
}

int main(int argc, char** argv) {
    std::string words;
    for (int i = 1; i < argc; ++i) words += "<" + std::string(argv[i]) + ">";
    if (words == "<long>") std::vector<int>().at(3);
    std::vector<int> x(64, 1);
    std::unique_ptr<char[]> kept(new (std::nothrow) char[words.size()]);
    int* p;
    if (hipMalloc(&p, 256) || hipMemcpy(p, x.data(), 256, hipMemcpyHostToDevice)) return 1;
    add<<<1, 64>>>(p, 60);
    if (hipMemcpy(x.data(), p, 256, hipMemcpyDeviceToHost)) return 1;
    std::function<int(int)> twice = [&](int i) { return 2 * x[i]; };
    std::unique_ptr<Base> base(new Derived);
    atexit([] { puts("atexit"); });
    printf("%s %d %d %d ", words.c_str(), twice(59), twice(60), base->value());
    printf("%.2f %d\\n", std::sqrt(2.0), kept ? deep(100) : 0);
    return x[0];
}
"""


def build(command, tmp_path, *arguments, name="program.hip", source=PROGRAM):
    (tmp_path / name).write_text(source)
    return command("cc", name, "-o", "program", "--target", "bare", *arguments)


@pytest.mark.timeout(600)
def test_what_programs_find(command, tmp_path):
    done = build(command, tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), done.stderr
    run = ("run", "gpu", "--firmware", "program", "--quiet")
    done = command(*run, "--append", "two  words", stdin=subprocess.DEVNULL)
    assert done.stdout.replace("\r", "").splitlines() == [
        "a constructor that runs before main()",
        "<two><words> 70 2 7 1.41 5050",
        "atexit",
        "a destructor that runs after it",
    ]
    assert done.returncode == 1 and "node0 reported failure 35" in done.stderr, done.stderr
    done = command(*run, "--append", "long", stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and "std::out_of_range: vector::_M_range_check" in done.stdout, done.stdout


@pytest.mark.timeout(600)
def test_programs_of_several_files(command, tmp_path):
    done = command("cc", "-x", "hip", *LINKED, "-o", "program", "--target", "bare")
    assert done.returncode == 0, done.stderr
    done = command("run", "gpu", "--firmware", "program", "--quiet", stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and done.stdout.replace("\r", "").endswith("\nhidden 11\n"), done.stdout + done.stderr


@pytest.mark.timeout(600)
def test_what_cannot_be_made_is_said_in_a_line(command, tmp_path):
    for source, arguments, said in (
        ("#include <iostream>\nint main() { std::cout << 1; }\n", (), " error: "),
        ("int main() { return nothing; }\n", (), "program.hip:1:21: error: use of undeclared identifier 'nothing'"),
        ("int main() {}\n", ("-l", "ibverbs"), "-l ibverbs is for --target linux"),
        ("int main() {}\n", ("--report",), "--report tells of kernels: leave out --target bare"),
    ):
        done = build(command, tmp_path, *arguments, source=source)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    (tmp_path / "k.cl").write_text("kernel void k() {}\n")
    done = command("cc", "k.cl", "--target", "bare")
    assert done.returncode == 2 and "programs on bare metal are in HIP (.hip) or CUDA (.cu)" in done.stderr


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return linux_programs.measure(linux_programs.PROGRAMS, tmp_path_factory.mktemp("pairs"))


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_examples_do_the_same_on_linux_and_bare_metal(pairs):
    assert len(pairs) == 2 * len(linux_programs.PROGRAMS) >= 20
    assert [(p.name, p.language, p.bare.output, p.linux.output) for p in pairs if not p.same] == []


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_kernels_take_as_long_on_linux_as_on_bare_metal(pairs):
    assert [(p.name, p.language, p.ratio) for p in pairs if abs(p.ratio - 1) > 0.03] == []


def test_the_gpu_is_the_same(command):
    tell = [command("describe", machine, "node0.gpu0") for machine in (linux_programs.LINUX, linux_programs.BARE)]
    assert tell[0].returncode == 0 and tell[0].stdout == tell[1].stdout
