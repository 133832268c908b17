/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that uses the stopwatch and the scratchpad. */
#include "registers.h"

#include "lib/console.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/traps.h"

static volatile unsigned rang;
static uint64_t watch; /* address */

static void on_alarm(unsigned source) {
    (void)source;
    mmio_write32(watch + STOPWATCH_STATUS, 1);
    ++rang;
}

int main(void) {
    uint64_t size;
    const fdt_node node = fdt_find_compatible(&machine.tree, -1, "example,stopwatch");
    if (node < 0 || !fdt_reg(&machine.tree, node, 0, &watch, &size) || size != STOPWATCH_SIZE) return 1;
    external_handle(fdt_cell(&machine.tree, node, "interrupts", 0, 0), on_alarm);
    interrupt_enable(11, true);
    mmio_write64(watch + STOPWATCH_ALARM, 5000);
    mmio_write32(watch + STOPWATCH_CONTROL, 1);
    interrupts_on();
    while (!rang) __asm__ volatile("wfi");
    interrupts_off();
    mmio_write32(watch + STOPWATCH_CONTROL, 0);
    const uint64_t elapsed = mmio_read64(watch + STOPWATCH_ELAPSED);
    console_printf("alarm at 5000 ns, stopped within %s\n", elapsed >= 5000 && elapsed < 7000 ? "2 us" : "?");

    mmio_write64(SCRATCHPAD_BASE + 8, 0x0123456789abcdef);
    const uint64_t word = mmio_read64(SCRATCHPAD_BASE + 8);
    console_printf("scratchpad keeps 0x%lx\n", word);
    return !(elapsed >= 5000 && elapsed < 7000 && word == 0x0123456789abcdef);
}
