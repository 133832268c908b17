/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that uses the device. */
#include "registers.h"

#include "lib/console.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/traps.h"

static volatile unsigned done;

static void on_done(unsigned source) {
    (void)source;
    mmio_write32(DEVICE_BASE + DEVICE_STATUS, 1);
    ++done;
}

int main(void) {
    external_handle(DEVICE_IRQ, on_done);
    interrupt_enable(11, true); /* external interrupts of machine mode */
    mmio_write64(DEVICE_BASE + DEVICE_OPERAND, 12345);
    interrupts_on();
    while (!done) __asm__ volatile("wfi");
    interrupts_off();
    const uint64_t square = mmio_read64(DEVICE_BASE + DEVICE_RESULT);
    console_printf("12345 squared is %lu\n", square);
    return square != 12345ul * 12345ul;
}
