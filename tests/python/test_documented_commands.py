# SPDX-License-Identifier: Apache-2.0
"""Every command that a page shows is run through the installed launcher, and what it prints is put beside the page.
Those of tutorials build on each other: test_tutorials.py."""

import re
import subprocess
import sys
from pathlib import Path

import opencl_machine
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LAUNCHER = Path(sys.prefix) / "bin" / "fabricvp"
BOOT_SCRIPT = re.search(
    r"^```\n(# boot\.script.*?)^```$", (REPOSITORY / "docs/howto/guide.md").read_text(), re.MULTILINE | re.DOTALL
)[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PROMPT = "a prompt waits for a person"
LONG = "the whole run takes too long for a test"
DEBUGGER = "waits for GDB; tests/system/gdb holds such dialogues"
RECORD = (
    "run netcrafter_quad_ideal --app transpose --size 256 --placement lasp --dispatch lasp --record"
    f" transpose.recording && '{LAUNCHER}' "
)
REPLAY = RECORD + "replay transpose.recording netcrafter_quad "
EXPLAINED = "run netcrafter_quad --app gups --size 65536 --console none --quiet"
#: Commands that are run in another form: as the pages show them → (what is run, why).
CHANGED = {
    "run uboot": ("run uboot --time 20ms", PROMPT),
    "run uboot_m": ("run uboot_m --time 20ms", PROMPT),
    "run cs_storm": ("run cs_storm --time 20ms", PROMPT),
    "run netcrafter_quad_uboot": ("run netcrafter_quad_uboot --time 5ms", PROMPT),
    "replay transpose.recording netcrafter_quad --out results": (
        REPLAY + "--out results",
        "the recording has to be there",
    ),
    "replay transpose.recording netcrafter_quad --set node.gpus.*.memory.l2_tlb.sets=64": (
        REPLAY + "--set 'node.gpus.*.memory.l2_tlb.sets=64'",
        "the recording has to be there",
    ),
    "docs refresh results": (
        f"experiment scale --quick --devices 4 16 --patterns uniform --out results && mkdir docs && cp -r"
        f" '{REPOSITORY}/docs/experiments' docs && '{LAUNCHER}' docs refresh results",
        "the results have to be there",
    ),
    "diff small large --region kernels": (
        f"run netcrafter_quad --app spmv --size 2048 --quiet --out small && '{LAUNCHER}' run netcrafter_quad --app spmv"
        " --size 2048 --quiet --out large --set 'node.gpus.*.memory.l2.size=8 MiB'"
        f" && '{LAUNCHER}' diff small large --region kernels",
        "the results have to be there",
    ),
    "explain results": (f"{EXPLAINED} --out results && '{LAUNCHER}' explain results", "the results have to be there"),
    "explain faster --top 2": (
        f"{EXPLAINED} --set 'node.fabric.links.4.lane_rate=4 GB/s' --out faster && '{LAUNCHER}' explain faster --top 2",
        "the results have to be there",
    ),
    "results list results": (
        f"sweep examples/sweeps/compute_units.yaml --out results && '{LAUNCHER}' results list results",
        "the results have to be there",
    ),
    "results diff before after": (
        "version && "
        + " && ".join(
            f"printf '%s\\n' 'config: gpu' 'app: vectoradd' 'grid: {{size: [4096]}}' 'repeat: 2'"
            f" 'set: {{node.gpus.0.compute_units: {units}}}' 'keep: [\"kernels:time_s\"]' > {name}.yaml"
            f" && '{LAUNCHER}' sweep {name}.yaml --out {name}"
            for name, units in (("before", 1), ("after", 4))
        )
        + f" && '{LAUNCHER}' results diff before after",
        "the results have to be there",
    ),
    "run linux": ("describe linux", "needs the kernel that `make linux` fetches"),
    "run linux_gpu": ("describe linux_gpu", "needs the kernel that `make linux` fetches"),
    "run linux_gpu --program saxpy -- 1000 2.5": ("describe linux_gpu", "the same; test_linux_gpu.py runs it"),
    "cc examples/linux_gpu/saxpy.hip -o saxpy": ("cc --help", "needs cross libraries; test_linux_gpu.py runs it"),
    **{
        f"cc examples/linux_gpu/{name}.{language} -o {name} --target linux -l ibverbs": (
            "cc --help",
            "needs Debian's libraries; test_linux_cluster.py runs it",
        )
        for name, language in (("jacobi", "hip"), ("allreduce", "cu"), ("pingpong", "hip"))
    },
    "cc examples/linux_gpu/saxpy.hip -o saxpy.elf --target gpu": ("cc --help", "test_linux_gpu.py runs it"),
    "run linux_gpu --program saxpy --gdb 7777 -- 1000 2.5": ("describe linux_gpu", "test_linux_gpu.py runs it"),
    'run gpu --firmware saxpy.elf --append "1000 2.5"': (
        f"cc examples/linux_gpu/saxpy.hip -o saxpy.elf --target bare"
        f" && '{LAUNCHER}' run gpu --firmware saxpy.elf --append '1000 2.5'",
        "the program has to be there",
    ),
    "run linux_gpu_uboot": ("describe linux_gpu_uboot", "the same; test_linux_uboot.py types what follows"),
    "cc examples/kernels/spmv.cl -o spmv.elf": ("cc --help", "test_linux_machine.py runs it"),
    "cc examples/host_programs/spmv_opencl.c -o spmv_opencl --target linux": (
        "cc --help",
        "needs cross libraries; test_linux_machine.py runs it",
    ),
    "run linux_gpu --program spmv_opencl --file spmv.elf": (
        "describe linux_gpu",
        "needs the kernel that `make linux` fetches; test_linux_machine.py runs it",
    ),
    "cc examples/kernels/vector_add.cl -o vector_add.elf": ("cc --help", "test_linux_opencl.py runs it"),
    "cc examples/linux_gpu/vector_add_opencl.c -o add --target linux -l OpenCL": (
        "cc --help",
        "needs cross libraries; test_linux_opencl.py runs it",
    ),
    "run linux_gpu --program add --file vector_add.elf -- 100000": (
        "describe linux_gpu",
        "needs what `make linux` fetches; test_linux_opencl.py runs it",
    ),
    "run linux_gpu --program build/linux/clinfo": ("describe linux_gpu", "the same"),
    "run linux_cluster --program jacobi -- 64 256 20": (
        "describe linux_cluster",
        "needs the kernel that `make linux` fetches; test_linux_cluster.py runs it",
    ),
    "run linux_cluster --program allreduce -- 65536": ("describe linux_cluster", "the same"),
    "run linux_cluster --peer-memory --program allreduce -- 65536": (
        "describe linux_cluster",
        "the same; test_linux_peer_memory.py runs it",
    ),
    "cc examples/linux_gpu/mpi_allreduce.hip -o mpi_allreduce --target linux -l mpi -l ibverbs": (
        "cc --help",
        "needs Debian's libraries; test_linux_mpi.py runs it",
    ),
    **{
        f"run linux_cluster {option}--program mpi_allreduce -- 65536": (
            "describe linux_cluster",
            "needs what `make linux` fetches; test_linux_mpi.py runs it",
        )
        for option in ("", "--peer-memory ")
    },
    "run linux_cluster --peer-memory --program pingpong -- 1048576 10": ("describe linux_cluster", "the same"),
    "run hello --set node.host.harts=2 --gdb 3333 --console none &": (
        "run hello --set node.host.harts=2 --console none",
        DEBUGGER,
    ),
    "run gpu --app vectoradd --size 256 --gdb 7777": ("run gpu --app vectoradd --size 256", DEBUGGER),
    "run rdma_pair --gdb 7777": ("describe rdma_pair", DEBUGGER),
    "run gpu --app spmv --size 4096": ("run gpu --app spmv --size 1024", LONG),
    "run gpu --app spmv --size 4096 --out results": ("run gpu --app spmv --size 1024 --out results", LONG),
    (
        "run gpu --kernel-elf saxpy/saxpy.elf --grid 4096 --arg file:a.bin --arg file:b.bin"
        ' --arg "zeros:16 KiB" --arg f32:2.5 --arg u64:4096 --out results'
    ): (
        "run gpu --kernel-elf build/release/firmware/vectoradd.elf --grid 64"
        ' --arg "zeros:256 B" --arg "zeros:256 B" --arg "zeros:256 B" --arg u64:64 --out results',
        "the project is not there; test_new.py makes such projects",
    ),
    "run netcrafter_quad --app spmv --size 4096 --out results": (
        "run netcrafter_quad --app spmv --size 1024 --out results",
        LONG,
    ),
    "run netcrafter_quad --app spmv --size 4096 --monitor": (
        "run netcrafter_quad --app spmv --size 1024 --monitor",
        LONG,
    ),
    "run netcrafter_quad --app transpose --size 2048": ("run netcrafter_quad --app transpose --size 256", LONG),
    "run netcrafter_quad_on --app spmv --size 8192": ("run netcrafter_quad_on --app spmv --size 1024", LONG),
    "experiment netcrafter --out results": (
        "experiment netcrafter --quick --only gups --points all --out results",
        LONG,
    ),
    "experiment netcrafter --quick --out results": (
        "experiment netcrafter --quick --only gups --points all --out results",
        LONG,
    ),
    **{
        f"experiment netcrafter-{name} {options}--out results": (
            f"experiment netcrafter-{name} --help",
            "test_experiments.py runs its quick form by the launcher",
        )
        for name, given in (
            ("load", ("", "--quick ", "--sizes 1 ", "--reach 512 2048 all ")),
            ("training", ("", "--quick ")),
            ("mgpusim", ("",)),
        )
        for options in given
    },
    **{
        f"experiment locality {options}--out results": (
            "experiment locality --quick --only reduction --out results",
            "test_locality_declared.py runs it by the launcher",
        )
        for options in ("", "--times ")
    },
    "experiment netcrafter-load --sizes 1 --points --out results": (
        "experiment netcrafter-load --quick --only transpose --points --out results",
        LONG,
    ),
    "experiment netcrafter-sensitivity --out results": (
        "experiment netcrafter-sensitivity --quick --only queues --out results",
        LONG,
    ),
    "experiment replay --out results": ("experiment replay --quick --only transpose --out results", LONG),
    "experiment replay --quick --out results": ("experiment replay --quick --only transpose --out results", LONG),
    **{
        f"experiment {name} --out results": (
            f"experiment {name} --help",
            "the tests of experiments run its quick form by the launcher",
        )
        for name in (
            "rdma",
            *(f"gpurdma-{part}" for part in ("placement", "throughput", "pingpong", "matvec", "what-if", "modern")),
            *(f"compnet-{part}" for part in ("latency", "jacobi", "locking", "reduction", "training", "scaling")),
            "crossed",
        )
    },
    **{
        f"experiment microbenchmarks {options}--out results": (
            "experiment microbenchmarks --help",
            "test_microbenchmarks.py runs its quick form by the launcher",
        )
        for options in ("", "--quick ", "--machine netcrafter_quad ")
    },
    **{
        f"experiment faults {options}--out results": ("experiment faults --quick --injections 2 --out results", LONG)
        for options in ("", "--quick ")
    },
    **{
        f"experiment faults --machine linux_rdma_pair {options}--out results": (
            "experiment faults --help",
            "test_fault_linux.py runs a small one",
        )
        for options in ("", "--quick ")
    },
    "experiment gpurdma-ordering --out results": ("experiment gpurdma-ordering --quick --out results", LONG),
    "experiment scale --out results": (
        "experiment scale --quick --devices 4 16 --patterns uniform --out results",
        LONG,
    ),
    "reproduce all --quick --out results": ("reproduce pcie-congestion --quick --out results", LONG),
    "reproduce --report results": (
        "experiment gpurdma-pingpong --quick --out results/gpurdma-pingpong"
        f" && '{LAUNCHER}' reproduce --report results",
        "the results have to be there",
    ),
    "experiment gpu-workloads --quick --out results": (
        "experiment gpu-workloads --quick --only reduction --no-spans --out results",
        LONG,
    ),
    "experiment gpu-workloads --out results": (
        "experiment gpu-workloads --quick --only reduction --no-spans --out results",
        LONG,
    ),
    "experiment gpu-workloads --only spmv transpose --placement interleaved --dispatch round_robin --out results": (
        (
            "experiment gpu-workloads --quick --only reduction --no-spans --placement interleaved --dispatch"
            " round_robin --out results"
        ),
        LONG,
    ),
    **{
        f"experiment lanes {options}--out results": (
            "experiment lanes --quick --only pagerank --no-sweeps --no-moves --out results",
            LONG,
        )
        for options in ("", "--quick ", "--small ")
    },
    "experiment what-if --quick --out results": (
        "experiment what-if --quick --only transpose --ratios 8 --out results",
        LONG,
    ),
    "experiment what-if --out results": ("experiment what-if --quick --only transpose --ratios 8 --out results", LONG),
    "experiment pcie-congestion --graphs 500 --out results": (
        "experiment pcie-congestion --quick --graphs 4 --out results",
        LONG,
    ),
    "experiment pcie-congestion --quick --out results": (
        "experiment pcie-congestion --quick --graphs 4 --out results",
        LONG,
    ),
}
#: Commands that pages show as failing, with their exit status.
FAILING = {
    "run bare --set node.host.hart.clok=2GHz": 2,
    'run configs/compnet_pair.yaml --append "threads=9" --quiet': 2,
    REPLAY + "--set 'node.gpus.*.memory.l2_tlb.sets=64'": 2,
    'run gpurdma_cluster_4 --append "work=hash groups=2 count=128 universe=100 wait_timeout_us=20000 revoke=300"': 1,
}
#: Other programs that blocks show, and where they are tried.
OTHERS = {
    "make": "the targets are what builds and tests this",
    "gdb-multiarch": "tests/system/gdb",
    "lspci": "test_pci_dump.py",
    "python3": "writes files that the next command reads, which the tests make themselves",
    "echo": "public_kernels.md: builds another simulator, which is not kept here: test_public_compare.py",
    "(cd": "the same",
    ".venv/bin/python": "the same; and linux_programs.py: test_bare_programs.py and test_linux_launch.py use its parts",
    "scripts/public_programs.sh": "clones suites, which are not kept here: test_public_programs.py",
    "printf": "writes a source that the next command reads: test_opencl_kernels.py",
    "build/release/bin/stopwatch_machine": "system.stopwatch",
    "riscv64-linux-gnu-gcc": "test_linux_opencl.py",
}


def shown():
    """(page, command without its program and comment, lines shown below it); program None for ours."""
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        for block in BLOCK.findall(page.read_text()) if page.parent.name != "tutorials" else ():
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, *output = part.splitlines()
                program, _, rest = re.sub(r"\s+#.*", "", line).strip().partition(" ")
                yield str(page.relative_to(REPOSITORY)), program, rest, output


OWN_PROGRAMS = [
    (page, rest, output) for page, program, rest, output in shown() if program in ("fabricvp", ".venv/bin/fabricvp")
]


def plain(line):
    """A line without its figures, since machines and days differ."""
    return re.sub(r"[\d.,]*\d", "0", " ".join(line.split()))


@pytest.fixture
def scripted(clone):
    """A clone that has the script of a boot and the source of a kernel, too."""
    (clone / "boot.script").write_text(BOOT_SCRIPT)
    (clone / "twice.cl").write_text(
        "__kernel void twice(__global float* x, uint n) { size_t i = get_global_id(0); if (i < n) x[i] *= 2; }"
    )
    return clone


def runnable(arguments):
    return CHANGED.get(arguments, (arguments, ""))[0]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("run", sorted({runnable(rest) for _, rest, _ in OWN_PROGRAMS}))
def test_command(run, scripted):
    if re.match(r"cc |run .*\.(cl|hip|cu)\b", run) and not opencl_machine.installed_versions():
        pytest.skip("no clang that the package knows is installed")
    done = subprocess.run(
        f"'{LAUNCHER}' {run}",
        shell=True,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=590,
        cwd=scripted,
    )
    all_output = done.stdout + done.stderr
    assert done.returncode == FAILING.get(run, 0), all_output
    assert "Traceback" not in all_output
    printed = [plain(line) for line in all_output.splitlines()]
    for page, rest, output in OWN_PROGRAMS:
        if rest == run:
            missing = [
                line
                for line in output
                if line.strip() not in ("", "…")
                and not any(p.startswith(plain(line.removesuffix("…"))) for p in printed)
            ]
            assert not missing, f"{page} shows what this does not print"


def test_the_tables_speak_of_commands_that_pages_show():
    known = {rest for _, rest, _ in OWN_PROGRAMS}
    assert not set(CHANGED) - known
    assert not set(FAILING) - {runnable(rest) for rest in known}
    programs = {program for _, program, _, _ in shown()} - {"fabricvp", ".venv/bin/fabricvp"}
    assert programs == set(OTHERS)
