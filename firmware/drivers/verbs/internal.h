/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the library know of each other. */
#ifndef FABRICVP_DRIVERS_VERBS_INTERNAL_H
#define FABRICVP_DRIVERS_VERBS_INTERNAL_H

#include "drivers/verbs/verbs.h"

/* Context memory (ICM): where its tables lie. */
enum {
    VERBS_LOG_UARS = 8,
    VERBS_LOG_EQS = 5,
    VERBS_LOG_MCGS = 8,
    VERBS_LOG_SEGMENTS = 15,  /* of eight translation entries */
    VERBS_SEGMENT_BYTES = 64, /* of ICM */
    VERBS_LOG_READS = 2,      /* a responder's, for each queue pair */
    VERBS_CHUNK = 256 << 10   /* of memory behind it */
};
#define VERBS_ICM_UARC UINT64_C(0)
#define VERBS_ICM_MTT (UINT64_C(1) << 29)

/* A command. `in` and `out` are copied to and from mailboxes. \returns enum hca_status, also kept in device->status
 * unless HCA_OK */
unsigned verbs_command(struct verbs_device* device, unsigned opcode, uint32_t modifier, unsigned op_modifier,
                       const void* in, size_t in_bytes, void* out, size_t out_bytes);
/* The same with a number in place of both. */
unsigned verbs_command_immediate(struct verbs_device* device, unsigned opcode, uint32_t modifier, uint64_t in,
                                 uint64_t* out);
unsigned verbs_map_icm(struct verbs_device* device, uint64_t icm, uint64_t bus, unsigned log_pages);

/* Zeroed memory of the heap, page aligned; panics if there is none. */
void* verbs_pages(uint64_t bytes);

/* \param words zeroed */
void verbs_pool_init(struct verbs_pool* pool, uint64_t* words, uint32_t count, uint32_t reserved);
enum { VERBS_NONE = 0xffffffff };
uint32_t verbs_pool_allocate(struct verbs_pool* pool, uint32_t count); /* in a row; VERBS_NONE: there are not so many */
void verbs_pool_free(struct verbs_pool* pool, uint32_t first, uint32_t count);

/* A doorbell record, zeroed. \returns its number or VERBS_NONE */
uint32_t verbs_allocate_record(struct verbs_uar* uar, volatile uint64_t** at);
void verbs_free_record(struct verbs_uar* uar, uint32_t record);
static inline volatile uint64_t* verbs_record(const struct verbs_uar* uar, uint32_t record) {
    return (volatile uint64_t*)uar->records.at + record;
}

/* Memory of a queue as a region of its own from address 0 on. */
bool verbs_make_buffer(struct verbs_buffer* buffer, const struct verbs_pd* pd, uint64_t bytes, unsigned rights,
                       const struct verbs_memory* given);
void verbs_free_buffer(struct verbs_buffer* buffer);

bool verbs_start_events(struct verbs_device* device);
void verbs_stop_events(struct verbs_device* device);

/* log2 of the bytes between two entries that have so many */
enum { VERBS_MAX_LOG_STRIDE = 10 };
static inline unsigned verbs_log_stride(uint64_t bytes) {
    unsigned n = 6;
    while (n <= VERBS_MAX_LOG_STRIDE && 1u << n < bytes) ++n;
    return n;
}
/* Writes the list of a receive into an entry. \returns false if it is too long */
bool verbs_write_receive(uintptr_t entry, unsigned log_stride, const struct verbs_receive_request* request);
/* Completions of a queue pair that is in RESET go, and entries of its shared receive queue come back. */
void verbs_drop_completions(struct verbs_cq* cq, const struct verbs_qp* qp);
/* An entry of a shared receive queue has come back. */
void verbs_free_srq_entry(struct verbs_srq* srq, uint16_t entry);

/* A request for an attribute, into HCA_MAD_SIZE bytes. \param class HCA_MAD_SUBNET or HCA_MAD_SUBNET_DIRECTED */
void verbs_write_get(uint8_t* mad, unsigned class, unsigned attribute, uint32_t modifier);

/* Stores are seen by devices in the order in which they are made. */
static inline void verbs_order(void) { __asm__ volatile("fence rw, ow" ::: "memory"); }

#endif
