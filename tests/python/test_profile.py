# SPDX-License-Identifier: Apache-2.0
"""Profiles of guests, sampled in simulated time, and coverage of their source lines."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import needs_browser, opened
from conftest import REPOSITORY

PROGRAM = """\
#define UART ((volatile unsigned char*)0x10000000)
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long step(unsigned long x) {
    return (x * 6364136223846793005ul + 1442695040888963407ul) ^ (x >> 7);
}
static __attribute__((noinline)) unsigned long work(unsigned long n) {
    unsigned long x = n;
    for (unsigned long i = 0; i < n; ++i)
        x = step(x);
    return x;
}
static __attribute__((noinline)) unsigned long outer(unsigned long n) {
    return work(n) + 1;
}
__attribute__((noinline)) void unused(void) {
    sink = 7;
}
void start(void) {
    for (int i = 0; i < 50; ++i)
        *UART = 'x';
    sink = outer(30000);
    if (sink == 12345)
        unused();
    for (;;)
        __asm__ volatile("wfi");
}
__asm__(".globl _start\\n_start: la sp, _start + 0x10000\\ncall start\\n");
"""
MACHINE = "node: {host: {harts: 1, memory: 1 MiB}, images: {firmware: program.elf}}\n"
MPI = shutil.which("mpirun") and (REPOSITORY / "build/release/python/fabricvp/libfabricvp_mpi.so").exists()
GPU = ["gpu", "--app", "vectoradd", "--size", "4096", "--quiet"]


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def stacks_of(folded: Path) -> dict[str, int]:
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in folded.read_text().splitlines()}


def counts_of(tracefile: Path, source: str) -> dict[int, int]:
    """Executions by line of the source whose path ends so."""
    for record in tracefile.read_text().split("end_of_record\n"):
        if re.search(rf"^SF:.*{re.escape(source)}$", record, re.MULTILINE):
            return {int(line): int(n) for line, n in re.findall(r"^DA:(\d+),(\d+)$", record, re.MULTILINE)}
    raise AssertionError(f"{source} is not in {tracefile}")


def statistics_of(folder: Path) -> dict[str, float]:
    values = json.loads((folder / "stats.json").read_text())
    return {path: value for path, value in values.items() if path != "sim.wall_s"}


@pytest.fixture
def program(tmp_path):
    """A folder with a machine that runs PROGRAM."""
    if not shutil.which("riscv64-unknown-elf-gcc"):
        pytest.skip("there is no riscv64-unknown-elf-gcc")
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "machine.yaml").write_text(MACHINE)
    flags = "-march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -g -ffreestanding -nostdlib -static -e _start"
    linker = "-Wl,-n,--no-relax,-Ttext=0x80000000"
    subprocess.run(
        ["riscv64-unknown-elf-gcc", *flags.split(), linker, "program.c", "-o", "program.elf"], cwd=tmp_path, check=True
    )
    return tmp_path


def test_samples_of_a_hart_have_callers_inlined_functions_and_waits(program, command):
    done = command("run", "machine.yaml", "--time", "1 ms", "--quiet", "--profile", "p.html")
    assert done.returncode == 0, done.stderr
    stacks = stacks_of(program / "p.folded")
    assert sum(stacks.values()) == 1000, stacks
    work = "node0.host.hart0;_start;start;outer;work"  # a loop of six instructions, four of them inlined
    hot = stacks[work + ";step"]
    assert 0.6 < hot / (hot + stacks[work]) < 0.9, stacks
    idle = stacks["node0.host.hart0;_start;start;[waits for an interrupt]"]
    assert hot > 100 and idle > 100 and hot + stacks[work] + idle >= 990, stacks
    again = command("run", "machine.yaml", "--time", "1 ms", "--quiet", "--profile", "q.html")
    assert again.returncode == 0
    assert (program / "q.folded").read_bytes() == (program / "p.folded").read_bytes()
    finer = command("run", "machine.yaml", "--time", "1 ms", "--quiet", "--profile=r.html", "--profile-period=100 ns")
    assert finer.returncode == 0, finer.stderr
    stacks = stacks_of(program / "r.folded")
    assert sum(stacks.values()) == 10000
    assert stacks[work + ";step"] == pytest.approx(10 * hot, rel=0.1)


def test_lines_are_counted_exactly(program, command):
    done = command("run", "machine.yaml", "--time", "1 ms", "--quiet", "--coverage", "c.info")
    assert done.returncode == 0, done.stderr
    counts = counts_of(program / "c.info", "program.c")
    assert counts[line_of("*UART = 'x'")] == 50  # each of these accesses goes through the bus
    assert counts[line_of("return (x *")] == 30000
    assert counts[line_of("sink = outer")] == 1
    assert counts[line_of("sink = 7")] == 0
    text = (program / "c.info").read_text()
    assert "FNDA:1,outer\n" in text and "FNDA:0,unused\n" in text
    if shutil.which("genhtml"):
        subprocess.run(["genhtml", "-q", "-o", "pages", "c.info"], cwd=program, check=True)
        assert (program / "pages/index.html").exists()


def test_a_machine_with_a_gpu_is_the_same_with_and_without(tmp_path, command):
    plain = command("run", *GPU, "--out", "plain")
    assert plain.returncode == 0, plain.stderr
    done = command("run", *GPU, "--out", "seen", "--profile", "--profile-period=200 ns", "--coverage", "c.info")
    assert done.returncode == 0, done.stderr
    assert statistics_of(tmp_path / "plain") == statistics_of(tmp_path / "seen")
    assert done.stdout == plain.stdout
    stacks = stacks_of(tmp_path / "seen/profile.folded")
    kernel = [s for s in stacks if s.startswith("node0.gpu0;kernel vectoradd;vectoradd_entry")]
    assert any(s.endswith("[waits for data]") for s in kernel), stacks
    assert any(s.startswith("node0.gpu0.processor.hart0;") and s.count(";") > 1 for s in stacks)
    assert any(s.startswith("node0.host.hart0;") and ";firmware_start;" in s for s in stacks)
    counts = counts_of(tmp_path / "c.info", "kernels/vectoradd.c")
    assert max(counts.values()) == 4096 // 64
    assert any(counts_of(tmp_path / "c.info", "cp/main.c").values())


@pytest.mark.parametrize("transport", ["shared_memory", "mpi"])
def test_ranks_see_together_what_one_process_sees(tmp_path, command, transport):
    """Hosts, GPUs and kernels of two nodes, one a rank: page, stacks and tracefile are the same to the byte."""
    if transport == "mpi" and not MPI:
        pytest.skip("the platform was built without MPI")
    machine = ["compnet_pair", "--append", "scheme=gpu_native rounds=4", "--quiet", "--console", "none"]

    def files(name, *more):
        seen = ["--out", name, "--profile", "--coverage", f"{name}.info"]
        done = command("run", *machine, *seen, *more)
        assert done.returncode == 0, done.stderr
        return [tmp_path / name / "profile.html", tmp_path / name / "profile.folded", tmp_path / f"{name}.info"]

    alone = files("alone")
    together = files("together", "--ranks", "2", "--transport", transport)
    for one, other in zip(alone, together):
        assert one.read_bytes() == other.read_bytes(), one
    stacks = stacks_of(together[1])
    for node in ("node0", "node1"):
        for block in ("host.hart0;", "gpu0.processor.hart0;", "gpu0;kernel "):
            assert any(s.startswith(f"{node}.{block}") for s in stacks), (node, block)


def test_python_gives_stacks(run_script):
    run_script(
        """
        import fabricvp
        with fabricvp.Platform.from_config("gpu") as p:
            p.load_app("vectoradd", size=1024)
            p.start_profile("500 ns")
            p.start_coverage()
            p.run()
            stacks = p.profile()
            assert any(s[:2] == ("node0.gpu0", "kernel vectoradd") for s in stacks), stacks
            p.write_profile("page.html")
            p.write_coverage("c.info")
            try:
                p.write_profile("page.txt")
            except fabricvp.InputError as e:
                assert "must end in .html" in str(e)
            else:
                raise AssertionError
        """
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile"], "--profile needs FILE.html, or --out"),
        (["--profile", "x.svg"], "must end in .html"),
        (["--profile-period", "1 us"], "--profile-period needs --profile"),
        (["--profile=x.html", "--profile-period=0 ns"], "must be above 0"),
        (["--symbols", "x.elf"], "--symbols needs --profile or --coverage"),
        (["--coverage=/nowhere/c.info"], "/nowhere"),
        (["--coverage=c.info", "--symbols=machine.yaml"], "machine.yaml: is no ELF file"),
    ],
)
def test_mistakes_end_in_one_line(options, message, program, command):
    done = command("run", "machine.yaml", "--time", "1 us", *options)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(program.glob("x.*")) and not (program / "c.info").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile", "x.svg"], "must end in .html"),
        (["--coverage", "/nowhere/c.info"], "/nowhere"),
        (["--coverage", "c.info", "--symbols", "absent.elf"], "absent.elf"),
    ],
)
def test_mistakes_with_ranks_end_in_one_line(options, message, tmp_path, command):
    done = command("run", "rdma_pair", "--ranks", "2", "--time", "1 us", *options)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@needs_browser
def test_the_page_shows_boxes(program, command, tmp_path):
    assert command("run", "machine.yaml", "--time", "1 ms", "--quiet", "--profile", "p.html").returncode == 0
    document, console = opened(program / "p.html", tmp_path)
    assert console == []
    assert re.search(r'aria-label="work: \d+ samples, [\d.]+ µs', document), document[-3000:]
