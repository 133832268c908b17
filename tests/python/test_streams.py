# SPDX-License-Identifier: Apache-2.0
"""Streams and events of launches: order in one, overlap of several, waits between them."""

import re

import fabricvp
import numpy
import opencl_machine
import pytest
from fabricvp.errors import KernelFault

opencl_machine.require_compiler()

SOURCE = """
kernel void step(global int* x, int add, int rounds) {
    size_t i = get_global_id(0);
    int v = x[i];
    for (int k = 0; k < rounds; ++k) v = v * 3 + add;
    x[i] = v;
}
kernel void copy(global int* to, global const int* from) { to[get_global_id(0)] = from[get_global_id(0)]; }
kernel void bad(global int* x) { *(global int*)4 = x[0]; }
"""


def stepped(x, add, rounds):
    for _ in range(rounds):
        x = x * 3 + numpy.int32(add)
    return x


@pytest.mark.timeout(100)
def test_a_stream_is_of_one_gpu():
    with fabricvp.spawn("netcrafter_quad") as platform:
        gpus = platform.nodes[0].gpus
        program, stream = gpus[1].program(SOURCE), gpus[0].stream()
        with pytest.raises(fabricvp.InputError, match="is of node0.gpu0: take one of the GPU that launches"):
            program["step"](64, 64, gpus[1].array(numpy.zeros(64, "i4")), 1, 1, stream=stream)


@pytest.mark.timeout(100)
def test_one_stream_keeps_the_order(gpu, program):
    values = numpy.arange(64, dtype="i4")
    x, stream = gpu.array(values), gpu.stream()
    launches = [program["step"](64, 64, x, add, 3, stream=stream) for add in range(20)]  # more than run at a time
    assert not stream.done and not launches[0].done
    stream.synchronize()
    for add in range(20):
        values = stepped(values, add, 3)
    assert (x.get() == values).all() and stream.done
    assert all(launch.result().time > 0 for launch in launches)


@pytest.mark.timeout(100)
def test_several_streams_overlap_and_events_tell_times(gpu, program):
    streams = [gpu.stream() for _ in range(3)]
    arrays = [gpu.array(numpy.zeros(64, "i4")) for _ in streams]
    events = []
    for stream, x in zip(streams, arrays):
        begin = stream.record()
        program["step"](64, 64, x, 1, 2000, stream=stream)
        events.append((begin, stream.record()))
    streams[0].synchronize()
    times = [end.since(begin) for begin, end in events]
    whole = max(end.time for _, end in events) - min(begin.time for begin, _ in events)
    assert min(times) > 1e-6 and whole < 1.5 * max(times)
    alone = program["step"](64, 64, arrays[0], 1, 2000)
    assert abs(alone.time / max(times) - 1) < 0.5
    one = gpu.stream()
    begin = one.record()
    for x in arrays:
        program["step"](64, 64, x, 1, 2000, stream=one)
    assert one.record().since(begin) > 2.5 * max(times)


@pytest.mark.timeout(100)
def test_a_stream_waits_for_an_event_of_another(gpu, program):
    first, second = gpu.stream(), gpu.stream()
    x, y = gpu.array(numpy.zeros(64, "i4")), gpu.array(numpy.zeros(64, "i4"))
    program["step"](64, 64, x, 1, 3000, stream=first)
    ready = first.record()
    second.wait(ready)
    program["copy"](64, 64, y, x, stream=second)
    done = second.record()
    second.synchronize()
    assert (y.get() == stepped(numpy.zeros(64, "i4"), 1, 3000)).all() and done.time > ready.time
    program["step"](64, 64, x, 2, 3000, stream=first)
    program["copy"](64, 64, y, x)  # one without a stream waits for all
    assert (y.get() == x.get()).all() and first.done


@pytest.mark.timeout(100)
def test_what_streams_refuse(gpu, program):
    stream, x = gpu.stream(), numpy.zeros(64, "i4")
    with pytest.raises(TypeError, match=r"argument 'x': kernels in a stream write to arrays of gpu.array\(\)"):
        program["step"](64, 64, x, 1, 1, stream=stream)
    with pytest.raises(ValueError, match="the event's stream has no launch"):
        _ = gpu.stream().record().time
    y = gpu.array(x)
    program["copy"](64, 64, y, x + 5, stream=stream)  # what is only read may be an array of numpy
    bad = program["bad"](64, 64, y, stream=stream)
    with pytest.raises(KernelFault, match="bad aperture"):
        bad.result()
    with pytest.raises(KernelFault):
        stream.synchronize()
    program["step"](64, 64, y, 1, 1)
    assert (y.get() == 16).all()


@pytest.mark.timeout(100)
def test_streams_of_kernels_in_c_and_without_another_process(tmp_path):
    program = fabricvp.Platform.from_config("gpu", node__gpus__0__compute_units=4).nodes[0].gpus[0].program(SOURCE)
    gpu = program["step"]._gpu
    program.save(tmp_path / "k.elf")
    x, stream = gpu.array(numpy.arange(64, dtype="i4")), gpu.stream()
    for _ in range(2):
        pending = gpu.launch(tmp_path / "k.elf", 64, [x, numpy.int32(1), numpy.int32(2)], kernel="step", stream=stream)
    assert pending.result().buffers == {}
    assert (x.get() == stepped(numpy.arange(64, dtype="i4"), 1, 4)).all()


@pytest.mark.timeout(100)
def test_addresses_of_arrays_are_translated(gpu):
    source = "kernel void where(global ulong* x) { x[0] = (ulong)x; x[1] = 0x5eed; }"
    x = gpu.array(numpy.zeros(2, "u8"))
    gpu.program(source)["where"](1, 1, x)
    gpu_number, offset = gpu.translate(int(x.get()[0]))
    assert gpu_number == 1 and int.from_bytes(gpu.memory[offset + 8 : offset + 16], "little") == 0x5EED
    assert gpu.translate(0) is None


@pytest.mark.timeout(100)
def test_memory_of_launches_is_used_again():
    """Eight launches with buffers of 12 MiB, in 64 MiB; an array stays, and a fault gives its memory back, too."""
    settings = {"node__gpus__0__compute_units": 4, "node__gpus__0__memory__capacity": "64 MiB"}
    with fabricvp.spawn("gpu", **settings) as platform:
        gpu = platform.nodes[0].gpus[0]
        source = "kernel void add(global const int* x, global int* y) { y[get_global_id(0)] += x[get_global_id(0)]; }"
        add, kept, x = gpu.program(source)["add"], gpu.array(numpy.zeros(64, "i4")), numpy.ones(3 << 20, "i4")
        for n in range(8):
            add(64, 64, x, kept)
            assert (kept.get() == n + 1).all()
            if n in (2, 5):
                with pytest.raises(KernelFault):
                    add(64, 64, x, None)


@pytest.mark.timeout(100)
def test_results_of_launches_are_short_in_a_shell(gpu, program, tmp_path):
    program.save(tmp_path / "k.elf")
    done = program["copy"](64, 64, numpy.zeros(64, "i4"), numpy.ones(64, "i4"))
    assert re.fullmatch(r"<Launch of copy: [\d.]+ us, \d+ statistics>", repr(done))
    done = gpu.launch(tmp_path / "k.elf", 64, [gpu.array(numpy.zeros(64, "i4")), 1, 1])
    assert re.fullmatch(r"<Launch: [\d.]+ us, \d+ statistics>", repr(done)) and done.kernel == ""


@pytest.mark.timeout(100)
def test_a_fresh_array_is_given_twice_to_one_launch(gpu, tmp_path):
    values = numpy.arange(64, dtype="i4")
    program = gpu.program("kernel void add(global int* x, global int* y) { x[get_local_id(0)] += y[get_local_id(0)]; }")
    program.save(tmp_path / "add.elf")
    alone, streamed, listed = (gpu.array(values) for _ in range(3))
    program["add"](64, 64, alone, alone)
    stream = gpu.stream()
    for _ in range(2):
        program["add"](64, 64, streamed, streamed, stream=stream)
    stream.synchronize()
    gpu.launch(tmp_path / "add.elf", 64, [listed, listed])
    assert (alone.get() == 2 * values).all() and (listed.get() == 2 * values).all()
    assert (streamed.get() == 4 * values).all()
