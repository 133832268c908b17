/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/pci.h"

#include "lib/mmio.h"
#include "lib/timer.h"

enum { READY_WITHIN_US = 1000000, RETRY_EVERY_US = 1000, RESET_TIMEOUT_US = 100000 };

uint8_t pci_read8(const struct pci_function* f, unsigned offset) { return mmio_read8(f->configuration + offset); }
uint16_t pci_read16(const struct pci_function* f, unsigned offset) { return mmio_read16(f->configuration + offset); }
uint32_t pci_read32(const struct pci_function* f, unsigned offset) { return mmio_read32(f->configuration + offset); }
void pci_write8(const struct pci_function* f, unsigned offset, uint8_t value) {
    mmio_write8(f->configuration + offset, value);
}
void pci_write16(const struct pci_function* f, unsigned offset, uint16_t value) {
    mmio_write16(f->configuration + offset, value);
}
void pci_write32(const struct pci_function* f, unsigned offset, uint32_t value) {
    mmio_write32(f->configuration + offset, value);
}

/* A function that is not ready answers with a reserved vendor ID, if the root port shows it; else the root
 * complex asks again by itself. */
static uint32_t identify_at(uintptr_t configuration) {
    uint32_t id = mmio_read32(configuration + PCI_ID);
    for (unsigned waited = 0; (id & 0xffff) == PCI_VENDOR_RETRY && waited < READY_WITHIN_US; waited += RETRY_EVERY_US) {
        timer_sleep(RETRY_EVERY_US);
        id = mmio_read32(configuration + PCI_ID);
    }
    return id;
}

uint32_t pci_identify(const struct pci_host* host, unsigned bus, unsigned device, unsigned function) {
    const uint32_t id =
        identify_at(host->ecam + ((uintptr_t)(bus - host->first_bus) << 20 | device << 15 | function << 12));
    const unsigned vendor = id & 0xffff;
    return vendor == 0 || vendor == 0xffff || vendor == PCI_VENDOR_RETRY ? PCI_NO_FUNCTION : id;
}

unsigned pci_find_capability(const struct pci_function* f, unsigned id) {
    if (!(pci_read16(f, PCI_STATUS) & PCI_STATUS_CAPABILITIES)) return 0;
    unsigned at = pci_read8(f, PCI_CAPABILITIES) & 0xfc;
    for (unsigned left = PCI_CONFIGURATION_SIZE / 4; at >= 0x40 && left; --left) { /* a list may be a ring by mistake */
        if (pci_read8(f, at + PCI_CAPABILITY_ID) == id) return at;
        at = pci_read8(f, at + PCI_CAPABILITY_NEXT) & 0xfc;
    }
    return 0;
}

unsigned pci_find_extended_capability(const struct pci_function* f, unsigned id) {
    unsigned at = PCI_FIRST_EXTENDED;
    for (unsigned left = PCI_EXTENDED_SIZE / 4; at >= PCI_FIRST_EXTENDED && left; --left) {
        const uint32_t header = pci_read32(f, at + PCI_EXTENDED_HEADER);
        if (header == 0 || header == ~0u) return 0;
        if ((header & 0xffff) == id) return at;
        at = header >> 20 & 0xffc;
    }
    return 0;
}

struct pci_function* pci_find_id(const struct pci_host* host, const struct pci_function* after, unsigned vendor,
                                 unsigned device) {
    struct pci_function* f = after ? after->next : host->functions;
    while (f && (f->vendor != vendor || f->device_id != device)) f = f->next;
    return f;
}

struct pci_function* pci_find_class(const struct pci_host* host, const struct pci_function* after, uint32_t class_code,
                                    uint32_t mask) {
    struct pci_function* f = after ? after->next : host->functions;
    while (f && ((f->class_code ^ class_code) & mask)) f = f->next;
    return f;
}

bool pci_enable(struct pci_function* f) {
    for (unsigned b = 0; b < PCI_BARS; ++b)
        if (f->bars[b].size && !f->bars[b].assigned) return false;
    pci_write16(f, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
    return true;
}

uintptr_t pci_bar(const struct pci_function* f, unsigned bar) {
    const struct pci_resource* r = &f->bars[bar];
    if (!r->assigned) return 0;
    for (unsigned region = 0; region < PCI_REGIONS; ++region) {
        const struct pci_window* w = &f->bus->host->windows[region];
        if (r->address >= w->bus && r->address - w->bus < w->size) return (uintptr_t)(r->address - w->bus + w->cpu);
    }
    return 0;
}

bool pci_reset_function(struct pci_function* f) {
    if (!f->express || !(pci_read32(f, f->express + PCI_EXPRESS_DEVICE_CAPABILITIES) & PCI_EXPRESS_RESET_SUPPORTED))
        return false;
    const uint16_t control = pci_read16(f, f->express + PCI_EXPRESS_DEVICE_CONTROL);
    uint32_t bars[PCI_BARS];
    for (unsigned b = 0; b < PCI_BARS; ++b) bars[b] = pci_read32(f, PCI_BAR + 4 * b);

    /* No new requests, and an end to those under way (PCI Express Base Specification 6.0, 6.6.2). */
    pci_write16(f, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
    for (unsigned waited = 0; pci_read16(f, f->express + PCI_EXPRESS_DEVICE_STATUS) & PCI_EXPRESS_TRANSACTIONS_PENDING;
         waited += RETRY_EVERY_US) {
        if (waited >= READY_WITHIN_US) break; /* it hangs: a reason more to reset it */
        timer_sleep(RETRY_EVERY_US);
    }
    pci_write16(f, f->express + PCI_EXPRESS_DEVICE_CONTROL, control | PCI_EXPRESS_RESET);
    timer_sleep(RESET_TIMEOUT_US);
    if (identify_at(f->configuration) != ((uint32_t)f->device_id << 16 | f->vendor)) return false;

    pci_write16(f, f->express + PCI_EXPRESS_DEVICE_CONTROL, control);
    for (unsigned b = 0; b < PCI_BARS; ++b) pci_write32(f, PCI_BAR + 4 * b, bars[b]);
    return true;
}
