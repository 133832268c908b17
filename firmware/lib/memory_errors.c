/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/memory_errors.h"

#include "lib/console.h"
#include "lib/machine.h"
#include "lib/mmio.h"

static uintptr_t record(void) {
    uint64_t address = 0, size = 0;
    const fdt_node node = fdt_find_compatible(&machine.tree, -1, "fabricvp,memory-errors");
    return node >= 0 && fdt_reg(&machine.tree, node, 0, &address, &size) ? (uintptr_t)address : 0;
}

bool memory_errors_read(struct memory_errors* found) {
    const uintptr_t at = record();
    if (!at) return false;
    found->corrected = mmio_read64(at + MEMORY_ERRORS_CORRECTED);
    found->uncorrected = mmio_read64(at + MEMORY_ERRORS_UNCORRECTED);
    found->status = mmio_read64(at + MEMORY_ERRORS_STATUS);
    found->address = mmio_read64(at + MEMORY_ERRORS_ADDRESS);
    return true;
}

void memory_errors_clear(void) {
    const uintptr_t at = record();
    if (at) mmio_write64(at + MEMORY_ERRORS_STATUS, MEMORY_ERRORS_STATUS_CORRECTED | MEMORY_ERRORS_STATUS_UNCORRECTED);
}

bool memory_errors_report(void) {
    struct memory_errors found;
    if (!memory_errors_read(&found) || !found.status) return true;
    const bool lost = found.status & MEMORY_ERRORS_STATUS_UNCORRECTED;
    console_printf("memory: %s at 0x%lx; %lu corrected and %lu uncorrected since power-on\n",
                   lost ? "uncorrected error" : "corrected error", found.address, found.corrected, found.uncorrected);
    return !lost;
}
