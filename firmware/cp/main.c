/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a GPU's command processor: takes AQL packets from user-mode queues and launches kernels. */
#include "cp/queue.h"
#include "cp/registers.h"
#include "cp/report.h"

void processor_main(unsigned hart) {
    const unsigned harts = register_read(CP_HARTS);
    const uint64_t pending = banked(CP_EVENT_PENDING, hart, WORD_STRIDE);
    register_write(banked(CP_EVENT_ENABLE, hart, WORD_STRIDE), GPU_EVENT_DOORBELL | GPU_EVENT_DISPATCH | GPU_EVENT_HOST);
    __asm__ volatile("csrw mie, %0" ::"r"(1 << 11)); /* wakes wfi; mstatus.MIE stays off */
    queues_update(hart, harts);
    if (hart == 0) register_write(CP_FIRMWARE_STATE, GPU_FIRMWARE_READY);
    for (;;) {
        const uint32_t events = register_read(pending);
        if (events & GPU_EVENT_HOST) {
            register_write(banked(CP_HOST_PENDING, hart, WORD_STRIDE), 1);
            queues_update(hart, harts);
        }
        if (events & GPU_EVENT_DISPATCH) queues_finish(hart);
        if (events & GPU_EVENT_DOORBELL) queues_rung(hart, harts);
        const enum work found = queues_work(hart);
        if (found == WORK_WAITS)
            __asm__ volatile("pause");
        else if (found == WORK_NONE && !register_read(pending))
            __asm__ volatile("wfi");
    }
}

void processor_crashed(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
    struct gpu_fault_record r = {0};
    r.fault = GPU_FAULT_FIRMWARE;
    r.queue = (uint32_t)cause;
    r.pc = pc;
    r.address = value;
    r.lane = (uint32_t)hart;
    report_crash(&r);
}
