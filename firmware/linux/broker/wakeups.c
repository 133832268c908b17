/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of GPUs by INTA. The kernel masks the pin when one comes, and tells a file of uio_pci_generic. The broker
 * clears the causes, wakes all who wait for a signal, and unmasks the pin. Processes look at their own signals. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/mmio.h"
#include "linux/broker/broker.h"
#include "linux/broker/devices.h"

static int files[MAX_GPUS];

/* What was written before the causes were cleared is in memory when the read has come back: reads stay behind it. */
static void clear(unsigned gpu) {
    mmio_write32(gpus.gpu[gpu].registers + GPU_INTERRUPT, ~0u);
    mmio_read32(gpus.gpu[gpu].registers + GPU_INTERRUPT);
}

void wakeups_start(unsigned gpu) {
    files[gpu] = pci_interrupt_file(gpus.gpu[gpu].function);
    if (files[gpu] >= 0) {
        clear(gpu);
        pci_unmask_interrupt(gpus.gpu[gpu].function);
    }
    shared->has_interrupts = 1;
    for (unsigned i = 0; i < gpus.count; ++i)
        if (files[i] < 0) shared->has_interrupts = 0;
}

int wakeups_file(unsigned gpu) { return files[gpu]; }

void wakeups_wake(void) {
    __atomic_add_fetch(&shared->interrupts, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &shared->interrupts, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void wakeups_take(unsigned gpu) {
    uint32_t count;
    if (read(files[gpu], &count, sizeof count) != sizeof count) {
        files[gpu] = -1; /* it will tell of none */
        shared->has_interrupts = 0;
        return;
    }
    clear(gpu);
    wakeups_wake();
    pci_unmask_interrupt(gpus.gpu[gpu].function);
}
