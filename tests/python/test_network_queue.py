# SPDX-License-Identifier: Apache-2.0
"""Queues of requests between a work-group and a service, where one kernel follows another."""

import pathlib
import subprocess

import fabricvp
import numpy
import pytest

TREE = pathlib.Path(__file__).parents[2]

#: The first work-group requests and waits for the status, as kernels do; the second is a service that publishes
#: read_index, or that it has ended, a while after the status.
KERNEL = """
#include "gpu.h"
#include "network/network.h"
enum { DELAY_NS = 20000, LOG_ENTRIES = 2 };
struct arguments { struct network_access *access; struct network_queue *queue; uint64_t *found; uint64_t ends; };
static void request(const struct arguments *a) {
    a->access->backend = NETWORK_BY_SERVICE_THREAD;
    a->access->log_entries = LOG_ENTRIES;
    a->access->queue = (uint64_t)a->queue;
    struct network n = network_open(a->access);
    const struct network_request r = network_put_data(&n, 0, 1, 0, 8);
    a->found[0] = network_wait(&n, r);
    network_close(&n);
    a->found[1] = load_scoped_u64(&a->queue->read_index);
    n = network_open(a->access);
    a->found[2] = n.producer.write;
}
static void serve(const struct arguments *a) {
    while (load_scoped_u32(&a->queue->entry[0].status) != NETWORK_PENDING) gpu_pause();
    store_release(&a->queue->entry[0].status, NETWORK_DONE, GPU_SCOPE_AGENT);
    for (const uint64_t begin = gpu_time_ns(); gpu_time_ns() - begin < DELAY_NS;) gpu_pause();
    uint64_t *const later = a->ends ? &a->queue->closed : &a->queue->read_index;
    store_release(later, a->ends ? NETWORK_FAILED : 1, GPU_SCOPE_AGENT);
}
KERNEL(one_request, struct arguments) {
    if (local_id(0)) return;
    if (group_id(0) == 0) request(args); else serve(args);
}
"""


#: The work-group posts itself, to a send queue of four entries, which no adapter serves.
NATIVE = """
#include "gpu.h"
#include "network/network.h"
enum { LOG_SQ_SIZE = 2, LOG_STRIDE = 7 };
struct arguments { struct network_access *access; struct rdma_qp *qp; struct rdma_cq *cq; uint64_t *queue, *found; };
KERNEL(posts_itself, struct arguments) {
    struct network_access *const a = args->access;
    uint64_t *found = args->found, *const queue = args->queue;
    if (local_id(0)) return;
    args->qp->send_queue = (uint64_t)queue;
    args->qp->send_doorbell_record = (uint64_t)(queue + 100);
    args->qp->doorbell = (uint64_t)(queue + 101);
    args->qp->log_sq_size = LOG_SQ_SIZE;
    args->qp->log_sq_stride = LOG_STRIDE;
    a->backend = NETWORK_GPU_NATIVE;
    a->peers = 2;
    a->peer[1].qp = (uint64_t)args->qp; /* the first one is the node's own */
    a->peer[1].cq = (uint64_t)args->cq;
    struct network n = network_open(a);
    network_start(&n, NETWORK_COMPARE_SWAP, 1, 0, 0, 8, 5);
    *found++ = hca_swap32((uint32_t)queue[101]) & 31;
    *found++ = hca_swap64(queue[HCA_WORD_SEGMENTS + 2]);
}
"""


def build(folder, source):
    gpu = TREE / "firmware" / "gpu"
    (folder / "k.c").write_text(source)
    subprocess.run(
        ["riscv64-unknown-elf-gcc", "-march=rv64imafd_zicsr_zba_zbb", "-mabi=lp64d", "-mcmodel=medany",
         "-ffreestanding", "-O2", "-nostdlib", "-ffunction-sections", "-fno-strict-aliasing", "-DFABRICVP_KERNEL",
         f"-I{TREE}", f"-I{TREE}/firmware", f"-I{gpu}", f"-T{gpu}/gpu.ld", str(folder / "k.c"), "-o",
         str(folder / "k.elf")],
        check=True,
    )  # fmt: skip
    return folder / "k.elf"


@pytest.fixture(scope="module")
def elf(tmp_path_factory):
    return build(tmp_path_factory.mktemp("queue"), KERNEL)


@pytest.mark.parametrize("ends, found", [(0, [0, 1, 1]), (1, [0, 0, 0])])
def test_a_kernel_ends_when_its_requests_are_counted(elf, ends, found):
    with fabricvp.spawn("gpu") as platform:
        gpu = platform.nodes[0].gpus[0]
        buffers = {"access": 2048, "queue": 2048, "found": numpy.full(3, 99, "u8")}
        done = gpu.launch(elf, 128, [*buffers, ends], buffers, group=64)
        assert list(done.buffers["found"]) == found


def test_a_work_group_that_posts_itself_compares_and_swaps(tmp_path):
    with fabricvp.spawn("gpu") as platform:
        gpu = platform.nodes[0].gpus[0]
        buffers = {"access": 2048, "qp": 128, "cq": 128, "queue": numpy.zeros(128, "u8"), "found": numpy.zeros(2, "u8")}
        done = gpu.launch(build(tmp_path, NATIVE), 64, [*buffers], buffers, group=64)
        assert list(done.buffers["found"]) == [0x11, 5]
