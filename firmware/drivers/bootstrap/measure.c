/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/measure.h"

#include "abi/gpu.h"
#include "lib/csr.h"
#include "lib/machine.h"
#include "lib/timer.h"

static uint64_t cycles_per_ms;

uint64_t clock_cycles(void) { return csr_read(mcycle); }

static uint64_t at_next_tick(void) {
    const uint64_t now = timer_now();
    while (timer_now() == now) {
    }
    return clock_cycles();
}

/* Clocks are multiples of 1 kHz. */
void clock_start(void) {
    const uint64_t ticks = machine.timebase / 10000, first = timer_now() + 1, begin = at_next_tick();
    while (timer_now() < first + ticks) {
    }
    const uint64_t cycles = clock_cycles() - begin;
    cycles_per_ms = (cycles * machine.timebase / ticks / 1000 + 5000) / 10000 * 10000;
}

uint64_t clock_picoseconds(uint64_t cycles) { return cycles * 1000000 / (cycles_per_ms / 1000); }

struct verbs_memory gpu_memory(struct bootstrap* p, uint64_t bytes) {
    static uint64_t next = 1 << 20;
    struct pci_function* f = pci_find_id(&p->pci, NULL, GPU_VENDOR, GPU_DEVICE);
    if (!f || !pci_enable(f)) panic("there is no GPU whose memory could be used");
    const uint64_t at = next;
    next += (bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    if (next > f->bars[GPU_BAR_MEMORY].size) panic("the GPU's memory is too small");
    return (struct verbs_memory){pci_bar(f, GPU_BAR_MEMORY) + at, f->bars[GPU_BAR_MEMORY].address + at, bytes};
}

void measured_channel(struct channel* c, const struct measure* m, uint64_t bytes) {
    const struct channel_shape s = {.type = HCA_QP_RC,
                                    .log_sq_size = MEASURED_LOG_SQ_SIZE,
                                    .log_rq_size = MEASURED_LOG_RQ_SIZE,
                                    .elements = 1,
                                    .inline_bytes = (unsigned)m->inline_bytes,
                                    .bytes = bytes,
                                    .queues = m->gpu_queues ? gpu_memory : NULL,
                                    .cqs = m->gpu_cqs ? gpu_memory : NULL,
                                    .memory = m->gpu_payload ? gpu_memory : NULL,
                                    .uar = m->uar};
    channel_open(c, m->bootstrap, m->with, &s);
}
