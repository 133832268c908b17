/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/gpurdma/library_posts.h"

#include "drivers/bootstrap/measure.h"
#include "gpu/verbs/verbs.h"

enum { POLLED = 16 };

static struct verbs_sge elements[RDMA_MAX_WQES_PER_DOORBELL];
static struct verbs_send_request requests[RDMA_MAX_WQES_PER_DOORBELL];

/* The next requests of queue pair `index`, from message `first` on. */
static void make_requests(const struct endpoint* e, const struct rdma_writes_arguments* a, unsigned index,
                          uint32_t first, uint32_t count) {
    const unsigned inlined = a->flags & RDMA_INLINE_DATA ? VERBS_INLINE : 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t message = first + i;
        const uint64_t slot = (uint64_t)(index * a->slots + (message & (a->slots - 1))) * a->pitch;
        /* The library copies inline data itself, so it needs the address that this hart has. */
        elements[i] = (struct verbs_sge){(inlined ? e->payload.memory.at : a->local) + slot, a->lkey, a->bytes};
        requests[i] = (struct verbs_send_request){
            .id = message,
            .list = &elements[i],
            .elements = 1,
            .opcode = a->flags & RDMA_READS ? HCA_OP_READ : HCA_OP_WRITE,
            .flags = inlined | (((message + 1) & (a->signal - 1)) == 0 ? VERBS_SIGNALLED : 0),
            .rkey = a->rkey,
            .remote = a->remote + slot,
        };
    }
}

static void poll(struct verbs_cq* cq, struct rdma_poster_group* group) {
    struct verbs_completion done[POLLED];
    const unsigned count = verbs_poll(cq, done, POLLED);
    ++group->polls;
    for (unsigned i = 0; i < count && !group->syndrome; ++i) {
        group->syndrome = done[i].syndrome;
        if (group->syndrome)
            group->failed = (uint32_t)done[i].id;
        else
            group->completed = (uint32_t)done[i].id + 1;
    }
}

void post_by_library(struct endpoint* e, const struct rdma_writes_arguments* a) {
    struct rdma_poster_group* groups = (struct rdma_poster_group*)(uintptr_t)a->poster_groups;
    uint32_t posted[RDMA_MAX_POSTER_GROUPS] = {0};
    const unsigned qps = e->shape.qps;
    bool busy = true;
    for (unsigned q = 0; q < qps; ++q) groups[q] = (struct rdma_poster_group){0};
    const uint64_t begin = clock_cycles();
    while (busy) {
        busy = false;
        for (unsigned q = 0; q < qps; ++q) {
            struct rdma_poster_group* g = &groups[q];
            const uint32_t left = a->messages - posted[q], count = left < a->batch ? left : a->batch;
            if (!g->syndrome && count && posted[q] + count - g->completed <= a->window) {
                make_requests(e, a, q, posted[q], count);
                posted[q] += verbs_post_send(&e->qp[q], requests, count);
            } else if (!g->syndrome) {
                poll(&e->cq[q], g);
            }
            busy = busy || (!g->syndrome && g->completed < a->messages);
        }
    }
    const uint64_t cycles = clock_cycles() - begin;
    for (unsigned q = 0; q < qps; ++q) groups[q].cycles = cycles;
}
