/* SPDX-License-Identifier: Apache-2.0 */
#include "cp/report.h"

#include "cp/launch.h"
#include "cp/lock.h"
#include "cp/registers.h"

static uint32_t log_lock, fifo_lock;

static void append(const struct gpu_fault_record* record) {
    volatile struct gpu_fault_log* log = SRAM(struct gpu_fault_log, GPU_SRAM_FAULTS);
    volatile uint64_t* to = (volatile uint64_t*)&log->record[log->written % GPU_FAULT_RECORDS];
    const uint64_t* from = (const uint64_t*)record;
    for (unsigned i = 0; i < sizeof *record / 8; ++i) to[i] = from[i];
    release();
    log->written = log->written + 1;
}

void report(const struct gpu_fault_record* record) {
    lock_acquire(&log_lock);
    append(record);
    lock_release(&log_lock);
    release();
    register_write(CP_INTERRUPT, GPU_VECTOR_FAULT);
}

/* The hart that held the lock may be the one that has crashed. */
void report_crash(const struct gpu_fault_record* record) {
    for (unsigned tries = 0; tries < 1000 && !lock_try(&log_lock); ++tries) __asm__ volatile("pause");
    append(record);
    lock_release(&log_lock);
    register_write(CP_INTERRUPT, GPU_VECTOR_FAULT);
    register_write(CP_FIRMWARE_STATE, GPU_FIRMWARE_CRASHED);
    register_write(CP_INTERRUPT, GPU_VECTOR_FIRMWARE);
}

void report_dispatcher_faults(void) {
    uint32_t kind;
    lock_acquire(&fifo_lock);
    while ((kind = register_read(CP_FAULT_KIND)) != GPU_FAULT_NONE) {
        const struct launch* l = launch_of(register_read(CP_FAULT_COOKIE));
        struct gpu_fault_record r = {0};
        r.fault = kind;
        r.queue = l->queue->index;
        r.packet = l->packet;
        r.image = l->image;
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
    lock_release(&fifo_lock);
}
