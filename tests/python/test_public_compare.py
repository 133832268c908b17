# SPDX-License-Identifier: Apache-2.0
"""The table that sets public kernels beside our C forms and MGPUSim: what it reads, and what it writes."""

import sys
from pathlib import Path

import fabricvp
import numpy
import opencl_machine
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

METRICS = """, where, what, value
0, Driver, kernel_time, 0.000017738000
1, GPU[1].CommandProcessor, kernel_time, 0.000017149000
2, GPU[1].SA[0].CU[0], cu_inst_count, 100.000000000000
3, GPU[1].SA[0].L1VCache[0], read-hit, 70.000000000000
4, GPU[1].SA[0].L1VCache[0], read-miss, 20.000000000000
5, GPU[1].SA[15].L1VCache[3], read-mshr-hit, 10.000000000000
6, GPU[1].SA[15].L1VCache[3], write-miss, 5.000000000000
7, GPU[1].SA[0].L1SCache, read-hit, 1000.000000000000
8, GPU[1].L2[15], read-miss, 6.000000000000
9, GPU[1].L2[0], write-hit, 2.000000000000
10, GPU[1].SA[0].CU[0], CPIStack.VALU, 3.000000000000
11, GPU[1].SA[0].CU[0], CPIStack.VMem, 1.000000000000
12, GPU[1].SA[0].CU[0], CPIStack.total, 4.000000000000
13, GPU[1].SA[0].CU[1], CPIStack.total, NaN
14, GPU[1].SA[0].L1VTLB[0], miss, 12.000000000000
15, GPU[2].SA[1].L1VTLB[3], miss, 2.000000000000
16, GPU[2].SA[1].L1STLB, miss, 100.000000000000
17, GPU[1].L2TLB, hit, 8.000000000000
18, GPU[1].L2TLB, miss, 6.000000000000
19, GPU[1].RDMA, outgoing_trans_count, 40.000000000000
20, GPU[2].RDMA, outgoing_trans_count, 2.000000000000
21, GPU[1].RDMA, incoming_trans_count, 2.000000000000
"""
INSTRUCTIONS = """kind,name,count
Branch,s_cbranch_scc1,3
ScalarMem,s_load_dword,4
Scalar,s_add_i32,5
Special,s_waitcnt,6
VALU,v_add_u32_e32,7
VALU,v_cmp_gt_f32_e32,8
VALU,v_mac_f32_e32,9
VMem,flat_load_dword,10
LDS,ds_read_b32,11
"""


def test_figures_of_mgpusim(tmp_path):
    import public_compare

    for name, text in ("metrics.csv", METRICS), ("instructions.csv", INSTRUCTIONS), ("status", "0"):
        (tmp_path / name).write_text(text)
    found = public_compare.read_mgpusim(tmp_path)
    assert found["instructions"] == 63 and found["right"]
    assert found["kinds"] == {
        "scalar": 5, "scalar memory": 4, "integer": 15, "float": 9, "memory": 10, "lds": 11, "branch": 3, "other": 6,
    }  # fmt: skip
    assert (found["lines"], found["l1"], found["l2"]) == (105, [70, 20, 10], [2, 6])
    assert (found["gpu_us"], found["host_us"]) == (pytest.approx(17.149), pytest.approx(17.738))
    assert (found["tlb_misses"], found["remote"]) == ([14, 6], 42)
    tables = public_compare.Tables({"fir": {"mgpusim": found}}).all()
    assert tables["memory"]["rows"] == [["`fir`", "MGPUSim", "105", "5", "–", "80.0", "8", "25.0"]]
    assert tables["waits"]["rows"] == [["`fir`", "75", "25", "0", "0", "0", "0", "0", "0"]]
    assert tables["times"]["rows"][0][4] == "17.15" and tables["inputs"]["rows"] == []


SOURCE = """
__kernel void f(__global float* x, __local float* t) {
    t[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = t[63 - get_local_id(0)] * 3.0f;
}
"""


@pytest.mark.timeout(100)
def test_kinds_of_instructions_add_up():
    opencl_machine.require_compiler()
    import public_compare

    x = numpy.arange(1024, dtype="f4")
    with fabricvp.spawn("gpu", overrides={"node.gpus.0.compute_units": 2}) as platform:
        kernel = platform.nodes[0].gpus[0].program(SOURCE)["f"]
        done = kernel(1024, 64, x, fabricvp.local(256))
    assert (x.reshape(-1, 64) == 3 * numpy.arange(1024).reshape(-1, 64)[:, ::-1]).all()
    found = public_compare.ours(done.statistics, done.time)
    assert sum(found["kinds"].values()) == found["instructions"] == sum(found["classes"].values())
    assert (found["kinds"]["float"], found["kinds"]["lds"], found["classes"]["store"]) == (16, 32, 32)
    assert found["kinds"]["other"] >= 16 and all(value >= 0 for value in found["kinds"].values())
    assert (found["stored_lines"], found["stack_lines"], found["lines"]) == (64, 0, 128)
    assert found["tlb_misses"][0] >= 2 and found["tlb_misses"][1] >= 1 and found["remote"] == 0


@pytest.mark.timeout(300)
def test_requests_between_gpus_are_those_of_lines_elsewhere():
    opencl_machine.require_compiler()
    import public_compare

    x = numpy.zeros(65536, "f4")  # 64 pages, dealt out one by one; a quarter of the work-groups on each GPU
    few = {f"node.gpus.{gpu}.compute_units": 2 for gpu in range(4)}
    with fabricvp.spawn(public_compare.ITS_FOUR, overrides=few) as platform:
        kernel = platform.nodes[0].gpus[0].program("kernel void f(global float* x) { x[get_global_id(0)] += 1; }")["f"]
        done = kernel(65536, 256, x, **public_compare.UNIFIED)
    assert (x == 1).all()
    found = public_compare.ours(public_compare.of_all_gpus(done.statistics), done.time)
    assert found["remote"] == 2 * 4096 * 3 / 4  # loads and stores of lines
    there = {"tlb_misses": [80, 70], "remote": 6200.0, "gpu_us": 1, "l1": [0, 4096, 0], "l2": [0, 8192]}
    tables = public_compare.Tables({"fir": {"four": found | {"gpu_us": 2}, "mgpusim, four": there}})
    first, second = (f"{misses:,.0f}" for misses in found["tlb_misses"])
    options = "-length 65536"
    assert tables.requests()["rows"] == [["`fir`", "4", options, first, "80", second, "70", "6,144", "6,200"]]
    assert tables.cells()["rows"][0][:6] == ["`fir`", "4", options, "2.00", "1.00", "2.00"]
