# SPDX-License-Identifier: Apache-2.0
"""Kernels of programs spread over four GPUs, by each policy of placement and dispatch."""

import json

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError
from fabricvp.launch import DISPATCHES, PLACEMENTS

opencl_machine.require_compiler()

SOURCE = """
global uint count;
kernel void add(global const float* a, global const float* b, global float* c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
    atomic_inc((volatile global uint*)&count);
}
"""


@pytest.mark.timeout(300)
def test_results_are_right_by_all_policies():
    n = 1 << 13
    with fabricvp.spawn("netcrafter_quad", overrides={"node.gpus.*.compute_units": 4}) as platform:
        gpus = platform.nodes[0].gpus
        program = gpus[0].program(SOURCE)
        a, b = numpy.random.default_rng(1).random((2, n), dtype="f4")
        kept, times = gpus[0].array(a), {}
        for placement in PLACEMENTS:
            for dispatch in DISPATCHES:
                c = numpy.zeros_like(a)
                program.variable("count").set(0)
                done = program["add"](n, 64, kept, b, c, all_gpus=True, placement=placement, dispatch=dispatch)
                assert (c == a + b).all() and program.variable("count").get() == n
                times[placement, dispatch] = done.time
                work = [done.statistics[f"{gpu}wavefront_instructions"] for gpu in ("", "gpu1.", "gpu2.", "gpu3.")]
                assert min(work) > 0.9 * max(work)
        assert len({round(time * 1e9) for time in times.values()}) > 4
        c = numpy.zeros_like(a)
        program["add"](n, 64, kept, b, c)
        assert (c == a + b).all()
        with pytest.raises(InputError, match="no placement policy 'random'; there are: contiguous, interleaved"):
            program["add"](n, 64, a, b, c, all_gpus=True, placement="random")
        with pytest.raises(InputError, match="dispatch='lasp' is about a kernel on all GPUs"):
            program["add"](n, 64, a, b, c, dispatch="lasp")


def remote_lines(done):
    """Reads and writes of lines that lie on another GPU than the lanes."""
    kinds = (f"fabric.{where}_cluster.{what}" for where in ("same", "other") for what in ("reads", "writes"))
    names = [gpu + kind for kind in kinds for gpu in ("", "gpu1.", "gpu2.", "gpu3.")]
    return sum(done.statistics.get(name, 0) for name in names)


@pytest.mark.timeout(300)
def test_arrays_stay_spread_over_gpus():
    n = 1 << 14  # words, 16 pages
    lines = 2 * n * 4 // 64  # loaded, and stored
    with fabricvp.spawn("netcrafter_quad", overrides={"node.gpus.*.compute_units": 4}) as platform:
        gpus = platform.nodes[0].gpus
        twice = gpus[0].program("kernel void twice(global uint* x) { x[get_global_id(0)] *= 2; }")["twice"]
        pages, blocks = (gpus[0].array(numpy.arange(n, dtype="u4"), spread=True) for _ in range(2))
        with pytest.raises(InputError, match="begins with a launch on all GPUs: give all_gpus=True"):
            twice(n, 64, pages)
        with pytest.raises(InputError, match="its placement cannot be first_touch"):
            twice(n, 64, pages, all_gpus=True, placement="first_touch")
        assert (pages.get() == numpy.arange(n)).all()  # no launch has begun
        spread = {"all_gpus": True, "dispatch": "contiguous"}
        assert remote_lines(twice(n, 64, pages, placement="interleaved", **spread)) == lines * 3 / 4
        assert remote_lines(twice(n, 64, blocks, placement="contiguous", **spread)) == 0
        # It stays where it is, whatever later launches say.
        assert remote_lines(twice(n, 64, pages, placement="contiguous", **spread)) == lines * 3 / 4
        assert remote_lines(twice(n, 64, blocks, placement="first_touch", **spread)) == 0
        assert (pages.get() == 4 * numpy.arange(n)).all() and (blocks.get() == 4 * numpy.arange(n)).all()
        pages.set(numpy.ones(n, "u4"))
        done = twice(n, 64, pages)
        assert done.statistics["fabric.same_cluster.reads"] * 4 == lines / 2 and (pages.get() == 2).all()


@pytest.mark.timeout(300)
def test_several_gpus_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cl").write_text(SOURCE)
    a, b = numpy.random.default_rng(2).random((2, 4096), dtype="f4")
    a.tofile(tmp_path / "a.bin")
    b.tofile(tmp_path / "b.bin")
    run = ("run", "netcrafter_quad", "--set", "node.gpus.*.compute_units=4", "--program", "k.cl", "--grid", 4096)
    run += ("--block", 64, "--arg", "in:a.bin", "--arg", "in:b.bin", "--arg", "out:16KiB:c.bin", "--out", "found")
    for gpus, policies in (1, ()), (4, ()), (2, ("--placement", "interleaved", "--dispatch", "round_robin")):
        done = command(*run, "--gpus", gpus, *policies, timeout=250)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (numpy.fromfile(tmp_path / "c.bin", "f4") == a + b).all()
        statistics = json.loads((tmp_path / "found" / "stats.json").read_text())
        work = [statistics[f"node0.gpu{n}.wavefront_instructions"] for n in range(4)]
        assert sum(w > 0 for w in work) == gpus and max(work) * gpus == sum(work)
    for options, says in {
        ("--gpus", "5"): "--gpus 5: node0 has 4 GPUs",
        ("--placement", "lasp"): "--placement 'lasp' has no effect: the kernel runs on GPU 0 (--gpus N: on N of them)",
        ("--gpus", "2", "--dispatch", "up"): "--dispatch 'up': there is no such policy",
        ("--gpus", "2", "--placement", "first_touch_recorded"): "there is no such policy (allowed: contiguous,",
    }.items():
        done = command(*run, *options, timeout=60)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
