/* SPDX-License-Identifier: Apache-2.0 */
/* What is done for every message. Entries are written in whole words, since a queue may lie in a device's memory. */
#include "drivers/verbs/internal.h"
#include "lib/mmio.h"

enum { MAX_PER_DOORBELL = 255, WORD = 8, SEGMENT_WORDS = HCA_SEGMENT / WORD };

/* The length's highest bit says that data stand in the entry. */
static inline bool is_too_long(const struct verbs_sge* e) { return e->bytes >> 31; }

/* Next segment, list, its end. */
bool verbs_write_receive(uintptr_t entry, unsigned log_stride, const struct verbs_receive_request* request) {
    volatile uint64_t* w = (volatile uint64_t*)entry + HCA_WORD_SEGMENTS;
    const volatile uint64_t* end = (volatile uint64_t*)(entry + ((uintptr_t)1 << log_stride));
    if (request->elements > ((1u << log_stride) / HCA_SEGMENT) - 1) return false;
    for (unsigned i = 0; i < request->elements; ++i, w += SEGMENT_WORDS) {
        if (is_too_long(&request->list[i])) return false;
        w[0] = hca_data(request->list[i].bytes, request->list[i].key);
        w[1] = hca_swap64(request->list[i].address);
    }
    if (w < end) {
        w[0] = hca_data(0, HCA_INVALID_LKEY);
        w[1] = 0;
    }
    return true;
}

unsigned verbs_post_receive(struct verbs_qp* qp, const struct verbs_receive_request* requests, unsigned count) {
    struct verbs_work_queue* r = &qp->receive_queue;
    unsigned posted = 0;
    if (!r->log_size) return 0;
    for (; posted < count && (uint16_t)(r->head - r->tail) < 1u << r->log_size; ++posted, ++r->head) {
        if (!verbs_write_receive(r->at + verbs_wqe_offset(r, r->head), r->log_stride, &requests[posted])) break;
        r->id[r->head & ((1u << r->log_size) - 1)] = requests[posted].id;
    }
    if (posted) {
        verbs_order();
        *(volatile uint32_t*)r->record_at = hca_swap32(r->head);
    }
    return posted;
}

/* Inline data begin behind the double word that says how many they are, in one piece. \returns the word behind */
static volatile uint64_t* write_inline(volatile uint64_t* w, const volatile uint64_t* end,
                                       const struct verbs_send_request* s) {
    volatile uint64_t* at = w;
    uint64_t bytes = 0;
    unsigned filled = 4; /* bytes of `word` */
    for (unsigned i = 0; i < s->elements; ++i) bytes += s->list[i].bytes;
    if ((bytes + 4 + HCA_SEGMENT - 1) / HCA_SEGMENT * SEGMENT_WORDS > (uint64_t)(end - at)) return NULL;
    uint64_t word = hca_inline((uint32_t)bytes);
    for (unsigned i = 0; i < s->elements; ++i) {
        const uint8_t* from = (const uint8_t*)(uintptr_t)s->list[i].address;
        uint32_t left = s->list[i].bytes;
        for (; filled == 4 && left >= WORD && (uintptr_t)from % WORD == 0; from += WORD, left -= WORD) {
            const uint64_t next = *(const uint64_t*)(const void*)from;
            *at++ = word | next << 32;
            word = next >> 32;
        }
        for (; left; ++from, --left) {
            word |= (uint64_t)*from << 8 * filled;
            if (++filled < WORD) continue;
            *at++ = word;
            word = filled = 0;
        }
    }
    if (filled) *at++ = word;
    if ((at - w) % SEGMENT_WORDS) *at++ = 0;
    return at;
}

/* Of queue pairs 0 and 1: the list holds headers, too, and behind it is the place of the ICRC. */
static unsigned write_raw(const struct verbs_qp* qp, uintptr_t entry, const struct verbs_send_request* s) {
    volatile uint64_t* const first = (volatile uint64_t*)entry;
    volatile uint64_t* w = first + HCA_WORD_SEGMENTS;
    if (s->flags & VERBS_INLINE || HCA_SEGMENT * (2 + s->elements) > qp->send_queue.send_bytes) return 0;
    first[HCA_WORD_FLAGS] = hca_raw_flags(qp->shape.special == VERBS_SMI, s->to.lid, s->to.service_level);
    for (unsigned i = 0; i < s->elements; ++i, w += SEGMENT_WORDS) {
        if (is_too_long(&s->list[i])) return 0;
        w[0] = hca_data(s->list[i].bytes, s->list[i].key);
        w[1] = hca_swap64(s->list[i].address);
    }
    w[0] = hca_inline(4);
    w[1] = 0;
    return (unsigned)((uintptr_t)(w + SEGMENT_WORDS) - entry) / HCA_SEGMENT;
}

static uint64_t gid_word(const uint8_t* gid) {
    uint64_t word;
    memcpy(&word, gid, sizeof word);
    return word;
}

/* All but the link. \returns its size in 16 bytes, 0 if it does not fit or makes no sense */
static unsigned write_entry(const struct verbs_qp* qp, uintptr_t entry, const struct verbs_send_request* s) {
    volatile uint64_t* const first = (volatile uint64_t*)entry;
    volatile uint64_t* w = first + HCA_WORD_SEGMENTS;
    const volatile uint64_t* end = first + qp->send_queue.send_bytes / WORD;
    const bool is_atomic = s->opcode == HCA_OP_COMPARE_SWAP || s->opcode == HCA_OP_FETCH_ADD;
    const bool is_send = s->opcode == HCA_OP_SEND || s->opcode == HCA_OP_SEND_IMMEDIATE;
    if (qp->shape.type == HCA_QP_MLX) return write_raw(qp, entry, s);
    const unsigned fixed = qp->shape.type == HCA_QP_UD ? HCA_UD_SIZE
                           : is_atomic                 ? 2 * HCA_SEGMENT
                           : is_send                   ? 0
                                                       : HCA_SEGMENT;
    if (HCA_SEGMENT + fixed + (s->flags & VERBS_INLINE ? 0 : HCA_SEGMENT * s->elements) > qp->send_queue.send_bytes)
        return 0;
    first[HCA_WORD_FLAGS] =
        hca_flags(s->flags & VERBS_SIGNALLED ? 1 : 0, s->flags & VERBS_SOLICITED ? 1 : 0, s->immediate);
    if (qp->shape.type == HCA_QP_UD) {
        w[0] = hca_pack(1u << 24 | qp->pd->number, s->to.lid | (s->to.gid ? 1u << 23 : 0));
        w[1] = hca_pack(s->to.gid ? 0x3001 : 0x3000,
                        (uint32_t)s->to.service_level << 28); /* full rate; one hop to a router */
        w[2] = s->to.gid ? gid_word(s->to.gid) : 0;
        w[3] = s->to.gid ? gid_word(s->to.gid + 8) : hca_pack(0, 2); /* without one, as Linux leaves it */
        w[4] = hca_pack(s->to.qpn, s->to.qkey);
        w[5] = 0;
        w += HCA_UD_SIZE / WORD;
    } else if (fixed) {
        w[0] = hca_swap64(s->remote);
        w[1] = hca_remote_key(s->rkey);
        w += SEGMENT_WORDS;
        if (is_atomic) {
            w[0] = hca_swap64(s->swap_add);
            w[1] = hca_swap64(s->compare);
            w += SEGMENT_WORDS;
        }
    }
    if (s->flags & VERBS_INLINE) {
        w = write_inline(w, end, s);
        if (!w) return 0;
    } else {
        for (unsigned i = 0; i < s->elements; ++i, w += SEGMENT_WORDS) {
            if (is_too_long(&s->list[i])) return 0;
            w[0] = hca_data(s->list[i].bytes, s->list[i].key);
            w[1] = hca_swap64(s->list[i].address);
        }
    }
    return (unsigned)((uintptr_t)w - entry) / HCA_SEGMENT;
}

/* The doorbell describes the first entry; each entry, the one behind. */
static unsigned post_burst(struct verbs_qp* qp, const struct verbs_send_request* s, unsigned count) {
    struct verbs_work_queue* r = &qp->send_queue;
    const uint16_t before = r->head;
    unsigned posted = 0, first_size = 0;
    for (; posted < count; ++posted, ++s) {
        const uint32_t offset = verbs_wqe_offset(r, r->head);
        const unsigned size = write_entry(qp, r->at + offset, s);
        if (!size) break;
        if (posted == 0) first_size = size;
        *(volatile uint64_t*)(r->at + verbs_wqe_offset(r, r->head - 1u)) =
            hca_next_segment(offset, s->opcode, s->flags & VERBS_FENCE ? 1 : 0, size);
        r->id[r->head & ((1u << r->log_size) - 1)] = s->id;
        ++r->head;
    }
    if (!posted) return 0;
    s -= posted;
    verbs_order();
    *(volatile uint32_t*)r->record_at = hca_swap32(r->head);
    mmio_write64(qp->uar->doorbells + HCA_UAR_SEND,
                 hca_send_doorbell(qp->number, posted, before, s->opcode, s->flags & VERBS_FENCE ? 1 : 0, first_size));
    return posted;
}

unsigned verbs_post_send(struct verbs_qp* qp, const struct verbs_send_request* requests, unsigned count) {
    unsigned posted = 0;
    while (posted < count) {
        unsigned part = count - posted;
        const unsigned room = verbs_send_space(qp);
        if (part > room) part = room;
        if (part > MAX_PER_DOORBELL) part = MAX_PER_DOORBELL;
        const unsigned done = post_burst(qp, requests + posted, part);
        posted += done;
        if (!done || done < part) break;
    }
    return posted;
}
