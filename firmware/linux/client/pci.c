/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs by way of the broker. What drivers/pci/pci.h promises, as far as the driver of GPUs needs it. */
#include "drivers/pci/pci.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "drivers/gpu/gpu.h"
#include "linux/client/client.h"

/* A function, and what the process has of it. */
static struct found {
    struct pci_function function;
    struct pci_bus bus; /* its number alone */
    uintptr_t bars[PCI_BARS];
    int pages; /* memory with pages, -1: without */
} found[MAX_GPUS];

bool pci_start(struct pci_host* host) {
    *host = (struct pci_host){0};
    if (!client_open()) return true; /* a program without GPUs */
    struct pci_function** last = &host->functions;
    for (unsigned i = 0; i < client_opened.count; ++i) {
        struct found* f = &found[i];
        f->pages = -1;
        f->bus.number = client_opened.gpu[i].bus;
        f->function = (struct pci_function){.bus = &f->bus,
                                            .device = (uint8_t)client_opened.gpu[i].device,
                                            .vendor = GPU_VENDOR,
                                            .device_id = GPU_DEVICE};
        for (unsigned b = 0; b < PCI_BARS; ++b) f->function.bars[b].address = client_opened.gpu[i].bar[b];
        *last = &f->function;
        last = &f->function.next;
        ++host->count;
    }
    return true;
}

struct pci_function* pci_find_id(const struct pci_host* host, const struct pci_function* after, unsigned vendor,
                                 unsigned device) {
    (void)vendor, (void)device;
    return after ? after->next : host->functions;
}

bool pci_enable(struct pci_function* function) {
    struct found* f = (struct found*)function;
    for (unsigned i = 0; i < BROKER_BARS; ++i) {
        const int file = client_files[2 + BROKER_BARS * (unsigned)(f - found) + i];
        void* at = client_map(file, (size_t)lseek(file, 0, SEEK_END));
        struct stat status;
        if (i == 0 && fstat(file, &status) == 0 && S_ISCHR(status.st_mode))
            f->pages = file; /* of the module peer_memory; BARs of sysfs are regular files */
        else
            close(file);
        if (!at) return false;
        f->bars[2 * i] = (uintptr_t)at;
    }
    return true;
}

uintptr_t pci_bar(const struct pci_function* f, unsigned bar) { return ((const struct found*)f)->bars[bar]; }

int client_pages(const struct gpu* g) { return ((const struct found*)g->function)->pages; }

/* Signals are polled. */
enum pci_delivery gpu_use_interrupts(struct gpu* g, enum pci_delivery best) {
    (void)best;
    return g->delivery = PCI_POLLED;
}
