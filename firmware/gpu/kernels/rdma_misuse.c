/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma_misuse.h"
#include "gpu.h"
#include "gpu/verbs/verbs.h"

enum { BYTES = 8 };

/* Writes 8 bytes, tells of as many entries as it was told, and waits for a completion for a while. */
KERNEL(rdma_misuse, struct rdma_misuse_arguments) {
    const struct rdma_qp qp = args->qp;
    const struct rdma_cq cq = args->cq;
    struct rdma_misuse_result r = {RDMA_NO_COMPLETION, 0};
    struct rdma_completion c;
    uint32_t consumer = args->consumer;
    const struct rdma_work_request work = {.opcode = HCA_OP_WRITE,
                                           .signalled = true,
                                           .remote = args->remote,
                                           .rkey = args->rkey,
                                           .local = args->local,
                                           .lkey = args->lkey,
                                           .bytes = BYTES};
    const unsigned size = rdma_write_wqe(&qp, args->head, &work);
    rdma_ring_doorbell(&qp, args->head, args->doorbell_entries, work.opcode, false, size);
    for (; r.polls < args->polls; ++r.polls) {
        if (!rdma_poll(&cq, &consumer, &c)) continue;
        r.syndrome = c.syndrome;
        break;
    }
    *args->result = r;
}
