/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/traps.h"

#include "abi/memory_map.h"
#include "abi/plic.h"
#include "lib/aplic.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/machine.h"
#include "lib/mmio.h"

enum { INTERRUPT_CODES = 16, EXTERNAL = 11, LOAD_ACCESS_FAULT = 5 };

static interrupt_handler handlers[INTERRUPT_CODES];
static void (*external_handlers[VIRT_PLIC_SOURCES + 1])(unsigned);
extern char probe_load_access[], probe_load_failed[];

void interrupt_handle(unsigned code, interrupt_handler handler) {
    if (code < INTERRUPT_CODES) handlers[code] = handler;
}

void interrupts_on(void) { csr_set(mstatus, MSTATUS_MIE); }
void interrupts_off(void) { csr_clear(mstatus, MSTATUS_MIE); }

void interrupt_enable(unsigned code, bool on) {
    if (on)
        csr_set(mie, 1ul << code);
    else
        csr_clear(mie, 1ul << code);
}

static uintptr_t plic_context(uintptr_t base, uintptr_t stride) {
    return machine.plic + base + (uintptr_t)machine.plic_context[hart_id()] * stride;
}

static void external(struct trap_frame* frame) {
    (void)frame;
    const uintptr_t claim = plic_context(PLIC_CLAIM, PLIC_CONTEXT_STRIDE);
    for (uint32_t source; (source = mmio_read32(claim)) != 0;) {
        if (source <= VIRT_PLIC_SOURCES && external_handlers[source]) external_handlers[source](source);
        mmio_write32(claim, source);
    }
}

bool external_available(unsigned source) {
    if (!machine.plic) return aplic_available(source);
    return machine.plic_context[hart_id()] >= 0 && source > 0 && source <= VIRT_PLIC_SOURCES;
}

void external_handle(unsigned source, void (*handler)(unsigned)) {
    if (!external_available(source)) panic("no interrupt source %u", source);
    if (!machine.plic) {
        aplic_handle(source, handler);
        return;
    }
    external_handlers[source] = handler;
    interrupt_handle(EXTERNAL, external);
    mmio_write32(machine.plic + PLIC_PRIORITY + 4 * source, handler ? 1 : 0);
    const uintptr_t enable = plic_context(PLIC_ENABLE, PLIC_ENABLE_STRIDE) + source / 32 * 4;
    const uint32_t bit = 1u << source % 32;
    mmio_write32(enable, handler ? mmio_read32(enable) | bit : mmio_read32(enable) & ~bit);
    mmio_write32(plic_context(PLIC_THRESHOLD, PLIC_CONTEXT_STRIDE), 0);
}

/* From start.S. */
void trap_dispatch(struct trap_frame* frame) {
    const unsigned long cause = csr_read(mcause);
    if (cause & MCAUSE_INTERRUPT) {
        const unsigned long code = cause & ~MCAUSE_INTERRUPT;
        if (code < INTERRUPT_CODES && handlers[code]) return handlers[code](frame);
        panic("hart %u: unexpected interrupt %lu", hart_id(), code);
    }
    if (cause == LOAD_ACCESS_FAULT && frame->x[0] == (uint64_t)probe_load_access) {
        frame->x[0] = (uint64_t)probe_load_failed;
        return;
    }
    panic("hart %u: exception %lu at 0x%lx, mtval 0x%lx", hart_id(), cause, (unsigned long)frame->x[0],
          csr_read(mtval));
}
