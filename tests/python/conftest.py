# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share. A process has one platform, so machines live in child processes, and what must
be tried in the process itself runs as a script of its own."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fabricvp
import guests
import opencl_machine
import pytest
from fabricvp.data import sdk_folder
from fabricvp.docs_command import tables_of
from fabricvp.experiments.gpu_workloads.workloads import WORKLOADS

#: Every machine of these tests, in this process or another, raises where a unit says that it worked for longer than has
#: passed.
os.environ["FABRICVP_CHECK_STATISTICS"] = "1"

# A job in the background of a shell ignores Ctrl-C, and so would what tests start there and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[2]
LAUNCHER = Path(sys.prefix) / "bin" / "fabricvp"


#: Words in a file's or test's name that tell what it needs.
RDMA = ("rdma", "pgas", "compnet", "subnet", "network", "topology")
GPU = ("gpu", "compnet", "pgas", "training", "lane", "launch", "demo", "crossed")
UNIT = ("test_bad_input", "test_lazy_imports", "test_plot", "test_documentation", "test_new")


def pytest_collection_modifyitems(items):
    """Markers follow from names, so that none is forgotten."""
    for item in items:
        name = f"{item.path.stem} {item.name}"
        item.add_marker("unit" if item.path.stem in UNIT else "system")
        if any(word in name for word in RDMA):
            item.add_marker("rdma")
        if any(word in name for word in GPU):
            item.add_marker("gpu")
        if "experiments" in name or "demo" in name or "linux" in name:
            item.add_marker("slow")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with two programs for Linux with GPUs, compiled by the command's own function."""
    from fabricvp.compiler import linux_program

    folder, here = tmp_path_factory.mktemp("programs"), Path(__file__).parent
    for source in (here.parents[1] / "examples" / "linux_gpu" / "saxpy.hip", here / "linux_gpu_misuse.hip"):
        options = linux_program.Options.of()
        (folder / source.stem).write_bytes(linux_program.build_linux({str(source): source.read_text()}, options))
    return folder


@pytest.fixture(scope="session")
def assemble(tmp_path_factory):
    """Makes an ELF file of assembly text that runs from the start of DRAM."""
    folder = tmp_path_factory.mktemp("guests")

    def make(source: str) -> Path:
        text = guests.PRELUDE + source
        elf = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.elf"
        if not elf.exists():
            assembly = elf.with_suffix(".S")
            assembly.write_text(text)
            subprocess.run(
                [
                    "riscv64-unknown-elf-gcc",
                    "-nostdlib",
                    "-static",
                    "-march=rv64imafdc_zicsr_zifencei",
                    "-mabi=lp64d",
                    "-mcmodel=medany",
                    "-Wl,-n,-Ttext=0x80000000,--no-warn-rwx-segments,-e,_start",
                    "-o",
                    elf,
                    assembly,
                ],
                check=True,
                timeout=600,
            )
        return elf

    return make


@pytest.fixture
def machine(assemble):
    """Builds a machine in a child process, with a guest program of `guests` where one is given."""
    made = []

    def make(source: str | None = None, text: str = "nodes: 1\n", **overrides):
        platform = fabricvp.spawn(text=text, **overrides)
        made.append(platform)
        if source is not None:
            platform.load_images(firmware=assemble(source))
        return platform

    yield make
    for platform in made:
        platform.close()


@pytest.fixture(scope="module")
def gpu():
    """A small GPU in a process of its own, one for a file of tests."""
    with opencl_machine.small_gpu() as platform:
        yield platform.nodes[0].gpus[0]


@pytest.fixture(scope="module")
def elf(request, tmp_path_factory):
    """An image of the kernels in the file's `SOURCE`, in C."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "mine.c").write_text(request.module.SOURCE)
    (folder / "Makefile").write_text(f"include {sdk_folder()}/fabricvp.mk\nmine.elf: mine.c\n\t$(build_kernel)\n")
    done = subprocess.run(["make", "-C", folder, "mine.elf"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return folder / "mine.elf"


@pytest.fixture(scope="module")
def program(gpu, request):
    """The kernels of the file's `SOURCE`, in OpenCL C."""
    return gpu.program(request.module.SOURCE)


@pytest.fixture
def clone(tmp_path):
    """A folder in which paths of the pages lead where they lead in a clone, and what is written stays apart."""
    (tmp_path / "build").mkdir()
    for name in ("configs", "firmware", "examples", "build/release"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    return tmp_path


@pytest.fixture
def run_script(tmp_path):
    """Runs Python text in an interpreter of its own; gives the completed process."""

    def run(text: str, *arguments, timeout: float = 600, check: bool = True):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        done = subprocess.run(
            [sys.executable, script, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
        )
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def ends_with_its_sweep(tmp_path):
    """A script that sweeps is killed, and interrupted, once so many processes of it have called mark(): all of them
    end."""

    def check(text: str, processes: int) -> None:
        script, pids = tmp_path / "script.py", tmp_path / "pids"
        pids.mkdir()
        script.write_text(
            f"import os, time, fabricvp\ndef mark():\n    open(f'{pids}/{{os.getpid()}}', 'w').close()\n{text}"
        )
        for end in (signal.SIGKILL, signal.SIGINT):
            process = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True)
            while len(found := os.listdir(pids)) < processes:
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(end)
            process.communicate(timeout=600)
            deadline = time.monotonic() + 100
            while any(os.path.exists(f"/proc/{pid}") for pid in found):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            for pid in found:
                (pids / pid).unlink()

    return check


@pytest.fixture
def command(tmp_path):
    """Runs the command `fabricvp` with arguments; gives the completed process."""

    def run(*arguments, timeout: float = 600, **options):
        return subprocess.run(
            [sys.executable, "-m", "fabricvp", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=options.pop("cwd", tmp_path),
            **options,
        )

    return run


class ExperimentRun:
    """What an experiment has left: `result` is its result.json, `rows` those of it by figure, `measured` their values;
    and `stderr`, what it said meanwhile."""

    def __init__(self, folder: Path, stderr: str):
        self.stderr = stderr
        self.result = json.loads((folder / "result.json").read_text())
        self.rows = {row["figure"]: row for row in self.result["rows"]}
        self.measured = {figure: row.get("measured") for figure, row in self.rows.items()}


def check_page_tables(folder: Path) -> None:
    """What a page is made of is in a quick result, too: each of its tables that the result has anything of can be made,
    with the page's columns and rows, of which a quick run takes some, at other sizes."""
    result = json.loads((folder / "result.json").read_text())
    stored = json.loads((REPOSITORY / "docs/experiments/results" / f"{result['experiment']}.json").read_text())[
        "tables"
    ]
    made = tables_of(result)[1]
    if not any(result["options"].get(key) for key in ("only", "no_sweeps", "no_sizes", "points", "patterns")):
        assert made.keys() == stored.keys()

    def names(texts: Iterable[str]) -> set[str]:
        plain = (re.sub(r"[\d.,]*\d( [KMG]i?)?B?²?", "N", text) for text in texts)
        return {re.sub(r"N(, N)+", "N", text) for text in plain}  # of a list of sizes a quick run takes some

    for name, table in made.items():
        known = stored[name]
        assert names(table.columns) <= names(known["columns"]), name
        assert all(len(row) == len(table.columns) for row in table.rows) and table.rows, name
        rows, expected = (names(row[0] for row in lines) for lines in (table.rows, known["rows"]))
        if (result["experiment"], name) == ("gpu-workloads", "queues"):  # whichever are slowed down most
            expected = names(f"`{workload}`" for workload in WORKLOADS)
        assert rows & expected and (len(rows - expected) == 0 or result["experiment"] == "scale"), (
            name,
            rows - expected,
        )


@pytest.fixture
def refreshed(tmp_path):
    """Writes the results of `found` into a copy of the pages: gives tables of the experiment that the copy shows now,
    and what the result did not have."""

    def refresh(experiment: str) -> tuple[dict[str, Any], list[str]]:
        pages = tmp_path / "pages"
        shutil.copytree(REPOSITORY / "docs/experiments", pages)
        before = (pages / "results" / f"{experiment}.json").read_text()
        done = subprocess.run(
            [LAUNCHER, "docs", "refresh", tmp_path / "found", "--pages", pages], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        after = (pages / "results" / f"{experiment}.json").read_text()
        changed = [
            p for p in pages.glob("*.md") if p.read_bytes() != (REPOSITORY / "docs/experiments" / p.name).read_bytes()
        ]
        assert after != before and len(changed) == 1
        tables = json.loads(after)["tables"]
        # What a line and a column are called does not depend on the size of the run.
        for name, table in json.loads(before)["tables"].items():
            assert {row[0] for row in tables[name]["rows"]} & {row[0] for row in table["rows"]}, name
            # A quick run has other counts.
            first = [re.sub(r"\d+", "N", str(one["columns"][0])) for one in (tables[name], table)]
            assert first[0] == first[1], name
        return tables, done.stderr.splitlines()

    return refresh


@pytest.fixture
def experiment(tmp_path):
    """Runs an experiment in its quick form by the installed launcher, into the folder `found`; all its checks, as many
    as given, have to hold."""

    def run(name, *arguments, checks: int | None = None, timeout: float = 1780) -> ExperimentRun:
        done = subprocess.run(
            [LAUNCHER, "experiment", name, "--quick", *arguments, "--out", "found"],
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        ran = ExperimentRun(tmp_path / "found", done.stderr)
        found = ran.result["checks"]
        assert ran.result["experiment"] == name and all(c["ok"] for c in found)
        assert checks is None or len(found) == checks, found
        check_page_tables(tmp_path / "found")
        return ran

    return run
