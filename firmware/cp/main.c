/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a GPU's command processor: on each hart, a loop over services. */
#include "cp/registers.h"
#include "cp/report.h"
#include "cp/service.h"

/* Services of a project outside of the tree (build_processor_firmware in fabricvp.mk), a CP_SERVICE(name) for each. */
#ifndef CP_OWN_SERVICES
#define CP_OWN_SERVICES
#endif
#define CP_SERVICE(name) extern const struct service name;
CP_OWN_SERVICES
#undef CP_SERVICE
#define CP_SERVICE(name) , &name
static const struct service* const services[] = {&dispatch_service, &network_service_entry CP_OWN_SERVICES};
enum { SERVICES = sizeof services / sizeof *services };

void processor_main(unsigned hart) {
    const uint64_t pending = banked(CP_EVENT_PENDING, hart, WORD_STRIDE);
    uint32_t enabled = 0;
    for (unsigned s = 0; s < SERVICES; ++s) enabled |= services[s]->events;
    register_write(banked(CP_EVENT_ENABLE, hart, WORD_STRIDE), enabled);
    __asm__ volatile("csrw mie, %0" ::"r"(1 << 11)); /* wakes wfi; mstatus.MIE stays off */
    for (unsigned s = 0; s < SERVICES; ++s)
        if (services[s]->start) services[s]->start(hart);
    if (hart == 0) register_write(CP_FIRMWARE_STATE, GPU_FIRMWARE_READY);
    for (;;) {
        const uint32_t events = register_read(pending);
        if (events & GPU_EVENT_HOST)
            register_write(banked(CP_HOST_PENDING, hart, WORD_STRIDE), 1); /* for any hart that listens */
        enum work found = WORK_NONE;
        for (unsigned s = 0; s < SERVICES; ++s) {
            if (events & services[s]->events) services[s]->handle(hart, events);
            const enum work more = services[s]->step(hart);
            if (more > found) found = more;
        }
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
    network_service_abort((unsigned)hart);
}
