# SPDX-License-Identifier: Apache-2.0
"""Applications' buffers in pages of 4 KiB and of 2 MiB."""

import fabricvp
import pytest
from fabricvp import topology

LARGE = {"node.gpus.*.memory.page_size": "2 MiB"}


def test_large_pages_save_walks():
    found = {}
    for overrides in ({}, LARGE):
        with fabricvp.spawn("gpu", app="transpose", size=1024, overrides=overrides) as p:  # buffers of 4 MiB
            p.run(time="2 s")
            assert p.app_ok
            found[bool(overrides)] = p.statistics["node0.gpu0.memory.gmmu.walks"]
    assert found[False] > 1000  # a page of 4 KiB each
    assert found[True] < found[False] / 10  # code, stacks and what is small keep their pages


@pytest.mark.parametrize("placement", ["contiguous", "interleaved", "lasp", "first_touch", "first_touch_recorded"])
def test_large_pages_lie_where_policies_put_them(placement):
    text = topology.star(2).machine(gpu={"compute_units": 8, "memory": {"capacity": "256 MiB", "page_size": "2 MiB"}})
    with fabricvp.spawn(
        text=text, app="transpose", size=1536, placement=placement
    ) as p:  # 9 MiB: four pages and a rest
        p.run(time="20 s")
        assert p.app_ok
        for gpu in p.nodes[0].gpus:
            assert gpu.statistics["wavefront_instructions"] > 0


def test_other_sizes_are_refused():
    with pytest.raises(fabricvp.InputError, match="page_size is 65536 bytes: give 4 KiB or 2 MiB"):
        fabricvp.Platform.from_config("gpu", overrides={"node.gpu0.memory.page_size": "64 KiB"})


def test_first_touch_moves_blocks():
    """Sixteen small pages at a time: fewer walks come to a page that has not moved."""
    faults = {}
    for size in ("4 KiB", "64 KiB"):
        with fabricvp.spawn(
            "netcrafter_quad",
            app="transpose",
            size=512,
            placement="first_touch",
            overrides={"node.gpus.*.memory.migration_size": size},
        ) as p:
            p.run(time="2 s")
            assert p.app_ok
            faults[size] = sum(g.statistics["memory.gmmu.demand_faults"] for g in p.nodes[0].gpus)
    pages = 2 * 512 * 512 * 4 // 4096
    assert faults["4 KiB"] >= pages and faults["64 KiB"] < faults["4 KiB"] / 2


def test_what_moves_at_a_time_is_a_power_of_two():
    with pytest.raises(fabricvp.InputError, match="migration_size is 12288 bytes: give a power of two"):
        fabricvp.Platform.from_config("gpu", overrides={"node.gpu0.memory.migration_size": "12 KiB"})
