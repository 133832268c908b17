/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/stream.h"

#include "abi/hca_post.h"
#include "abi/stream_packet.h"
#include "cp/access.h"
#include "cp/registers.h"

static enum progress fail(struct queue* q, struct failure* failure, uint32_t fault, uint64_t address) {
    q->stalled_since = 0;
    failure->fault = fault;
    failure->address = address;
    return PROGRESS_FAILED;
}

static enum progress done(struct queue* q) {
    q->stalled_since = 0;
    return PROGRESS_DONE;
}

/* Not yet: the packet is looked at again. */
static enum progress wait(struct queue* q, uint64_t timeout, uint64_t at, struct failure* failure) {
    const uint64_t now = register_read64(CP_TIME_NS);
    if (!q->stalled_since) q->stalled_since = now;
    if (timeout && now - q->stalled_since > timeout) return fail(q, failure, GPU_FAULT_DEPENDENCY, at);
    return PROGRESS_POLLS;
}

static enum progress write_words(struct queue* q, const struct aql_stream_write* p, struct failure* failure) {
    if (!p->count || p->count > AQL_STREAM_MAX_WRITES) return fail(q, failure, GPU_FAULT_PACKET, 0);
    for (unsigned i = 0; i < p->count; ++i) {
        const uint64_t to = p->write[i].to;
        const uint32_t problem = to % 8 ? GPU_FAULT_MISALIGNED : virtual_store(to, p->write[i].value);
        if (problem) return fail(q, failure, problem, to);
        release();
    }
    return done(q);
}

/* Others write what is waited for at any time. */
static uint32_t load_word(uint64_t at, uint64_t* value) {
    acquire();
    return at % 8 ? GPU_FAULT_MISALIGNED : virtual_load(at, value, 1);
}

static enum progress wait_word(struct queue* q, const struct aql_stream_wait* p, struct failure* failure) {
    uint64_t seen;
    if (p->condition > AQL_STREAM_GEQ) return fail(q, failure, GPU_FAULT_PACKET, 0);
    const uint32_t problem = load_word(p->at, &seen);
    if (problem) return fail(q, failure, problem, p->at);
    seen &= p->mask;
    const bool is = p->condition == AQL_STREAM_EQUAL ? seen == p->value : (int64_t)(seen - p->value) >= 0;
    return is ? done(q) : wait(q, p->timeout, p->at, failure);
}

static enum progress wait_completion(struct queue* q, const struct aql_stream_completion* p, struct failure* failure) {
    const uint64_t last_at = p->at + 8 * HCA_CQE_LAST;
    uint64_t last;
    if (p->at % HCA_CQE_SIZE) return fail(q, failure, GPU_FAULT_MISALIGNED, p->at);
    uint32_t problem = load_word(last_at, &last);
    if (problem) return fail(q, failure, problem, p->at);
    if (!hca_cqe_software_owned(last)) return wait(q, p->timeout, p->at, failure);
    if ((last >> 32 & 0xff) >= HCA_CQE_ERROR_RECEIVE) return fail(q, failure, GPU_FAULT_DEPENDENCY, p->at);
    problem = virtual_store(last_at, HCA_CQE_HARDWARE_OWNED);
    if (problem) return fail(q, failure, problem, p->at);
    if (!p->record) return done(q);
    uint64_t record = 0;
    problem = p->record % 8 ? GPU_FAULT_MISALIGNED
                            : virtual_load(p->record, &record, 1); /* its upper half is the queue's name */
    release();
    if (!problem) problem = virtual_store(p->record, (record & ~UINT64_C(0xffffffff)) | hca_swap32(p->consumer));
    return problem ? fail(q, failure, problem, p->record) : done(q);
}

enum progress stream_execute(struct queue* q, const uint64_t packet[8], struct failure* failure) {
    switch (packet[0] >> 16 & 0xffff) {
        case AQL_STREAM_WRITE: return write_words(q, (const struct aql_stream_write*)packet, failure);
        case AQL_STREAM_WAIT: return wait_word(q, (const struct aql_stream_wait*)packet, failure);
        case AQL_STREAM_COMPLETION: return wait_completion(q, (const struct aql_stream_completion*)packet, failure);
        default: return fail(q, failure, GPU_FAULT_PACKET, 0);
    }
}
