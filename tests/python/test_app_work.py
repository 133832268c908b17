# SPDX-License-Identifier: Apache-2.0
"""How much work applications are: what `fabricvp run` expects before it begins against what a run counts, at two sizes
of each; and the line about long work before the run."""

import contextlib
import sys
import time

import fabricvp
import pytest
from fabricvp import _fabricvp, progress
from test_progress import on_terminal

#: The second one takes some seconds at most. Small ones are mostly start-up.
SIZES = {
    "vectoradd": (65536, 262144),
    "transpose": (512, 768),
    "fir": (65536, 131072),
    "spmv": (4096, 6144),
    "reduction": (262144, 1048576),
    "histogram": (524288, 1048576),
    "stencil": (256, 400),
    "mm": (192, 256),
    "gups": (262144, 1048576),
    "bitonicsort": (16384, 65536),
    "atax": (512, 800),
    "mvt": (512, 800),
    "mm2": (96, 144),
    "syr2k": (128, 192),
    "im2col": (3, 8),
    "jacobi2d": (256, 512),
    "hpgmg_like": (32, 64),
    "sp_like": (512, 1024),
    "euler3d_like": (2048, 4096),
    "amg_like": (8, 16),
    "lulesh_like": (8, 12),
    "comd_like": (4, 6),
    "pagerank": (8192, 12000),
    "mis": (8192, 16384),
    "lenet": (3, 6),
    "atax_wavefronts": (768, 1024),
    "mvt_wavefronts": (768, 1024),
    "mm2_tiled": (144, 192),
    "syr2k_tiled": (192, 256),
}
#: They take minutes in the smallest size; `locks` does the same whatever the size.
LEFT_OUT = {"vgg16", "resnet18", "locks"}
#: Over all GPUs of all nodes: sizes, and machines with their nodes and GPUs a node.
DISTRIBUTED = {"allreduce": (16384, 65536), "mm_ring": (96, 128), "halo": (32, 64)}
MACHINES = {"netcrafter_quad": (1, 4), "cluster": (2, 4), "compnet_4": (4, 1)}
#: By which factor an estimate may be off: of instructions of the host, of wavefronts, of events.
FACTORS = (1.5, 1.6, 2)


def counted(name, size, config="gpu", **options):
    with fabricvp.spawn(config, app=name, size=size, **options) as machine:
        machine.run()
        assert machine.app_ok
        statistics = machine.statistics
        gpus = [gpu for node in machine.nodes for gpu in node.gpus]
        wavefronts = sum(gpu.statistics["wavefront_instructions"] for gpu in gpus)
        return statistics["sim.instructions"], wavefronts, statistics["sim.events"]


def test_every_application_is_here():
    assert set(SIZES) | LEFT_OUT | set(DISTRIBUTED) == set(fabricvp.apps())


@pytest.mark.parametrize("name", SIZES)
def test_estimates(name):
    for size in SIZES[name]:
        *expected, seconds = _fabricvp.app_work(name, size, "")
        for what, estimate, count, factor in zip(
            ("host", "wavefronts", "events"), expected, counted(name, size), FACTORS, strict=True
        ):
            assert count / factor < estimate < count * factor, (what, size, estimate, count)
        assert 0 < seconds < 60


@pytest.mark.parametrize("config", MACHINES)
@pytest.mark.parametrize("name", DISTRIBUTED)
def test_estimates_over_all_gpus(name, config):
    for size in DISTRIBUTED[name]:
        *expected, seconds = _fabricvp.app_work(name, size, "", *MACHINES[config])
        count = counted(name, size, config)
        for what, estimate, found, factor in zip(("host", "wavefronts"), expected, count, FACTORS):
            assert found / factor < estimate < found * factor, (what, size, estimate, count)
        assert 0 < seconds < 60


def test_options_count():
    sparse, whole = (_fabricvp.app_work("spmv", 4096, f"density={density}") for density in (0.001, 0.01))
    assert sparse[2] < whole[2] / 5
    narrow, wide, longer = (_fabricvp.app_work("halo", 64, o) for o in ("columns=64", "columns=256", "steps=8"))
    assert narrow[1] * 4 == wide[1] == longer[1] / 2
    *expected, _ = _fabricvp.app_work("spmv", 8192, "density=0.001")
    count = counted("spmv", 8192, option="density=0.001")
    assert all(c / 2 < e < c * 2 for e, c in zip(expected, count, strict=True)), (expected, count)


def on_terminal_with(name, size, run, config="gpu"):
    code = f"import fabricvp; m = fabricvp.Platform.from_config('{config}', app='{name}', size={size}); {run}"
    return on_terminal([sys.executable, "-c", code])[0]


def test_long_work_is_told_of_before_it_begins():
    stopped = "m.call_in('1 us', m.request_stop); m.run()"
    for name, size in ("spmv", 60000), ("mm", 2048):
        seen = on_terminal_with(name, size, stopped)
        assert seen.startswith(f"fabricvp: {name} takes about ") and "Ctrl-C ends the run" in seen, seen
    seen = on_terminal_with("mm_ring", 4096, stopped, "cluster")
    assert seen.startswith("fabricvp: mm_ring takes about "), seen
    assert "takes about" not in on_terminal_with("spmv", 4096, stopped)
    assert "takes about" not in on_terminal_with("spmv", 60000, "m.run('1 us')")  # the limit ends it long before


def test_long_work_is_told_of_by_a_child(monkeypatch):
    told = []

    @contextlib.contextmanager
    def line_here():
        yield lambda text, warning: told.append(warning)

    monkeypatch.setattr(progress, "is_shown", lambda: True)
    monkeypatch.setattr(progress, "line_here", line_here)
    with fabricvp.spawn("gpu", app="spmv", size=60000) as machine:
        pending = machine.run.start()
        while not told:
            pending.done()
            time.sleep(0.01)
            pending.interrupt()
            with contextlib.suppress(KeyboardInterrupt):
                pending.result()
    assert told[0].startswith("spmv takes about ")
