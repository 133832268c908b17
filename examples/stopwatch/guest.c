/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that uses the stopwatch and the scratchpad. */
#include "registers.h"

#include "host/console.h"
#include "host/machine.h"
#include "host/mmio.h"
#include "host/traps.h"

static volatile unsigned rang;

static void on_alarm(unsigned source) {
    (void)source;
    mmio_write32(STOPWATCH_BASE + STOPWATCH_STATUS, 1);
    ++rang;
}

int main(void) {
    external_handle(STOPWATCH_IRQ, on_alarm);
    interrupt_enable(11, true);
    mmio_write64(STOPWATCH_BASE + STOPWATCH_ALARM, 5000);
    mmio_write32(STOPWATCH_BASE + STOPWATCH_CONTROL, 1);
    interrupts_on();
    while (!rang) __asm__ volatile("wfi");
    interrupts_off();
    mmio_write32(STOPWATCH_BASE + STOPWATCH_CONTROL, 0);
    const uint64_t elapsed = mmio_read64(STOPWATCH_BASE + STOPWATCH_ELAPSED);
    console_printf("alarm at 5000 ns, stopped within %s\n", elapsed >= 5000 && elapsed < 7000 ? "2 us" : "?");

    mmio_write64(SCRATCHPAD_BASE + 8, 0x0123456789abcdef);
    const uint64_t word = mmio_read64(SCRATCHPAD_BASE + 8);
    console_printf("scratchpad keeps 0x%lx\n", word);
    return !(elapsed >= 5000 && elapsed < 7000 && word == 0x0123456789abcdef);
}
