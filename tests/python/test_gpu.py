# SPDX-License-Identifier: Apache-2.0
"""GPUs from Python: applications, statistics, wavefronts, memory, spans. A small GPU, so that a run takes a moment."""

import subprocess
import sys

import fabricvp
import numpy
import pytest

SMALL = """
node:
  host:
    memory: 256 MiB
  pcie:
    switches:
      - name: switch0
  gpus:
    - below: switch0
      compute_units: 4
"""


@pytest.fixture
def machine():
    with fabricvp.spawn(text=SMALL) as platform:
        yield platform


def test_applications_have_sizes_and_footprints():
    apps = fabricvp.apps()
    assert {"vectoradd", "spmv", "gups"} <= set(apps)
    assert apps["vectoradd"].footprint == 12 * apps["vectoradd"].size
    assert all(a.size > 0 and a.footprint > 0 and a.unit and a.help for a in apps.values())


def test_an_application_runs_and_leaves_its_verdict_and_figures(machine):
    machine.load_app("reduction", size=4096)
    assert machine.app_ok is None
    assert machine.run(time="1 s").outcome == fabricvp.Outcome.POWER_OFF
    assert machine.app_ok is True
    gpu = machine.nodes[0].gpus[0]
    assert (gpu.name, gpu.compute_units) == ("node0.gpu0", 4)
    statistics = gpu.statistics
    assert statistics["wavefront_instructions"] > 1000
    # 16 work-groups of 4 wavefronts, beside those that copied.
    frame = gpu.to_pandas()
    assert list(frame.index) == [0, 1, 2, 3]
    assert frame["wavefront_instructions"].sum() == statistics["wavefront_instructions"]
    assert gpu.total("l1.misses") > 0
    stalls = gpu.stalls()
    assert stalls["barrier"] > 0 and stalls["memory"] > 0
    assert stalls["memory"] == pytest.approx(frame["stall_memory"].sum() / 1e12)
    assert gpu.wavefronts() == []


@pytest.mark.parametrize(
    "make",
    [
        "fabricvp.spawn(text=SMALL, app='reduction', size=4096)",
        "fabricvp.Platform.from_text(SMALL, app='reduction', size=4096)",
        "fabricvp.Platform.from_config('gpu', app='reduction', size=4096, node__gpus__0__compute_units=4)",
    ],
)
def test_an_application_named_when_the_machine_is_made(make):
    """In an interpreter of its own, which may have one platform only."""
    script = (
        f"import fabricvp\nSMALL = {SMALL!r}\nwith {make} as machine:\n    machine.run(time='1 s')\n"
        "    print(machine.app_ok, machine.statistics['node0.gpu0.compute_unit0.wavefront_instructions'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1200)
    assert done.stderr == ""
    ok, instructions = done.stdout.split("\n")[-2].split()
    assert ok == "True" and float(instructions) > 100


def test_application_options_are_checked_before_the_machine_is_made():
    with pytest.raises(fabricvp.InputError, match="did you mean 'spmv'"):
        fabricvp.Platform.from_text(SMALL, app="smpv")
    with pytest.raises(fabricvp.InputError, match="nearby"):
        fabricvp.spawn(text=SMALL, app="spmv", placement="nearby")
    with pytest.raises(fabricvp.InputError, match="density=2: must be a number from 1e-06 to 1"):
        fabricvp.spawn(text=SMALL, app="spmv", option="density=2")
    with pytest.raises(ValueError, match="size=0"):
        fabricvp.Platform.from_text(SMALL, app="spmv", size=0)
    with pytest.raises(TypeError, match="size= .* app="):
        fabricvp.Platform.from_text(SMALL, size=4)
    with pytest.raises(TypeError, match="dispatch= .* app="):
        fabricvp.spawn(text=SMALL, dispatch="lasp")


def test_wavefronts_while_a_kernel_runs(machine):
    machine.load_app("vectoradd", size=65536)
    gpu = machine.nodes[0].gpus[0]
    seen = []
    for _ in range(4000):
        if machine.run(time="2 us").outcome != fabricvp.Outcome.TIME_LIMIT:
            break
        seen = [w for w in gpu.wavefronts() if w.kernel == "vectoradd"]
        if seen:
            break
    assert seen
    for w in seen:
        assert 0 <= w.compute_unit < 4 and 0 <= w.slot < 40
        assert w.state in ("ready", "run", "memory", "queue", "fetch", "fence", "barrier", "drain", "start")
        assert w.active & ~w.live == 0
        assert w.group[0] < 256 and w.group[1:] == (0, 0) and w.number < 4
        assert 0x10000000 <= w.pc < 0x20000000
    assert len({(w.compute_unit, w.slot) for w in seen}) == len(seen)


def test_device_memory(machine):
    memory = machine.nodes[0].gpus[0].memory
    values = numpy.arange(1000, dtype="<u4")
    memory.write(0x1000, values)
    assert (memory.array(0x1000, "<u4", 1000) == values).all()
    assert memory[0x1004] == 1
    memory[0x1004:0x1008] = b"abcd"
    assert memory.read_int(0x1004, 4) == int.from_bytes(b"abcd", "little")
    end = len(memory)
    memory.write(end - 4, b"last")
    with pytest.raises(fabricvp.AddressError):
        memory.read(end - 2, 4)
    with pytest.raises(fabricvp.AddressError):
        memory.write(end, b"x")


def test_spans_name_where_loads_spent_their_time():
    # What the host writes lies in L2, so that only a small one leaves something to HBM.
    with fabricvp.spawn(text=SMALL, app="vectoradd", size=4096, node__gpus__0__memory__l2__size="16 KiB") as machine:
        machine.spans.start(max_accesses=10)
        machine.run(time="1 s")
        machine.spans.stop()
        frame = machine.spans.to_pandas()
        gpu_loads = machine.spans.accesses()
    parts = {component.rsplit(".", 1)[-1] + "." + stage for component, stage in frame.index if ".gpu0." in component}
    assert {"gmmu.walk", "hbm.access", "router.request", "l1.fill", "tlb.lookup"} <= parts
    assert (gpu_loads["from"] >= gpu_loads["begin"]).all()


def test_wrong_options_are_rejected_with_one_line(machine):
    with pytest.raises(fabricvp.InputError, match="did you mean 'spmv'"):
        machine.load_app("smpv")
    with pytest.raises(ValueError):
        machine.load_app("spmv", size=0)
