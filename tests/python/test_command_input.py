# SPDX-License-Identifier: Apache-2.0
"""What users of the command mistype, and what it warns of: one line each."""

import opencl_machine
import pytest

KERNEL = "kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "gpu", "--program", "k.cl", "--grid", "128²", "--arg", "zeros:8B"), "run: --grid '128²': must be N, "),
        (("run", "gpu", "--program", "k.cl", "--recursion", "²"), "run: --recursion '²': must be a number of calls"),
        (("sweep", "s.yaml", "--jobs", "²"), "sweep: argument --jobs: '²' is not a number of 1 … 1024 "),
    ],
)
def test_digits_that_are_none(command, tmp_path, arguments, says):
    opencl_machine.require_compiler()
    (tmp_path / "k.cl").write_text(KERNEL)
    done = command(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"fabricvp {says}")


def test_warnings_are_one_line(command, tmp_path):
    (tmp_path / "s.yaml").write_text("config: gpu\napp: vectoradd\ngrid: {size: [64]}\nkeep: [sim.tme_s]\n")
    done = command("sweep", "s.yaml", "--out", "found")
    said = [line for line in done.stderr.splitlines() if "tme_s" in line or ".py" in line]
    assert said == ["fabricvp: no statistic matches 'sim.tme_s': did you mean 'sim.time_s'?"], done.stderr


@pytest.mark.parametrize("given", [("--block", 64, "--group", 32), ("--group=32", "--block=64"), ("--group=8",) * 2])
def test_a_work_group_is_given_once(command, tmp_path, given):
    opencl_machine.require_compiler()
    (tmp_path / "k.cl").write_text(KERNEL)
    done = command("run", "gpu", "--program", "k.cl", "--grid", 64, *given, "--arg", "zeros:256B")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fabricvp run: --block and --group say the same, work-items of a work-group: give one, once\n"


def test_a_folder_for_no_files_is_refused(command, tmp_path):
    (tmp_path / "program").write_bytes(b"")
    done = command("run", "linux_gpu", "--program", "program", "--into", "found")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fabricvp run: --into needs --collect PATTERN, the files that come there\n"


COMMON = "size, gpus, placement, dispatch, seed, limit, declared, places, schedules"


@pytest.mark.parametrize(
    ("machine", "line", "says"),
    [
        (["hello"], "entires=4", "there is no option entires: this program takes none"),
        (["hello"], "nonsense", "there is no option nonsense: this program takes none"),
        (["gpu", "--firmware", "firmware:gpu_apps.elf"], "size app=spmv", "there is no option size, but app"),
        (["bare", "--firmware", "firmware:pcie_demo.elf"], "a=1", "there is no option a: this program takes none"),
        (["gpu", "--firmware", "firmware:gpu_apps.elf"], "size=64 app=spmv", "there is no option size, but app"),
        (
            ["gpu", "--firmware", "firmware:gpu_apps.elf"],
            "app=spmv size=64 density=0.1 app=vectoradd size=64 density=0.1",
            f"there is no option density, but {COMMON}",
        ),
        (
            ["compnet_pair", "--firmware", "firmware:distributed_apps.elf"],
            "app=halo size=64 steps=1 colums=16",
            "there is no option colums, but size, seed, nodes, steps, columns",
        ),
    ],
)
def test_options_that_a_program_does_not_have(command, machine, line, says):
    done = command("run", *machine, "--append", line, "--quiet")
    assert done.returncode == 2 and done.stderr == f"fabricvp: node0: {says}\n", done.stdout + done.stderr


def test_a_machine_without_software_is_refused(command):
    for machine in "bare", "gpu", "apu":
        done = command("run", machine, timeout=60)
        says = "fabricvp: nothing to run: give --app, --program, --kernel-elf or --firmware\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", says)
    assert command("run", "bare", "--time", "1 us", "--quiet").returncode == 0
    assert "; it runs nothing without --app" in command("check", "gpu").stdout
    assert command("check", "gpu", "--app", "spmv").stdout == "gpu: ok\n"
    assert command("check", "network_fat_tree").stdout == "network_fat_tree: ok\n"


@pytest.mark.parametrize("given", [["--profile"], ["--spans"], ["--console", "none"], ["--monitor=0"]])
def test_options_of_other_runs_do_not_go_with_linux(command, given):
    done = command("run", "linux_gpu", "--program", "none", *given)
    name = given[0].partition("=")[0]
    says = f"{name} does not go with programs on Linux (see fabricvp run MACHINE --program FILE --help)"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fabricvp run: {says}\n")


def test_mistyped_options_and_arguments_of_linux(command):
    done = command("run", "linux_gpu", "--program", "none", "--quite")
    assert "--quite does not go with programs on Linux, did you mean --quiet?" in done.stderr
    done = command("run", "linux_gpu", "--program", "none", "64")
    assert "run: '64': arguments of the program stand behind --" in done.stderr
    done = command("run", "linux_gpu", "--program", "none", "--quiet", "--seed", 3)
    assert done.stderr == "fabricvp run: none: No such file or directory\n"


def test_help_of_run_lists_options_of_programs(command):
    text = command("run", "--help").stdout
    for option in "program define include block wavefront heap recursion file env collect into peer-memory".split():
        assert f" --{option} " in text, option
    assert "with --program FILE.hip or .cu blocks" in " ".join(text.split())
    for given, says in (
        (("--recursion", 3), "--recursion needs --program FILE, a source with a kernel"),
        (("--collect", "x"), "--collect needs --program FILE, a program for Linux"),
    ):
        done = command("run", "gpu", "--app", "spmv", *given)
        assert (done.returncode, done.stderr) == (2, f"fabricvp: {says}\n")
