/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that finds the device behind the PCIe tree, and uses it. */
#include "registers.h"

#include "drivers/pci/pci.h"
#include "lib/console.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "lib/traps.h"

enum { COUNT = 1000, TIMEOUT_US = 100000 };

static uint64_t numbers[COUNT], squares[COUNT];
static volatile unsigned interrupts;
static volatile uint32_t status;

static void on_interrupt(void* registers, int vector) {
    (void)vector;
    const uint32_t causes = mmio_read32((uintptr_t)registers + DEVICE_STATUS);
    if (!causes) return; /* the pin is still going down, or another device's */
    mmio_write32((uintptr_t)registers + DEVICE_STATUS, causes);
    status = causes;
    ++interrupts;
}

int main(void) {
    static struct pci_host host;
    if (!pci_start(&host)) return console_printf("there is no PCIe tree\n"), 1;
    struct pci_function* f = pci_find_id(&host, NULL, DEVICE_VENDOR, DEVICE_ID);
    if (!f || !pci_enable(f)) return console_printf("the device is not there\n"), 1;
    const uintptr_t registers = pci_bar(f, 0);
    const enum pci_delivery how = pci_connect(f, 1, PCI_MSIX, on_interrupt, (void*)registers);
    console_printf("@NAME@ at %02x:%02x.%x, %s\n", f->bus->number, f->device, f->function, pci_delivery_names[how]);

    for (uint64_t i = 0; i < COUNT; ++i) numbers[i] = i;
    mmio_write64(registers + DEVICE_SOURCE, (uintptr_t)numbers); /* devices see memory where harts do */
    mmio_write64(registers + DEVICE_DESTINATION, (uintptr_t)squares);
    mmio_write32(registers + DEVICE_COUNT, COUNT);
    interrupts_on();
    const uint64_t begin = timer_now();
    mmio_write32(registers + DEVICE_STATUS, DEVICE_START);
    while (!interrupts && timer_microseconds(timer_now() - begin) < TIMEOUT_US) __asm__ volatile("wfi");
    interrupts_off();

    bool right = status == DEVICE_DONE;
    for (uint64_t i = 0; i < COUNT; ++i) right = right && squares[i] == i * i;
    console_printf("%u squares, %s\n", COUNT, right ? "ok" : "WRONG");
    return !right;
}
