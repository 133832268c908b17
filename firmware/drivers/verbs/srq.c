/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues. Every entry says which follows it, for good once it is posted: so the last free one waits
 * until another has come back. */
#include "drivers/verbs/internal.h"
#include "lib/heap.h"

enum { END = 0xffff };

static volatile uint64_t* at(const struct verbs_srq* s, uint16_t entry) {
    return (volatile uint64_t*)(s->ring.at + verbs_wqe_offset(&s->ring, entry));
}

void verbs_free_srq_entry(struct verbs_srq* s, uint16_t entry) {
    at(s, s->last)[HCA_WORD_NEXT] = hca_pack(verbs_wqe_offset(&s->ring, entry) | 1, 0);
    s->next[s->last] = entry;
    s->next[entry] = END;
    s->last = entry;
}

bool verbs_create_srq(struct verbs_srq* s, const struct verbs_pd* pd, unsigned log_size, unsigned elements,
                      const struct verbs_object_memory* place) {
    struct verbs_device* d = pd->device;
    uint8_t c[HCA_SRQC_SIZE] = {0};
    *s = (struct verbs_srq){.device = d, .uar = place && place->uar ? place->uar : &d->uar};
    s->ring = (struct verbs_work_queue){.log_size = log_size,
                                        .log_stride = verbs_log_stride(HCA_SEGMENT * (UINT64_C(1) + elements))};
    if (log_size < 1 || log_size > 14 || s->ring.log_stride > VERBS_MAX_LOG_STRIDE) return false;
    const uint32_t entries = 1u << log_size;
    if (!verbs_make_buffer(&s->buffer, pd, (uint64_t)entries << s->ring.log_stride, VERBS_LOCAL_READ,
                           place ? place->memory : NULL))
        return false;
    s->ring.at = s->buffer.memory.at;
    s->ring.id = heap_allocate(entries * sizeof *s->ring.id);
    s->next = heap_allocate(entries * sizeof *s->next);
    s->number = verbs_pool_allocate(&d->srqs, 1);
    s->ring.record = verbs_allocate_record(s->uar, &s->ring.record_at);
    for (uint32_t i = 1; s->next && i < entries; ++i) verbs_free_srq_entry(s, (uint16_t)i);
    hca_set(c, HCA_SRQC_LOG_SIZE, log_size);
    hca_set(c, HCA_SRQC_NUMBER, s->number);
    hca_set(c, HCA_SRQC_LKEY, s->buffer.mr.key);
    hca_set(c, HCA_SRQC_RECORD, s->ring.record);
    hca_set(c, HCA_SRQC_LOG_STRIDE, s->ring.log_stride - 4);
    hca_set(c, HCA_SRQC_UAR, s->uar->number);
    hca_set(c, HCA_SRQC_PD, pd->number);
    if (s->ring.id && s->next && s->number != VERBS_NONE && s->ring.record != VERBS_NONE &&
        verbs_command(d, HCA_SW2HW_SRQ, s->number, 0, c, sizeof c, NULL, 0) == HCA_OK) {
        *s->ring.record_at = hca_doorbell_record(0, s->number, HCA_DBR_SRQ, 0);
        d->srq[s->number] = s;
        return true;
    }
    if (s->number != VERBS_NONE) verbs_pool_free(&d->srqs, s->number, 1);
    verbs_free_record(s->uar, s->ring.record);
    heap_free(s->ring.id);
    heap_free(s->next);
    verbs_free_buffer(&s->buffer);
    return false;
}

void verbs_destroy_srq(struct verbs_srq* s) {
    uint8_t unused[HCA_SRQC_SIZE];
    verbs_command(s->device, HCA_HW2SW_SRQ, s->number, 0, NULL, 0, unused, sizeof unused);
    s->device->srq[s->number] = NULL;
    verbs_pool_free(&s->device->srqs, s->number, 1);
    verbs_free_record(s->uar, s->ring.record);
    heap_free(s->ring.id);
    heap_free(s->next);
    verbs_free_buffer(&s->buffer);
}

unsigned verbs_post_srq(struct verbs_srq* s, const struct verbs_receive_request* requests, unsigned count) {
    unsigned posted = 0;
    for (; posted < count && s->first != s->last; ++posted) {
        const uint16_t entry = s->first;
        if (!verbs_write_receive((uintptr_t)at(s, entry), s->ring.log_stride, &requests[posted])) break;
        s->ring.id[entry] = requests[posted].id;
        s->first = s->next[entry];
    }
    if (posted) {
        s->ring.head = (uint16_t)(s->ring.head + posted);
        verbs_order();
        *(volatile uint32_t*)s->ring.record_at = hca_swap32(s->ring.head);
    }
    return posted;
}

bool verbs_arm_srq(struct verbs_srq* s, unsigned limit) {
    return verbs_command_immediate(s->device, HCA_ARM_SRQ, s->number, limit, NULL) == HCA_OK;
}
