/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to an active port: firmware's memory, context memory, limits, event queues. */
#include "abi/hca_mailbox.h"
#include "drivers/verbs/internal.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { RESET_US = 1000, RESET_TRIES = 10, SAVED_WORDS = 16, MAPPED_AT_ONCE = 32 };

/* Bytes of a table's entries, as QUERY_DEV_LIM says. */
struct limits {
    uint32_t qpc, eqpc, cqc, srqc, eqc, mpt, rdb;
    uint32_t reserved_qps, reserved_cqs, reserved_srqs, reserved_mpts, reserved_segments, reserved_pds, reserved_uars;
};

static bool failed(const struct verbs_device* d, const char* what) {
    const struct pci_function* f = d->function;
    console_printf("hca %02x:%02x.%x: %s fails with status 0x%x\n", f->bus->number, f->device, f->function, what,
                   d->status);
    return false;
}

/* The device clears all; what is below 0x40 of its configuration space is written anew. */
static bool reset(const struct verbs_device* d) {
    uint32_t saved[SAVED_WORDS];
    for (unsigned i = 0; i < SAVED_WORDS; ++i) saved[i] = pci_read32(d->function, 4 * i);
    mmio_write32(d->registers + HCA_RESET, hca_swap32(HCA_RESET_NOW));
    for (unsigned tries = 0; pci_read32(d->function, 0) != saved[0]; ++tries) {
        if (tries == RESET_TRIES) return false;
        timer_wait(RESET_US);
    }
    for (unsigned i = SAVED_WORDS; i-- > 2;) pci_write32(d->function, 4 * i, saved[i]);
    pci_write32(d->function, 4, saved[1] & 0xffff); /* command, last; writing status would clear it */
    return true;
}

/* Memory that the device has until it is closed. */
static void* keep(struct verbs_device* d, uint64_t bytes) {
    if (d->allocated_blocks == sizeof d->memory / sizeof *d->memory) panic("verbs: too many pieces of memory");
    return d->memory[d->allocated_blocks++] = verbs_pages(bytes);
}

/* Gives the device `bytes` of memory at `icm`, or without an address, by one of the mapping commands. */
static bool map(struct verbs_device* d, unsigned opcode, uint64_t icm, uint64_t bytes, void** memory) {
    uint8_t entries[MAPPED_AT_ONCE * HCA_MAP_SIZE];
    unsigned count = 0, log_pages = 0;
    if (!bytes) return true;
    bytes = (bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    if (bytes >= VERBS_CHUNK) {
        bytes = (bytes + VERBS_CHUNK - 1) & ~(uint64_t)(VERBS_CHUNK - 1);
        log_pages = 6;
    }
    uint8_t* at = keep(d, bytes);
    if (memory) *memory = at;
    for (uint64_t done = 0; done < bytes; done += (uint64_t)HCA_PAGE << log_pages) {
        memset(entries + count * HCA_MAP_SIZE, 0, HCA_MAP_SIZE);
        if (opcode == HCA_MAP_ICM) hca_set_long(entries + count * HCA_MAP_SIZE, HCA_MAP_VIRTUAL, icm + done);
        hca_set_long(entries + count * HCA_MAP_SIZE, HCA_MAP_PHYSICAL, ((uintptr_t)at + done) | log_pages);
        ++count;
        const bool last = done + ((uint64_t)HCA_PAGE << log_pages) >= bytes;
        if (count < MAPPED_AT_ONCE && !last) continue;
        if (verbs_command(d, opcode, count, 0, entries, count * HCA_MAP_SIZE, NULL, 0)) return false;
        count = 0;
    }
    return true;
}

static bool start_firmware(struct verbs_device* d) {
    uint8_t fw[HCA_FW_SIZE];
    if (verbs_command(d, HCA_QUERY_FW, 0, 0, NULL, 0, fw, sizeof fw)) return failed(d, "QUERY_FW");
    /* Addresses on the bus, of which the place in BAR 0 counts. */
    const uint64_t mask = HCA_REGISTERS_SIZE - 1;
    d->clear_interrupt = d->registers + (hca_get_long(fw, HCA_FW_CLR_INT) & mask);
    d->arm = d->registers + (hca_get_long(fw, HCA_FW_EQ_ARM) & mask);
    d->set_consumer = d->registers + (hca_get_long(fw, HCA_FW_EQ_SET_CI) & mask);
    if (verbs_command(d, HCA_ENABLE_LAM, 0, 0, NULL, 0, NULL, 0) != HCA_NO_LOCAL_MEMORY) return failed(d, "ENABLE_LAM");
    if (!map(d, HCA_MAP_FA, 0, (uint64_t)hca_get(fw, HCA_FW_PAGES) * HCA_PAGE, NULL)) return failed(d, "MAP_FA");
    if (verbs_command(d, HCA_RUN_FW, 0, 0, NULL, 0, NULL, 0)) return failed(d, "RUN_FW");
    return true;
}

static bool query_limits(struct verbs_device* d, struct limits* l) {
    uint8_t q[HCA_LIM_SIZE];
    if (verbs_command(d, HCA_QUERY_DEV_LIM, 0, 0, NULL, 0, q, sizeof q)) return failed(d, "QUERY_DEV_LIM");
    *l = (struct limits){.qpc = hca_get(q, HCA_LIM_QPC_BYTES),
                         .eqpc = hca_get(q, HCA_LIM_EQPC_BYTES),
                         .cqc = hca_get(q, HCA_LIM_CQC_BYTES),
                         .srqc = hca_get(q, HCA_LIM_SRQC_BYTES),
                         .eqc = hca_get(q, HCA_LIM_EQC_BYTES),
                         .mpt = hca_get(q, HCA_LIM_MPT_BYTES),
                         .rdb = 32,
                         .reserved_qps = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_QPS),
                         .reserved_cqs = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_CQS),
                         .reserved_srqs = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_SRQS),
                         .reserved_mpts = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_MPTS),
                         .reserved_segments = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_MTTS),
                         .reserved_pds = 1u << hca_get(q, HCA_LIM_LOG_RESERVED_PDS),
                         .reserved_uars = hca_get(q, HCA_LIM_RESERVED_UARS)};
    if (hca_get(q, HCA_LIM_LOG_QPS) >= VERBS_LOG_QPS && hca_get(q, HCA_LIM_LOG_CQS) >= VERBS_LOG_CQS &&
        hca_get(q, HCA_LIM_LOG_SRQS) >= VERBS_LOG_SRQS && hca_get(q, HCA_LIM_LOG_MPTS) >= VERBS_LOG_MPTS &&
        hca_get(q, HCA_LIM_LOG_MTT_SEGMENTS) >= VERBS_LOG_SEGMENTS)
        return true;
    d->status = HCA_EXCEEDS_LIMIT;
    return failed(d, "what this driver wants to have");
}

static void make_pool(struct verbs_device* d, struct verbs_pool* pool, uint32_t count, uint32_t reserved) {
    verbs_pool_init(pool, keep(d, count / 8), count, reserved);
}

static void make_pools(struct verbs_device* d, const struct limits* l) {
    make_pool(d, &d->uars, 1 << VERBS_LOG_UARS, l->reserved_uars + 1);
    make_pool(d, &d->domains, 1 << 12, l->reserved_pds + 1);
    make_pool(d, &d->regions, 1 << VERBS_LOG_MPTS, l->reserved_mpts);
    make_pool(d, &d->segments, 1 << VERBS_LOG_SEGMENTS, l->reserved_segments);
    make_pool(d, &d->cqs, 1 << VERBS_LOG_CQS, l->reserved_cqs);
    make_pool(d, &d->srqs, 1 << VERBS_LOG_SRQS, l->reserved_srqs);
    make_pool(d, &d->qps, 1 << VERBS_LOG_QPS, l->reserved_qps + 4); /* two of each kind are special */
    d->special = l->reserved_qps;
    d->cq = keep(d, sizeof *d->cq << VERBS_LOG_CQS);
    d->qp = keep(d, sizeof *d->qp << VERBS_LOG_QPS);
    d->srq = keep(d, sizeof *d->srq << VERBS_LOG_SRQS);
}

/* Tables behind each other, each aligned to its size. */
static bool lay_out(struct verbs_device* d, const struct limits* l, uint8_t* init) {
    const struct {
        unsigned base, log_field;
        uint64_t entry;
        unsigned log_entries;
    } tables[] = {{HCA_INIT_QPC, HCA_INIT_LOG_QPS, l->qpc, VERBS_LOG_QPS},
                  {HCA_INIT_RDB, 0, l->rdb << VERBS_LOG_READS, VERBS_LOG_QPS},
                  {HCA_INIT_MPT, HCA_INIT_LOG_MPTS, l->mpt, VERBS_LOG_MPTS},
                  {HCA_INIT_CQC, HCA_INIT_LOG_CQS, l->cqc, VERBS_LOG_CQS},
                  {HCA_INIT_MCG, HCA_INIT_LOG_MCGS, HCA_MGM_SIZE, VERBS_LOG_MCGS},
                  {HCA_INIT_SRQC, HCA_INIT_LOG_SRQS, l->srqc, VERBS_LOG_SRQS},
                  {HCA_INIT_EQC, HCA_INIT_LOG_EQS, l->eqc, VERBS_LOG_EQS}};
    void* translations;
    const uint64_t translation_bytes = UINT64_C(64) << VERBS_LOG_SEGMENTS;
    uint64_t at = VERBS_ICM_MTT + translation_bytes, used[sizeof tables / sizeof *tables];
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; ++i) {
        const uint64_t bytes = tables[i].entry << tables[i].log_entries, aligned = bytes < HCA_PAGE ? HCA_PAGE : bytes;
        used[i] = at = (at + aligned - 1) & ~(aligned - 1);
        hca_set_long(init, tables[i].base, at);
        if (tables[i].log_field) hca_set(init, tables[i].log_field, tables[i].log_entries);
        at += aligned;
    }
    hca_set_long(init, HCA_INIT_MTT, VERBS_ICM_MTT);
    hca_set_long(init, HCA_INIT_UARC, VERBS_ICM_UARC);
    hca_set(init, HCA_INIT_LOG_UARC_PAGES, 0);
    hca_set(init, HCA_INIT_LOG_UARS, VERBS_LOG_UARS);
    hca_set(init, HCA_INIT_LOG_MCG_BYTES, 8);
    hca_set(init, HCA_INIT_MCG_HEADS, 1 << (VERBS_LOG_MCGS - 1));
    uint64_t auxiliary;
    if (verbs_command_immediate(d, HCA_SET_ICM_SIZE, 0, at, &auxiliary)) return failed(d, "SET_ICM_SIZE");
    if (!map(d, HCA_MAP_ICM_AUX, 0, auxiliary * HCA_PAGE, NULL)) return failed(d, "MAP_ICM_AUX");
    if (!map(d, HCA_MAP_ICM, VERBS_ICM_MTT, translation_bytes, &translations)) return failed(d, "MAP_ICM");
    d->translations = translations;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; ++i)
        if (!map(d, HCA_MAP_ICM, used[i], tables[i].entry << tables[i].log_entries, NULL)) return failed(d, "MAP_ICM");
    return true;
}

static bool start_contexts(struct verbs_device* d) {
    struct limits l;
    uint8_t init[HCA_INIT_SIZE] = {0}, adapter[HCA_ADAPTER_SIZE];
    if (!query_limits(d, &l) || !lay_out(d, &l, init)) return false;
    if (verbs_command(d, HCA_INIT_HCA, 0, 0, init, sizeof init, NULL, 0)) return failed(d, "INIT_HCA");
    if (verbs_command(d, HCA_QUERY_ADAPTER, 0, 0, NULL, 0, adapter, sizeof adapter)) return failed(d, "QUERY_ADAPTER");
    d->pin = hca_get(adapter, HCA_ADAPTER_PIN);
    make_pools(d, &l);
    return true;
}

bool verbs_open(struct verbs_device* d, const struct pci_host* host, unsigned index) {
    struct pci_function* f = NULL;
    memset(d, 0, sizeof *d);
    do f = pci_find_id(host, f, HCA_VENDOR, HCA_DEVICE);
    while (f && index--);
    if (!f || !pci_enable(f)) {
        console_printf(f ? "an HCA found no address space\n" : "no such HCA\n");
        return false;
    }
    d->function = f;
    d->registers = pci_bar(f, HCA_BAR_REGISTERS);
    d->doorbells = pci_bar(f, HCA_BAR_UAR);
    d->doorbells_bus = f->bars[HCA_BAR_UAR].address;
    d->in = keep(d, HCA_MAILBOX_SIZE);
    d->out = keep(d, HCA_MAILBOX_SIZE);
    if (!reset(d)) return failed(d, "reset");
    if (!start_firmware(d) || !start_contexts(d)) return false;
    if (!verbs_open_uar(&d->uar, d, NULL)) return failed(d, "opening a UAR");
    if (!verbs_start_events(d)) return failed(d, "making event queues");
    const uint8_t ib[HCA_IB_SIZE] = {0};
    if (verbs_command(d, HCA_INIT_IB, 1, 0, ib, sizeof ib, NULL, 0)) return failed(d, "INIT_IB");
    return true;
}

void verbs_close(struct verbs_device* d) {
    verbs_command(d, HCA_CLOSE_IB, 1, 0, NULL, 0, NULL, 0);
    verbs_stop_events(d);
    verbs_close_uar(&d->uar);
    verbs_command(d, HCA_CLOSE_HCA, 0, 0, NULL, 0, NULL, 0);
    reset(d);
    for (unsigned i = 0; i < d->allocated_blocks; ++i) heap_free(d->memory[i]);
    d->allocated_blocks = 0;
}
