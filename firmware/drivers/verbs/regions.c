/* SPDX-License-Identifier: Apache-2.0 */
/* Protection domains, memory regions, user access regions with their doorbell records. */
#include "drivers/verbs/internal.h"
#include "lib/heap.h"

enum { ENTRIES_A_SEGMENT = 8 };

/* ---- protection domains ---- */

bool verbs_open_pd(struct verbs_pd* pd, struct verbs_device* d) {
    *pd = (struct verbs_pd){d, verbs_pool_allocate(&d->domains, 1)};
    return pd->number != VERBS_NONE;
}

void verbs_close_pd(struct verbs_pd* pd) { verbs_pool_free(&pd->device->domains, pd->number, 1); }

/* ---- memory regions ---- */

/* Keys of a place in the table differ from one region to the next, so that an old one fails. */
static bool set_hardware_owned(struct verbs_mr* mr, const struct verbs_pd* pd, unsigned rights, unsigned log_page) {
    struct verbs_device* d = mr->device;
    uint8_t entry[HCA_MPT_SIZE] = {0};
    const uint32_t key = mr->index | ++d->key_generation << VERBS_LOG_MPTS;
    mr->key = key << 8 | key >> 24;
    hca_put32(entry, 0xf0000000u | (rights & VERBS_ALL_RIGHTS));
    hca_set(entry, HCA_MPT_REGION, 1);
    hca_set(entry, HCA_MPT_LOG_PAGE, log_page - VERBS_LOG_PAGE);
    hca_set(entry, HCA_MPT_KEY, key);
    hca_set(entry, HCA_MPT_PD, pd->number);
    hca_set_long(entry, HCA_MPT_START, mr->address);
    hca_set_long(entry, HCA_MPT_LENGTH, mr->bytes);
    hca_set_long(entry, HCA_MPT_MTT, VERBS_ICM_MTT + VERBS_SEGMENT_BYTES * mr->segment);
    return verbs_command(d, HCA_SW2HW_MPT, mr->index, 0, entry, sizeof entry, NULL, 0) == HCA_OK;
}

static void release_pages(struct verbs_mr* mr) {
    if (mr->segment != VERBS_NONE) verbs_pool_free(&mr->device->segments, mr->segment, mr->segments);
    if (mr->index != VERBS_NONE) verbs_pool_free(&mr->device->regions, mr->index, 1);
}

/* Room for translation entries of so many pages. */
static uint64_t* begin(struct verbs_mr* mr, const struct verbs_pd* pd, uint64_t address, uint64_t bytes,
                       unsigned log_page, uint64_t* pages) {
    struct verbs_device* d = pd->device;
    if (!bytes || log_page < VERBS_LOG_PAGE || log_page > VERBS_LOG_PAGE + 31) return NULL;
    *pages = ((address + bytes - 1) >> log_page) - (address >> log_page) + 1;
    *mr = (struct verbs_mr){.device = d,
                            .address = address,
                            .bytes = bytes,
                            .segments = (uint32_t)((*pages + ENTRIES_A_SEGMENT - 1) / ENTRIES_A_SEGMENT)};
    mr->index = verbs_pool_allocate(&d->regions, 1);
    mr->segment = verbs_pool_allocate(&d->segments, mr->segments);
    if (mr->index != VERBS_NONE && mr->segment != VERBS_NONE)
        return d->translations + (uint64_t)ENTRIES_A_SEGMENT * mr->segment;
    release_pages(mr);
    return NULL;
}

static bool end(struct verbs_mr* mr, const struct verbs_pd* pd, unsigned rights, unsigned log_page) {
    if (set_hardware_owned(mr, pd, rights, log_page)) return true;
    release_pages(mr);
    return false;
}

bool verbs_register(struct verbs_mr* mr, const struct verbs_pd* pd, const struct verbs_memory* memory, uint64_t address,
                    unsigned rights, unsigned log_page) {
    const uint64_t page = UINT64_C(1) << log_page;
    uint64_t pages;
    if ((address ^ memory->bus) & (page - 1)) return false; /* the same place in a page on both sides */
    uint64_t* entry = begin(mr, pd, address, memory->bytes, log_page, &pages);
    if (!entry) return false;
    for (uint64_t i = 0, at = memory->bus & ~(page - 1); i < pages; ++i, at += page)
        entry[i] = hca_swap64(at | HCA_MTT_PRESENT);
    return end(mr, pd, rights, log_page);
}

void verbs_unregister(struct verbs_mr* mr) {
    verbs_command(mr->device, HCA_HW2SW_MPT, mr->index, HCA_HW2SW_NO_OUTPUT, NULL, 0, NULL, 0);
    release_pages(mr);
}

bool verbs_make_buffer(struct verbs_buffer* b, const struct verbs_pd* pd, uint64_t bytes, unsigned rights,
                       const struct verbs_memory* given) {
    b->own = !given;
    if (given && given->bytes < bytes) return false;
    b->memory = given ? *given : verbs_host_memory(verbs_pages(bytes), bytes);
    b->memory.bytes = bytes;
    if (verbs_register(&b->mr, pd, &b->memory, 0, rights, VERBS_LOG_PAGE)) return true;
    if (b->own) heap_free((void*)b->memory.at);
    return false;
}

void verbs_free_buffer(struct verbs_buffer* b) {
    verbs_unregister(&b->mr);
    if (b->own) heap_free((void*)b->memory.at);
}

/* ---- user access regions ---- */

bool verbs_open_uar(struct verbs_uar* uar, struct verbs_device* d, const struct verbs_memory* records) {
    const uint32_t number = verbs_pool_allocate(&d->uars, 1);
    if (number == VERBS_NONE || (records && (records->bytes < HCA_PAGE || records->bus % HCA_PAGE))) return false;
    *uar = (struct verbs_uar){.device = d,
                              .number = number,
                              .doorbells = d->doorbells + (uintptr_t)number * HCA_PAGE,
                              .doorbells_bus = d->doorbells_bus + (uint64_t)number * HCA_PAGE,
                              .own_records = !records};
    uar->records = records ? *records : verbs_host_memory(verbs_pages(HCA_PAGE), HCA_PAGE);
    verbs_pool_init(&uar->pool, uar->allocated, VERBS_RECORDS, 0);
    return verbs_map_icm(d, VERBS_ICM_UARC + (uint64_t)number * HCA_PAGE, uar->records.bus, 0) == HCA_OK;
}

void verbs_close_uar(struct verbs_uar* uar) {
    verbs_command_immediate(uar->device, HCA_UNMAP_ICM, 1, VERBS_ICM_UARC + (uint64_t)uar->number * HCA_PAGE, NULL);
    verbs_pool_free(&uar->device->uars, uar->number, 1);
    if (uar->own_records) heap_free((void*)uar->records.at);
}

uint32_t verbs_allocate_record(struct verbs_uar* uar, volatile uint64_t** at) {
    const uint32_t record = verbs_pool_allocate(&uar->pool, 1);
    if (record == VERBS_NONE) return record;
    *verbs_record(uar, record) = 0;
    if (at) *at = verbs_record(uar, record);
    return record;
}

void verbs_free_record(struct verbs_uar* uar, uint32_t record) {
    if (record != VERBS_NONE) verbs_pool_free(&uar->pool, record, 1);
}
