# SPDX-License-Identifier: Apache-2.0
"""The package as a wheel has it, apart from the tree: what it opens is inside, and what the machine lacks ends in one
line that names Debian's package. `make test-deep PARTS=wheel` does the same with a wheel on a bare Debian."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fabricvp import InputError
from fabricvp.compiler import linux_program

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "release"
#: Writes the name of each file that any process opens, or has mapped at its end, into OPENED.
HOOK = """
import atexit, os, sys
log = os.open(os.environ["OPENED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(path):
    os.write(log, os.fsencode(os.path.realpath(path)) + b"\\n")
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        note(arguments[0])
def note_mapped():
    with open("/proc/self/maps") as maps:
        for path in {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}:
            note(path)
atexit.register(note_mapped)
sys.addaudithook(hook)
"""
STUDY = """
config: gpu
app: vectoradd
grid: {size: [1024, 2048]}
keep: ["kernels:time_s"]
"""
KERNEL = "kernel void twice(global float* a) { a[get_global_id(0)] *= 2; }\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package: the components that a wheel takes from CMake, and the sources in Python."""
    folder = tmp_path_factory.mktemp("site")
    for component in ("python", "sdk"):
        subprocess.run(
            ["cmake", "--install", BUILD, "--component", component, "--prefix", folder],
            check=True, capture_output=True, timeout=600,
        )  # fmt: skip
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "python/fabricvp", folder / "fabricvp", ignore=ignored, dirs_exist_ok=True)
    return folder


@pytest.fixture
def installed(site, tmp_path):
    """Runs a command line of `fabricvp`, or another program, with the package from `site`; ``tools`` alone are in PATH
    where they are given. Whatever is opened lies outside of the tree."""
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(HOOK)
    opened = tmp_path / "opened"

    def run(*arguments, program=(sys.executable, "-m", "fabricvp"), tools=None, **variables):
        environment = os.environ | {
            "PYTHONPATH": f"{tmp_path / 'hooks'}:{site}",
            "OPENED": str(opened),
            "XDG_CACHE_HOME": str(tmp_path),
            **variables,
        }
        if tools is not None:
            environment["PATH"] = str(_folder_of(tmp_path / "bin", tools))
        done = subprocess.run(
            [*program, *map(str, arguments)],
            capture_output=True, text=True, timeout=600, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        names = {Path(line) for line in opened.read_text().splitlines()}
        inside = [path for path in names if path.is_relative_to(REPOSITORY)]
        assert not [path for path in inside if not path.is_relative_to(sys.prefix)], "files of the tree are opened"
        assert any(path.is_relative_to(site) for path in names), "the package is another one"
        return done

    return run


def _folder_of(folder: Path, tools) -> Path:
    folder.mkdir(exist_ok=True)
    for tool in tools:
        if not (folder / tool).exists():
            (folder / tool).symlink_to(shutil.which(tool))
    return folder


def test_runs_experiments_and_sweeps_need_no_tree_and_no_tools(installed, site, tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY)
    for arguments in (
        ["run", "hello", "--out", "hello"],
        ["explain", "--help"],
        ["draw", "cluster", "--svg", "cluster.svg"],
        ["experiment", "pcie-congestion", "--quick", "--out", "experiment"],
        ["sweep", "study.yaml", "--out", "sweep"],
        ["results", "list", "sweep"],
        ["reproduce", "--help"],
    ):
        done = installed(*arguments, tools=())
        assert done.returncode == 0, (arguments, done.stdout + done.stderr)
    for file in (
        "hello/machine.svg",
        "hello/stats.json",
        "cluster.svg",
        "experiment/index.html",
        "sweep/points.parquet",
    ):
        assert (tmp_path / file).stat().st_size, file
    folders = installed(
        "-c", "import fabricvp._fabricvp as f; print(f.config_folder(), f.firmware_folder(), f.library_file())",
        program=[sys.executable],
    )  # fmt: skip
    assert all(Path(path).is_relative_to(site) for path in folders.stdout.split()), folders.stdout


def test_files_of_the_monitor(site, installed):
    text = """
import urllib.request, fabricvp
with fabricvp.Platform.from_config("hello").monitor() as monitor:
    for name in ("", "page.js", "run_view.js", "page.css", "machine.svg", "description.json"):
        assert urllib.request.urlopen(monitor.url + name).read(), name
"""
    done = installed("-c", text, program=[sys.executable])
    assert done.returncode == 0, done.stderr


def test_kernels_and_projects_are_built_with_what_is_inside(installed, tmp_path):
    (tmp_path / "twice.cl").write_text(KERNEL)
    done = installed("cc", "twice.cl", "-o", "twice.elf")
    assert done.returncode == 0 and (tmp_path / "twice.elf").exists(), done.stderr
    assert installed("new", "kernel", "saxpy").returncode == 0
    done = installed("-C", "saxpy", "run", program=["make"])
    assert done.returncode == 0 and "the result is right" in done.stdout, done.stdout + done.stderr


def _debian_packages() -> set[str]:
    lines = (REPOSITORY / "scripts/packages.txt").read_text().splitlines()
    return {line.split()[1] for line in lines if line and not line.startswith("#")}


def _assert_names(done: subprocess.CompletedProcess, *packages: str) -> None:
    """Status 2, and one line that says with which packages it would work."""
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stdout + done.stderr
    named = re.search(r"\(Debian(?: 12)?: apt install ([^;)]*)[;)]", done.stderr)
    assert named and named[1].split() == [*packages], done.stderr
    assert set(packages) <= _debian_packages()


def test_a_missing_compiler_of_kernels(installed, tmp_path):
    """One message has all packages, whichever are missing."""
    (tmp_path / "twice.cl").write_text(KERNEL)
    (tmp_path / "lib").mkdir()
    gcc, picolibc = "gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf"
    cc = ["cc", "twice.cl"]
    _assert_names(installed(*cc, tools=(), PICOLIBC="nowhere"), "clang-14", "llvm-14", gcc, picolibc)
    _assert_names(installed(*cc, tools=(), PICOLIBC=str(tmp_path)), "clang-14", "llvm-14", gcc)
    clang = next((name for name in ("clang-14", "clang-19") if shutil.which(name)), None)
    if clang is None:
        pytest.skip("no clang")
    version = clang[-2:]
    _assert_names(installed(*cc, tools=[clang]), f"llvm-{version}", gcc)
    _assert_names(installed(*cc, tools=[clang, f"opt-{version}"]), gcc)
    assert not (tmp_path / "twice.elf").exists()


def test_a_missing_linker_of_programs_for_linux(installed, tmp_path):
    clang = next((name for name in ("clang-14", "clang-19") if shutil.which(name)), None)
    if clang is None or not Path("/usr/riscv64-linux-gnu/lib/libc.a").is_file():
        pytest.skip("no clang, or no libraries for riscv64")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    done = installed("cc", "main.c", "--target", "linux", tools=[clang])
    _assert_names(done, "binutils-riscv64-linux-gnu")


def test_missing_libraries_of_programs_for_linux(tmp_path, monkeypatch):
    """One message has all packages, of either suite."""
    for name in ("SYSROOT", "GCC"):
        monkeypatch.setattr(linux_program, name, tmp_path)
    monkeypatch.setattr(linux_program, "BINUTILS", "nowhere-")
    with pytest.raises(InputError) as error:
        linux_program.require_cross_tools()
    suites = re.findall(r"(Debian 1[23]): (?:apt install )?([^;)]*)[;)]", str(error.value))
    others = "libc6-dev-riscv64-cross binutils-riscv64-linux-gnu"
    assert suites == [
        ("Debian 12", f"libstdc++-12-dev-riscv64-cross {others}"),
        ("Debian 13", f"libstdc++-14-dev-riscv64-cross {others}"),
    ]
    assert {package for _, names in suites for package in names.split()} <= _debian_packages()


@pytest.mark.parametrize("kind", ["kernel", "firmware", "gpu-host", "service"])
def test_a_missing_compiler_of_projects(kind, installed):
    assert installed("new", kind, "mine").returncode == 0
    gcc, picolibc = "gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf"
    make = ["-C", "mine", "--no-print-directory"]
    _assert_names(installed(*make, "RISCV_GCC=nowhere-gcc", program=["make"]), gcc)
    _assert_names(installed(*make, "RISCV_GCC=nowhere-gcc", "PICOLIBC=nowhere", program=["make"]), gcc, picolibc)


@pytest.mark.parametrize("kind, target", [("stage", "run"), ("device", "library"), ("pcie-device", "library")])
def test_missing_tools_of_plug_ins(kind, target, installed):
    assert installed("new", kind, "mine").returncode == 0
    done = installed("-C", "mine", target, program=[shutil.which("make")], tools=("sh",))
    _assert_names(done, "cmake", "g++", "libsystemc-dev", "libfmt-dev", "libboost-dev")


@pytest.mark.parametrize("machine, package", [("uboot_m", "u-boot-qemu"), ("cs_storm", "opensbi")])
def test_missing_firmware_of_debian(machine, package, installed):
    """The file is one that the package would have."""
    folder = {"opensbi": "/usr/lib/riscv64-linux-gnu/opensbi/generic", "u-boot-qemu": "/usr/lib/u-boot/none"}[package]
    _assert_names(installed("run", machine, "--firmware", f"{folder}/nowhere.bin"), package)


def test_every_package_that_a_message_names_is_one_that_the_build_knows():
    """Of Debian 12 or 13, where a suite has another version."""
    patterns = ("python/fabricvp/**/*.py", "platform/**/*.cpp", "cmake/*", "firmware/fabricvp.mk")
    sources = [file for pattern in patterns for file in REPOSITORY.glob(pattern)]
    named = {
        package
        for source in sources
        for words in re.findall(r"apt install ([a-z0-9+ -]+)", source.read_text())
        for package in words.split()
    }
    assert {"cmake", "libsystemc-dev", "openmpi-bin"} <= named <= _debian_packages(), named


def test_nothing_of_the_package_is_ignored_by_git():
    """A wheel leaves such files out."""
    files = [path for path in (REPOSITORY / "python/fabricvp").rglob("*") if "__pycache__" not in path.parts]
    command = ["git", "-C", REPOSITORY, "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, capture_output=True, text=True, input="\n".join(map(str, files)))
    assert done.stdout == "" and done.returncode == 1, done.stdout + done.stderr
