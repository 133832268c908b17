/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/timer.h"

#include "abi/clint.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/traps.h"

enum { TIMER_INTERRUPT = 7 };

static struct {
    uint64_t period, next;
    void (*tick)(void);
} timers[MAX_HARTS];

static uintptr_t comparator(void) { return machine.clint + CLINT_MTIMECMP + 8 * hart_id(); }

uint64_t timer_now(void) { return mmio_read64(machine.clint + CLINT_MTIME); }

uint64_t timer_microseconds(uint64_t counts) { return counts * 1000000 / machine.timebase; }

void timer_wait(uint64_t microseconds) {
    const uint64_t end = timer_now() + microseconds * machine.timebase / 1000000;
    while (timer_now() < end) relax();
}

/* With interrupts off wfi returns all the same, so none can slip in between the look at `done` and the sleep. The timer
 * wakes the hart by being pending; it is taken only where timer_start() put a handler behind it, and its ticks wake
 * too. */
static bool sleep_until(uint64_t end, bool (*done)(void*), void* context, bool take_interrupts) {
    const unsigned long were_on = csr_read(mstatus) & MSTATUS_MIE, ticking = csr_read(mie) & MIE_TIMER;
    interrupts_off();
    if (!ticking) mmio_write64(comparator(), end);
    bool is_done;
    while (!(is_done = done && done(context)) && timer_now() < end) {
        if (!ticking) interrupt_enable(TIMER_INTERRUPT, true);
        __asm__ volatile("wfi");
        if (!ticking) interrupt_enable(TIMER_INTERRUPT, false);
        if (!take_interrupts && !were_on) continue;
        interrupts_on();
        interrupts_off();
    }
    if (!ticking) mmio_write64(comparator(), ~0ull);
    if (were_on) interrupts_on();
    return is_done;
}

void timer_sleep(uint64_t microseconds) {
    sleep_until(timer_now() + microseconds * machine.timebase / 1000000, NULL, NULL, false);
}

bool timer_wait_for(bool (*done)(void*), void* context, uint64_t microseconds) {
    return sleep_until(timer_now() + microseconds * machine.timebase / 1000000, done, context, true);
}

static void timer_interrupt(struct trap_frame* frame) {
    (void)frame;
    const unsigned hart = hart_id();
    timers[hart].next += timers[hart].period;
    mmio_write64(comparator(), timers[hart].next);
    timers[hart].tick();
}

void timer_start(uint64_t microseconds, void (*tick)(void)) {
    if (!machine.clint) panic("no timer in the device tree");
    const unsigned hart = hart_id();
    timers[hart].period = microseconds * machine.timebase / 1000000;
    timers[hart].tick = tick;
    timers[hart].next = timer_now() + timers[hart].period;
    interrupt_handle(TIMER_INTERRUPT, timer_interrupt);
    mmio_write64(comparator(), timers[hart].next);
    interrupt_enable(TIMER_INTERRUPT, true);
}

void timer_stop(void) {
    interrupt_enable(TIMER_INTERRUPT, false);
    mmio_write64(comparator(), ~0ull);
}
