# SPDX-License-Identifier: Apache-2.0
"""Kernels of programs on four GPUs by LASP: pages and work-groups go where the analysis of their indices says."""

import json

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError

opencl_machine.require_compiler()

N = 1 << 16
#: `own` strides by the grid: contiguous chunks would leave three quarters of its accesses on other GPUs. `columns`
#: reads down columns of a matrix that is as wide as the grid.
SOURCE = """
kernel void own(global uint* x, uint n) {
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) x[i] += i;
}
kernel void columns(global const uint* x, global uint* y, uint n) {
    uint c = get_global_id(0), sum = get_group_id(1);
    for (uint k = 0; k < n; ++k) sum += x[k * get_global_size(0) + c];
    y[get_global_id(1) * get_global_size(0) + c] = sum;
}
"""


@pytest.fixture(scope="module")
def gpus():
    with fabricvp.spawn("netcrafter_quad", overrides={"node.gpus.*.compute_units": 4}) as platform:
        yield platform.nodes[0].gpus


def remote_part(done):
    """Of the lines that L1 caches read, those of other GPUs."""
    local, *remote = (
        sum(v for name, v in done.statistics.items() if name.endswith(f"fabric.{counter}"))
        for counter in ("local_reads", "same_cluster.reads", "other_cluster.reads")
    )
    return sum(remote) / (local + sum(remote))


def run(gpus, kernel="own", **options):
    x = numpy.arange(N, dtype="u4")
    program = gpus[0].program(SOURCE)
    if kernel == "own":
        done = program["own"](N // 4, 64, x, N, all_gpus=True, **options)
        assert (x == 2 * numpy.arange(N, dtype="u4")).all()
        return done
    y = numpy.zeros((2, 4096), "u4")
    done = program["columns"]((4096, 2), (64, 1), x, y, N // 4096, all_gpus=True, **options)
    assert (y == x.reshape(-1, 4096).sum(0, dtype="u4") + numpy.array([[0], [1]], "u4")).all()
    return done


LASP = {"placement": "lasp", "dispatch": "lasp"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kernel", ["own", "columns"])
def test_accesses_stay_on_their_gpu(gpus, kernel):
    far, near = (remote_part(run(gpus, kernel, **o)) for o in ({}, LASP))
    assert far > 0.4 and near < 0.02


@pytest.mark.timeout(300)
def test_what_is_given_takes_the_place_of_the_analysis(gpus):
    given = run(gpus, **LASP, locality={"x": (7, 0, 0)})
    parts = [
        remote_part(run(gpus, **LASP, locality={"x": row})) for row in ((7, 0, 0), fabricvp.Locality(7), (1, N, 256))
    ]
    assert min(parts[:2]) > 0.4 and parts[2] < 0.02
    assert remote_part(given) == pytest.approx(parts[0], abs=0.02)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({**LASP, "locality": {"z": (1, 0, 0)}}, "locality: no buffer 'z'; there are: x"),
        ({**LASP, "locality": {"x": (8, 0, 0)}}, "row 8 of LADM's table"),
        ({**LASP, "locality": {"x": (1, -1, 0)}}, "locality: 'x' is (1, -1, 0)"),
        ({**LASP, "locality": {"x": (1, 0, 0, 0)}}, "locality: 'x' is (1, 0, 0, 0)"),
        ({"placement": "interleaved", "locality": {"x": (1, 0, 0)}}, "locality is for kernels on all GPUs"),
    ],
)
def test_bad_localities(gpus, options, says):
    with pytest.raises(InputError) as raised:
        run(gpus, **options)
    assert says in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.timeout(300)
def test_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text(SOURCE)
    numpy.arange(N, dtype="u4").tofile(tmp_path / "x.bin")
    common = ("run", "netcrafter_quad", "--set", "node.gpus.*.compute_units=4", "--program", "k.cl", "--gpus", 4)
    common += ("--grid", N // 4, "--block", 64, "--arg", "inout:x.bin", "--arg", f"u32:{N}", "--quiet")
    lasp = ("--placement", "lasp", "--dispatch=lasp")
    times = {}
    for name, options in {"analysed": lasp, "given": (*lasp, "--locality", f"1:{N}:256"), "plain": ()}.items():
        done = command(*common, *options, "--out", name, timeout=250)
        assert done.returncode == 0, done.stdout + done.stderr
        times[name] = json.loads((tmp_path / name / "stats.json").read_text())
        del times[name]["sim.wall_s"]
    assert times["analysed"] == times["given"] != times["plain"]
    for options, says in {
        (*lasp, "--locality", "8"): "--locality '8': must be ROW[:PITCH[:DATABLOCK]]",
        (*lasp, "--locality", "1:2:"): "--locality '1:2:': must be ROW",
        (*lasp, "--locality", "1:2:3:4"): "--locality '1:2:3:4': must be ROW",
        (*lasp, "--locality", "1", "--locality", "1"): "2 times --locality, and 1 arguments are buffers",
        ("--locality", "1"): "--locality has no effect without --gpus N and --placement lasp or --dispatch lasp",
    }.items():
        done = command(*common, *options, timeout=60)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
