/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/report.h"

#include "cp/queue.h"
#include "cp/registers.h"

static uint32_t log_lock;

static void take(uint32_t* lock) {
    uint32_t old;
    do {
        __asm__ volatile("amoswap.w.aq %0, %2, %1" : "=r"(old), "+A"(*lock) : "r"(1) : "memory");
        if (old) __asm__ volatile("pause");
    } while (old);
}
static void give(uint32_t* lock) { __asm__ volatile("amoswap.w.rl zero, zero, %0" : "+A"(*lock)::"memory"); }

void report(const struct gpu_fault_record* record) {
    volatile struct gpu_fault_log* log = SRAM(struct gpu_fault_log, GPU_SRAM_FAULTS);
    take(&log_lock);
    volatile uint64_t* to = (volatile uint64_t*)&log->record[log->written % GPU_FAULT_RECORDS];
    const uint64_t* from = (const uint64_t*)record;
    for (unsigned i = 0; i < sizeof *record / 8; ++i) to[i] = from[i];
    order();
    log->written = log->written + 1;
    give(&log_lock);
    order();
    register_write(CP_INTERRUPT, GPU_VECTOR_FAULT);
}

void report_dispatcher_faults(void) {
    uint32_t kind;
    while ((kind = register_read(CP_FAULT_KIND)) != GPU_FAULT_NONE) {
        struct gpu_fault_record r = {0};
        const uint32_t cookie = register_read(CP_FAULT_COOKIE);
        r.fault = kind;
        r.queue = cookie_queue(cookie);
        r.packet = cookie_packet(cookie);
        r.pc = register_read64(CP_FAULT_PC);
        r.address = register_read64(CP_FAULT_ADDRESS);
        r.compute_unit = register_read(CP_FAULT_COMPUTE_UNIT);
        r.wavefront = register_read(CP_FAULT_WAVEFRONT);
        r.lane = register_read(CP_FAULT_LANE);
        r.group[0] = register_read(CP_FAULT_GROUP_X);
        r.group[1] = register_read(CP_FAULT_GROUP_Y);
        r.group[2] = register_read(CP_FAULT_GROUP_Z);
        register_write(CP_FAULT_POP, 1);
        report(&r);
    }
}
