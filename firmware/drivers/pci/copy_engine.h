/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the copy engine (abi/copy_engine.h). Addresses are bus addresses; host memory has its own. */
#ifndef FABRICVP_DRIVERS_PCI_COPY_ENGINE_H
#define FABRICVP_DRIVERS_PCI_COPY_ENGINE_H

#include "drivers/pci/copy_channel.h"

struct copy_engine {
    struct pci_function* function;
    uintptr_t registers; /* BAR 0 */
    uint64_t memory;     /* bus address of BAR 2 */
    uintptr_t aperture;  /* where the CPU sees it */
    uint64_t memory_size;
    unsigned channels;
    struct copy_channel* channel;
    enum pci_delivery delivery;
};

/* Enables the function, makes a ring for each channel and connects interrupts, at best as `best` says. \returns false
 * if the function has no addresses or there is no memory. */
bool copy_engine_open(struct copy_engine* engine, struct pci_function* function, enum pci_delivery best);
/* Channels stop, interrupts are silent, rings are freed. */
void copy_engine_close(struct copy_engine* engine);

#endif
