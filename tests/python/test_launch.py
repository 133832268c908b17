# SPDX-License-Identifier: Apache-2.0
"""A user's own kernels: arguments and buffers from Python and from the command line."""

import ctypes
import json
import re
from pathlib import Path

import fabricvp
import numpy
import pytest
from fabricvp.launch import Arguments, default_group, to_3d

SOURCE = """
#include "gpu/gpu.h"
struct arguments { const float *a; uint8_t small; int16_t middle; float *b; double factor; uint32_t n; };
KERNEL(scale, struct arguments)
{
    const size_t i = global_id(1) * grid_size(0) + global_id(0);
    if (i < args->n) args->b[i] = (float)args->factor * args->a[i] + args->small + args->middle;
}
struct pair { uint64_t *sum; const uint32_t *values; };
KERNEL(add, struct pair)
{
    atomic_add_u64(args->sum, args->values[global_id(0)]);
}
struct stay { uint64_t *times; uint64_t cycles; };
KERNEL(stay, struct stay)
{
    const uint64_t first = gpu_cycle();
    while (gpu_cycle() - first < args->cycles) gpu_pause();
    if (lane_id()) return;
    args->times[0] = first;
    args->times[1] = gpu_cycle();
}
struct one { uint64_t *where; };
KERNEL(wild, struct one)
{
    if (global_id(0) == 3) *(volatile uint64_t *)args->where = 1;
}
KERNEL(forever, struct one)
{
    for (;;) gpu_pause();
}
struct wide { uint64_t *out; uint64_t values[500]; };
KERNEL(a_kernel_in_c_with_a_name_of_more_than_thirty_two_characters, struct wide)
{
    args->out[global_id(0)] = args->values[global_id(0)];
}
"""


SMALL = {"node__gpus__0__compute_units": 4}


@pytest.mark.timeout(100)
def test_long_names_and_many_arguments(elf):
    with fabricvp.spawn("gpu", **SMALL) as platform:
        gpu = platform.nodes[0].gpus[0]
        name, out = "a_kernel_in_c_with_a_name_of_more_than_thirty_two_characters", gpu.array(numpy.zeros(500, "u8"))
        for _ in range(2):
            gpu.launch(elf, 500, [out, *range(500)], kernel=name)
            assert (out.get() == numpy.arange(500)).all()
            out.set(numpy.zeros(500, "u8"))


@pytest.mark.timeout(200)
def test_arrays_go_in_and_come_out_launch_after_launch(elf):
    with fabricvp.spawn("gpu", **SMALL) as platform:
        gpu = platform.nodes[0].gpus[0]
        a = numpy.random.default_rng(1).random((50, 60), dtype=numpy.float32)
        done = gpu.launch(
            elf,
            (60, 50),
            [a, ctypes.c_uint8(200), ctypes.c_int16(-3), "b", 2.5, ctypes.c_uint32(3000)],
            {"b": numpy.zeros_like(a)},
            kernel="scale",
        )
        numpy.testing.assert_allclose(done.buffers["b"], numpy.float32(2.5) * a + 197, rtol=1e-6)
        assert (done.buffers[0] == a).all() and done.buffers["b"].shape == (50, 60)
        assert 1e-7 < done.time < 1e-3 and done.statistics["dispatcher.dispatches"] == 1
        assert done.statistics["wavefront_instructions"] > 3000 / 64 * 5
        # Again on the same machine, with other sizes: the driver waits for jobs.
        booted = platform.now
        for n in (1, 1000, 70000):
            values = numpy.arange(n, dtype=numpy.uint32)
            done = gpu.launch(elf, n, ["sum", values], {"sum": 8}, kernel="add", outputs=["sum"])
            assert done.buffers["sum"].view("<u8")[0] == values.sum(dtype=numpy.uint64) and list(done.buffers) == [
                "sum"
            ]
        assert platform.now > booted


@pytest.mark.timeout(200)
def test_faults_and_limits_are_reported_and_survived(elf):
    with fabricvp.spawn("gpu", **SMALL) as platform:
        gpu = platform.nodes[0].gpus[0]
        with pytest.raises(fabricvp.KernelFault, match="wild|fault|page") as raised:
            gpu.launch(elf, 64, [16], kernel="wild")
        assert raised.value.fault > 0
        done = gpu.launch(elf, 64, ["sum", numpy.ones(64, numpy.uint32)], {"sum": 8}, kernel="add")
        assert done.buffers["sum"].view("<u8")[0] == 64
        with pytest.raises(fabricvp.InputError, match="no such kernel"):
            gpu.launch(elf, 64, [numpy.zeros(1)], kernel="missing")
        with pytest.raises(fabricvp.InputError, match="no ELF"):
            gpu.launch(Path(__file__), 64, [numpy.zeros(1)])
        with pytest.raises(fabricvp.InputError, match="max_job_bytes"):
            gpu.launch(elf, 64, ["sum", numpy.zeros(50 << 20, numpy.uint8)], {"sum": 8}, kernel="add")
        with pytest.raises(fabricvp.GuestStopped, match="time_limit"):
            gpu.launch(elf, 64, [numpy.zeros(1, "<u8")], kernel="forever", limit="3 ms")
        # The next one is not told of the old one's end, and the GPU works again.
        with pytest.raises(fabricvp.InputError, match="no such kernel"):
            gpu.launch(elf, 64, [numpy.zeros(1, "<u8")], kernel="missing")
        total = gpu.launch(elf, 8, [numpy.zeros(1, "<u8"), numpy.arange(8, dtype="<u4")], kernel="add")
        assert total.buffers[0][0] == 28
        assert platform.now < 10


@pytest.mark.timeout(200)
def test_each_gpu_runs_a_copy_of_the_code(elf):
    with fabricvp.spawn("netcrafter_quad") as platform:
        gpus = platform.nodes[0].gpus
        launches = [gpu.launch(elf, 256, [numpy.zeros(1, "<u8"), numpy.ones(256, "<u4")], kernel="add") for gpu in gpus]
        assert [launch.buffers[0][0] for launch in launches] == 4 * [256]
        firsts = [launch.statistics["launches.start_to_instruction.max"] for launch in launches]
        # A line of code that comes from another GPU takes 1.7 times as long, or more.
        assert max(firsts) < 1.05 * min(firsts), firsts
        with pytest.raises(fabricvp.KernelFault, match="wild"):
            gpus[3].launch(elf, 64, [16], kernel="wild")
        assert re.search(r"gpu3 fault: .*\(wild\w*\+0x\w+", platform.nodes[0].console.output)


def stay(gpu, elf, cycles, **options):
    return gpu.launch(elf, 64, ["times", cycles], {"times": numpy.zeros(2, "<u8")}, kernel="stay", **options)


def overlap(*launches):
    times = [launch.buffers["times"].astype(int) for launch in launches]
    return min(t[1] for t in times) - max(t[0] for t in times)


@pytest.mark.timeout(200)
def test_kernels_run_at_the_same_time(elf):
    with fabricvp.spawn("netcrafter_quad", node__gpus__0__compute_units=4) as platform:
        first, second = platform.nodes[0].gpus[:2]
        alone = stay(first, elf, 30000)
        waiting = [stay(first, elf, 30000, wait=False), stay(second, elf, 30000, wait=False)]
        values = numpy.arange(5000, dtype=numpy.uint32)
        sums = first.launch(elf, values.size, ["sum", values], {"sum": 8}, kernel="add", wait=False)
        assert not any(w.done for w in (*waiting, sums))
        long = stay(first, elf, 60000)
        assert all(w.done for w in (*waiting, sums)) and "done" in repr(sums)
        results = [w.result() for w in waiting]
        # Two of one GPU, and one of another, whose cycles are the same.
        assert overlap(*results, long) > 22500
        # Kernel time is that in which at least one of them runs; alone it is the dispatch.
        assert alone.kernel_time == pytest.approx(alone.statistics["dispatcher.duration.sum"] / 1e12)
        assert 0 < alone.kernel_time < alone.time
        durations = long.statistics["dispatcher.duration.sum"] + results[1].statistics["dispatcher.duration.sum"]
        assert long.kernel_time == results[1].kernel_time < 0.7 * durations / 1e12
        assert long.statistics["dispatcher.duration.max"] / 1e12 <= long.kernel_time
        assert sums.result().buffers["sum"].view("<u8")[0] == values.sum(dtype=numpy.uint64)
        times = [alone.time, *(r.time for r in results), long.time]
        # A kernel stays 20,000 cycles of 1 GHz; alone, its launch takes the host longer than among others.
        assert all(20e-6 < r.time < 1.3 * alone.time for r in results), times
        assert long.time > 1.6 * alone.time, times
        assert long.statistics["dispatcher.dispatches"] == 3
        assert results[1].statistics["dispatcher.dispatches"] == 1
        # One that goes wrong leaves the others alone, and the next ones, too.
        wild = first.launch(elf, 64, [16], kernel="wild", wait=False)
        good = stay(first, elf, 30000, wait=False)
        assert len(good.result().buffers["times"]) == 2
        with pytest.raises(fabricvp.KernelFault, match="wild|fault|page"):
            wild.result()
        again = [stay(gpu, elf, 60000, wait=False) for gpu in 4 * [first, second]]
        with pytest.raises(fabricvp.InputError, match="8 kernels wait"):
            stay(first, elf, 5000, wait=False)
        with pytest.raises(fabricvp.InputError, match="runs alone"):
            platform.nodes[0].gpus[1].launch(elf, 64, [0, 0], kernel="stay", all_gpus=True, wait=False)
        assert overlap(*(w.result() for w in again)) > 0
        # What cannot be launched fails all of them, and nothing stays behind.
        missing = first.launch(elf, 64, [16], kernel="missing", wait=False)
        with pytest.raises(fabricvp.InputError, match="no such kernel"):
            stay(first, elf, 5000)
        with pytest.raises(fabricvp.InputError, match="no such kernel"):
            missing.result()
        assert stay(first, elf, 5000).time < alone.time


@pytest.mark.timeout(200)
def test_over_all_gpus(elf):
    with fabricvp.spawn("netcrafter_quad") as platform:
        values = numpy.arange(40000, dtype=numpy.uint32)
        done = platform.nodes[0].gpus[0].launch(elf, 40000, ["sum", values], {"sum": 8}, kernel="add", all_gpus=True)
        assert done.buffers["sum"].view("<u8")[0] == values.sum(dtype=numpy.uint64)
        assert all(gpu.statistics["dispatcher.dispatches"] > 0 for gpu in platform.nodes[0].gpus)
        durations = [gpu.statistics["dispatcher.duration.sum"] / 1e12 for gpu in platform.nodes[0].gpus]
        assert max(durations) <= done.kernel_time < done.time
        # 64 compute units a GPU: 130 work-groups of 256 fill two GPUs and a part of the third; 20 fit on the first.
        for groups, used in (130, [64, 64, 2, 0]), (20, [20, 0, 0, 0]), (300, [128, 128, 44, 0]):
            values = numpy.arange(256 * groups, dtype=numpy.uint32)
            done = (
                platform.nodes[0]
                .gpus[0]
                .launch(elf, values.size, ["sum", values], {"sum": 8}, kernel="add", all_gpus=True, dispatch="fill")
            )
            assert done.buffers["sum"].view("<u8")[0] == values.sum(dtype=numpy.uint64)
            names = [f"{gpu}dispatcher.work_groups" for gpu in ("", "gpu1.", "gpu2.", "gpu3.")]
            assert [done.statistics[name] for name in names] == used


@pytest.mark.timeout(200)
def test_buffers_lie_where_they_are_placed(elf):
    values = numpy.arange(4000, dtype=numpy.float32)

    def scaled(gpu, **options):
        arguments = ["a", ctypes.c_uint8(1), ctypes.c_int16(2), "b", 3.0, ctypes.c_uint32(values.size)]
        buffers = {"a": values, "b": numpy.zeros_like(values)}
        done = gpu.launch(elf, values.size, arguments, buffers, kernel="scale", **options)
        assert (done.buffers["b"] == 3 * values + 3).all()
        return done.statistics

    lines = values.nbytes / 64
    with fabricvp.spawn("netcrafter_quad") as platform:
        gpus = platform.nodes[0].gpus
        own = scaled(gpus[0])
        far = scaled(gpus[0], places={"a": 2})
        host = scaled(gpus[0], places={"a": "host", "b": "host"})
        # Each line is asked of the other GPU, and of the host over PCIe.
        assert far["fabric.other_cluster.reads"] >= lines and own["fabric.other_cluster.reads"] == 0
        assert host["link.tlps_sent"] > own["link.tlps_sent"] + 0.9 * lines
        for wrong in 4, -1, "node0", True:
            with pytest.raises(ValueError, match="'host' and GPUs 0 to 3"):
                scaled(gpus[0], places={"a": wrong})
        with pytest.raises(ValueError, match="places: no buffer 'c'"):
            scaled(gpus[0], places={"c": 1})
        scaled(gpus[0])


@pytest.mark.timeout(200)
def test_large_buffers_of_one_gpu_have_large_pages(elf):
    with fabricvp.spawn("gpu", **SMALL) as platform:
        gpu = platform.nodes[0].gpus[0]
        walks = {}
        for words in 1 << 20, 1 << 18:  # 4 MiB, and 1 MiB, which is less than a large page
            values = numpy.ones(words, numpy.uint32)
            done = gpu.launch(elf, words, ["sum", values], {"sum": 8}, kernel="add", outputs=["sum"])
            assert done.buffers["sum"].view("<u8")[0] == words
            walks[words] = done.statistics["memory.gmmu.walks"]
        assert walks[1 << 20] < 50 < 256 <= walks[1 << 18]


def test_a_machine_that_runs_something_else_is_left_alone(elf):
    with fabricvp.spawn("gpu", **SMALL) as platform:
        platform.run("10 us")
        with pytest.raises(fabricvp.InputError, match="runs other software"):
            platform.nodes[0].gpus[0].launch(elf, 64, [numpy.zeros(1)])


def test_arguments_are_laid_out_as_in_c():
    a = numpy.arange(4, dtype=numpy.int16)
    laid = Arguments([ctypes.c_uint8(1), a, ctypes.c_uint16(2), numpy.float32(1.0), -1, 0.5, "b"], {"b": 100}, None)
    assert (
        laid.block.hex()
        == "01" + "00" * 7 + "00" * 8 + "0200" + "0000" + "0000803f" + "ff" * 8 + "000000000000e03f" + "00" * 8
    )
    assert laid.buffers == [(8, a.tobytes(), True, 8, 0, 0, (0, 0, 0)), (100, None, True, 40, 0, 0, (0, 0, 0))]
    assert len(Arguments([1, ctypes.c_uint8(1)], {}, None).block) == 16  # padded as a struct is
    for wrong, error, says in (
        ([object()], TypeError, "argument 0"),
        ([True], TypeError, "argument 0"),
        ([1 << 64], ValueError, "64 bits"),
        (["x"], ValueError, "no buffer 'x'"),
        (["b", "b"], ValueError, "twice"),
        ([1], ValueError, "points to b"),
        ([numpy.zeros(0), "b"], ValueError, "empty"),
    ):
        with pytest.raises(error, match=says):
            Arguments(wrong, {"b": 8}, None)
    with pytest.raises(ValueError, match="outputs"):
        Arguments(["b"], {"b": 8}, ["c"])


def test_grids():
    assert (
        to_3d(5, "grid") == (5, 1, 1)
        and to_3d((5, 6), "grid") == (5, 6, 1)
        and to_3d(numpy.int64(7), "grid") == (7, 1, 1)
    )
    for wrong in (0, (), (1, 2, 3, 4), (1 << 32,), (4, -1), [64.7], "64"):
        with pytest.raises(ValueError, match="grid="):
            to_3d(wrong, "grid")
    assert (
        default_group((1000, 1, 1)) == (256, 1, 1)
        and default_group((4, 100, 1)) == (4, 16, 1)
        and default_group((9, 9, 9)) == (8, 8, 4)
    )


@pytest.mark.timeout(200)
def test_from_the_command_line(elf, command, tmp_path):
    (tmp_path / "values.bin").write_bytes(numpy.arange(1000, dtype="<u4").tobytes())
    small = ["--set", "node.gpus.0.compute_units=4"]
    done = command(
        "run",
        "gpu",
        *small,
        "--kernel-elf",
        elf,
        "--kernel-name",
        "add",
        "--grid",
        1000,
        "--group",
        64,
        "--arg",
        "zeros:8 B",
        "--arg",
        "file:values.bin",
        "--out",
        "found",
        timeout=150,
    )
    assert done.returncode == 0 and fabricvp.result_lines(done.stdout, "kernels"), done.stdout + done.stderr
    values = json.loads((tmp_path / "found" / "stats.json").read_text())
    assert sum(v for path, v in values.items() if path.endswith("dispatcher.work_groups")) >= 16
    done = command(
        "run", "gpu", *small, "--kernel-elf", elf, "--kernel-name", "wild", "--grid", 64, "--arg", "u64:16", timeout=150
    )
    assert done.returncode == 1 and "fault" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--grid", "64"], "--grid needs --kernel-elf"),
        (["--kernel-elf", "none.elf"], "none.elf"),
        (["--kernel-elf", "text"], "is no ELF file"),
        (["--kernel-elf", "ELF", "--app", "fir"], "--kernel-elf goes without --app"),
        (["--kernel-elf", "ELF", "--grid", "4x"], "must be N, NxM or NxMxK"),
        (["--kernel-elf", "ELF", "--grid", "0"], "must be N, NxM or NxMxK"),
        (["--kernel-elf", "ELF", "--group", "2048"], "at most 1024 work-items"),
        (["--kernel-elf", "ELF", "--arg", "u32:x"], "'u32:x'"),
        (["--kernel-elf", "ELF", "--arg", "u8:1"], "u32:N"),
        (["--kernel-elf", "ELF", "--arg", "zeros:5 s"], "zeros"),
        (["--kernel-elf", "ELF", "--arg", "zeros:0 B"], "a buffer of 0 bytes"),
        (["--kernel-elf", "ELF", *["--arg", "u64:1"] * 513], "bytes of arguments"),
        (["--kernel-elf", "ELF", "--lds", "1 s"], "--lds"),
    ],
)
def test_bad_input_is_one_line(arguments, says, elf, command, tmp_path):
    (tmp_path / "text").write_text("no ELF")
    done = command("run", "gpu", *[elf if a == "ELF" else a for a in arguments])
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
